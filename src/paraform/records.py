"""The frozen records that cross rooms, and the one error for input that is not as it should be.

A record is plain data: it holds no tensor and no model, and can be written as a line of JSON and read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol, TypeAlias

NO_WORDS: tuple[str, ...] = ()
WHOLE, REAL = (int, Integral), (float, Real)  # NumPy's numbers too; Python's own are found at once
MOST_COUNT = 10**9


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line that says what came and what was expected.

    Line breaks of what came are spaces in it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


def counted(number: int, noun: str) -> str:
    """`1 pair`, `2 pairs`, `1,379 pairs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a record was read: `path`, and `line` counted from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    def error(self, message: str) -> InputError:
        """An `InputError` that names this place: `FILE:LINE: message`."""
        return InputError(f"{self}: {message}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text and, once known, its words, their Penn Treebank tags and its bracketed tree.

    Args:
        text: the sentence as it was read, cased and untokenised or not.
        tokens: words, in the Penn Treebank's tokenisation; () if not tokenised yet.
        tags: one tag a token; () if not tagged yet.
        tree: bracketed, in one line; None if not parsed yet.
    """

    text: str
    tokens: tuple[str, ...] = NO_WORDS
    tags: tuple[str, ...] = NO_WORDS
    tree: str | None = None
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Millions are made: what is left at its default is not looked at.
        if not isinstance(self.text, str):
            raise InputError(f"a sentence's text is of type {type(self.text).__name__}; expected a string")
        if self.tokens is not NO_WORDS:
            _require_tuple(self.tokens, "tokens")
        if self.tags is not NO_WORDS:
            _require_tuple(self.tags, "tags")
        if self.tree is not None and not isinstance(self.tree, str):
            raise InputError(f"a sentence's tree is of type {type(self.tree).__name__}; expected a string or None")


def _require_tuple(words: object, name: str) -> None:
    try:
        if not isinstance(words, tuple):
            raise TypeError(f"of type {type(words).__name__}")
        "".join(words)
    except TypeError as error:
        raise InputError(f"a sentence's {name}: {error}; expected a tuple of strings") from None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences; unless `label` says 0, each is a paraphrase of the other.

    Args:
        label: 1 paraphrases, 0 not; None where the file has no labels.
        score: similarity in the file's own unit (ParaNMT: 0 to 1); None without one.
        cluster: number of the connected component of the pair file; None if not computed.
        forth: how sure it is that the source says all of the target, 0 to 1; None if not known.
        back: that the target says all of the source.
    """

    source: Sentence
    target: Sentence
    label: int | None = None
    score: float | None = None
    cluster: int | None = None
    forth: float | None = None
    back: float | None = None
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.source, Sentence) and isinstance(self.target, Sentence)):
            _refuse_sides(self, "source", "target")
        _require_number(self.label, "label", WHOLE)
        _require_number(self.score, "score", REAL)
        _require_number(self.cluster, "cluster", WHOLE)
        _require_number(self.forth, "forth", REAL)
        _require_number(self.back, "back", REAL)


@dataclass(frozen=True, slots=True)
class Triple:
    """A source, a sentence whose form to take, and the paraphrase of the source in that form.

    Args:
        distance: edit distance between the tags of exemplar and target, in tags; None if not mined.
        cluster: the cluster of source and target, as in `Pair`.
    """

    source: Sentence
    exemplar: Sentence
    target: Sentence
    distance: int | None = None
    cluster: int | None = None
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for side in (self.source, self.exemplar, self.target):
            if not isinstance(side, Sentence):
                _refuse_sides(self, "source", "exemplar", "target")
        _require_number(self.distance, "distance", WHOLE)
        _require_number(self.cluster, "cluster", WHOLE)


def _refuse_sides(record: Pair | Triple, *names: str) -> None:
    for name in names:
        if not isinstance(side := getattr(record, name), Sentence):
            raise InputError(f"a {name} is of type {type(side).__name__}; expected a Sentence: Sentence(text)")


def _require_number(value: object, name: str, kinds: tuple[type, ...]) -> None:
    if value is not None and not isinstance(value, kinds):
        expected = "a whole number" if kinds is WHOLE else "a number"
        raise InputError(f"a {name} is of type {type(value).__name__}; expected {expected} or None")


@dataclass(frozen=True)
class Candidate:
    """One rewording of a text.

    Args:
        text: the rewording.
        exemplar: whose form it has: a sentence, or a frame such as "is it possible to … ?".
        checks: by name, whether it passed.
        score: by which candidates are ordered; more is better.
        figures: by name: `content`, the cosine to the source; `grammar` and `words`, nats a word that its tags and its
            words are likelier than the source's; `edits`, words.
        framed: whether it comes from a rule, such as a frame or a synonym, and not from a decoder.
        wrapped: whether it only puts words around the text: "Can you tell me …".
    """

    text: str
    exemplar: str
    checks: Mapping[str, bool]
    score: float
    figures: Mapping[str, float] = field(default_factory=dict)
    framed: bool = False
    wrapped: bool = False

    @property
    def failed(self) -> list[str]:
        """The checks that it did not pass."""
        return [name for name, passed in self.checks.items() if not passed]

    def to_dict(self) -> dict[str, Any]:
        """What JSON has: strings, numbers, booleans and None, figures rounded."""
        figures = {name: round(float(value), 4) for name, value in self.figures.items()}
        return {
            "paraphrase": self.text,
            "exemplar": self.exemplar or None,
            "change": "wrapped" if self.wrapped else "reworded",
            "content": figures.get("content"),
            "score": round(float(self.score), 4),
            "checks": {name: bool(passed) for name, passed in self.checks.items()},
            "figures": figures,
        }


@dataclass(frozen=True)
class Rewording:
    """What became of a text.

    Args:
        candidates: those that passed every check, best first; () if none did.
        reason: why there is none; "" if there is one.
    """

    source: str
    candidates: tuple[Candidate, ...]
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What JSON has, of each candidate as `Candidate.to_dict`."""
        return {"source": self.source, "candidates": [one.to_dict() for one in self.candidates], "reason": self.reason}


class GivenText(NamedTuple):
    """A text that a command was given.

    Args:
        line: where it begins in its file; None of an argument.
        fields: the other columns of its row; {} without a table.
    """

    line: int | None
    text: str
    fields: Mapping[str, Any]


Record: TypeAlias = Sentence | Pair | Triple


class Texts(Protocol):
    """Several texts: a list, a tuple, an array. One string is none, for it asks of strings alone what is in it."""

    def __contains__(self, text: object, /) -> bool: ...
    def __getitem__(self, at: int, /) -> str: ...
    def __iter__(self) -> Iterator[str]: ...


def listed(texts: str | Texts) -> Texts:
    """One text as a list of it, many as they are."""
    return [texts] if isinstance(texts, str) else texts


def sides_of(record: Record) -> dict[str, Sentence]:
    """The sentences of a record by their names: a pair's or a triple's fields; of a sentence itself "text"."""
    if isinstance(record, Sentence):
        return {"text": record}
    names = ("source", "exemplar", "target") if isinstance(record, Triple) else ("source", "target")
    return {name: getattr(record, name) for name in names}


def texts_of(pairs: Iterable[Pair]) -> list[str]:
    """Both texts of each pair, the source first."""
    return [side.text for pair in pairs for side in (pair.source, pair.target)]


def require_texts(texts: Iterable[object]) -> list[str]:
    """The texts, looked at.

    Raises: InputError for what is no string, a string where many are expected, and half of a surrogate pair, which no
        file could hold.
    """
    if isinstance(texts, str):
        raise InputError("a string where a list of texts is expected; write [text]")
    if isinstance(texts, (set, frozenset)):
        raise InputError(f"texts of type {type(texts).__name__}, which have no order; write sorted(texts)")
    return [require_text(text, f"text {number}") for number, text in enumerate(several(texts, "texts"), start=1)]


def require_text(text: object, name: str) -> str:
    """The text, looked at as `require_texts` does.

    Args:
        name: what errors call it.
    """
    if not isinstance(text, str):
        raise InputError(f"{name} is of type {type(text).__name__}; expected a string")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{name} holds half of a surrogate pair; expected what UTF-8 can write: read it in its encoding"
        ) from None
    return text


def require_words(sentences: Iterable[Iterable[object]]) -> list[list[str]]:
    """The words of each sentence, looked at as texts are. Raises: InputError as `require_texts`."""
    found = []
    for number, words in enumerate(several(sentences, "sentences"), start=1):
        if isinstance(words, str):
            raise InputError(f"sentence {number} is a string; expected its words: paraform.tokenize(text)")
        words = several(words, f"words, in sentence {number},")
        found.append([require_text(word, f"a word of sentence {number}") for word in words])
    return found


def require_records(records: Iterable[Any], *kinds: type[Any]) -> list[Any]:
    """The records, each of one of those kinds. Raises: InputError otherwise."""
    found = list(several(records, "records"))
    for number, record in enumerate(found, start=1):
        if not isinstance(record, kinds):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise InputError(f"record {number} is of type {type(record).__name__}; expected a {expected}")
    return found


def require_count(count: object, name: str, least: int = 0, most: int = MOST_COUNT) -> None:
    """Raises: InputError if it is no whole number from `least` to `most`."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise InputError(f"{name} {str(count)[:40]} of type {type(count).__name__}; expected an int")
    if not least <= count <= most:
        came = str(count) if abs(count) < 2**63 else "beyond 64 bits"
        expected = f"{least:,} or more" if count < least and most == MOST_COUNT else f"{least:,} to {most:,}"
        raise InputError(f"{name} {came}; expected {expected}")


def require_kind(value: object, kind: type[Any] | tuple[type[Any], ...], name: str) -> None:
    """Raises: InputError if the value is of none of these types."""
    if not isinstance(value, kind):
        expected = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
        raise InputError(f"{name} is of type {type(value).__name__}; expected {expected}")


def require_callable(value: object, name: str) -> None:
    """Raises: InputError if the value cannot be called."""
    if not callable(value):
        raise InputError(f"{name} is of type {type(value).__name__}; expected a function")


def several(items: Any, what: str) -> Iterable[Any]:
    """The same, looked at but not read.

    Raises: InputError for what can't be gone through, for one text, and for what gives its names, not its values.
    """
    if not isinstance(items, Iterable) or isinstance(items, (str, bytes)):
        raise InputError(f"{what} of type {type(items).__name__}; expected a list")
    if isinstance(items, Mapping):
        raise InputError(f"{what} of type {type(items).__name__}, whose names would be taken; write {what}.values()")
    if hasattr(items, "columns"):  # pandas', polars' and pyarrow's tables
        names = ", ".join(repr(str(name))[:40] for name in list(getattr(items, "column_names", items.columns))[:5])
        kind = type(items).__name__
        raise InputError(f"{what} of type {kind}, whose names would be taken; write {kind.lower()}[NAME], of {names}")
    return items


def to_json(record: Record) -> dict[str, Any]:
    """A JSON object that holds what is known: absent fields are left out, a bare sentence is its text.

    Raises: InputError for what is no record.
    """
    require_records([record], Sentence, Pair, Triple)
    if isinstance(record, Sentence):
        known = {"text": record.text, "tokens": list(record.tokens), "tags": list(record.tags), "tree": record.tree}
        return {key: value for key, value in known.items() if key == "text" or value not in ([], None)}
    sides = {"source": record.source, "target": record.target}
    if isinstance(record, Triple):
        sides["exemplar"] = record.exemplar
        rest: dict[str, float | None] = {"distance": record.distance, "cluster": record.cluster}
    else:
        rest = {name: getattr(record, name) for name in ("label", "score", "cluster", "forth", "back")}
    out: dict[str, Any] = {}
    for key, sentence in sides.items():
        written = to_json(sentence)
        out[key] = sentence.text if written == {"text": sentence.text} else written
    return out | {key: value for key, value in rest.items() if value is not None}


def from_json(value: object, origin: Origin | None = None) -> Record:
    """The record that `to_json` wrote: a Triple has an exemplar, a Pair a source and a target, a Sentence a text.

    Raises: InputError, naming `origin`, if a field is missing, unknown or of another type.
    """
    place = origin or Origin("<json>", 1)
    if isinstance(value, str):
        return Sentence(value, origin=origin)
    if not isinstance(value, dict):
        raise place.error(f"a {type(value).__name__}; expected an object such as {{'source': …, 'target': …}}")
    if "source" not in value and "target" not in value:
        return _sentence(value, place, origin)
    kind = Triple if "exemplar" in value else Pair
    of_pairs = {"label": int, "score": float, "cluster": int, "forth": float, "back": float}
    numbers = {"distance": int, "cluster": int} if kind is Triple else of_pairs
    sides = ("source", "exemplar", "target") if kind is Triple else ("source", "target")
    _only(value, {*sides, *numbers}, place)
    fields: dict[str, Any] = {"origin": origin}
    for side in sides:
        if side not in value:
            raise place.error(f"no {side!r}; expected the keys {', '.join(sides)}")
        sentence = value[side]
        fields[side] = _sentence({"text": sentence} if isinstance(sentence, str) else sentence, place, origin)
    for key, number in numbers.items():
        if value.get(key) is not None:
            if isinstance(value[key], bool) or not isinstance(value[key], (int, number)):
                raise place.error(f"{key} is {str(value[key])[:60]!r}; expected a number")
            if isinstance(value[key], int) and abs(value[key]) >= 2**63:
                raise place.error(f"{key} is a number beyond 64 bits; expected a smaller one")
            fields[key] = number(value[key])
    return kind(**fields)


def _sentence(value: object, place: Origin, origin: Origin | None) -> Sentence:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise place.error(f"{str(value)[:60]!r}; expected a text or an object with a 'text'")
    _only(value, {"text", "tokens", "tags", "tree"}, place)
    sequences: dict[str, tuple[str, ...]] = {}
    for key in ("tokens", "tags"):
        words = value.get(key, [])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise place.error(f"{key} is {str(words)[:60]!r}; expected a list of strings")
        sequences[key] = tuple(words)
    if sequences["tags"] and len(sequences["tags"]) != len(sequences["tokens"]):
        raise place.error(f"{len(sequences['tags'])} tags for {len(sequences['tokens'])} tokens; expected one a token")
    tree = value.get("tree")
    if tree is not None and not isinstance(tree, str):
        raise place.error(f"tree is {str(tree)[:60]!r}; expected a bracketed string")
    return Sentence(value["text"], sequences["tokens"], sequences["tags"], tree, origin)


def _only(value: dict[str, Any], allowed: set[str], place: Origin) -> None:
    unknown = sorted(set(value) - allowed)
    if unknown:
        raise place.error(f"unknown field {unknown[0][:80]!r}; expected {', '.join(sorted(allowed))}")
