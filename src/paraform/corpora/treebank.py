"""Bracketed treebanks (`.mrg`): the words and Penn Treebank tags of each tree's leaves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from paraform.corpora.lines import lines
from paraform.records import Origin, Sentence

_LEAF = re.compile(r"\(\s*([^\s()]+)\s+([^\s()]+)\s*\)")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def read_tagged(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """Words and tags of every tree of a file, traces left out; a tree may span lines.

    Raises: InputError with file and line if the file cannot be read, its brackets do not balance, or it holds no tree.
    """
    depth, tree, count = 0, "", 0
    origin = Origin(str(path), 1)
    for line in lines(path):
        text = line.text.strip()
        if not tree:
            origin = line.origin
        tree += f"{text} " if text else ""
        depth += text.count("(") - text.count(")")
        if depth < 0:
            raise line.origin.error("a closing bracket too many; expected balanced trees")
        if depth == 0 and tree:
            leaves = [leaf for leaf in _LEAF.findall(tree) if leaf[0] != "-NONE-"]
            if not leaves:
                raise origin.error(f"{tree.strip()[:40]!r} has no leaf; expected (TAG word)")
            words = tuple(_BRACKETS.get(word, word) for _, word in leaves)
            yield Sentence(" ".join(words), words, tuple(tag for tag, _ in leaves), origin=origin)
            tree = ""
            count += 1
    if depth:
        raise origin.error(f"the tree that begins here is not closed ({depth} brackets open)")
    if not count:
        raise Origin(str(path), 1).error("no tree; expected bracketed trees such as (S (NP (PRP I)) …)")
