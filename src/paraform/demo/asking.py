"""What a browser sent, looked at before any model sees it; whatever is wrong is one line to the person who typed it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_CHARACTERS = 300  # of a text: a few sentences, which a laptop answers in seconds
MOST_EXEMPLARS = 4
MOST_BYTES = 32_768  # of a request; all texts at once, every character escaped, are fewer
MOST_READ = 8 << 20  # bytes that are still read, and thrown away, so that a browser hears the answer
MOST_SECONDS = 20.0  # for a request to come in

Field: TypeAlias = Callable[[Any, str], Any]
"""(value, name) → the value, looked at. Raises: HTTPException."""


def refused(message: str, status: int = 400) -> HTTPException:
    """An answer of one line."""
    return HTTPException(status, message)


def text(value: Any, name: str) -> str:
    """A sentence or a few. Raises: HTTPException for what is none, empty or too long."""
    if not isinstance(value, str):
        raise refused(f"{name} is no text; expected a sentence.")
    if len(value) > MOST_CHARACTERS:
        raise refused(f"That is {len(value):,} characters; at most {MOST_CHARACTERS} at once, please.", 413)
    if not value.strip():
        raise refused("There is no text; type a sentence first.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise refused("The text holds half of a character (a lone surrogate); type it anew, please.") from None
    if "\0" in value:
        raise refused("The text holds a NUL character; expected plain text.")
    return value


def texts(value: Any, name: str) -> list[str]:
    """A few sentences, perhaps none. Raises: HTTPException as `text` does."""
    if not isinstance(value, list):
        raise refused(f"{name} is no list; expected sentences.")
    if len(value) > MOST_EXEMPLARS:
        raise refused(f"{len(value):,} sentences to be like; at most {MOST_EXEMPLARS} at once, please.")
    return [text(item, name) for item in value]


def number(value: Any, name: str) -> int:
    """A whole number, as a seed. Raises: HTTPException for any other."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise refused(f"{name} is no whole number from 0 to 2,147,483,647.")
    return value


async def read(request: Request, fields: Mapping[str, Field]) -> dict[str, Any]:
    """The fields of the JSON object that was sent: those and no others. Raises: HTTPException otherwise."""
    # A page from elsewhere cannot send this kind without asking first, and is not allowed to.
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise refused("Expected JSON (Content-Type: application/json).", 415)
    try:
        found = json.loads(await _body(request))
    except (ValueError, RecursionError):
        raise refused("That is no JSON; expected an object.") from None
    if not isinstance(found, dict) or found.keys() != fields.keys():
        raise refused(f"Expected an object with {' and '.join(fields)}, and nothing else.")
    return {name: look(found[name], name) for name, look in fields.items()}


async def _body(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(MOST_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size <= MOST_BYTES:
                    parts.append(part)
                elif size > MOST_READ:
                    break
    except TimeoutError:
        raise refused("The request took too long to come in.", 408) from None
    if size > MOST_BYTES:
        raise refused(f"That is too much text; at most {MOST_CHARACTERS} characters at once, please.", 413)
    return b"".join(parts)
