"""InferSent's optimisation step: cross-entropy of the three classes, and a rate that falls as the authors' does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F

from paraform.models.update import Accelerator, State, Update
from paraform_papers.rivals.infersent.batches import JudgedBatch
from paraform_papers.rivals.infersent.config import InferSentConfig

DECAY = 0.99  # factor on the rate after each epoch
SHRINK = 5.0  # what divides it after a validation whose accuracy is no new best
LEAST_RATE = 1e-5  # below it nothing is learned any more; the authors' code ends there
CLIP_NORM = 5.0  # of the gradient


def make_update(
    model: Any, config: InferSentConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One step on −log softmax of a pair's class; the rate falls by epochs and by validations.

    Args:
        model: an `InferSent` with a head.
        steps_per_epoch: after as many the rate is multiplied by `DECAY`; a validation whose `accuracy` is no new best
            divides it by `SHRINK`.
    Returns: the update, which gives `loss` (nats a pair), `accuracy` (0 to 1), `rate` and `gradient_norm`; and the
        optimiser's state, which hears of validations.
    """
    kinds = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
    optimizer = kinds[config.optimiser](model.network.parameters(), lr=config.learning_rate)
    network, prepared = accelerator.prepare(model.network, optimizer)

    def group() -> dict[str, Any]:
        """The optimiser's settings, which a resumed run replaces."""
        found: dict[str, Any] = optimizer.param_groups[0]
        return found

    def update(batch: JudgedBatch, step: int) -> dict[str, float]:
        if step and step % steps_per_epoch == 0:
            group()["lr"] *= DECAY
        batch = batch.to(accelerator.device)
        logits_BC = network(batch)
        loss = F.cross_entropy(logits_BC, batch.labels_B)
        prepared.zero_grad()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(network.parameters(), CLIP_NORM)
        if group()["lr"] >= LEAST_RATE:
            prepared.step()
        right_B = (logits_BC.detach().argmax(-1) == batch.labels_B).float()
        terms = {"loss": loss.item(), "accuracy": right_B.mean().item()}
        return terms | {"rate": float(group()["lr"]), "gradient_norm": norm.item()}

    def on_validation(scores: Mapping[str, float]) -> None:
        accuracy = torch.tensor(scores["accuracy"], dtype=torch.float32, device=model.best.device)  # as it is saved
        if accuracy > model.best:
            model.best.copy_(accuracy)
        else:
            group()["lr"] /= SHRINK

    return update, State({config.optimiser: optimizer}, on_validation)
