"""Pairs judged as entailment, neutral or contradiction: SICK, SNLI and MultiNLI as they are distributed."""

from __future__ import annotations

from collections.abc import Iterator

from paraform.corpora.jsonl import value_of
from paraform.corpora.lines import Line, lines, records, sentence
from paraform.corpora.quoted import in_one_line
from paraform.corpora.senteval import SICK_CLASSES, SICK_COLUMNS, LabelledText
from paraform.corpora.tables import MAX_ROW, PairRow, pair_rows
from paraform.records import Origin
from paraform.weights import PathLike

SNLI_COLUMNS = ("sentence1", "sentence2", "gold_label")
UNDECIDED = "-"  # no three of five people agreed


def read_entailment(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[LabelledText]:
    """The pairs of a file, `label` 0 of contradiction, 1 of neutral and 2 of entailment.

    A file is known by its name (.jsonl: SNLI's and MultiNLI's objects) or its first line: SICK's header, or one with
    columns sentence1, sentence2 and gold_label, TAB separated or as the name ends. Pairs that people did not agree on,
    `-`, are left out.

    Args:
        skip_bad_lines: leave out what cannot be used, and count it in a warning at the end.
    Raises: InputError, naming file and line, for a column that is not there (it names those that are), an empty
        sentence, or a label that is none of the three.
    """
    if str(path).lower().endswith((".jsonl", ".ndjson")):
        return records(path, lines(path, MAX_ROW), _of_object, skip_bad_lines)
    fields = next(lines(path, MAX_ROW)).text.split("\t")
    columns = SICK_COLUMNS if set(SICK_COLUMNS) <= set(fields) else SNLI_COLUMNS
    return records(path, pair_rows(path, columns, skip_bad_lines=skip_bad_lines), _of_row, skip_bad_lines)


def _of_row(row: PairRow) -> Iterator[LabelledText]:
    return _judged(row.source.text, row.target.text, row.value, row.origin)


def _of_object(line: Line) -> Iterator[LabelledText]:
    value = value_of(line)
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in SNLI_COLUMNS):
        raise line.origin.error(f"no object with texts {', '.join(SNLI_COLUMNS)}; expected one a line, as SNLI has it")
    first, second = (sentence(in_one_line(value[name]), name, line.origin).text for name in SNLI_COLUMNS[:2])
    return _judged(first, second, value["gold_label"], line.origin)


def _judged(first: str, second: str, label: object, origin: Origin) -> Iterator[LabelledText]:
    name = str(label).strip()
    if name == UNDECIDED:
        return
    if name.upper() not in SICK_CLASSES:
        raise origin.error(f"the label is {name[:40]!r}; expected one of {', '.join(SICK_CLASSES).lower()}")
    yield LabelledText(first, second, SICK_CLASSES.index(name.upper()), "", origin)
