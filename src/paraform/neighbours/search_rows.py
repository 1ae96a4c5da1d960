"""What goes with each vector of a search index: a text and what else is known of it, a line of JSON each.

One array of bytes, and where each line begins, so that both can lie on disk until a line is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.corpora.tables import Value
from paraform.json_text import parse_json
from paraform.records import InputError, require_text, several

KEYS = {"text", "fields"}


class Rows(NamedTuple):
    """N lines: line i is bytes starts[i] to starts[i + 1].

    Args:
        lines: uint8.
        starts: [N + 1] int64.
    """

    lines: NDArray[np.uint8]
    starts: NDArray[np.int64]

    def row(self, number: int) -> tuple[str, dict[str, Value]]:
        """A text and its fields. Raises: InputError for a line that `rows_of` never wrote."""
        start, end = self.starts[number : number + 2]
        place = f"row {number} of a damaged index"
        value = parse_json(self.lines[start:end].tobytes(), place, "a text and its fields")
        if not isinstance(value, dict) or set(value) != KEYS:
            raise InputError(f"{place}: {str(value)[:60]!r}; expected a text and its fields")
        return require_text(value["text"], place), checked(value["fields"], place)


def rows_of(texts: Sequence[str], fields: Iterable[Mapping[str, Value]] | None) -> Rows:
    """The lines of these texts. Raises: InputError if the fields are not as many, or not as `checked` has them."""
    given = [{}] * len(texts) if fields is None else list(several(fields, "fields"))
    if len(given) != len(texts):
        raise InputError(f"{len(given):,} fields for {len(texts):,} texts; expected those of each text")
    lines = [
        json.dumps({"text": text, "fields": checked(some, f"fields of text {number}")}, ensure_ascii=False).encode()
        + b"\n"
        for number, (text, some) in enumerate(zip(texts, given, strict=True), start=1)
    ]
    starts = np.cumsum([0, *map(len, lines)], dtype=np.int64)
    return Rows(np.frombuffer(b"".join(lines), np.uint8), starts)


def checked(fields: Any, place: str) -> dict[str, Value]:
    """Names and their values, as a table's row has them. Raises: InputError for anything else."""
    if not isinstance(fields, Mapping):
        raise InputError(f"{place}: of type {type(fields).__name__}; expected a dict of names and their values")
    for name, value in fields.items():
        require_text(name, f"{place}: a name")
        if isinstance(value, str):
            require_text(value, f"{place}: {name[:40]!r}")
        elif not isinstance(value, (int, float, type(None))) or (isinstance(value, float) and not abs(value) < np.inf):
            came = f"{value}" if isinstance(value, float) else f"a {type(value).__name__}"
            raise InputError(f"{place}: {name[:40]!r} is {came}; expected a text, a finite number, true, false or None")
        elif isinstance(value, int) and abs(value) >= 2**63:
            raise InputError(f"{place}: {name[:40]!r} is a number beyond 64 bits; expected a smaller one")
    return dict(fields)
