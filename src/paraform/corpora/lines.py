"""The one way a text file is read line by line: bounded, UTF-8, and every complaint with its file and line."""

from __future__ import annotations

import io
import logging
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar, cast

from paraform.records import InputError, Origin, Record, Sentence, counted, sides_of
from paraform.weights import PathLike

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_CHARACTERS = 20_000
"""The longest line, and the longest sentence; whole Yahoo Answers documents stay under 1,300."""

BLANKS = 1000  # held back at most

Row = TypeVar("Row")
Made = TypeVar("Made")
Kind = TypeVar("Kind", bound=Record)


class Line(NamedTuple):
    """One physical line, without its line break unless that was asked for; or why it cannot be read."""

    origin: Origin
    content: str | InputError

    @property
    def text(self) -> str:
        """Raises: InputError if the line cannot be read."""
        if isinstance(self.content, InputError):
            raise self.content
        return self.content


def lines(
    path: PathLike,
    max_characters: int = MAX_CHARACTERS,
    *,
    keep_ends: bool = False,
    latin_1: bool = False,
    blanks: bool = False,
) -> Iterator[Line]:
    """Every line of a UTF-8 file; never more than one bounded line in memory.

    Blank lines at the end of a file are none. A byte order mark at the start and CRLF line breaks are accepted, and CR
    alone where a file begins without a LF. A line with a NUL byte, with bytes that are not UTF-8, or of more than
    `max_characters` comes as a `Line` whose `text` raises.

    Args:
        keep_ends: whether lines keep their line breaks: LF or CRLF; a CR alone becomes LF.
        latin_1: whether a line that is not UTF-8 is Latin-1, as SentEval's files are, and no error.
        blanks: whether blank lines at the end are lines: of a file whose lines go with another's, and with `keep_ends`.
    Raises: InputError if the file is missing, a folder, not readable, or empty.
    """
    every = _lines(path, max_characters, keep_ends, latin_1)
    return every if keep_ends or blanks else _without_last_blanks(every)


def _without_last_blanks(rows: Iterator[Line]) -> Iterator[Line]:
    held: list[Line] = []  # blank lines, which come if another line does; a file that begins with one has them all
    begun = False
    for row in rows:
        blank = isinstance(row.content, str) and not row.content.strip()
        if blank and begun and len(held) < BLANKS:
            held.append(row)
            continue
        yield from held
        held.clear()
        yield row
        begun = begun or not blank


def _lines(path: PathLike, max_characters: int, keep_ends: bool, latin_1: bool) -> Iterator[Line]:
    with _open(path) as file:
        most = 4 * max_characters + len(b"\r\n")  # a character takes at most four bytes
        number = 0
        while raw := file.readline(most + 1):
            number += 1
            origin = Origin(str(path), number)
            skipped = 0
            if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                raw, skipped = raw[3:], 3
                if not raw:
                    number = 0
                    break
            cut = len(raw) + skipped > most and not raw.endswith(b"\n")
            if cut:
                _to_line_end(file)
            yield Line(origin, _decode(raw, origin, skipped, max_characters, cut, keep_ends, latin_1))
        if number == 0:
            raise Origin(str(path), 1).error("the file is empty; expected at least one line")


def records(
    path: PathLike, rows: Iterable[Row], parse: Callable[[Row], Iterable[Made]], skip: bool, warn: bool = True
) -> Iterator[Made]:
    """What `parse` makes of each row; a row for which it raises InputError is an error or, with `skip`, counted.

    With `warn` the count goes to the logger "paraform" as one warning, with the first of the errors, when the file
    ends.
    Raises: InputError, also with `skip`, if not one row can be used.
    """
    read, bad = 0, 0
    first: InputError | None = None
    for row in rows:
        try:
            found = list(parse(row))
        except InputError as error:
            if not skip:
                raise
            bad, first = bad + 1, first or error
            continue
        read += 1
        yield from found
    if first is not None and not read:
        raise InputError(f"{first} (none of {bad:,} lines could be used)")
    if first is not None and warn:
        logging.getLogger("paraform").warning("%s: %s skipped; the first: %s", path, counted(bad, "bad line"), first)


def sentences(line: Line, *names: str) -> list[Sentence]:
    """The sentences of a TAB-separated line, one for each name, without the white space around them."""
    columns = line.text.split("\t")
    if len(columns) != len(names):
        came = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
        raise line.origin.error(f"{came}; expected {len(names)} ({' TAB '.join(names)})")
    return [sentence(text, name, line.origin) for text, name in zip(columns, names, strict=True)]


def sentence(text: str, name: str, origin: Origin) -> Sentence:
    """Raises: InputError if there is nothing but white space."""
    stripped = text.strip()
    if not stripped:
        raise origin.error(f"the {name} is empty; expected a sentence")
    return Sentence(stripped, origin=origin)


def checked(record: Kind, origin: Origin) -> Kind:
    """The record, if its texts and score are what a text file could have held (JSON and Arrow can hold more)."""
    for name, part in sides_of(record).items():
        if not part.text.strip():
            raise origin.error(f"the {name} is empty; expected a sentence")
        if len(part.text) > MAX_CHARACTERS:
            raise origin.error(f"the {name} has {len(part.text):,} characters; expected at most {MAX_CHARACTERS:,}")
        require_writable(part.text, f"the {name}", origin)
        for kind, words in (("token", part.tokens), ("tag", part.tags)):
            for word in words:
                if word.split() != [word] or not _writable(word):
                    raise origin.error(f"the {name} has the {kind} {word[:40]!r}; expected a word without white space")
        require_writable(part.tree or "", f"the {name}'s tree", origin)
    if not math.isfinite(getattr(record, "score", None) or 0.0):
        raise origin.error("the score is not finite; expected a number")
    return record


def require_writable(text: str, name: str, origin: Origin) -> None:
    """Raises: InputError for a text with what JSON can hold and a text file cannot."""
    if not _writable(text):
        raise origin.error(f"{name} holds a NUL or half a surrogate pair; expected text")


def _writable(text: str) -> bool:
    return "\0" not in text and text.encode(errors="ignore").decode() == text


def _open(path: PathLike) -> BinaryIO:
    if Path(path).is_dir():
        raise InputError(f"{path}: a folder; expected a file")
    try:
        file = open(path, "rb")  # noqa: SIM115 (the caller closes it)
        beginning = file.peek(1)  # what one read gives, mostly 8 KiB; of a pipe, nothing is taken from it
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # no permission; a NUL in the path
        raise InputError(f"{path}: cannot be read ({error})") from error
    old_mac = b"\r" in beginning[:-1] and b"\n" not in beginning
    return cast(BinaryIO, io.BufferedReader(_OldMac(file))) if old_mac else file


class _OldMac(io.RawIOBase):
    """A file whose lines end in CR alone, as one choice of Excel's for the Mac writes them, with LF in their place."""

    def __init__(self, file: io.BufferedReader) -> None:
        self.file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        read = self.file.read1(len(view)).replace(b"\r", b"\n")
        view[: len(read)] = read
        return len(read)

    def close(self) -> None:
        self.file.close()
        super().close()


def _to_line_end(file: BinaryIO) -> None:
    while (chunk := file.readline(1 << 16)) and not chunk.endswith(b"\n"):
        pass


def _decode(
    raw: bytes, origin: Origin, skipped: int, max_characters: int, cut: bool, keep_ends: bool, latin_1: bool
) -> str | InputError:
    if (zero := raw.find(b"\0")) >= 0:
        return origin.error(f"byte {zero + skipped + 1} is NUL; expected UTF-8 text, not UTF-16 or a binary file")
    whole, raw = raw, raw.removesuffix(b"\n").removesuffix(b"\r")
    try:
        text = raw.decode("utf-8") if not cut else ""
    except UnicodeDecodeError as error:
        if latin_1:
            return _decode(
                whole.decode("latin-1").encode(), origin, skipped, max_characters, cut, keep_ends, latin_1=False
            )
        place = f"byte {error.start + skipped + 1} is 0x{raw[error.start]:02X}"
        return origin.error(f"{place}, which is not UTF-8; expected UTF-8 text (a latin-1 file must be converted)")
    if cut or len(text) > max_characters:
        return origin.error(f"more than {max_characters:,} characters in one line; expected at most that many")
    return text + whole[len(raw) :].decode() if keep_ends else text
