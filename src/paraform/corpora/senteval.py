"""SentEval's classification sets (Conneau and Kiela 2018), in its own folders or with their files side by side."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from paraform.corpora.labelled_pairs import MRPC, read_labelled_pairs
from paraform.corpora.lines import Line, lines
from paraform.corpora.locating import highest
from paraform.corpora.tables import pair_rows
from paraform.records import InputError, Origin
from paraform.weights import PathLike

Part: TypeAlias = Literal["train", "dev", "test", ""]
Reader: TypeAlias = "Callable[[PathLike], Iterator[LabelledText]]"

TREC_CLASSES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
SICK_CLASSES = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
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
    origin: Origin | None = field(default=None, compare=False, repr=False)


def read_binary(path: PathLike, label: int, part: Part = "") -> Iterator[LabelledText]:
    """MR, CR, SUBJ and MPQA: one class a file, latin-1, a sentence a line; blank lines are left out.

    A line ends with LF alone. SentEval's `splitlines` ends one at each byte 0x85 too, which the authors of MR wrote for
    an ellipsis: 13 lines more in `rt-polarity.pos`.
    """
    for line in lines(path, latin_1=True):
        if line.text.strip():
            yield LabelledText(line.text.strip(), None, label, part, line.origin)


def read_trec(path: PathLike, part: Part) -> Iterator[LabelledText]:
    """TREC: `CLASS:kind question`, latin-1; the six coarse classes."""
    for line in _filled(path, latin_1=True):
        kind, _, question = line.text.strip().partition(" ")
        name = kind.partition(":")[0]
        if name not in TREC_CLASSES or ":" not in kind or not question.strip():
            raise line.origin.error(
                f"{line.text[:40]!r}; expected CLASS:kind question, one of {', '.join(TREC_CLASSES)}"
            )
        yield LabelledText(question.strip(), None, TREC_CLASSES.index(name), part, line.origin)


def read_sst(path: PathLike, part: Part) -> Iterator[LabelledText]:
    """SST-2: `sentence TAB 0|1` as SentEval has it, or `0|1 sentence`."""
    for line in _filled(path):
        sentence, tab, label = line.text.strip().rpartition("\t")
        if not tab:
            label, _, sentence = line.text.strip().partition(" ")
        if label not in ("0", "1") or not sentence.strip():
            raise line.origin.error(f"{line.text[:40]!r}; expected sentence TAB 0 or 1, or 0 or 1 and a sentence")
        yield LabelledText(sentence.strip(), None, int(label), part, line.origin)


def read_mrpc(path: PathLike, part: Part) -> Iterator[LabelledText]:
    """MRPC: TAB separated below a header with Quality (0 or 1), #1 String and #2 String; quotes are text."""
    for pair in read_labelled_pairs(path, MRPC):
        yield LabelledText(pair.source.text, pair.target.text, int(pair.label == 1), part, pair.origin)


def read_sick(path: PathLike, part: Part) -> Iterator[LabelledText]:
    """SICK-E: TAB separated below a header with sentence_A, sentence_B and entailment_judgment."""
    for row in pair_rows(path, SICK_COLUMNS, "tsv"):
        label = str(row.value).strip()
        if label not in SICK_CLASSES:
            raise row.origin.error(f"the label is {label[:40]!r}; expected one of {', '.join(SICK_CLASSES)}")
        yield LabelledText(row.source.text, row.target.text, SICK_CLASSES.index(label), part, row.origin)


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

    Raises: InputError if there is none, one of these names is not there, or a file cannot be read as it should; naming
        file and line, for a file without rows, and for labels that no probe can be trained on: one alone, or one of
        dev or test that train has not.
    """
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder; expected SentEval's data")
    if unknown := [name for name in names if name not in LAYOUTS]:
        raise InputError(f"no set {unknown[0]!r}; expected one of {', '.join(LAYOUTS)}")
    found: dict[str, list[LabelledText]] = {}
    for name in names or LAYOUTS:
        for layout in LAYOUTS[name]:
            places = [highest(folder, file, "binary" if file.startswith("sentiment-") else "") for file, _ in layout]
            if all(places):
                readers = [read for _, read in layout]
                files = [_filled_file(place, read) for place, read in zip(places, readers, strict=True) if place]
                found[name] = [row for rows in files for row in rows]
                _require_labels(found[name])
                break
        else:
            if names:
                expected = " and ".join(file for file, _ in LAYOUTS[name][0])
                raise InputError(f"{folder}: {name} is not there; expected {expected}")
    if not found:
        raise InputError(f"{folder}: none of {', '.join(LAYOUTS)}; expected files as SentEval names them")
    return found


def _filled_file(path: Path, read: Reader) -> list[LabelledText]:
    rows = list(read(path))
    if not rows:
        raise Origin(str(path), 1).error("blank lines alone; expected a sentence in some")
    return rows


def _require_labels(rows: Sequence[LabelledText]) -> None:
    trained = {row.label for row in rows if row.part in ("train", "")}
    for row in rows:
        if row.origin and row.label not in trained:
            raise row.origin.error(f"no row of train has the label of this one, of {row.part}; expected some")
    if len(trained) < 2 and rows[0].origin:
        raise rows[0].origin.error("all rows of train have the label of this one; expected two or more labels")
