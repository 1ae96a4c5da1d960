"""Form and meaning from an encoder's first layer to its last: one pass for all layers, and a picture.

Shape key: N texts, D features, L layers.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.capabilities import Embed
from paraform.encoders.encoder import Encoder
from paraform.encoders.pooling import pooled
from paraform.evaluation.content import unit
from paraform.evaluation.embedding.correlation import MEAN
from paraform.evaluation.embedding.probing import INFORMATION
from paraform.evaluation.embedding.report import EmbeddingReport
from paraform.score import Score

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHUNK = 2048  # texts whose tokens' states are held at once


def layer_embeds(encoder: Encoder, layers: Sequence[int]) -> list[Embed]:
    """Each layer's `encode(texts, layer=…, pooling="mean")`, all layers by one pass over the texts.

    The vectors of the texts that one of them was asked for last are held, for the others to give.
    """

    @functools.lru_cache(maxsize=1)
    def all_layers(texts: tuple[str, ...]) -> list[NDArray[np.float32]]:
        found: list[list[NDArray[np.float32]]] = [[] for _ in layers]
        for start in range(0, len(texts), CHUNK):
            states = encoder.states(texts[start : start + CHUNK], layers=layers)
            for rows, (states_ND, offsets) in zip(found, states, strict=True):
                lengths = torch.from_numpy(np.diff(offsets)).to(states_ND.device)
                rows.append(torch.nn.functional.normalize(pooled(states_ND, lengths, "mean"), dim=-1).cpu().numpy())
        return [np.concatenate(rows) for rows in found]

    def embed_at(at: int) -> Embed:
        return lambda texts: all_layers(tuple(texts))[at]

    return [embed_at(at) for at in range(len(layers))]


def mean_layer_embed(encoder: Encoder) -> Embed:
    """The mean of the states of all tokens at all layers, the embeddings first, of length 1: ELMo's mix, unweighted."""
    return lambda texts: unit(encoder.mean_of_layers(texts))


def depth_plot(report: EmbeddingReport, layers: Mapping[int, str]) -> Figure:
    """Meaning (mean STS Pearson), and what probes find of each probing set, by layer.

    Args:
        layers: the name in the report of each layer's system.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    meaning, form = figure.subplots(1, 2)
    numbers = {system: layer for layer, system in layers.items()}
    summed = {kind: [one for one in report.summary if one.name == kind] for kind in ("meaning", "form")}
    _line(meaning, summed["meaning"], numbers, "mean of STS", 1.0)
    similarity = [one for one in _scores(report, "similarity") if (one.name, one.protocol) == ("Pearson", MEAN)]
    if sick := [one for one in similarity if one.subset == "SICK-R"]:
        _line(meaning, sick, numbers, "SICK-R", 1.0)
    _line(form, summed["form"], numbers, "mean of the three of form", 1.0, linewidth=2.5)
    for subset in dict.fromkeys(one.subset for one in _scores(report, "probing")):
        found = [one for one in _scores(report, "probing") if (one.name, one.subset) == (INFORMATION, subset)]
        _line(form, found, numbers, subset.partition(" (")[0], 100.0, linewidth=1)
    meaning.set_ylabel("Pearson × 100")
    form.set_ylabel("found, % of what is above chance")
    for axes in (meaning, form):
        axes.set_xlabel("layer (0: embeddings)")
        axes.grid(alpha=0.3)
    meaning.legend(fontsize="small")
    form.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))  # no corner is free of lines
    return figure


def _scores(report: EmbeddingReport, family: str) -> list[Score]:
    return [score for section in report.sections if section.family.name == family for score in section.scores]


def _line(
    axes: Axes, scores: Sequence[Score], numbers: Mapping[str, int], label: str, times: float, linewidth: float = 2.0
) -> None:
    points = sorted((numbers[score.system], times * score.value) for score in scores if score.system in numbers)
    if points:
        axes.plot(*zip(*points, strict=True), marker="o", label=label, linewidth=linewidth)
