"""What raters answer to the items of a sheet, kept on disk answer by answer."""

from __future__ import annotations

import errno
import itertools
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from paraform.corpora.lines import lines
from paraform.evaluation.rating import MOST, Item, json_object, shown_text
from paraform.records import InputError, Origin
from paraform.weights import PathLike

Acceptable: TypeAlias = Literal["strictly", "leniently", "no"]
ACCEPTABLE: tuple[Acceptable, ...] = ("strictly", "leniently", "no")
SCALES = ("meaning", "fluency", "form")
WORST, BEST = 1, 5


@dataclass(frozen=True, slots=True)
class Answer:
    """A rater's judgement of an item.

    Args:
        meaning, fluency, form: 1 to 5, 5 the best; form is None where the item has no exemplar.
    """

    id: str
    rater: str
    meaning: int
    fluency: int
    form: int | None
    acceptable: Acceptable
    comment: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object; no form and no comment are left out."""
        known = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in known.items() if value not in (None, "")}


def parse_answer(words: str, item: Item, rater: str) -> Answer:
    """What a rater typed: `4 5 3 s`, or `453s`: meaning, fluency, form where there is an exemplar, then s, l or n.

    The last may be the whole word; what stands behind it is a comment.
    Raises: InputError that says what came and what was expected.
    """
    scales = SCALES if item.exemplar is not None else SCALES[:2]
    marks = rf"([{WORST}-{BEST}])\s*" * len(scales)
    verdicts = "|".join((*ACCEPTABLE, *(name[0] for name in ACCEPTABLE)))
    found = re.fullmatch(rf"{marks}((?ai:{verdicts}))(?:\s+(.*))?", words.strip(), re.DOTALL)  # a: no ſ for an s
    if found is None:
        raise InputError(
            f"{words.strip()[:40]!r}; expected {', '.join(scales)} from {WORST} to {BEST}, then s (strictly),"
            f" l (leniently) or n (not acceptable), as in {'4 5 3 s' if len(scales) == 3 else '4 5 s'}"
        )
    *numbers, word, rest = found.groups()
    verdict = {name[0]: name for name in ACCEPTABLE}[word[0].lower()]
    values = dict(zip(scales, map(int, numbers), strict=True))
    comment = shown_text({"comment": rest}, "comment", Origin("answer", 1)) if rest else ""
    return Answer(item.id, rater, values["meaning"], values["fluency"], values.get("form"), verdict, comment)


def read_answers(path: PathLike, items: Mapping[str, Item]) -> list[Answer]:
    """The answers of a file, in order; a later one of the same rater on the same item takes the earlier one's place.

    A file that is empty, as of a rater who gave none, has no answers. Half a line at the end, as a kill may leave it,
    is left out with a warning on the logger "paraform".
    Raises: InputError, naming file and line, for an item that is not there, a value out of range, and the like.
    """
    return _read_answers(path, items)[0]


def read_ratings(paths: Iterable[PathLike], items: Mapping[str, Item]) -> list[Answer]:
    """The answers of several files. Raises: InputError as `read_answers` does, and if two files name one rater."""
    found: list[Answer] = []
    file_of: dict[str, PathLike] = {}
    for path in dict.fromkeys(paths):
        for answer in read_answers(path, items):
            if (known := file_of.setdefault(answer.rater, path)) != path:
                raise InputError(f"{path}: rater {answer.rater!r} is in {known} too; expected a name for each rater")
            found.append(answer)
    return found


def _read_answers(path: PathLike, items: Mapping[str, Item]) -> tuple[list[Answer], int]:
    """The answers, and the number of the damaged line behind them; 0 if there is none."""
    found: dict[tuple[str, str], Answer] = {}
    damage: InputError | None = None
    at = 0
    if Path(path).is_file() and not Path(path).stat().st_size:
        return [], at
    for line in lines(path, MOST):
        if isinstance(line.content, str) and not line.content.strip():
            continue
        if damage is not None:
            raise damage
        try:
            value = json_object(line, '{"id": …, "rater": …, "meaning": 4, …}')
        except InputError as error:
            if not _half_written(path, line.origin.line):
                raise
            damage, at = error, line.origin.line
            continue
        answer = _answer(value, items, line.origin)
        found.pop((answer.rater, answer.id), None)
        found[answer.rater, answer.id] = answer
    if damage is not None:
        logging.getLogger("paraform").warning("%s; it is the last line, and left out", damage)
    return list(found.values()), at


def _half_written(path: PathLike, number: int) -> bool:
    """Whether the line may be what a kill or a machine that went down leaves of an answer: its beginning, or NULs."""
    with open(path, "rb") as file:
        raw = next(itertools.islice(file, number - 1, None), b"")
    return raw.startswith(b"{") or b"\0" in raw


def _answer(value: dict[str, Any], items: Mapping[str, Item], place: Origin) -> Answer:
    if unknown := sorted(value.keys() - set(Answer.__slots__)):
        raise place.error(f"unknown field {unknown[0][:40]!r}; expected {', '.join(Answer.__slots__)}")
    id, rater = shown_text(value, "id", place), shown_text(value, "rater", place)
    if id not in items:
        raise place.error(f"no item {id[:40]!r} in the sheet; expected one of its {len(items):,} ids")
    form = items[id].exemplar is not None
    if not form and value.get("form") is not None:
        raise place.error("form of an item without an exemplar; expected none")
    for name in SCALES if form else SCALES[:2]:
        mark = value.get(name)
        if isinstance(mark, bool) or not isinstance(mark, int) or not WORST <= mark <= BEST:
            raise place.error(f"{name} is {str(mark)[:40]}; expected a whole number from {WORST} to {BEST}")
    verdict = next((known for known in ACCEPTABLE if value.get("acceptable") == known), None)
    if verdict is None:
        came = str(value.get("acceptable"))[:40]
        raise place.error(f"acceptable is {came!r}; expected {', '.join(ACCEPTABLE[:-1])} or {ACCEPTABLE[-1]}")
    comment = shown_text(value, "comment", place) if value.get("comment") else ""
    return Answer(id, rater, value["meaning"], value["fluency"], value.get("form"), verdict, comment)


class AnswerFile:
    """Answers on disk, each appended and synced as it is given, so that a kill loses none; a context manager.

    Args:
        path: a file of answers on these items, which goes on where it ended, or one to begin.
        items: by id.
    Raises: InputError as `read_answers` does.
    """

    def __init__(self, path: PathLike, items: Mapping[str, Item]) -> None:
        self.path = Path(path)
        self.answers: dict[tuple[str, str], Answer] = {}
        damaged = 0
        if self.path.exists():
            answers, damaged = _read_answers(path, items)
            self.answers = {(answer.rater, answer.id): answer for answer in answers}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "ab+", buffering=0)  # noqa: SIM115 (closed by __exit__)
        self._mend(damaged)

    def _mend(self, damaged: int) -> None:
        """End the file with the end of a line, and before the line of that number, if one is damaged."""
        self._file.seek(0)
        whole = self._file.read()
        if damaged:
            self._file.truncate(sum(len(line) + 1 for line in whole.split(b"\n")[: damaged - 1]))
        elif whole and not whole.endswith(b"\n"):
            self._file.write(b"\n")

    def write(self, answer: Answer) -> None:
        """Append an answer; when this returns it is on the disk."""
        line = json.dumps(answer.to_json(), ensure_ascii=False).encode() + b"\n"
        if self._file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        os.fsync(self._file.fileno())
        self.answers[answer.rater, answer.id] = answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
