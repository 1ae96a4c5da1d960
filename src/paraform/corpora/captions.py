"""Caption files: several captions of one image a line, TAB separated (Multi30k, COCO, Flickr30k)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Literal

from paraform.corpora.lines import Line, lines, records, sentences
from paraform.records import Pair
from paraform.weights import PathLike


def read_captions(
    path: PathLike, *, pairs: Literal["first", "all"] = "first", skip_bad_lines: bool = False
) -> Iterator[Pair]:
    """Pairs of captions of the same image; `cluster` is the number of the line, from 1.

    Args:
        pairs: "first": the line's first caption with each other one, N − 1 pairs of a line of N, so that no sentence
            weighs more than another as a target; "all": each two captions once, in the line's order, N (N − 1) / 2.
    Raises: InputError, naming file and line, for fewer than two captions or an empty one.
    """
    if pairs not in ("first", "all"):
        raise ValueError(f'pairs is {pairs!r}; expected "first" or "all"')

    def parse(line: Line) -> Iterator[Pair]:
        count = line.text.count("\t") + 1
        if count < 2:
            raise line.origin.error("1 caption; expected two or more, TAB separated")
        captions = sentences(line, *(f"caption {number}" for number in range(1, count + 1)))
        for source, target in combinations(captions, 2):
            if pairs == "all" or source is captions[0]:
                yield Pair(source, target, cluster=line.origin.line, origin=line.origin)

    return records(path, lines(path), parse, skip_bad_lines)
