"""A text as the mean of its words' vectors, from a GloVe or word2vec text file.

The file is read once, a line at a time, and kept in the user's cache as a list of its words and a `.npy` file of their
vectors. Of these the list is read again, and the vectors are mapped: memory is the list and the vectors in use.

Shape key: N texts, W words, D features.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.records import InputError, Origin, require_count, require_texts, require_words
from paraform.score import signature
from paraform.weights import cached_file, map_array, read_kept, write_kept, write_rows
from paraform.words import tokenize

SUFFIXES = (".txt", ".vec")
MOST_BYTES = 1 << 20  # of a line: a word and ten thousands of numbers
TEXTS = 1024  # whose words' vectors are held at once


class _Table(NamedTuple):
    """The words of a file, each with its row of the vectors, and SHA-256 of the file."""

    rows: dict[bytes, int]
    vectors_WD: NDArray[np.float32]
    digest: str


@final
@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words by a file; make one with `load_word_vectors`.

    Args:
        name: as it was given.
    """

    kind: ClassVar[str] = "vectors of words"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    name: str
    _table: _Table

    def __len__(self) -> int:
        return len(self._table.rows)

    @property
    def dimension(self) -> int:
        """Numbers of a word."""
        return int(self._table.vectors_WD.shape[1])

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return self._table.digest

    @property
    def device(self) -> torch.device:
        """The CPU: there is nothing to multiply."""
        return torch.device("cpu")

    @property
    def signature(self) -> str:
        """What changes a vector: the file's name, how words are found and pooled, the beginning of its digest."""
        return (
            signature(model=self.name, words="penn-treebank", case="own-then-lc", pooling="mean")
            + "|"
            + signature(weights=self.digest[:12])
        )

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> NDArray[np.float32]:
        """The mean over a text's words, each time one stands there; unknown words are left out, of none it is 0.

        A word is looked for as it is written, then lower-cased.
        """
        texts = require_texts(texts)
        require_count(batch_size, "batch_size")
        size = batch_size or TEXTS
        parts = [self._means([tokenize(text) for text in texts[at : at + size]]) for at in range(0, len(texts), size)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def words(self, words: Sequence[str]) -> list[NDArray[np.float32] | None]:
        """Each word's vector [D], found as it is written; None of a word that the file lacks."""
        (words,) = require_words([words])
        rows = [self._row(word) for word in words]
        return [None if row is None else np.array(self._table.vectors_WD[row]) for row in rows]

    def _means(self, texts: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        out_ND = np.zeros((len(texts), self.dimension), np.float32)
        for number, words in enumerate(texts):
            found = [self._row(word) for word in words]
            lowered = [self._row(word.lower()) if row is None else row for word, row in zip(words, found, strict=True)]
            if rows := [row for row in lowered if row is not None]:
                out_ND[number] = np.mean(self._table.vectors_WD[rows], axis=0)
        return out_ND

    def _row(self, word: str) -> int | None:
        return self._table.rows.get(word.encode(errors="surrogatepass"))


def load_word_vectors(path: Path, name: str | None = None) -> WordVectors:
    """The words of a GloVe or word2vec text file: a line a word, behind a space its numbers.

    A first line of two whole numbers, how many words and how wide, may stand above. A word may hold spaces, as some of
    GloVe's 840B do: its numbers are counted from the right.

    What is read is kept in the cache, for a file of this place, size and time of change.

    Raises: InputError with file and line if a line has too few numbers or one that is none, a word stands there twice,
        or the file is no such file.
    """
    try:
        about = path.stat()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; expected a text file of word vectors") from error
    content = (str(path.resolve()), str(about.st_size), str(about.st_mtime_ns))
    words, vectors = (cached_file("word-vectors", content, suffix) for suffix in ("words", "npy"))
    found = _kept(words, vectors)
    if found is None:
        _convert(path, words, vectors)
        found = _kept(words, vectors)
    if found is None:
        raise InputError(f"{vectors}: is not what was written there; remove it")
    return WordVectors(name or str(path), found)


def _kept(words: Path, vectors: Path) -> _Table | None:
    """What `_convert` wrote; None if nothing is there, or it is damaged."""
    content = read_kept(words)
    if content is None:
        return None
    digest, *lines = content.split(b"\n")
    try:
        vectors_WD = map_array(vectors)
    except InputError:
        return None
    if vectors_WD.shape[:1] != (len(lines),):
        return None
    return _Table({word: row for row, word in enumerate(lines)}, vectors_WD, digest.decode())


def _convert(path: Path, words: Path, vectors: Path) -> None:
    """Write the file's words and vectors; the words last, since what has them is taken for whole."""
    digest, lines = hashlib.sha256(), dict[bytes, int]()
    write_rows(vectors, _rows(path, digest, lines))
    write_kept(words, b"\n".join([digest.hexdigest().encode(), *lines]))


def _rows(path: Path, digest: hashlib._Hash, lines: dict[bytes, int]) -> Iterator[NDArray[np.float32]]:
    """The vector of each word, [1, D]; its line, and what the file holds, are told to `lines` and `digest`."""
    dimension, expected = 0, None
    with open(path, "rb") as file:
        for line, raw in enumerate(_raw_lines(file, path), start=1):
            origin = Origin(str(path), line)
            digest.update(raw)
            text = _stripped(raw)
            if line == 1 and (header := _header(text)):
                expected, dimension = header
                continue
            if not text and not raw.endswith(b"\n"):
                continue
            dimension = dimension or _numbers_at_end(text, origin)
            word, numbers = _word(text, dimension, origin)
            if (first := lines.setdefault(word, line)) != line:
                raise origin.error(f"{_quoted(word)} again, after line {first:,}; expected each word once")
            yield _parsed(word, numbers, origin)
    if not lines or (expected is not None and expected != len(lines)):
        said = "a line a word, behind it its numbers" if expected is None else f"{expected:,} words, as line 1 says"
        raise InputError(f"{path}: {len(lines):,} words; expected {said}")


def _raw_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    number = 0
    while raw := file.readline(MOST_BYTES):
        number += 1
        if len(raw) == MOST_BYTES and not raw.endswith(b"\n"):
            raise Origin(str(path), number).error(f"more than {MOST_BYTES:,} bytes; expected a word and its numbers")
        yield raw


def _stripped(raw: bytes) -> bytes:
    return raw.rstrip(b"\r\n ")  # word2vec's own program leaves a space at the end


def _header(text: bytes) -> tuple[int, int] | None:
    """How many words and how wide, if that is what the line says."""
    fields = text.split(b" ")
    if len(fields) != 2 or not all(part.isdigit() for part in fields) or int(fields[1]) == 0:
        return None
    return int(fields[0]), int(fields[1])


def _numbers_at_end(text: bytes, origin: Origin) -> int:
    """How many numbers the first line has behind its word."""
    fields = text.split(b" ")
    count = 0
    for part in reversed(fields[1:]):
        if not _is_number(part):
            break
        count += 1
    if not count:
        raise origin.error(
            "no word with numbers behind it, between single spaces; expected a GloVe or word2vec text file"
        )
    return count


def _word(text: bytes, dimension: int, origin: Origin) -> tuple[bytes, list[bytes]]:
    """The word and its numbers, counted from the right."""
    spaces = text.count(b" ")
    if spaces < dimension:
        came = f"{spaces} numbers" if text else "nothing"
        raise origin.error(f"{came}; expected a word and {dimension} numbers")
    word, *numbers = text.rsplit(b" ", dimension)
    word = word.strip(b" ")
    if not word:
        raise origin.error(f"no word before the numbers; expected a word and {dimension} numbers")
    if spaces > dimension and _is_number(word.rpartition(b" ")[2]):
        raise origin.error(f"more than {dimension} numbers; expected a word and {dimension} numbers")
    return word, numbers


def _is_number(part: bytes) -> bool:
    """Whether it is one, with a digit: `nan` may be a word's."""
    try:
        float(part)
    except ValueError:
        return False
    return any(48 <= byte <= 57 for byte in part)


def _parsed(word: bytes, numbers: Sequence[bytes], origin: Origin) -> NDArray[np.float32]:
    """The numbers, [1, D]. Raises: InputError with file and line if one is none, or not finite."""
    try:
        with np.errstate(over="ignore"):  # beyond float32 is infinity, which is told below
            vector_1D = np.array([numbers], np.float32)
    except ValueError:
        vector_1D = np.full((1, len(numbers)), np.nan, np.float32)
    if not np.isfinite(vector_1D).all():
        raise origin.error(f"{_quoted(word)} has no {len(numbers)} finite numbers behind it")
    return vector_1D


def _quoted(word: bytes) -> str:
    return repr(word.decode(errors="replace"))
