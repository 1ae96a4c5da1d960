"""What a run leaves to look at: `log.jsonl`, TensorBoard's scalars, `loss.png`."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from paraform.weights import PathLike, atomic_path

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

APART = ("gradient_norm", "beta", "encoder_updates")  # training figures that are no term of the loss
COLUMNS = 3
DOTTED = 60  # a line of more points has no dots, which would hide it

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
        """Redraw `loss.png`, which is `history_plot`.

        Args:
            at_most_every: seconds; a younger picture stays as it is, since drawing takes half a second.
        """
        if self._drawn is not None and time.monotonic() - self._drawn < at_most_every:
            return
        figure = history_plot(history)
        if figure is None:
            return
        with atomic_path(self.folder / "loss.png") as path:
            figure.savefig(path, format="png", dpi=100)
        self._drawn = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()


def history_plot(history: Sequence[Record]) -> Figure | None:
    """The terms of the loss in one panel, since they add up; then whatever has a unit of its own in its own panel.

    That is the gradient's norm, and every figure of the validation: BLEU and perplexity share no axis.
    None: no record has a figure.
    """
    from matplotlib.figure import Figure

    terms = _names(history, "train")
    panels = [("train", "train", [name for name in terms if name not in APART])]
    panels += [("train", name, [name]) for name in terms if name in APART]
    panels += [("validation", f"validation: {name}", [name]) for name in _names(history, "validation")]
    panels = [panel for panel in panels if panel[2]]
    if not panels:
        return None
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.0 * columns, 3.0 * rows), layout="constrained")
    for number, (split, title, names) in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, columns, number, title=title, xlabel="step")
        for name in names:
            points = [(r["step"], r[split][name]) for r in history if r.get(split, {}).get(name) is not None]
            marker = "." if len(points) <= DOTTED else ""
            axes.plot([x for x, _ in points], [y for _, y in points], marker=marker, linewidth=1, label=name)
        if len(names) > 1:
            axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))  # no corner is free for long
        axes.grid(alpha=0.3)
    return figure


def _names(history: Sequence[Record], split: str) -> list[str]:
    """What a split's records hold, in the order in which it first comes."""
    return list(dict.fromkeys(name for record in history for name in record.get(split, {})))


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
