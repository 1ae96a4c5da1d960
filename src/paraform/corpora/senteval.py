"""SentEval's classification sets (Conneau and Kiela 2018), in its own folders or with their files side by side."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from paraform.corpora.lines import Line, lines
from paraform.records import InputError
from paraform.weights import PathLike

Part: TypeAlias = Literal["train", "dev", "test", ""]
Reader: TypeAlias = "Callable[[PathLike], Iterator[LabelledText]]"

TREC_CLASSES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
SICK_CLASSES = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
MRPC_COLUMNS = 5
SICK_COLUMNS = ("sentence_A", "sentence_B", "entailment_judgment")


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A row of a set.

    Args:
        text: the sentence.
        other: the second one of a pair; None where there is none.
        label: its class, a number from 0.
        part: "train", "dev" or "test"; "" where the set has no split.
    """

    text: str
    other: str | None
    label: int
    part: Part


def read_binary(path: PathLike, label: int, part: Part = "") -> Iterator[LabelledText]:
    """MR, CR, SUBJ and MPQA: one class a file, latin-1, a sentence a line; blank lines are left out.

    A line ends with LF alone. SentEval's `splitlines` ends one at each byte 0x85 too, which the authors of MR wrote for
    an ellipsis: 13 lines more in `rt-polarity.pos`.
    """
    for line in lines(path, latin_1=True):
        if line.text.strip():
            yield LabelledText(line.text.strip(), None, label, part)


def read_trec(path: PathLike, part: Part) -> Iterator[LabelledText]:
    """TREC: `CLASS:kind question`, latin-1; the six coarse classes."""
    for line in _filled(path, latin_1=True):
        kind, _, question = line.text.strip().partition(" ")
        name = kind.partition(":")[0]
        if name not in TREC_CLASSES or ":" not in kind or not question.strip():
            raise line.origin.error(
                f"{line.text[:40]!r}; expected CLASS:kind question, one of {', '.join(TREC_CLASSES)}"
            )
        yield LabelledText(question.strip(), None, TREC_CLASSES.index(name), part)


def read_sst(path: PathLike, part: Part) -> Iterator[LabelledText]:
    """SST-2: `sentence TAB 0|1` as SentEval has it, or `0|1 sentence`."""
    for line in _filled(path):
        sentence, tab, label = line.text.strip().rpartition("\t")
        if not tab:
            label, _, sentence = line.text.strip().partition(" ")
        if label not in ("0", "1") or not sentence.strip():
            raise line.origin.error(f"{line.text[:40]!r}; expected sentence TAB 0 or 1, or 0 or 1 and a sentence")
        yield LabelledText(sentence.strip(), None, int(label), part)


def read_mrpc(path: PathLike, part: Part) -> Iterator[LabelledText]:
    """MRPC: a header, then `0|1 TAB id TAB id TAB sentence TAB sentence`; quotes are text."""
    rows = _filled(path)
    next(rows)
    for line in rows:
        columns = [column.strip() for column in line.text.strip().split("\t")]
        if len(columns) != MRPC_COLUMNS or columns[0] not in ("0", "1") or not (columns[3] and columns[4]):
            raise line.origin.error(
                f"{len(columns)} columns, the first {columns[0][:20]!r}; expected 0 or 1, two ids and two sentences"
            )
        yield LabelledText(columns[3], columns[4], int(columns[0]), part)


def read_sick(path: PathLike, part: Part) -> Iterator[LabelledText]:
    """SICK-E: a header with sentence_A, sentence_B and entailment_judgment, TAB separated."""
    rows = _filled(path)
    header_line = next(rows)
    header = header_line.text.strip().split("\t")
    if missing := [name for name in SICK_COLUMNS if name not in header]:
        raise header_line.origin.error(f"no column {missing[0]!r} in the header; expected {', '.join(SICK_COLUMNS)}")
    places = [header.index(name) for name in SICK_COLUMNS]
    for line in rows:
        columns = line.text.strip().split("\t")
        if len(columns) != len(header):
            raise line.origin.error(f"{len(columns)} columns; expected {len(header)}, as in the header")
        first, second, label = (columns[place].strip() for place in places)
        if label not in SICK_CLASSES or not (first and second):
            raise line.origin.error(f"the label is {label[:40]!r}; expected one of {', '.join(SICK_CLASSES)}")
        yield LabelledText(first, second, SICK_CLASSES.index(label), part)


def _filled(path: PathLike, latin_1: bool = False) -> Iterator[Line]:
    return (line for line in lines(path, latin_1=latin_1) if line.text.strip())


def _classes(positive: str, negative: str) -> tuple[tuple[str, Reader], ...]:
    return (positive, lambda path: read_binary(path, 1)), (negative, lambda path: read_binary(path, 0))


def _parts(
    read: Callable[[PathLike, Part], Iterator[LabelledText]], train: str, test: str, dev: str | None = None
) -> tuple[tuple[str, Reader], ...]:
    files: list[tuple[str | None, Part]] = [(train, "train"), (dev, "dev"), (test, "test")]
    return tuple((file, functools.partial(_part, read, part)) for file, part in files if file)


def _part(
    read: Callable[[PathLike, Part], Iterator[LabelledText]], part: Part, path: PathLike
) -> Iterator[LabelledText]:
    return read(path, part)


LAYOUTS: Mapping[str, Sequence[tuple[tuple[str, Reader], ...]]] = {
    "MR": [_classes("rt-polarity.pos", "rt-polarity.neg")],
    "CR": [_classes("custrev.pos", "custrev.neg")],
    "MPQA": [_classes("mpqa.pos", "mpqa.neg")],
    "SUBJ": [_classes("subj.objective", "subj.subjective")],
    "SST-2": [
        _parts(read_sst, train="sentiment-train", dev="sentiment-dev", test="sentiment-test"),
        _parts(read_sst, train="sst2.train", dev="sst2.dev", test="sst2.test"),
    ],
    "TREC": [
        _parts(read_trec, train="train_5500.label", test="TREC_10.label"),
        _parts(read_trec, train="TREC.train", test="TREC.test"),
    ],
    "MRPC": [_parts(read_mrpc, train="msr_paraphrase_train.txt", test="msr_paraphrase_test.txt")],
    "SICK-E": [_parts(read_sick, train="SICK_train.txt", dev="SICK_trial.txt", test="SICK_test_annotated.txt")],
}
"""The files of each set, SentEval's names first, and how each is read; SST-2 has two classes, in `SST/binary`."""


def read_transfer_sets(folder: PathLike, names: Sequence[str] = ()) -> dict[str, list[LabelledText]]:
    """The sets of these names, or all that are there, by their files anywhere below a folder; the highest one counts.

    Raises: InputError if there is none, one of these names is not there, or a file cannot be read as it should.
    """
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder; expected SentEval's data")
    if unknown := [name for name in names if name not in LAYOUTS]:
        raise InputError(f"no set {unknown[0]!r}; expected one of {', '.join(LAYOUTS)}")
    found: dict[str, list[LabelledText]] = {}
    for name in names or LAYOUTS:
        for layout in LAYOUTS[name]:
            places = [
                _highest(Path(folder), file, under="binary" if file.startswith("sentiment-") else "")
                for file, _ in layout
            ]
            if all(places):
                readers = [read for _, read in layout]
                pairs = zip(places, readers, strict=True)
                found[name] = list(chain.from_iterable(read(place) for place, read in pairs if place))
                break
        else:
            if names:
                files = " and ".join(file for file, _ in LAYOUTS[name][0])
                raise InputError(f"{folder}: {name} is not there; expected {files}")
    if not found:
        raise InputError(f"{folder}: none of {', '.join(LAYOUTS)}; expected files as SentEval names them")
    return found


def _highest(folder: Path, file: str, under: str) -> Path | None:
    places = [path for path in folder.rglob(file) if path.is_file() and (not under or path.parent.name == under)]
    return min(places, key=lambda path: (len(path.parts), str(path)), default=None)
