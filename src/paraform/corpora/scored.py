"""Pairs with a similarity score, a row each: the STS Benchmark, SICK, and any table with named columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from paraform.corpora.lines import Line, lines, records, sentence
from paraform.corpora.quoted import fields_of, in_one_line, quoted_rows
from paraform.corpora.sts import score_of
from paraform.corpora.tables import MAX_ROW, pair_rows
from paraform.records import Pair
from paraform.weights import PathLike

COLUMNS = ("sentence1", "sentence2", "score")
SICK = ("sentence_A", "sentence_B", "relatedness_score")


def read_scored(path: PathLike, columns: Sequence[str] | None = None) -> Iterator[Pair]:
    """The pairs of a file; `score` is None where its field is blank.

    Without `columns`: the STS Benchmark's own file (TABs, no header, the score in column 5 and the sentences in 6 and
    7), two sentences and their score between TABs without a header (STS17 puts the language behind them), the same as
    three columns of CSV, SICK's, and a table with columns sentence1, sentence2 and score. Of columns by their place
    more may follow.

    Args:
        columns: the names of two columns with sentences and of one with scores, of a CSV, TSV or JSON lines table.
    Raises: InputError, naming file and line, for a column that is not there (it names those that are), an empty
        sentence, or a score that is no finite number.
    """
    if columns is not None:
        return _of_table(path, columns)
    first = next(lines(path, MAX_ROW))
    fields = first.text.split("\t")
    if len(fields) >= 7 and _is_score(fields[4]):
        return _rows(path, lines(path), lambda line: line.text.split("\t"), (5, 6, 4), 7)
    if len(fields) >= 3 and _is_score(fields[2]):
        return _rows(path, lines(path), lambda line: line.text.split("\t"), (0, 1, 2), 3)
    if len(fields) == 1:
        quoted = fields_of(next(quoted_rows(lines(path, MAX_ROW, keep_ends=True), ",", MAX_ROW)), ",")
        if len(quoted) >= 3 and _is_score(quoted[2]):
            rows = quoted_rows(lines(path, MAX_ROW, keep_ends=True), ",", MAX_ROW)
            return _rows(path, rows, lambda line: fields_of(line, ",", strict=True), (0, 1, 2), 3)
    return _of_table(path, SICK if set(SICK) <= set(fields) else COLUMNS)


def _is_score(field: str) -> bool:
    try:
        return float(field) == float(field)
    except ValueError:
        return False


def _rows(
    path: PathLike, rows: Iterator[Line], split: Callable[[Line], list[str]], places: tuple[int, int, int], least: int
) -> Iterator[Pair]:
    def parse(line: Line) -> Iterator[Pair]:
        fields = split(line)
        if len(fields) < least:
            raise line.origin.error(f"{len(fields)} columns; expected {least}, as in the first line")
        first, second, score = (fields[place] for place in places)
        named = ((first, COLUMNS[0]), (second, COLUMNS[1]))
        sides = [sentence(in_one_line(text), name, line.origin) for text, name in named]
        yield Pair(sides[0], sides[1], score=score_of(score, line.origin), origin=line.origin)

    return records(path, rows, parse, skip=False)


def _of_table(path: PathLike, columns: Sequence[str]) -> Iterator[Pair]:
    for row in pair_rows(path, columns):
        written = "" if row.value is None else str(row.value)
        yield Pair(row.source, row.target, score=score_of(written, row.origin), origin=row.origin)
