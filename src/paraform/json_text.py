"""JSON from outside: whatever reads a file of it goes through here."""

from __future__ import annotations

import json
from typing import Any

from paraform.records import InputError, Origin

MOST_NESTED = 100  # brackets of JSON inside each other: with some hundreds Python can't copy, compare or print it


def parse_json(text: str | bytes, place: object, expected: str = "a value of it", **how: Any) -> Any:
    """The value that JSON from outside holds; whatever reads a file of it goes through here.

    Args:
        place: an `Origin`, or the file that the text is the whole of.
        expected: what should be there, in words.
        how: hooks of `json.loads`, which may raise InputError.
    Raises: InputError, naming the place, for what is not JSON, or more of it than can be worked with.
    """
    deep = f"{place}: not usable JSON: more than {MOST_NESTED} brackets inside each other; expected {expected}"
    try:
        text = text if isinstance(text, str) else text.decode()
        value = json.loads(text, **how)
    except json.JSONDecodeError as error:
        where = place if isinstance(place, Origin) else Origin(str(place), error.lineno)
        raise where.error(f"not JSON ({error.msg} at character {error.colno}); expected {expected}") from error
    except InputError:
        raise
    except RecursionError:
        raise InputError(deep) from None
    except ValueError as error:  # bytes that are not UTF-8; thousands of digits
        raise InputError(f"{place}: not usable JSON ({error}); expected {expected}") from error
    # Counting brackets costs next to nothing, and shows of nearly all texts that they are not nested so deep.
    if text.count("[") + text.count("{") > MOST_NESTED and _nested_deeper(value, MOST_NESTED):
        raise InputError(deep)
    return value


def _nested_deeper(value: object, most: int) -> bool:
    """Whether lists and objects stand more than so many inside each other."""
    level = [value]
    for _ in range(most):
        outer = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        level = [inner for held in outer for inner in held]
    return any(isinstance(one, (dict, list)) for one in level)
