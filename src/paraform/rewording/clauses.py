"""What the rules that turn a sentence by its tree share: its main clause, and the words of parts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from paraform.rewording.slots import ENDINGS
from paraform.syntax.trees import Tree

FINITE = {"VBZ", "VBP", "VBD", "MD"}  # tags


def main_clause(tree: Tree) -> tuple[str, list[Tree], list[str]]:
    """Its label, its parts, and the full stop or question mark behind them; of a tree with a word at each leaf."""
    while len(tree.children) == 1 and tree.children[0].children:
        (tree,) = tree.children
    parts = list(tree.children)
    ending = [parts.pop().word or ""] if parts and parts[-1].word in ENDINGS else []
    return tree.label, parts, ending


def words_of(parts: Sequence[Tree]) -> list[str]:
    """All words of the parts, in order."""
    return [word for part in parts for word in part.words()]


def statements(tree: Tree) -> list[tuple[int, int]]:
    """Where each of the statements begins and ends that "and", "but" or a comma joins to the whole sentence."""
    label, parts, _ = main_clause(tree)
    if label != "S" or sum(part.label == "S" for part in parts) < 2:
        return []
    ends = list(itertools.accumulate(len(part.words()) for part in parts))
    return [
        (end - len(part.words()), end)
        for part, end in zip(parts, ends, strict=True)
        if part.label == "S" and [child.label for child in part.children[:1]] == ["NP"]
    ]
