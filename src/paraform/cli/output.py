"""What the commands print on stdout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jsonargparse import Namespace

from paraform.records import InputError
from paraform.score import finite

WRITTEN = ("out", "first", "plot", "html", "outputs", "texts_out")  # options that name a file to be written
UNWRITTEN = {".parquet", ".arrow", ".feather", ".xlsx", ".xls", ".ods", ".pkl", ".pickle"}
"""Endings of formats that people ask tables to be, and no command writes."""
LINES = ("JSON lines are written", {".csv", ".tsv"})
VECTORS = (
    "NAME.npy is one file, any other name a folder",
    {".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".npz"},
)
WRITES = {"annotate": LINES, "duplicates": LINES, "mine": LINES, "paraphrase": LINES, "embed": VECTORS}
"""What a command writes to --out, and endings that would promise something else."""
OWN_RULES = {"rate": {"out"}, "distil": {"out"}, "erase": {"out"}, "export": {"out"}, "train": {"out"}}
"""Of a command, or of a group, what it goes on with, or makes a folder of."""
NAMES = (*WRITTEN, "model", "tagger", "parser")  # those that name a file, a folder or a model


def require_names(options: Namespace) -> None:
    """Raises: InputError for an empty name, as a shell's unset variable gives: it would be the folder one is in."""
    for key in NAMES:
        if options.get(key) == "":
            raise InputError(f"--{key} is empty; expected a name")


def require_endings(options: Namespace, command: str) -> None:
    """Raises: InputError if a name ends in that of a format which the command does not write there."""
    for key in WRITTEN:
        path = options.get(key)
        ending = os.path.splitext(path)[1].lower() if isinstance(path, str) else ""
        if ending in UNWRITTEN:
            raise InputError(f"--{_typed(key)} {path}: no command writes {ending}; expected a name with another ending")
        written, unlike = WRITES.get(command, ("", set())) if key == "out" else ("", set())
        if ending in unlike:
            raise InputError(f"--{_typed(key)} {path}: {written}; expected another name than one in {ending}")


def files_of(command: str) -> list[str]:
    """The options of a command that name files which it makes anew."""
    return [key for key in WRITTEN if key not in OWN_RULES.get(command.split()[0], set())]


def require_free_names(options: Namespace, command: str) -> None:
    """Raises: InputError if a file that is to be written is there, unless --overwrite is given, or is named twice."""
    overwrite = bool(options.get("overwrite"))
    named = [(key, name) for key, value in vars(options).items() for name in _names(value)]
    for key in WRITTEN:
        path = options.get(key)
        if not isinstance(path, str):
            continue
        for other, name in named:
            if other != key and _same_file(path, name, made=other in WRITTEN):
                if other in WRITTEN:
                    raise InputError(f"--{_typed(key)} {path}: --{_typed(other)} names it, too; expected another name")
                if key not in files_of(command):
                    raise InputError(f"--{_typed(key)} {path}: the file that is read; expected another name")
                if not overwrite:
                    raise InputError(
                        f"--{_typed(key)} {path}: the file that is read; expected another name, or --overwrite"
                    )
        if key in files_of(command) and os.path.isfile(path) and not overwrite:
            raise InputError(f"--{_typed(key)} {path}: is there already; expected a new name, or --overwrite")


def new_folders(options: Namespace, command: str) -> list[str]:
    """The folders of files to be written that are not there yet, and will be made."""
    paths = [options.get(key) for key in files_of(command)]
    folders = dict.fromkeys(os.path.dirname(path) for path in paths if isinstance(path, str))
    return [folder for folder in folders if folder and not os.path.lexists(folder)]


def _typed(key: str) -> str:
    """The option as it is typed."""
    return key.replace("_", "-")


def _names(value: Any) -> list[str]:
    if isinstance(value, list):  # of an option that takes several values several times, lists
        return [name for one in value for name in _names(one)]
    return [value] if isinstance(value, str) else []


def _same_file(one: str, other: str, *, made: bool) -> bool:
    if made and not os.path.exists(one):  # nor is the other, if it is the same
        return os.path.realpath(one) == os.path.realpath(other)
    try:
        return os.path.isfile(one) and os.path.samefile(one, other)
    except (OSError, ValueError):  # a text, and no file's name
        return False


def print_json(value: dict[str, Any]) -> None:
    """One JSON object; JSON has no NaN or infinity, so they become null."""
    print(_json(value))


def print_items(name: str, items: Iterable[Any], rest: Mapping[str, Any]) -> None:
    """One JSON object as `print_json`'s, whose first value is a list that is written as its items come.

    Args:
        rest: the other keys, which may get their values while the items come.
    """
    before = f'{{"{name}": ['
    for item in items:
        print(before, _json(item), sep="", end="")
        before = ", "
    print("" if before == ", " else before, "], ", _json(dict(rest)).removeprefix("{"), sep="")


def show(options: Namespace, value: dict[str, Any], text: str) -> int:
    """Print the JSON object with --json, else the text; returns the exit status."""
    if options.json:
        print_json(value)
    else:
        print(text)
    return 0


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, the first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in rows
    ]


def print_rewordings(rows: Sequence[tuple[str, str]], *, alone: bool) -> None:
    """Paraphrases of one source as they are; of several a line each, `source → paraphrase`, the source dimmed."""
    if alone:
        for _, output in rows:
            print(output)
        return
    rows = [(" ".join(source.split()), " ".join(output.split())) for source, output in rows]
    if not sys.stdout.isatty():
        for source, output in rows:
            print(f"{source} → {output}")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for source, output in rows:
        console.print(Text.assemble((f"{source} → ", "dim"), output), soft_wrap=True)


def _json(value: Any) -> str:
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False)
