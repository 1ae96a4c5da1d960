"""What a run leaves to look at: `log.jsonl`, TensorBoard's scalars, `loss.png`."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

from paraform.weights import PathLike, atomic_path

NORM = "gradient_norm"

Record: TypeAlias = dict[str, Any]
"""`{"step": 50, "train": {"nll": 3.2}}` or `{"step": 50, "validation": {…}}`; a value that is not finite is None."""


def as_record(step: int, split: str, values: Mapping[str, float]) -> Record:
    """A record of `split`, which is "train" or "validation"."""
    return {"step": step, split: {name: value if math.isfinite(value) else None for name, value in values.items()}}


class Journal:
    """Writes the history of one run as it grows; a context manager.

    Args:
        folder: the run's.
        history: the records of the steps that were done before; later ones in the folder are dropped, so that a
            resumed run leaves no step twice.
        tensorboard: whether to write `tensorboard/` too.
    """

    def __init__(self, folder: PathLike, history: Sequence[Record], tensorboard: bool) -> None:
        self.folder = Path(folder)
        self._drawn: float | None = None
        with atomic_path(self.folder / "log.jsonl") as path:
            path.write_text("".join(_line(record) for record in history), encoding="utf-8")
        self._writer: Any = None
        if tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            begin = max((record["step"] for record in history), default=0) + 1
            self._writer = SummaryWriter(str(self.folder / "tensorboard"), purge_step=begin)

    def write(self, record: Record) -> None:
        """Add one record."""
        with open(self.folder / "log.jsonl", "a", encoding="utf-8") as log:
            log.write(_line(record))
        if self._writer is not None:
            for split, values in record.items():
                for name, value in values.items() if split != "step" else ():
                    if value is not None:
                        self._writer.add_scalar(f"{split}/{name}", value, record["step"])

    def draw(self, history: Sequence[Record], *, at_most_every: float = 0.0) -> None:
        """Redraw `loss.png`: the training terms, and beside them the validation scores, over the steps.

        Args:
            at_most_every: seconds; a younger picture stays as it is, since drawing takes half a second.
        """
        if self._drawn is not None and time.monotonic() - self._drawn < at_most_every:
            return
        from matplotlib.figure import Figure

        splits = [split for split in ("train", "validation") if any(split in record for record in history)]
        if not splits:
            return
        figure = Figure(figsize=(6.0 * len(splits), 4.0))
        for number, split in enumerate(splits, start=1):
            axes = figure.add_subplot(1, len(splits), number, title=split, xlabel="step")
            records = [record for record in history if split in record]
            for name in sorted({name for record in records for name in record[split]}):
                points = [(r["step"], r[split][name]) for r in records if r[split].get(name) is not None]
                if name == NORM:  # of another unit and size than losses
                    other = axes.twinx()
                    other.set_ylabel(NORM)
                    other.plot([x for x, _ in points], [y for _, y in points], marker=".", color="0.7", zorder=0)
                    continue
                axes.plot([x for x, _ in points], [y for _, y in points], marker=".", label=name)
            axes.legend()
        with atomic_path(self.folder / "loss.png") as path:
            figure.savefig(path, format="png", dpi=100)
        self._drawn = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
