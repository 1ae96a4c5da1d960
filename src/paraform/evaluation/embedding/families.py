"""What a data folder has to measure vectors on, by families: similarity, transfer, probing and so on."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paraform.records import InputError

if TYPE_CHECKING:  # the command line asks for the names without waiting for torch
    from paraform.evaluation.embedding.task import Choices, Family, Task
    from paraform.weights import PathLike

FAMILIES = {  # and the module here in whose `FAMILIES` each one stands
    "similarity": "regression",
    "transfer": "transfer",
    "probing": "probing",
    "robustness": "robustness",
    "retrieval": "robustness",
    "style": "matching",
}


def family_named(name: str) -> Family:
    """The family. Raises: InputError if there is none of that name."""
    if name not in FAMILIES:
        raise InputError(f"no family {name!r}; expected some of {', '.join(FAMILIES)}")
    module: Any = importlib.import_module(f"paraform.evaluation.embedding.{FAMILIES[name]}")
    families: Sequence[Family] = module.FAMILIES
    return next(family for family in families if family.name == name)


class Found(NamedTuple):
    """A family that a folder has sets of.

    Args:
        data: what its command takes as --data.
        options: further options by which its command gives the same scores, as they are typed.
    """

    family: Family
    tasks: tuple[Task, ...]
    data: str
    options: str = ""


@dataclass(frozen=True, slots=True)
class Families:
    """The families that a folder has data for.

    Args:
        left_out: of each other one that was asked for, what was expected.
    """

    found: tuple[Found, ...]
    left_out: dict[str, str]

    @property
    def tasks(self) -> list[Task]:
        """Of all of them, so that each different text is encoded once."""
        return [task for one in self.found for task in one.tasks]

    def limited(self, most: int) -> Families:
        """The same with `limited` tasks."""
        tasks = ((one, tuple(task.limited(most) for task in one.tasks)) for one in self.found)
        return replace(self, found=tuple(one._replace(tasks=some) for one, some in tasks))


def read_families(
    folder: PathLike, families: Sequence[str | Family] = tuple(FAMILIES), choices: Choices | None = None
) -> Families:
    """Everything below a folder that these families can be measured on, in the order of `FAMILIES`.

    Args:
        families: their names; or families of your own, which come last.
        choices: None: `Choices()`.
    Raises: InputError if there is nothing, no family of a name, or a file that cannot be read as it should.
    """
    from paraform.evaluation.embedding.task import Choices

    choices = choices or Choices()
    given = {name: family_named(name) for name in families if isinstance(name, str)}
    asked = [given[name] for name in FAMILIES if name in given]
    asked += [family for family in families if not isinstance(family, str)]
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: no such folder; expected one that holds evaluation sets")
    read = functools.cache(lambda reader, place: reader(place, choices))
    found, left_out = [], {}
    for family in asked:
        place = family.find(Path(folder))
        if place is None:
            left_out[family.name] = f"expected {family.expected}"
            continue
        tasks = tuple(task for task in read(family.read, place) if isinstance(task, family.kind))
        found.append(Found(family, tasks, str(place), family.options(tasks, choices)))
    if not found:
        raise InputError(f"{folder}: nothing for {', '.join(left_out)}; {next(iter(left_out.values()))}")
    return Families(tuple(found), left_out)
