"""The sentences of evaluation sets, whatever their layout: the columns of a file that hold text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from paraform.corpora.jsonl import value_of
from paraform.corpora.lines import Line, lines
from paraform.corpora.quoted import fields_of, in_one_line, quoted_rows
from paraform.corpora.tables import MAX_ROW, TEXT_COLUMNS, delimiter_of
from paraform.corpora.treebank import read_treebank
from paraform.records import InputError, Origin
from paraform.weights import PathLike

COLUMNS = {
    *TEXT_COLUMNS,
    *("target", "paraphrase", "caption", "premise", "hypothesis", "string1", "string2", "#1 string", "#2 string"),
    *(f"{name}{number}" for name in ("sentence", "question", "text") for number in (1, 2)),
    *("sentence_a", "sentence_b"),
}
"""Names of columns of text, lower-cased: those of GLUE, MRPC, SICK, Quora and of our own tables."""

LOOKED_AT = 1_000  # rows by which columns without a name are told apart

# TREC and SST put the label of a line before its text: `DESC:manner How …`, `0 one long …`.
_LABEL = re.compile(r"(?:\d+|[A-Z]+:\w+) (?=\S)")
_NUMBER = re.compile(r"[\s\d.,:;/+-]*")
_NO_SETS = re.compile(r"(?i)(\.|readme|licen[cs]e).*|.*\.(md|py|sh|json|pdf|png|npy|safetensors)")


def evaluation_files(path: PathLike) -> list[Path]:
    """The file, or all files of a folder and of those in it, by name, but for hidden ones, READMEs, code and pictures.

    Raises: InputError if there is none.
    """
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not any(_NO_SETS.fullmatch(part) for part in file.relative_to(folder).parts)
    ]
    if not files:
        raise InputError(f"{path}: a folder without files; expected evaluation sets, such as SentEval's")
    return files


def read_evaluation_sets(paths: Iterable[PathLike]) -> dict[str, list[str]]:
    """The texts of files, and of all files in folders, by their paths; of a folder, files without text are left out.

    Raises: InputError as `read_evaluation_texts` does, or if a file named here has no text.
    """
    found: dict[str, list[str]] = {}
    for path in paths:
        for file in evaluation_files(path):
            texts = list(read_evaluation_texts(file))
            if texts:
                found[str(file)] = texts
            elif file == Path(path):
                raise Origin(str(path), 1).error("numbers or labels alone; expected a column of texts")
        if not any(Path(path) in (Path(name), *Path(name).parents) for name in found):
            raise InputError(f"{path}: no file in it has a column of texts; expected evaluation sets")
    return found


def read_evaluation_texts(path: PathLike) -> Iterator[str]:
    """The texts of a file, row by row; none of a file of numbers or labels alone.

    By the file's name: trees (.mrg), JSON lines (.jsonl, .ndjson: every text of an object that has a known name, else
    every text of several words), CSV (.csv), else columns apart by TABs. A header is known by one of `COLUMNS`; the
    columns so named are text. Without one, a column is text if half of its fields or more are several words; of a file
    with one column, if they are not numbers. A label before the text of each line (TREC's, SST's) is left out, and so
    are empty fields. A line that is not UTF-8 is taken for Latin-1, as MR, CR, SUBJ, MPQA and TREC are.

    Raises: InputError, naming file and line, for what cannot be read.
    """
    ending = Path(path).suffix.lower()
    if ending == ".mrg":
        yield from (sentence.text for sentence in read_treebank(path))
    elif ending in (".jsonl", ".ndjson"):
        for line in lines(path, MAX_ROW):
            yield from _of_object(line)
    else:
        yield from _of_columns(_rows(path, ending == ".csv"))


def _rows(path: PathLike, quoted: bool) -> Iterator[list[str]]:
    physical = lines(path, MAX_ROW, keep_ends=quoted, latin_1=True)
    if not quoted:
        yield from (line.text.split("\t") for line in physical)
        return
    first = next(physical)
    delimiter = delimiter_of(first.text)
    for row in quoted_rows(itertools.chain([first], physical), delimiter, MAX_ROW):
        yield [in_one_line(field) for field in fields_of(row, delimiter)]


def _of_columns(rows: Iterator[list[str]]) -> Iterator[str]:
    beginning = list(itertools.islice(rows, LOOKED_AT))
    named = [at for at, name in enumerate(beginning[0]) if name.strip().lower() in COLUMNS] if beginning else []
    if named:
        beginning = beginning[1:]
    columns = named or _text_columns(beginning)
    labelled = len(columns) == 1 and all(_LABEL.match(row[columns[0]]) for row in beginning if len(row) > columns[0])
    for row in itertools.chain(beginning, rows):
        for at in columns:
            text = row[at].strip() if at < len(row) else ""
            if labelled:
                text = _LABEL.sub("", text, count=1)
            if text:
                yield text


def _text_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    width = max(map(len, rows), default=0)
    columns = [[row[at].strip() for row in rows if at < len(row) and row[at].strip()] for at in range(width)]
    if width == 1:
        return [0] if any(not _NUMBER.fullmatch(field) for field in columns[0]) else []
    return [
        at
        for at, fields in enumerate(columns)
        if 2 * sum(" " in field and not _NUMBER.fullmatch(field) for field in fields) >= len(fields) > 0
    ]


def _of_object(line: Line) -> Iterator[str]:
    value = value_of(line)
    if not isinstance(value, dict):
        raise line.origin.error("no JSON object; expected one a line, such as {'text': …}")
    texts = {key: field for key, field in value.items() if isinstance(field, str) and field.strip()}
    named = [text for key, text in texts.items() if key.lower() in COLUMNS]
    yield from named or [text for text in texts.values() if " " in text.strip()]
