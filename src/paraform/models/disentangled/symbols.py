"""Linearised trees as numbers.

(S (NP (DT) (NN)) (VP (VBZ)))  →  ( S ( NP ( DT ) ( NN ) ) ( VP ( VBZ ) ) )    brackets are symbols of their own
                               →  S NP DT NN ) VP VBZ ) )                     a constituent opens, a tag stands
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import final

import numpy as np
import numpy.typing as npt

from paraform.records import InputError
from paraform.syntax.trees import ROOTS, Tree

PAD, OPEN, CLOSE, UNKNOWN, FIRST = range(5)
ROOT = "ROOT"
UNSEEN = "?"  # the label of a symbol that stands for any never seen


@final
class TreeSymbols:
    """The labels that trees are written with; number 0 is padding, then both brackets, a label never seen, the labels.

    Args:
        labels: constituents and tags, ROOT among them.
        constituents: those of them that stand above others in some tree.
        brackets: whether an opening bracket is a symbol of its own, and tags have brackets (the paper), or neither.
    """

    def __init__(self, labels: Sequence[str], constituents: Iterable[str], *, brackets: bool) -> None:
        self.labels = tuple(labels)
        self.constituents = tuple(constituents)
        self.brackets = brackets
        self._number = {label: number for number, label in enumerate(self.labels, FIRST)}
        if len(self._number) != len(self.labels) or not set(self.constituents) <= set(self.labels):
            raise InputError("tree symbols: a label twice, or a constituent that is no label; expected each once")

    @classmethod
    def of(cls, trees: Iterable[Tree], *, brackets: bool) -> TreeSymbols:
        """The symbols of these trees, all below one ROOT."""
        labels, constituents = {ROOT}, set[str]()
        for tree in trees:
            waiting = list(below_root(tree))
            while waiting:
                node = waiting.pop()
                labels.add(node.label)
                if node.children:
                    constituents.add(node.label)
                waiting += node.children
        return cls(sorted(labels), sorted(constituents), brackets=brackets)

    def __len__(self) -> int:
        return FIRST + len(self.labels)

    def number(self, label: str) -> int:
        """A label's number; `UNKNOWN` of one never seen."""
        return self._number.get(label, UNKNOWN)

    def write(self) -> str:
        """A label a line, with a tab and a mark behind constituents."""
        known = set(self.constituents)
        return "".join(f"{label}\t{int(label in known)}\n" for label in self.labels)

    @classmethod
    def read(cls, text: str, *, brackets: bool) -> TreeSymbols:
        """What `write` wrote. Raises: InputError for anything else."""
        rows = [line.split("\t") for line in text.splitlines()]
        for number, row in enumerate(rows, start=1):
            if len(row) != 2 or not row[0] or row[1] not in ("0", "1"):
                raise InputError(f"tree symbols, line {number}: {row[0][:40]!r}; expected LABEL, a tab, and 0 or 1")
        constituents = [label for label, mark in rows if mark == "1"]
        return cls([label for label, _ in rows], constituents, brackets=brackets)

    def encode(self, tree: Tree) -> tuple[list[int], list[int]]:
        """The symbols of a tree, ROOT left out, and the level of each: 1 is the sentence's own node.

        Cut behind a level, a tree's symbols are those of `syntax.template` of as many levels.
        """
        numbers: list[int] = []
        levels: list[int] = []
        phrases = set(self.constituents)
        waiting: list[tuple[Tree | None, int]] = [(node, 1) for node in reversed(below_root(tree))]
        while waiting:
            node, level = waiting.pop()
            if node is None:
                numbers.append(CLOSE)
                levels.append(level)
                continue
            opening = [OPEN] if self.brackets else []
            numbers += [*opening, self.number(node.label)]
            levels += [level] * (1 + len(opening))
            if self.brackets or node.children or node.label in phrases:
                waiting.append((None, level))
            waiting += [(child, level + 1) for child in reversed(node.children)]
        return numbers, levels

    def decode(self, numbers: Sequence[int]) -> Tree:
        """The tree that symbols say, below one ROOT; what is left open is closed, a bracket that closes nothing is not
        read, nor is padding.

        Raises: InputError for a number that is no symbol.
        """
        if wrong := [number for number in numbers if not 0 <= number < len(self)]:
            raise InputError(f"symbol {wrong[0]}; expected 0 to {len(self) - 1}")
        phrases = set(self.constituents)
        nodes: list[tuple[str, list[Tree]]] = [(ROOT, [])]

        def close() -> None:
            label, children = nodes.pop()
            nodes[-1][1].append(Tree(label, tuple(children)))

        for number in numbers:
            if number == CLOSE and len(nodes) > 1:
                close()
            elif number >= UNKNOWN:
                label = self.labels[number - FIRST] if number >= FIRST else UNSEEN
                nodes.append((label, []))
                if not self.brackets and label not in phrases:
                    close()
        while len(nodes) > 1:
            close()
        return Tree(ROOT, tuple(nodes[0][1]))

    def require_known(self, tree: Tree) -> None:
        """Raises: InputError that names the nearest label, for a tree with one that no training tree had."""
        waiting = list(below_root(tree))
        while waiting:
            node = waiting.pop()
            if node.label not in self._number:
                near = get_close_matches(node.label.upper(), self.labels, 1, 0) or self.labels[:1]
                raise InputError(f"label {node.label[:40]!r} in no tree of training; the nearest is {near[0]!r}")
            waiting += node.children

    def bag_size(self, bag: str) -> int:
        """C: parts of the bag that the adversary tells, "constituents" or "symbols"."""
        return len(self.constituents) if bag == "constituents" else 2 + len(self.labels)

    def constituent_shares(self, tree: Tree) -> npt.NDArray[np.float32]:
        """How often each constituent stands in the tree, by the number of all: float32 [C]; 0 of a tree of one tag."""
        counts: Counter[str] = Counter()
        waiting = list(below_root(tree))
        while waiting:
            node = waiting.pop()
            if node.children:
                counts[node.label] += 1
            waiting += node.children
        bag_C = np.array([counts[label] for label in self.constituents], np.float32)
        return bag_C / np.float32(max(1, sum(counts.values())))

    def symbol_shares(self, tree: Tree) -> npt.NDArray[np.float32]:
        """The same of both brackets, ROOT, constituents and tags, each counted from one (the code): float32 [C]."""
        counts: Counter[str] = Counter([ROOT])
        waiting = list(below_root(tree))
        while waiting:
            node = waiting.pop()
            counts[node.label] += 1
            waiting += node.children
        brackets = [sum(counts.values())] * 2
        counted = [1 + count for count in (*brackets, *(counts[label] for label in self.labels))]
        return np.array(counted, np.float32) / np.float32(sum(counted))


def below_root(tree: Tree) -> tuple[Tree, ...]:
    """What stands below the root."""
    return tree.children if tree.label in ROOTS and tree.children else (tree,)
