"""Bracketed treebanks (`.mrg`): the words and Penn Treebank tags of each tree's leaves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from paraform.records import Origin, Sentence

_LEAF = re.compile(r"\(\s*([^\s()]+)\s+([^\s()]+)\s*\)")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def read_tagged(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """Words and tags of every tree of a file, traces left out; a tree may span lines.

    Raises: InputError with file and line if the brackets do not balance or the file holds no tree.
    """
    name = str(Path(path))
    depth, first_line, tree, count = 0, 1, "", 0
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if depth == 0 and not tree:
                first_line = number
            tree += line
            depth += line.count("(") - line.count(")")
            if depth < 0:
                raise Origin(name, number).error("a closing bracket too many; expected balanced trees")
            if depth == 0 and tree.strip():
                origin = Origin(name, first_line)
                leaves = [leaf for leaf in _LEAF.findall(tree) if leaf[0] != "-NONE-"]
                if not leaves:
                    raise origin.error(f"{tree.strip()[:40]!r} has no leaf; expected (TAG word)")
                words = tuple(_BRACKETS.get(word, word) for _, word in leaves)
                tags = tuple(tag for tag, _ in leaves)
                yield Sentence(" ".join(words), words, tags, origin=origin)
                tree = ""
                count += 1
    if depth:
        raise Origin(name, first_line).error(f"the tree that begins here is not closed ({depth} brackets open)")
    if not count:
        raise Origin(name, 1).error("no tree; expected bracketed trees such as (S (NP (PRP I)) …)")
