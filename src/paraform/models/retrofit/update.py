"""PAR's optimisation step: the hinge of shared words, and M's distance from an orthogonal matrix (section 3.2)."""

from __future__ import annotations

from typing import Any

import torch

from paraform.losses.distance_hinge import distance_hinge
from paraform.losses.orthogonality import orthogonality_penalty
from paraform.models.retrofit.config import RetrofitConfig
from paraform.models.retrofit.contexts import ContextBatch
from paraform.models.update import Accelerator, State, Stepper, Update, terms_of


def make_update(model: Any, config: RetrofitConfig, accelerator: Accelerator) -> tuple[Update, State]:
    """One step of L = L_H + λ L_O by M alone.

        L_H = Σ_w [d(w) + γ − d̂(w)]₊  or its mean,   L_O = ‖I − MᵀM‖_F

    Args:
        model: a `RetrofittedEncoder`.
    Returns: the update, which gives `loss`, `hinge` (in the states' unit), `paraphrased` and `other` (mean distances),
        `margin`, γ in that unit, and `orthogonality`, the penalty before its weight; and the optimiser's state.
    """
    network = model.network
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
    optimizer = kinds[config.optimiser](network.parameters(), lr=config.learning_rate)
    stepper = Stepper(network, optimizer, accelerator, parts={})

    def update(batch: ContextBatch, step: int) -> dict[str, float]:
        batch = batch.to(accelerator.device)
        paraphrased_W, other_W = stepper.network(batch)
        counted_W = torch.minimum(other_W, network.other_at_start(batch)) if config.push == "start" else other_W
        hinge = distance_hinge(paraphrased_W, counted_W, margin=network.margin).sum()
        # DDP averages over processes: by the mean count of words that is the mean over all; a sum counts each process.
        words = accelerator.reduce(torch.tensor(float(len(paraphrased_W)), device=hinge.device), "mean")
        scale = 1 / words.clamp_min(1) if config.hinge_reduction == "mean" else accelerator.num_processes
        hinge = hinge * scale
        penalty = orthogonality_penalty(network.transform())
        loss = hinge
        if config.orthogonality == "penalty":
            loss = loss + config.orthogonality_weight * penalty
        stepper(loss, step)
        means = {"paraphrased": paraphrased_W.sum() / words, "other": other_W.sum() / words}
        return terms_of(loss=loss, hinge=hinge, **means, margin=network.margin, orthogonality=penalty)

    return update, State({config.optimiser: optimizer})
