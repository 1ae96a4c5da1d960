"""Bracketed treebanks (`.mrg`): every tree as it stands there, with the words and Penn Treebank tags of its leaves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from paraform.corpora.lines import lines
from paraform.records import InputError, Origin, Sentence
from paraform.words import unescape

MAX_TREE = 1_000_000  # characters of a line: the tree of a sentence of 5,000 words takes 60,000

# QuestionBank has brackets whose tag is missing, ( -LRB-), and for a trace an empty one, ( ).
_LEAF = re.compile(r"\(\s*([^\s()]+)(?:\s+([^\s()]+))?\s*\)")


def read_treebank(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """Every tree of a file, or of a folder's `.mrg` files by name: words and tags without traces, the tree in one line.

    A tree may span lines, and a line may hold several.
    Raises: InputError with file and line if the file cannot be read, its brackets do not balance, or it holds no tree.
    """
    if Path(path).is_dir():
        files = sorted(Path(path).rglob("*.mrg"))
        if not files:
            raise InputError(f"{path}: no .mrg file; expected bracketed trees")
        for file in files:
            yield from read_treebank(file)
        return
    depth, parts, count = 0, [""], 0
    origin = Origin(str(path), 1)
    for line in lines(path, MAX_TREE):
        for part in re.split(r"([()])", line.text):
            if not depth and not part.strip():
                continue
            if not depth:
                origin, parts = line.origin, []
                if part != "(":
                    what = "a closing bracket too many" if part == ")" else f"{part.strip()[:40]!r} outside a tree"
                    raise line.origin.error(f"{what}; expected bracketed trees such as (S (NP (PRP I)) …)")
            depth += {"(": 1, ")": -1}.get(part, 0)
            parts.append(part)
            if not depth:
                yield _sentence("".join(parts), origin)
                count += 1
        parts.append(" ")
    if depth:
        raise origin.error(f"the tree that begins here is not closed ({depth} brackets open)")
    if not count:
        raise Origin(str(path), 1).error("no tree; expected bracketed trees such as (S (NP (PRP I)) …)")


def _sentence(tree: str, origin: Origin) -> Sentence:
    leaves = []
    for tag, word in _LEAF.findall(tree):
        if not word and unescape(tag) == tag:
            raise origin.error(f"({tag}) has no word; expected (TAG word)")
        if tag != "-NONE-":
            leaves.append((tag, unescape(word or tag)))
    if not leaves:
        raise origin.error(f"{tree.strip()[:40]!r} has no leaf; expected (TAG word)")
    words = tuple(word for _, word in leaves)
    return Sentence(" ".join(words), words, tuple(tag for tag, _ in leaves), " ".join(tree.split()), origin)
