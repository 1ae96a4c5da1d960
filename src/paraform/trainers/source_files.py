"""The files that pairs were read from, of which an epoch may have shares."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from paraform.records import InputError, Pair


def files_of(pairs: Iterable[Pair]) -> dict[str, int]:
    """The files that pairs, but for those labelled 0, were read from, numbered as they first come."""
    files = dict.fromkeys(file_of(pair) for pair in pairs if pair.label != 0)
    return {path: number for number, path in enumerate(files)}


def groups_of(pairs: Sequence[Pair], files: Mapping[str, int]) -> list[int]:
    """The number of each pair's file, 0 for one that has none."""
    return [files.get(file_of(pair), 0) for pair in pairs]


def file_of(pair: Pair) -> str:
    """The file that a pair was read from; "" if from none."""
    return "" if pair.origin is None else pair.origin.path


def require_some_of_each(files: Iterable[str], left: Collection[str]) -> None:
    """Raises: InputError, naming a file, if it is not among those of which pairs are left to have a share."""
    if emptied := [path for path in files if path not in left]:
        raise InputError(f"{emptied[0]}: none of its pairs is left to train on; expected it not among the files")
