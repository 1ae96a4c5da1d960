"""One process at a time trains in a run's folder: two would replace each other's checkpoints and mix their logs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from paraform.records import InputError

NAME = "run.lock"


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else trains in the folder while the block runs. A process that dies frees it; the empty file stays.

    Args:
        folder: the run's; it is made if there is none.
    Raises: InputError if another process trains there.
    """
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(folder / NAME).acquire(blocking=False)
    except Timeout:
        raise InputError(f"{folder}: another process trains here; wait until it ends, or name another folder") from None
    with held:
        yield
