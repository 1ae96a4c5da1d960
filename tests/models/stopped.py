"""A run that is stopped in the middle goes on to the weights of one that was not."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def goes_on_to_the_same_weights(
    train: Callable[..., Any],
    trainer: Any,
    folder: Path,
    *,
    at: Callable[[int], int],
    between: Callable[[], None] = lambda: None,
) -> Any:
    """How the run ended that was not stopped.

    Args:
        train: (name, resume=) → a run in `folder / name`.
        trainer: the module whose `make_update` it calls.
        at: steps of the run → the one in which the other gets Ctrl-C.
        between: called when the other has been stopped.
    """
    whole = train("whole")
    assert whole.ended == "finished"
    made = trainer.make_update

    def stops(*args: Any, **more: Any) -> Any:
        update, state = made(*args, **more)

        def once(batch: Any, step: int) -> dict[str, float]:
            if step == at(whole.step):
                signal.raise_signal(signal.SIGINT)
            found: dict[str, float] = update(batch, step)
            return found

        return once, state

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "make_update", stops)
        assert train("stopped").ended == "interrupted"
    between()
    assert train("stopped", resume=True).step == whole.step
    weights = [(folder / name / "last" / "model.safetensors").read_bytes() for name in ("whole", "stopped")]
    assert weights[0] == weights[1]
    return whole
