"""A text as the mean of its words' vectors, from a GloVe or word2vec text file.

The file is read once, line by line, to find where each word stands; numbers are parsed when a text has the word. So
memory is 16 bytes a word and the vectors in use, however large the file is.

Shape key: N texts, W words, D features.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.records import InputError, Origin, require_count, require_texts, require_words
from paraform.score import signature
from paraform.words import tokenize

SUFFIXES = (".txt", ".vec")
MOST_BYTES = 1 << 20  # of a line: a word and ten thousands of numbers
KEPT = 50_000  # words whose vectors are kept from one call to the next
TEXTS = 1024  # whose words' vectors are held at once
AT_ONCE = 4096  # lines whose text is held at once


class _Lines(NamedTuple):
    """Where the words stand: by their hashes, in order, each word's line and the byte at which that begins."""

    hashes_W: NDArray[np.int64]
    lines_W: NDArray[np.int64]
    offsets_W: NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words by a file; make one with `load_word_vectors`.

    Args:
        name: as it was given.
        dimension: numbers of a word.
        digest: SHA-256 of the file.
    """

    kind: ClassVar[str] = "vectors of words"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    name: str
    path: Path
    dimension: int
    digest: str
    _lines: _Lines
    _known: dict[str, NDArray[np.float32] | None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._lines.hashes_W)

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

        A word is looked for as it is written, then lower-cased. Raises: InputError with file and line for a vector
        that is none.
        """
        texts = require_texts(texts)
        require_count(batch_size, "batch_size")
        size = batch_size or TEXTS
        parts = [self._means([tokenize(text) for text in texts[at : at + size]]) for at in range(0, len(texts), size)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def words(self, words: Sequence[str]) -> list[NDArray[np.float32] | None]:
        """Each word's vector [D], found as it is written; None of a word that the file lacks.

        Raises: InputError with file and line for a vector that is none.
        """
        (words,) = require_words([words])
        if len(self._known) > KEPT:
            self._known.clear()
        self._read([word for word in dict.fromkeys(words) if word not in self._known])
        return [self._known[word] for word in words]

    def _means(self, texts: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        if len(self._known) > KEPT:
            self._known.clear()
        different = list(dict.fromkeys(chain.from_iterable(texts)))
        self._read([word for word in different if word not in self._known])
        lowered = dict.fromkeys(word.lower() for word in different if self._known[word] is None)
        self._read([word for word in lowered if word not in self._known])
        out_ND = np.zeros((len(texts), self.dimension), np.float32)
        for row, words in enumerate(texts):
            found = [vector for word in words if (vector := self._vector(word)) is not None]
            if found:
                out_ND[row] = np.mean(found, axis=0)
        return out_ND

    def _vector(self, word: str) -> NDArray[np.float32] | None:
        own = self._known[word]
        return self._known.get(word.lower()) if own is None else own

    def _read(self, words: Sequence[str]) -> None:
        """Put the words' vectors into `_known`, None for those that the file lacks."""
        vectors: dict[str, NDArray[np.float32] | None] = dict.fromkeys(words)
        encoded = [word.encode(errors="surrogatepass") for word in words]
        hashes = np.array([hash(word) for word in encoded], np.int64)
        starts, ends = (np.searchsorted(self._lines.hashes_W, hashes, side).tolist() for side in ("left", "right"))
        wanted = [
            (int(self._lines.offsets_W[at]), int(self._lines.lines_W[at]), number)
            for number, (start, end) in enumerate(zip(starts, ends, strict=True))
            for at in range(start, end)
        ]
        wanted.sort()  # a disk reads forwards
        with open(self.path, "rb") as file:
            for start in range(0, len(wanted), AT_ONCE):
                texts: list[bytes] = []
                found: list[tuple[int, str]] = []
                for offset, line, number in wanted[start : start + AT_ONCE]:
                    file.seek(offset)
                    there, rest = _split(_stripped(file.readline()), self.dimension)
                    if there == encoded[number]:  # else another word of the same hash
                        texts.append(rest)
                        found.append((line, words[number]))
                for (_, word), vector_D in zip(found, _parsed(self.path, texts, found, self.dimension), strict=True):
                    vectors[word] = vector_D
        self._known.update(vectors)  # now that none of them is bad


def load_word_vectors(path: Path, name: str | None = None) -> WordVectors:
    """The words of a GloVe or word2vec text file: a line a word, behind a space its numbers.

    A first line of two whole numbers, how many words and how wide, may stand above. A word may hold spaces, as some of
    GloVe's 840B do: its numbers are counted from the right.

    Raises: InputError with file and line if a line has too few numbers, a word stands there twice, or the file is no
        such file.
    """
    digest = hashlib.sha256()
    hashes, lines, offsets = array("q"), array("q"), array("q")
    dimension, words, offset = 0, None, 0
    try:
        with open(path, "rb") as file:
            for line, raw in enumerate(_raw_lines(file, path), start=1):
                digest.update(raw)
                text = _stripped(raw)
                if line == 1 and (header := _header(text)):
                    words, dimension = header
                elif not text and not raw.endswith(b"\n"):
                    pass
                else:
                    dimension = dimension or _numbers_at_end(text, Origin(str(path), 1))
                    hashes.append(hash(_word(text, dimension, Origin(str(path), line))))
                    lines.append(line)
                    offsets.append(offset)
                offset += len(raw)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; expected a text file of word vectors") from error
    if not hashes or (words is not None and words != len(hashes)):
        said = f"{words:,} words, as line 1 says" if words is not None else "a line a word, behind it its numbers"
        raise InputError(f"{path}: {len(hashes):,} words; expected {said}")
    order = np.argsort(np.frombuffer(hashes, np.int64), kind="stable")
    index = _Lines(*(np.frombuffer(column, np.int64)[order] for column in (hashes, lines, offsets)))
    found = WordVectors(name or str(path), path, dimension, digest.hexdigest(), index)
    _require_different(found)
    return found


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


def _word(text: bytes, dimension: int, origin: Origin) -> bytes:
    spaces = text.count(b" ")
    if spaces < dimension:
        came = f"{spaces} numbers" if text else "nothing"
        raise origin.error(f"{came}; expected a word and {dimension} numbers")
    word = _split(text, dimension)[0]
    if not word:
        raise origin.error(f"no word before the numbers; expected a word and {dimension} numbers")
    if spaces > dimension and _is_number(word.rpartition(b" ")[2]):
        raise origin.error(f"more than {dimension} numbers; expected a word and {dimension} numbers")
    return word


def _is_number(part: bytes) -> bool:
    """Whether it is one, with a digit: `nan` may be a word's."""
    try:
        float(part)
    except ValueError:
        return False
    return any(48 <= byte <= 57 for byte in part)


def _split(text: bytes, dimension: int) -> tuple[bytes, bytes]:
    """The word and its numbers, counted from the right."""
    if text.count(b" ") == dimension:
        word, _, numbers = text.partition(b" ")
        return word, numbers
    parts = text.rsplit(b" ", dimension)
    return parts[0].strip(b" "), b" ".join(parts[1:])


def _require_different(vectors: WordVectors) -> None:
    """Raises: InputError with file and line if a word stands there twice."""
    hashes_W, lines_W, offsets_W = vectors._lines
    same = hashes_W[1:] == hashes_W[:-1]
    if not same.any():
        return
    alike = np.flatnonzero(np.append(same, False) | np.append(False, same))  # in the order of their lines
    seen: dict[tuple[int, bytes], int] = {}
    with open(vectors.path, "rb") as file:
        for at in alike.tolist():
            file.seek(int(offsets_W[at]))
            word = _split(_stripped(file.readline()), vectors.dimension)[0]
            first = seen.setdefault((int(hashes_W[at]), word), int(lines_W[at]))
            if first != lines_W[at]:
                raise Origin(str(vectors.path), int(lines_W[at])).error(
                    f"{word.decode(errors='replace')!r} again, after line {first:,}; expected each word once"
                )


def _parsed(
    path: Path, numbers: Sequence[bytes], words: Sequence[tuple[int, str]], dimension: int
) -> NDArray[np.float32]:
    """The numbers of some lines, [W, D]: parsed at once, a line at a time only to say which of them is bad."""
    from paraform.encoders.decimals import parse_decimals  # numba alone takes a second to import

    def parse(texts: Sequence[bytes]) -> NDArray[np.float32] | None:
        try:
            flat = parse_decimals(b" ".join(texts), len(texts) * dimension)
        except ValueError:
            return None
        return flat.reshape(len(texts), dimension) if np.isfinite(flat).all() else None

    rows_WD = parse(numbers)
    if rows_WD is not None:
        return rows_WD
    line, word = next(where for text, where in zip(numbers, words, strict=True) if parse([text]) is None)
    raise Origin(str(path), line).error(f"{word!r} has no {dimension} finite numbers behind it")
