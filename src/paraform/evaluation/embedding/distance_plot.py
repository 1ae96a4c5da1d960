"""Distances of shared words as a picture: a panel a set, a row a system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paraform.evaluation.embedding.distances import Measured, WordSystem
from paraform.evaluation.embedding.shared_words import SharedWordSet

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

BINS = 50
COLOURS = ("tab:blue", "tab:orange")
LINES = ("--", ":")


def distance_figure(
    sets: Sequence[SharedWordSet], systems: Sequence[WordSystem], measured: Sequence[Sequence[Measured]]
) -> Figure:
    """The share of shared words by their L2 distance, in paraphrases and in others; their means, and references.

    Args:
        measured: of each system, in their order, each set.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1 + 4 * len(sets), 1 + 3 * len(systems)), layout="constrained")
    for row, (system, of_system) in enumerate(zip(systems, measured, strict=True)):
        for column, (one, found) in enumerate(zip(sets, of_system, strict=True)):
            axes = figure.add_subplot(len(systems), len(sets), 1 + row * len(sets) + column)
            axes.set_title(f"{system.name}, {one.name}{matrix_line(system)}", fontsize="medium")
            axes.set_xlabel("L2 distance of a shared word")
            axes.set_ylabel("density")
            kinds = {
                "paraphrases": found.paraphrases.l2_W,
                "mined others" if one.mined else "others": found.others.l2_W,
            }
            most = max(float(values_W.max()) for values_W in kinds.values()) or 1.0
            for colour, (kind, values_W) in zip(COLOURS, kinds.items(), strict=True):
                label = f"{kind}, mean {values_W.mean():.2f}"
                axes.hist(
                    values_W, bins=BINS, range=(0.0, most), density=True, histtype="step", color=colour, label=label
                )
                axes.axvline(float(values_W.mean()), color=colour, linewidth=1)
            for style, known in zip(LINES, found.references, strict=True):
                if not math.isnan(known.l2):
                    axes.axvline(known.l2, color="black", linestyle=style, label=f"{known.name}, {known.l2:.2f}")
            ratio = kinds["paraphrases"].mean() / (list(kinds.values())[1].mean() or math.nan)
            axes.legend(fontsize="small", title=f"ratio of the means {ratio:.3f}", title_fontsize="small")
    return figure


def matrix_line(system: WordSystem) -> str:
    """A line on a system's M; nothing without one."""
    if system.shape is None:
        return ""
    penalty, least, median, largest = system.shape
    return f"\n‖I − MᵀM‖ {penalty:.2f}, singular values {least:.2f}, {median:.2f}, {largest:.2f}"
