"""What the commands read: texts, sentences, pairs and records, from arguments, files or stdin."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from jsonargparse import Namespace

from paraform.cli.messages import tell
from paraform.cli.options import TABLES
from paraform.records import GivenText, InputError, Origin, Pair, Record, Sentence, Triple

Item = TypeVar("Item")


def sentences_of(path: str, options: Namespace) -> list[str]:
    """The sentences of a file, in order; of pairs and triples, source and target.

    Raises: InputError if it cannot be read.
    """
    texts: list[str] = []
    for record in read_records(path, options):
        sides = [record] if isinstance(record, Sentence) else [record.source, record.target]
        texts += [side.text for side in sides]
    return texts


def comes_again(path: str) -> bool:
    """Whether the corpus can be read twice: a file or a folder; not stdin, and not a pipe such as `<(command)`."""
    return path != "-" and (os.path.isfile(path) or os.path.isdir(path))


def is_readable(path: str) -> bool:
    """Whether it is a file, or a pipe such as `<(command)`; a device may have no end."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # a text, and no file's name
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode)


def no_file(path: str, options: Namespace) -> str:
    """What a path is that is neither a file that comes again nor, of such a format, a folder; "": it is."""
    if comes_again(path) and (os.path.isfile(path) or options.format == "qqp-pos"):
        return ""
    if path == "-" or is_readable(path):
        return "a pipe"
    return "a folder" if os.path.isdir(path) else "no such file"


def one_file(given: Sequence[str], options: Namespace, otherwise: str) -> str:
    """The file that shards are made of, which is read more than once. Raises: InputError if it is none, or several.

    Args:
        otherwise: what else might have been meant.
    """
    path = given[0] if given else "-"
    several = len(given) > 1
    if came := f"{len(given)} texts or files" if several else no_file(path, options):
        came = came if several else f"{path}: {came}"
        raise InputError(f"{came}; expected one file for the shards in {options.out}, {otherwise}")
    return path


def digest_of(path: str, options: Namespace) -> str:
    """SHA-256 of what a corpus's records depend on: its files, their format, and whether bad lines count."""
    key = hashlib.sha256(f"{options.format} {options.skip_bad_lines}".encode())
    files = sorted(file for file in Path(path).rglob("*") if file.is_file()) if os.path.isdir(path) else [Path(path)]
    for file in files if comes_again(path) else []:
        with contextlib.suppress(OSError), open(file, "rb") as data:  # reading it says better what is wrong
            key.update(f"{file.name}\0".encode() + hashlib.file_digest(data, "sha256").digest())
    return key.hexdigest()


@contextlib.contextmanager
def cache_for(path: str) -> Iterator[Path]:
    """Where finished chunks of a corpus are kept: the cache folder, unless the corpus does not come again."""
    from paraform.weights import cache_folder

    if comes_again(path):
        yield cache_folder()
        return
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        yield Path(folder)


def read_texts(arguments: Sequence[str], options: Namespace, what: str = "text") -> list[str]:
    """The texts that arguments give, name the files of, or leave to stdin.

    Raises: InputError if there is none, or one is not usable.
    """
    return list(stream_texts(arguments, options, what))


def parts(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """So many at a time; where one cannot be had, those before it come first. Raises: InputError as the items."""
    part: list[Item] = []
    wrong: InputError | None = None
    left = iter(items)
    while wrong is None:
        try:
            part.append(next(left))
        except StopIteration:
            break
        except InputError as error:
            wrong = error
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
    if wrong is not None:
        raise wrong


def stream_texts(arguments: Sequence[str], options: Namespace, what: str = "text") -> Iterator[str]:
    """The same as they are asked for: of a file, one line is held at a time.

    Raises: InputError at once for what is wrong with the arguments or the first text; for another text, when it comes.
    """
    return (given.text for given in rows_of(arguments, options, what))


def rows_of(
    arguments: Sequence[str], options: Namespace, what: str = "text", *, whole: bool = False
) -> Iterator[GivenText]:
    """Each text with its line and, of a table's, the other columns, as they are asked for.

    Of a command with `--text-column` (`add_texts(…, tables=True)`) a file is a table if that option is given, if
    `--format` says csv or tsv, or if its name ends in .csv.

    Args:
        whole: a table's texts with their line breaks, not in one line.
    Raises: InputError at once for what is wrong with the arguments or the first text; for another text, when it comes.
    """
    from paraform.corpora.lines import checked

    if not arguments and sys.stdin.isatty():
        raise InputError(f"no {what}; expected a text, a file, or - for stdin")
    sources: list[Iterable[GivenText]] = []
    for number, argument in enumerate(arguments or ["-"], start=1):
        folder = options.format == "qqp-pos" and os.path.isdir(argument)
        if argument == "-" or folder or is_readable(argument):
            table = is_table(argument, options)
            sources.append(table_rows(argument, options, whole) if table else text_rows(argument, options))
        elif os.path.isdir(argument):
            raise InputError(f"{argument}: a folder; expected a {what}, a file, or -")
        elif re.fullmatch(r"\S+\.(txt|tsv|csv|jsonl?)|(/|\.{1,2}/|~/)\S*", argument):
            raise InputError(f"{argument}: no such file")
        else:
            if re.fullmatch(r"\S+\.\w{2,4}", argument):
                tell(f"{argument}: no such file, and so read as a {what}")
            origin = Origin(f"{what} {number}", 1)
            if any("\udc80" <= letter <= "\udcff" for letter in argument):  # bytes that the locale could not read
                raise InputError(f"{origin.path} holds bytes that are not in the locale's encoding; expected UTF-8")
            try:
                sources.append([GivenText(None, checked(Sentence(argument.strip()), origin).text, {})])
            except InputError as error:  # an argument has no lines
                raise InputError(str(error).replace(str(origin), origin.path)) from error
    stream = itertools.chain.from_iterable(sources)
    return itertools.chain(list(itertools.islice(stream, 1)), stream)


def is_table(path: str, options: Namespace) -> bool:
    """Whether a command with `--text-column` reads that file as a table."""
    if "text_column" not in options:
        return False
    ends = path.lower().endswith(".csv") and options.format == "text"
    return options.text_column is not None or options.format in ("csv", "tsv") or ends


def table_rows(path: str, options: Namespace, whole: bool) -> Iterator[GivenText]:
    """The texts of a table's column, or of stdin for "-", with the other columns."""
    from paraform.corpora.tables import read_table

    with on_disk(path) as file:
        table = read_table(
            file, options.text_column, format_of_table(path, options), skip_bad_lines=options.skip_bad_lines
        )
        for row in table.rows:
            others = {name: value for name, value in row.fields.items() if name != table.text_column}
            text = str(row.fields[table.text_column]).strip() if whole else row.text
            yield GivenText(row.origin.line, text, others)


def format_of_table(path: str, options: Namespace) -> str:
    """What `--format` says, else a file's name. Raises: InputError if neither says that of a table."""
    from paraform.corpora.tables import ENDINGS, table_format

    if options.format in TABLES:
        return str(options.format)
    if found := table_format(path):
        return found
    expected = f"--format {', '.join(TABLES[:-1])} or {TABLES[-1]}"
    name = "<stdin>" if path == "-" else path
    raise InputError(f"{name}: no table by its name; expected {expected}, or a name that ends in {', '.join(ENDINGS)}")


def text_rows(path: str, options: Namespace) -> Iterator[GivenText]:
    """The texts of a file of records, or of stdin for "-"."""
    for record in read_records(path, options):
        yield GivenText(record.origin.line if record.origin else None, text_of(record), {})


def text_of(record: Record) -> str:
    """The text of a sentence, the source of a pair or triple."""
    return record.text if isinstance(record, Sentence) else record.source.text


def read_pairs(path: str, options: Namespace, *, others: bool = False) -> list[Pair | Triple]:
    """The pairs or triples of a file; those labelled as no paraphrases are left out, and counted on stderr.

    Args:
        others: keep those as well.
    Raises: InputError if it holds something else, or nothing but pairs that are none.
    """
    kept: list[Pair | Triple] = []
    other = 0
    for record in read_records(path, options):
        if isinstance(record, Sentence):
            place = record.origin or Origin(path, 1)
            raise place.error(f"one sentence; expected a pair, source and target (--format is {options.format})")
        if isinstance(record, Pair) and record.label == 0 and not others:
            other += 1
        else:
            kept.append(record)
    if not kept:
        raise InputError(f"{path}: no paraphrases; expected at least one pair")
    if other:
        tell(f"{other:,} pairs labelled 0 (no paraphrases) left out, {len(kept):,} kept")
    return kept


def read_records(path: str, options: Namespace) -> Iterator[Record]:
    """The records of a file, or of stdin for "-", as `--format` and `--skip-bad-lines` say.

    What is hardly a text a line, and read as such, is told on stderr.
    """
    from paraform.corpora import read

    tell_no_lines(path, options, "")
    lines, count, tabs = options.format == "text", 0, 0
    with on_disk(path) as file:
        for record in read(file, options.format, skip_bad_lines=options.skip_bad_lines):
            count += 1
            tabs += lines and "\t" in text_of(record)
            yield record
    if tabs:
        name = "<stdin>" if path == "-" else path
        tell(f"{name}: {tabs:,} of {count:,} sentences hold a TAB; if those are pairs, say --format pairs")


def tell_no_lines(path: str, options: Namespace, hint: str) -> None:
    """That a file which is read as a text a line is a table or JSON, if its name says so.

    Args:
        hint: what reads a table as one, behind a semicolon; "": nothing does.
    """
    if options.format == "text" and (ending := re.search(r"\.(csv|jsonl?|ndjson)$", path.lower())):
        table = ending[1] == "csv"
        hint = hint if table else "; if it holds records, say --format jsonl"
        tell(f"{path}: {'a table' if table else 'JSON'} by its name, read as a text a line, whatever that is{hint}")


@contextlib.contextmanager
def on_disk(path: str) -> Iterator[str]:
    """The path; of stdin ("-") that of a copy, which errors call <stdin>."""
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        spool = os.path.join(folder, "stdin")
        with open(spool, "wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        try:
            yield spool
        except InputError as error:
            raise InputError(str(error).replace(spool, "<stdin>")) from error
