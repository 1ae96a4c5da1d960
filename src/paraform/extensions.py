"""What other distributions add: systems and commands by entry points, and packages that an extra brings.

A distribution that adds a system or a command says so in its `pyproject.toml`:

    [project.entry-points."paraform.systems"]
    mine = "my_package.systems:MINE"          # a paraform.models.systems.System

    [project.entry-points."paraform.commands"]
    mine = "my_package.commands:MINE"         # a paraform.cli.Command

Nothing of it is imported before its name is asked for.
"""

from __future__ import annotations

import importlib
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from paraform.records import InputError

LABORATORY = "paraform-papers"
"""The distribution of this repository that holds the papers' tables and the rivals."""


def extensions(group: str) -> dict[str, EntryPoint]:
    """What is installed of a group, by name, in the order of their names; none of it is imported."""
    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def loaded(point: EntryPoint, kind: type[Any]) -> Any:
    """What the entry point names. Raises: InputError if that cannot be imported, or is of another kind."""
    of = f"{point.name!r} of {point.dist.name if point.dist else point.value}"
    try:
        found = point.load()
    except Exception as error:  # another's code, of which anything may come
        raise InputError(f"{of} cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(found, kind):
        raise InputError(f"{of} is a {type(found).__name__}; expected a {kind.__module__}.{kind.__qualname__}")
    return found


def needed(module: str, what: str, extra: str) -> ModuleType:
    """A module of a package that not everyone has, imported only now.

    Args:
        what: that needs it, for the message.
        extra: of paraform's, that brings it.
    Raises: InputError, naming the extra, if it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        raise InputError(f"{what} needs {package}; install it with: pip install 'paraform[{extra}]'") from error
