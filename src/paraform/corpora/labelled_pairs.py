"""Pairs labelled as paraphrases or not: PAN (Madnani, Tetreault and Chodorow 2012), MRPC (Dolan and Brockett 2005),
PAWS (Zhang, Baldridge and He 2019), Quora's own release, and any table with named columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from paraform.corpora.lines import Line, lines, records, sentence
from paraform.corpora.pairs import read_pairs
from paraform.corpora.quora import COLUMNS as QUORA
from paraform.corpora.quora import read_quora
from paraform.corpora.quoted import in_one_line
from paraform.corpora.tables import MAX_ROW, PairRow, Value, pair_rows
from paraform.records import Origin, Pair
from paraform.weights import PathLike

COLUMNS = ("sentence1", "sentence2", "label")
MRPC = ("#1 String", "#2 String", "Quality")
LABELS = ".labels"


def read_labelled_pairs(
    path: PathLike, columns: Sequence[str] | None = None, *, skip_bad_lines: bool = False
) -> Iterator[Pair]:
    """The pairs of a file, `label` 1 of paraphrases and 0 of others, None throughout if the file has no labels.

    Without `columns` a file is known by its name (`X.labels`: PAN, beside `X_s1.txt` and `X_s2.txt`) or its first
    line: MRPC's, Quora's or PAWS's header, or one with columns sentence1, sentence2 and label; PAWS without its
    header; two TAB-separated columns, which are paraphrases.

    Args:
        columns: the names of two columns with sentences and of one with labels, of a CSV, TSV or JSON lines table.
        skip_bad_lines: leave out what cannot be used, and count it in warnings at the end; that PAN's files are of
            different lengths is an error either way.
    Raises: InputError, naming file and line, for a column that is not there (it names those that are), an empty
        sentence, a label that is not 0 or 1, or PAN's files of different lengths.
    """
    if columns is not None:
        return _of_table(path, columns, skip=skip_bad_lines)
    if str(path).endswith(LABELS):
        return records(path, _in_step(Path(path)), _pan, skip_bad_lines)
    fields = next(lines(path, MAX_ROW)).text.split("\t")
    if set(MRPC) <= set(fields):
        return _of_table(path, MRPC, "tsv", skip=skip_bad_lines)  # the published file is called .txt
    if len(fields) > 2 and set(QUORA) <= {field.strip('"') for field in fields}:
        return read_quora(path, skip_bad_lines=skip_bad_lines)
    if len(fields) == 4 and fields[0].isdigit() and fields[3] in ("0", "1"):
        return records(path, lines(path), _paws, skip_bad_lines)
    if len(fields) == 2 and not set(fields) & set(COLUMNS):
        return read_pairs(path, skip_bad_lines=skip_bad_lines)
    return _of_table(path, COLUMNS, skip=skip_bad_lines)


def require_both_labels(pairs: Sequence[Pair], path: PathLike) -> None:
    """Raises: InputError, naming file and line, if all pairs are paraphrases, or none is."""
    labels = {pair.label for pair in pairs}
    if len(labels) < 2:
        origin = pairs[0].origin if pairs and pairs[0].origin else Origin(str(path), 1)
        label = pairs[0].label if pairs else None
        came = (
            f"label {label} of the only pair" if len(pairs) == 1 else f"label {label}, as of all {len(pairs):,} pairs"
        )
        raise origin.error(f"{came}; expected pairs of both labels, 0 and 1")


def _paws(line: Line) -> Iterator[Pair]:
    fields = line.text.split("\t")
    if len(fields) != 4:
        raise line.origin.error(f"{len(fields)} columns; expected 4 (id TAB sentence1 TAB sentence2 TAB label)")
    yield _pair(fields[1], fields[2], fields[3], line.origin)


def _in_step(labels: Path) -> Iterator[tuple[Line, Line, Line]]:
    """The lines of PAN's three files: labels, first sentences, second sentences."""
    stem = labels.name.removesuffix(LABELS)
    paths = [labels, *(labels.with_name(f"{stem}_s{number}.txt") for number in (1, 2))]
    for rows in itertools.zip_longest(*(lines(each, blanks=True) for each in paths)):
        if None in rows:
            short = paths[rows.index(None)]
            longer = next(row for row in rows if row is not None)
            raise longer.origin.error(f"a line beyond the last one of {short}; expected as many lines")
        label, first, second = rows
        yield label, first, second


def _pan(rows: tuple[Line, Line, Line]) -> Iterator[Pair]:
    label, first, second = rows
    yield _pair(first.text, second.text, label.text.strip(), label.origin)


def _of_table(path: PathLike, columns: Sequence[str], format: str | None = None, *, skip: bool) -> Iterator[Pair]:
    def parse(row: PairRow) -> Iterator[Pair]:
        yield Pair(row.source, row.target, label=_label(row.value, row.origin), origin=row.origin)

    return records(path, pair_rows(path, columns, format, skip_bad_lines=skip), parse, skip)


def _pair(first: str, second: str, label: str, origin: Origin) -> Pair:
    sides = [sentence(in_one_line(text), name, origin) for text, name in ((first, COLUMNS[0]), (second, COLUMNS[1]))]
    return Pair(sides[0], sides[1], label=_label(label, origin), origin=origin)


def _label(value: Value, origin: Origin) -> int:
    written = str(int(value)) if isinstance(value, bool) else str(value)
    if written not in ("0", "1"):
        raise origin.error(f"the label is {written[:40]!r}; expected 0 or 1")
    return int(written)
