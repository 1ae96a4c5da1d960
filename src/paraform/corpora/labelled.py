"""Sentences behind a label: `LABEL TAB sentence`, as Yahoo Answers and Yelp are distributed for language models."""

from __future__ import annotations

from collections.abc import Iterator

from paraform.corpora.lines import Line, lines, records, sentences
from paraform.records import Sentence
from paraform.weights import PathLike


def read_labelled(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Sentence]:
    """The sentences of a file, without their labels.

    Raises: InputError, naming file and line, for a line of other than two columns, or with an empty one.
    """
    return records(path, lines(path), _parse, skip_bad_lines)


def _parse(line: Line) -> Iterator[Sentence]:
    yield sentences(line, "label", "sentence")[1]
