"""Options made from the fields of a config."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

from jsonargparse import ArgumentParser

from paraform.records import InputError


def early(given: Sequence[str], option: str, default: str) -> str:
    """An option's value, before the arguments are parsed: the defaults of --config.FIELD depend on it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(option, dest="value", default=default)
    try:
        return str(parser.parse_known_args(list(given))[0].value)
    except argparse.ArgumentError:  # without a value, which the real parser will report
        return default


def field_help(parser: ArgumentParser, config: type[Any], prefix: str = "") -> None:
    """Give the options made from a dataclass's fields the words of its docstring."""
    words: dict[str, str] = {}
    for names, text in re.findall(r"^ {4}([\w, ]+): (.+(?:\n {8}.+)*)", inspect.getdoc(config) or "", re.MULTILINE):
        words |= {name: " ".join(text.split()).replace("%", "%%") for name in names.split(", ")}
    for action in parser._actions:
        if action.dest.startswith(prefix) and not action.help:
            action.help = words.get(action.dest.removeprefix(prefix))


@contextlib.contextmanager
def bad_values() -> Iterator[None]:
    """A ValueError of a config that the options filled is the user's."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
