"""SentEval's probing sets: `tr|va|te TAB label TAB … TAB sentence` (Conneau et al. 2018)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from paraform.corpora.lines import lines, sentence
from paraform.records import Origin
from paraform.weights import PathLike, atomic_path

PARTS = ("tr", "va", "te")
FILES = {
    "BShift": "bigram_shift.txt",
    "TreeDepth": "tree_depth.txt",
    "TopConst": "top_constituents.txt",
    "SentLen": "sentence_length.txt",
    "WordContent": "word_content.txt",
    "Tense": "past_present.txt",
    "SubjNum": "subj_number.txt",
    "ObjNum": "obj_number.txt",
    "SOMO": "odd_man_out.txt",
    "CoordInv": "coordination_inversion.txt",
}
"""The sets by the names that papers print, and SentEval's files of them."""


@dataclass(frozen=True, slots=True)
class ProbingExample:
    """A sentence and what a probe is to say of it.

    Args:
        part: one of `PARTS`: training, validation, test.
        text: the sentence as the encoder reads it.
    """

    part: str
    label: str
    text: str
    origin: Origin | None = field(default=None, compare=False, repr=False)


def read_probing(path: PathLike) -> Iterator[ProbingExample]:
    """The examples of a file, in order; columns between label and sentence are left out, as SentEval leaves them.

    Whether the set can be used is known at its end only: it must have all three parts, two labels or more, and two
    examples or more of each, of which one in `tr`.
    Raises: InputError, naming file and line, for a line of another form, a blank sentence, and for what the set lacks.
    """
    first: dict[tuple[str, str], Origin] = {}  # of each part and label
    count: Counter[str] = Counter()
    for line in lines(path):
        columns = line.text.split("\t")
        if len(columns) < 3:
            came = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
            raise line.origin.error(f"{came}; expected 3 or more (tr, va or te TAB label TAB … TAB sentence)")
        part, label = columns[0].strip(), columns[1].strip()
        if part not in PARTS:
            raise line.origin.error(f"the part is {part[:40]!r}; expected one of {', '.join(PARTS)}")
        if not label:
            raise line.origin.error("the label is empty; expected a class, such as I or O")
        first.setdefault((part, label), line.origin)
        count[label] += 1
        yield ProbingExample(part, label, sentence(columns[-1], "sentence", line.origin).text, line.origin)
    for part in PARTS:
        if all(found != part for found, _ in first):
            raise Origin(str(path), 1).error(f"no line of {part!r}; expected some of each of {', '.join(PARTS)}")
    for (part, label), origin in first.items():
        if count[label] == 1:
            raise origin.error(f"the label {label[:40]!r} has one example; expected two or more of each")
        if ("tr", label) not in first:
            came = f"the label {label[:40]!r} of {part} has no example in tr"
            raise origin.error(f"{came}; expected labels that are trained")
        if len(count) == 1:
            raise origin.error(f"all labels are {label[:40]!r}; expected two or more")


def write_probing(examples: Iterable[ProbingExample], path: PathLike) -> int:
    """Write a set as `read_probing` reads it back equal; returns how many examples. An error leaves no file."""
    count = 0
    with atomic_path(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        for example in examples:
            file.write(f"{example.part}\t{example.label}\t{example.text}\n")
            count += 1
    return count
