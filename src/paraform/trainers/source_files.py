"""The files that pairs were read from, of which an epoch may have shares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from paraform.records import InputError, Pair


def files_of(pairs: Sequence[Pair]) -> dict[str, int]:
    """The files that pairs were read from, numbered as they first come."""
    numbers: dict[str, int] = {}
    for pair in pairs:
        numbers.setdefault(file_of(pair), len(numbers))
    return numbers


def file_of(pair: Pair) -> str:
    """The file that a pair was read from; "" if from none."""
    return "" if pair.origin is None else pair.origin.path


def require_some_of_each(files: Iterable[str], left: Collection[str]) -> None:
    """Raises: InputError, naming a file, if it is not among those of which pairs are left to have a share."""
    if emptied := [path for path in files if path not in left]:
        raise InputError(f"{emptied[0]}: none of its pairs is left to train on; expected it not among the files")
