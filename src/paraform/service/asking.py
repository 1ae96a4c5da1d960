"""What came over HTTP, looked at before any model sees it; whatever is wrong is one line to who sent it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request

from paraform.records import InputError, require_text

SMALL = 64 << 10  # bytes below which JSON is read at once
MOST_READ = 8 << 20  # bytes that are still read, and thrown away, so that who sent them hears the answer

Check: TypeAlias = Callable[[Any, str], Any]
"""(value, name) → the value, looked at. Raises: HTTPException."""

REQUIRED = object()


class Kind(NamedTuple):
    """What a value may be.

    Args:
        check: looks at one.
        schema: says the same to programs, as JSON Schema.
    """

    check: Check
    schema: Mapping[str, Any]


class Field(NamedTuple):
    """A field of an object.

    Args:
        kind: what it may be.
        meaning: what it is, in a line.
        default: its value where it is left out or null; `REQUIRED`: it must be there.
    """

    kind: Kind
    meaning: str = ""
    default: Any = REQUIRED


@dataclass(frozen=True)
class Limits:
    """How much may be sent.

    Args:
        size: bytes of a request.
        characters: of a text.
        count: texts of a request.
        seconds: for a request to come in.
    """

    size: int
    characters: int
    count: int
    seconds: float = 20.0


def refused(message: str, status: int = 400, headers: Mapping[str, str] | None = None) -> HTTPException:
    """An answer of one line."""
    return HTTPException(status, message, headers)


def text_of(limits: Limits) -> Kind:
    """A text that is neither empty nor too long."""

    def check(value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise refused(f"{name} is no text; expected a sentence or a few.")
        if len(value) > limits.characters:
            raise refused(f"{name} has {len(value):,} characters; expected at most {limits.characters:,}.", 413)
        if not value.strip():
            raise refused(f"{name} is empty; expected a sentence or a few.")
        try:
            require_text(value, name)
        except InputError as error:
            raise refused(f"{error}.") from None
        if "\0" in value:
            raise refused(f"{name} holds a NUL character; expected plain text.")
        return value

    return Kind(check, {"type": "string", "minLength": 1, "maxLength": limits.characters})


def list_of(kind: Kind, limits: Limits, what: str = "texts") -> Kind:
    """Several of something, perhaps none."""

    def check(value: Any, name: str) -> list[Any]:
        if not isinstance(value, list):
            raise refused(f"{name} is no list; expected {what}.")
        if len(value) > limits.count:
            raise refused(f"{name} has {len(value):,} {what}; expected at most {limits.count:,}.", 413)
        return [kind.check(item, f"{name}[{at}]") for at, item in enumerate(value)]

    return Kind(check, {"type": "array", "items": kind.schema, "maxItems": limits.count})


def one_or_several(kind: Kind, limits: Limits, what: str = "texts") -> Kind:
    """One of something, or a list of one or more; the value is a list."""
    several = list_of(kind, limits, what)

    def check(value: Any, name: str) -> list[Any]:
        found: list[Any] = several.check(value, name) if isinstance(value, list) else [kind.check(value, name)]
        if not found:
            raise refused(f"{name} is an empty list; expected one or more {what}.")
        return found

    return Kind(check, {"oneOf": [kind.schema, {**several.schema, "minItems": 1}]})


def pair_of(kind: Kind) -> Kind:
    """Two of something; the value is a tuple."""

    def check(value: Any, name: str) -> tuple[Any, Any]:
        if not isinstance(value, list) or len(value) != 2:
            raise refused(f"{name} is no list of two; expected two texts.")
        return kind.check(value[0], f"{name}[0]"), kind.check(value[1], f"{name}[1]")

    return Kind(check, {"type": "array", "items": kind.schema, "minItems": 2, "maxItems": 2})


def number(least: int, most: int) -> Kind:
    """A whole number within bounds."""

    def check(value: Any, name: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise refused(f"{name} is no whole number from {least:,} to {most:,}.")
        return value

    return Kind(check, {"type": "integer", "minimum": least, "maximum": most})


def real(least: float, most: float) -> Kind:
    """A number within bounds."""

    def check(value: Any, name: str) -> float:
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not least <= value <= most:
            raise refused(f"{name} is no number from {least:g} to {most:g}.")
        return float(value)

    return Kind(check, {"type": "number", "minimum": least, "maximum": most})


def one_of(*names: str) -> Kind:
    """A name that is known."""

    def check(value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in names:
            came = f"{value[:40]!r}" if isinstance(value, str) else "no text"
            raise refused(f"{name} is {came}; expected {' or '.join(map(repr, names))}.")
        return value

    return Kind(check, {"type": "string", "enum": list(names)})


def flag() -> Kind:
    """True or false."""

    def check(value: Any, name: str) -> bool:
        if not isinstance(value, bool):
            raise refused(f"{name} is neither true nor false.")
        return value

    return Kind(check, {"type": "boolean"})


def ignored() -> Kind:
    """What changes nothing, such as the name of who asks."""
    return Kind(lambda value, name: None, {})


async def read(request: Request, fields: Mapping[str, Field], limits: Limits) -> dict[str, Any]:
    """The fields of the JSON object that was sent: those and no others. Raises: HTTPException otherwise."""
    # A page from elsewhere cannot send this kind without asking first, and is not allowed to.
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise refused("Expected JSON (Content-Type: application/json).", 415)
    body = await _body(request, limits)
    try:
        found = json.loads(body) if len(body) < SMALL else await asyncio.to_thread(json.loads, body)
    except (ValueError, RecursionError):
        raise refused("That is no JSON; expected an object.") from None
    known = ", ".join(fields)
    if not isinstance(found, dict):
        raise refused(f"That is no object; expected one with {known}.")
    if unknown := [name for name in found if name not in fields]:
        raise refused(f"{unknown[0][:40]!r} is no field here; expected {known}.")
    given = {name: value for name, value in found.items() if value is not None}
    if missing := [name for name, field in fields.items() if field.default is REQUIRED and name not in given]:
        raise refused(f"{missing[0]} is missing; expected an object with {known}.")
    return {
        name: field.kind.check(given[name], name) if name in given else field.default for name, field in fields.items()
    }


async def _body(request: Request, limits: Limits) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                size += len(part)
                if size <= limits.size:
                    parts.append(part)
                elif size > max(MOST_READ, 2 * limits.size):
                    break
    except TimeoutError:
        raise refused("The request took too long to come in.", 408) from None
    if size > limits.size:
        raise refused(f"That is too much text; expected at most {limits.size:,} bytes at once.", 413)
    return b"".join(parts)
