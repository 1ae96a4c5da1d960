"""SQuAD 1.1 (Rajpurkar et al. 2016), and its adversarial variants (Jia and Liang 2017), as they are distributed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from paraform.corpora.jsonl import MAX_CHARACTERS as MAX_LINE
from paraform.corpora.jsonl import value_of
from paraform.corpora.lines import MAX_CHARACTERS, lines
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import PathLike

LINES = (".jsonl", ".ndjson")
MAX_BYTES = 1 << 28  # SQuAD's whole training file has 30 MB


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """A part of a context: its text, and its first character's number."""

    text: str
    start: int


@final
@dataclass(frozen=True, slots=True)
class Question:
    """A question on a context, with the answers that people gave.

    Args:
        name: its id; of an adversarial variant the original's, a hyphen, and more.
        article: the title of the context's article; questions of one article are not split.
    """

    name: str
    article: str
    text: str
    context: str
    answers: tuple[Answer, ...]

    @property
    def original(self) -> str:
        """The id of the question without an adversary."""
        return self.name.partition("-")[0]


def read_squad(path: PathLike) -> Iterator[Question]:
    """The questions of a file: SQuAD's JSON, articles → paragraphs → questions; or `.jsonl`, one question a line.

    A line has `id`, `title`, `context`, `question` and `answers`, `{"text": […], "answer_start": […]}`.

    Raises: InputError, naming the file and the place in it, for what is not there, an id that is there twice, an
        answer that does not stand where it says, a question without answers (SQuAD 2 has some), or no question.
    """
    found = _of_lines(path) if Path(path).suffix.lower() in LINES else _of_articles(path)
    seen: set[str] = set()
    for place, question in found:
        if question.name in seen:
            raise InputError(f"{place}: id {question.name[:60]!r} a second time; expected ids that differ")
        seen.add(question.name)
        yield question
    if not seen:
        raise InputError(f"{path}: no question; expected SQuAD's articles, paragraphs and questions")


def drawn(questions: Sequence[Question], most: int) -> list[Question]:
    """At most so many original questions, drawn by a seed, with all their variants, in their order; 0: all."""
    originals = list(dict.fromkeys(one.original for one in questions))
    kept = set(originals if not most or most >= len(originals) else random.Random(0).sample(originals, most))
    return [one for one in questions if one.original in kept]


def each_once(sets: Iterable[Sequence[Question]]) -> list[Question]:
    """Of several files' questions each id once, in their order: AddSent has AddOneSent's, and some of dev-part's.

    Raises: InputError for an id that is on two contexts.
    """
    every: dict[str, Question] = {}
    for one in (one for some in sets for one in some):
        if every.setdefault(one.name, one).context != one.context:
            raise InputError(f"question {one.name!r} is on two contexts; expected one in all test files")
    return list(every.values())


def _of_lines(path: PathLike) -> Iterator[tuple[str, Question]]:
    for line in lines(path, MAX_LINE):
        place, value = str(line.origin), value_of(line)
        answers = _get(value, "answers", dict, place)
        texts, starts = (_get(answers, name, list, f"{place}: answers") for name in ("text", "answer_start"))
        if len(texts) != len(starts):
            raise InputError(f"{place}: {len(texts)} answers with {len(starts)} starts; expected one each")
        given = zip(texts, starts, strict=True)
        title, context = _get(value, "title", str, place), _context(value, place)
        yield place, _question(value, title, context, given, place)


def _of_articles(path: PathLike) -> Iterator[tuple[str, Question]]:
    whole = _whole(path)
    for at, article in enumerate(_get(whole, "data", list, str(path))):
        of_article = f"{path}: data[{at}]"
        paragraphs = _get(article, "paragraphs", list, of_article)
        title = article.get("title", f"article {at}")
        if not isinstance(title, str):
            raise InputError(f"{of_article}: title is {str(title)[:40]!r}; expected a text")
        for number, paragraph in enumerate(paragraphs):
            of_paragraph = f"{of_article}.paragraphs[{number}]"
            context = _context(paragraph, of_paragraph)
            for asked, value in enumerate(_get(paragraph, "qas", list, of_paragraph)):
                place = f"{of_paragraph}.qas[{asked}]"
                answers = _get(value, "answers", list, place)
                given = [(_get(one, "text", str, place), _get(one, "answer_start", int, place)) for one in answers]
                yield place, _question(value, title, context, given, place)


def _whole(path: PathLike) -> Any:
    """The JSON value of a file. Raises: InputError, in one line, if there is none."""
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise InputError(f"{path}: more than {MAX_BYTES:,} bytes; expected a file of SQuAD's")
        return parse_json(Path(path).read_text(encoding="utf-8-sig"), path, "SQuAD's JSON")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except InputError:
        raise
    except (OSError, ValueError) as error:  # a folder; not UTF-8
        raise InputError(f"{path}: {' '.join(str(error).split())[:200]}; expected SQuAD's JSON") from error


def _get(value: object, name: str, kind: type[Any], place: str) -> Any:
    """A field of an object. Raises: InputError if there is none of that kind."""
    if not isinstance(value, dict):
        raise InputError(f"{place}: {str(value)[:40]!r}; expected an object with {name!r}")
    found = value.get(name)
    if not isinstance(found, kind) or isinstance(found, bool):
        came = f"no {name!r}" if name not in value else f"{name} is {str(found)[:40]!r}"
        words = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}
        raise InputError(f"{place}: {came}; expected {words[kind]}")
    return found


def _context(value: object, place: str) -> str:
    context: str = _get(value, "context", str, place)
    _require_text(context, "context", place)
    return context


def _question(
    value: dict[str, Any], title: str, context: str, given: Iterable[tuple[Any, Any]], place: str
) -> Question:
    name, text = _get(value, "id", str, place), _get(value, "question", str, place)
    for part, what in ((name, "id"), (text, "question")):
        _require_text(part, what, place)
    answers = []
    for answer, start in given:
        fits = isinstance(answer, str) and type(start) is int and start >= 0
        if not fits or not answer.strip() or context[start : start + len(answer)] != answer:
            came = f"answer {str(answer)[:40]!r} at character {str(start)[:20]}"
            raise InputError(f"{place}: {came}; expected a part of the context that stands there")
        answers.append(Answer(answer, start))
    if not answers:
        raise InputError(f"{place}: no answers; expected at least one, as SQuAD 1.1 has")
    return Question(name, title, text, context, tuple(answers))


def _require_text(text: str, what: str, place: str) -> None:
    if not text.strip():
        raise InputError(f"{place}: the {what} is empty; expected a text")
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{place}: the {what} has {len(text):,} characters; expected at most {MAX_CHARACTERS:,}")
    if "\0" in text or text.encode(errors="ignore").decode() != text:
        raise InputError(f"{place}: the {what} holds a NUL or half a surrogate pair; expected text")
