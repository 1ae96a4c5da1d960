"""What a configuration's fields may hold: their types, their bounds, and presets with some of them changed."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from paraform.records import InputError

# The largest numbers that a config may hold: a stranger's checkpoint must not make a reader work or wait without end.
MOST_LAYERS = 100
MOST_WIDTH = 100_000
MOST_STEPS = 20_000  # as many words as a line of a text file has characters at most
Config = TypeVar("Config", bound=Any)


@dataclass(frozen=True)
class Between:
    """The bounds of a field, both counted: `epochs: Annotated[int, Between(1, math.inf)]`."""

    least: float
    most: float

    def require(self, name: str, value: float) -> None:
        """Raises: InputError that names the field, if the value lies beyond."""
        if not self.least <= value <= self.most:
            above = "or more" if self.most == math.inf else f"to {self.most}"
            raise InputError(f"{name} {value}; expected {self.least} {above}")


@dataclass(frozen=True)
class Above:
    """The bound of a field, not counted: `temperature: Annotated[float, Above(0)]`."""

    least: float

    def require(self, name: str, value: float) -> None:
        """Raises: InputError that names the field, if the value is not above it."""
        if not value > self.least:
            raise InputError(f"{name} {value}; expected a number above {self.least}")


# The bounds that most fields have: whole numbers, then others.
Whole: TypeAlias = Annotated[int, Between(0, math.inf)]
Count: TypeAlias = Annotated[int, Between(1, math.inf)]
Depth: TypeAlias = Annotated[int, Between(1, MOST_LAYERS)]
Width: TypeAlias = Annotated[int, Between(1, MOST_WIDTH)]
Steps: TypeAlias = Annotated[int, Between(0, MOST_STEPS)]
Length: TypeAlias = Annotated[int, Between(1, MOST_STEPS)]
Words: TypeAlias = Annotated[int, Between(2, MOST_STEPS)]
Share: TypeAlias = Annotated[float, Between(0, 1)]
Dropout: TypeAlias = Annotated[float, Between(0, 0.99)]
Amount: TypeAlias = Annotated[float, Between(0, math.inf)]
Positive: TypeAlias = Annotated[float, Above(0)]


def require_types(config: Any) -> None:
    """Every field of a dataclass that is declared a number, a string or a bool is one; a whole number is a float too.

    Numbers are finite, whole ones of 64 bits, and within the bounds that an `Annotated` gives them; of a field that
    takes only some values it is one of these.

    Raises: InputError that names the field, what came and what was expected.
    """
    hints = get_type_hints(type(config), include_extras=True)
    for field in dataclasses.fields(config):
        name, hint, value = field.name, hints[field.name], getattr(config, field.name)
        hint, *bounds = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise InputError(f"{name} {str(value)[:60]!r}; expected one of {', '.join(map(str, get_args(hint)))}")
        fits = isinstance(value, (int, float) if hint is float else hint) if hint in (bool, int, float, str) else True
        if not fits or (isinstance(value, bool) and hint is not bool):
            came = f"{value!r} of type {type(value).__name__}"
            raise InputError(f"{name} is {came}; expected {'an' if hint is int else 'a'} {hint.__name__}")
        if hint is float and not abs(value) < math.inf:
            raise InputError(f"{name} is {value}; expected a finite number")
        if hint in (int, float) and isinstance(value, int) and abs(value) >= 2**63:
            raise InputError(f"{name} is a number beyond 64 bits; expected a smaller one")
        for bound in bounds:
            bound.require(name, value)


def kept_fields(config: type, stored: Mapping[str, Any], path: object) -> dict[str, Any]:
    """The fields of a stored config that are read today.

    A field that a former version had, and this one has not, stands in the class variable `removed` of the config: its
    name, and the value that all of today's code has. With that value it is left out. One that had another name stands
    in `renamed`, its former name before today's.

    Args:
        config: a dataclass.
        path: of the stored config, for the message.
    Raises: InputError, in one line, for another value of such a field.
    """
    removed: Mapping[str, object] = getattr(config, "removed", {})
    for name in sorted(removed.keys() & stored.keys()):
        if stored[name] != removed[name]:
            came = repr(stored[name])[:60]
            raise InputError(f"{path}: config.{name} is {came}, which paraform reads no more; version 0.1.0 does")
    renamed: Mapping[str, str] = getattr(config, "renamed", {})
    return {renamed.get(name, name): value for name, value in stored.items() if name not in removed}


def require_restorable(
    kind: type[Any], config: Mapping[str, Any], assets: Iterable[str], needed: Iterable[str]
) -> None:
    """A checkpoint's config has no field that `kind` lacks, and each asset that is needed is there.

    Raises: InputError that names all that are too many and all that are missing.
    """
    unknown = sorted(set(config) - {field.name for field in dataclasses.fields(kind)})
    lacking = sorted(set(needed) - set(assets))
    if unknown or lacking:
        raise InputError(f"{kind.__name__} of a checkpoint with unknown fields {unknown}, without {lacking}")


def with_fields(config: Config, fields: Mapping[str, Any]) -> Config:
    """The config with those fields in the place of its own, as presets take them: `LatentConfig.compact(epochs=2)`.

    Raises: InputError for a field that it has not, or a value that cannot be.
    """
    names = [field.name for field in dataclasses.fields(config)]
    for name in fields:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "its docstring names them"
            raise InputError(f"{type(config).__name__} has no field {name!r}; {hint}")
    return dataclasses.replace(config, **fields)
