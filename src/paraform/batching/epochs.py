"""Epochs of batches."""

from __future__ import annotations

from paraform.records import InputError


def epoch_steps(rows: int, batch_size: int, *, world: int, what: str) -> int:
    """The steps of an epoch; what does not fill the last batch is left out.

    Args:
        batch_size: over all processes.
        world: the number of processes.
        what: the name of the rows, for the error.
    Raises: InputError if there are fewer rows than one batch holds, or a batch has no equal parts.
    """
    if batch_size % world:
        raise InputError(f"batch size {batch_size} on {world} processes; expected a multiple of {world}")
    if rows < batch_size:
        raise InputError(f"{rows} {what}; expected at least one batch of {batch_size}, or a smaller batch size")
    return rows // batch_size
