"""Sentences as arrays: what the exemplar search looks at, encoded once.

Shape key: R sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.records import InputError, Sentence, require_records, several
from paraform.syntax.compiled import compiled, read_only
from paraform.syntax.features import Codes

Clusters = Sequence[int | None]


class Rows(NamedTuple):
    """Sentences, of the index or asked for: what the rules look at.

    Args:
        words: numbers of their words, ascending in each row, row r at starts[r] to starts[r + 1].
        counts: how often it holds each.
        starts: [R + 1].
        texts: [R], hash of the text apart from case and spaces.
        wordings: [R], hash of the lower-cased words.
        clusters: [R], −1: not known.
    """

    words: NDArray[np.int32]
    counts: NDArray[np.int32]
    starts: NDArray[np.int64]
    texts: NDArray[np.uint64]
    wordings: NDArray[np.uint64]
    clusters: NDArray[np.int64]


class Groups(NamedTuple):
    """Numbers of each of several groups, group g at starts[g] to starts[g + 1]."""

    members: NDArray[np.int64]
    starts: NDArray[np.int64]


class Encoded(NamedTuple):
    """Sentences as arrays.

    Args:
        rows: the part that the rules look at.
        codes, starts: their tag sequences; row r's is codes[starts[r] : starts[r + 1]].
        characters, text_starts: their texts in UTF-8; row r's is characters[text_starts[r] : text_starts[r + 1]].
    """

    rows: Rows
    codes: Codes
    starts: NDArray[np.int64]
    characters: NDArray[np.uint8]
    text_starts: NDArray[np.int64]


class Numbers:
    """Numbers for tags and words, given in the order in which they come; 0 is what is not known."""

    def __init__(self, tags: Iterable[str] = (), words: Iterable[str] = ()) -> None:
        self.tags = {tag: number for number, tag in enumerate(tags, start=1)}
        self.words = {word: number for number, word in enumerate(words, start=1)}


class _Numbered(dict[str, int]):
    """The numbers of keys as they are written: each different one is folded and looked up once."""

    def __init__(self, known: dict[str, int], fold: Callable[[str], str], *, learn: bool) -> None:
        super().__init__()
        self.known, self.fold, self.learn = known, fold, learn

    def __missing__(self, key: str) -> int:
        folded = self.fold(key)
        new = len(self.known) + 1
        self[key] = number = self.known.setdefault(folded, new) if self.learn else self.known.get(folded, 0)
        return number


def encode(sentences: Sequence[Sentence], clusters: Clusters | None, numbers: Numbers, *, learn: bool) -> Encoded:
    """The arrays of R tokenised and tagged sentences.

    Args:
        clusters: R numbers ≥ 0; None, for one or for all: not known.
        learn: give numbers to new tags and words, and keep the texts; else new ones are 0, which equals nothing.
    Raises: InputError if a sentence has not one tag a token, the clusters are not R, or one is below 0; nothing has
        been given a number then.
    """
    sentences = require_records(sentences, Sentence)
    clusters = [None] * len(sentences) if clusters is None else list(several(clusters, "clusters"))
    check_count("clusters", len(clusters), len(sentences), "sentences")
    try:
        cluster_numbers = np.array([-1 if cluster is None else cluster for cluster in clusters], np.int64)
        if cluster_numbers.ndim > 1:
            raise ValueError(f"numbers of the shape {list(cluster_numbers.shape)}")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"clusters: {error}; expected whole numbers of at least 0, or None") from error
    if least := min((cluster for cluster in clusters if cluster is not None and cluster < 0), default=0):
        raise InputError(f"cluster {least}; expected numbers of at least 0, or None")
    hashes, wordings = bytearray(), bytearray()
    for number, sentence in enumerate(sentences):
        check_tagged(sentence, number)
        hashes += text_hash(sentence)
        wordings += _hash("\x1f".join(sentence.tokens).lower())
    starts = _starts([len(sentence.tokens) for sentence in sentences])
    tags = dict(numbers.tags) if learn else numbers.tags  # a copy, should there be too many
    tag_number = _Numbered(tags, str, learn=learn).__getitem__
    codes = np.fromiter(map(tag_number, chain.from_iterable(s.tags for s in sentences)), np.int32, starts[-1])
    if len(tags) > np.iinfo(np.uint16).max:
        raise InputError(f"{len(tags):,} different tags; expected a tag set, at most 65,535")
    numbers.tags = tags
    word_number = _Numbered(numbers.words, str.lower, learn=learn).__getitem__
    words = np.fromiter(map(word_number, chain.from_iterable(s.tokens for s in sentences)), np.int32, starts[-1])
    texts = [sentence.text.encode(errors="surrogatepass") for sentence in sentences] if learn else []
    encoded = Encoded(
        Rows(
            *_counted(words, starts),
            np.frombuffer(bytes(hashes), np.uint64),
            np.frombuffer(bytes(wordings), np.uint64),
            cluster_numbers,
        ),
        codes.astype(np.uint16),
        starts,
        np.frombuffer(b"".join(texts), np.uint8),
        _starts([len(text) for text in texts]),
    )
    return read_only(encoded)


def joined(one: Encoded, other: Encoded) -> Encoded:
    """The sentences of both, one after the other."""

    def both(name: str, first: Any, second: Any) -> Any:
        if name == "rows":
            return Rows(*map(both, Rows._fields, first, second))
        return np.concatenate([first, second[1:] + first[-1] if name.endswith("starts") else second])

    return read_only(Encoded(*map(both, Encoded._fields, one, other)))


def same_sequences(codes: Codes, starts: NDArray[np.int64]) -> Groups:
    """Rows grouped by their tag sequence, the shortest sequences first, each group's rows ascending."""
    lengths = np.diff(starts)
    order = np.lexsort((_sequence_hashes(codes, starts), lengths))
    # Two sequences of one hash, should there ever be such, may fall into several groups, and are found all the same.
    changes = _changes(codes, starts, order)
    return Groups(order, np.append(np.flatnonzero(changes), len(order)))


def check_tagged(sentence: Sentence, number: int) -> None:
    """Raises: InputError if the sentence has not one tag a token."""
    if len(sentence.tags) != len(sentence.tokens) or (sentence.text.strip() and not sentence.tokens):
        raise InputError(
            f"sentence {number} has {len(sentence.tokens)} tokens and {len(sentence.tags)} tags; tokenise it with "
            "words.tokenize and tag it with syntax.tagging.load_tagger() first"
        )


def check_count(name: str, count: int, wanted: int, of: str) -> None:
    """Raises: InputError if there is not one for each."""
    if count != wanted:
        raise InputError(f"{count} {name} for {wanted} {of}; expected one for each")


def text_hash(sentence: Sentence) -> bytes:
    """Of the text apart from case and spaces: 8 bytes."""
    return _hash("".join(sentence.text.lower().split()))


def _hash(text: str) -> bytes:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


@compiled
def _counted(
    numbers: NDArray[np.int32], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Each row's different words, ascending, and how often they stand there; words without a number are left out."""
    words = np.empty_like(numbers)
    counts = np.empty_like(numbers)
    new_starts = np.zeros_like(starts)
    at = 0
    for row in range(len(starts) - 1):
        for number in np.sort(numbers[starts[row] : starts[row + 1]]):
            if number == 0:
                continue
            if at > new_starts[row] and words[at - 1] == number:
                counts[at - 1] += 1
            else:
                words[at], counts[at] = number, 1
                at += 1
        new_starts[row + 1] = at
    return words[:at].copy(), counts[:at].copy(), new_starts


@compiled
def _sequence_hashes(codes: Codes, starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    hashes = np.empty(len(starts) - 1, np.uint64)
    for row in range(len(hashes)):
        value = np.uint64(0xCBF29CE484222325)
        for at in range(starts[row], starts[row + 1]):
            value = (value ^ np.uint64(codes[at])) * np.uint64(0x100000001B3)
            value ^= value >> np.uint64(29)
        hashes[row] = value
    return hashes


@compiled
def _changes(codes: Codes, starts: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where, along `order`, a row's sequence is not that of the row before."""
    changes = np.ones(len(order), np.bool_)
    for place in range(1, len(order)):
        one, other = order[place - 1], order[place]
        length = starts[one + 1] - starts[one]
        if length == starts[other + 1] - starts[other]:
            changes[place] = False
            for at in range(length):
                if codes[starts[one] + at] != codes[starts[other] + at]:
                    changes[place] = True
                    break
    return changes
