"""SGCP's optimisation step: the targets' likelihood, and that of when their leaves are popped."""

from __future__ import annotations

import torch

from paraform.models.update import Accelerator, State, Stepper, Update, terms_of
from paraform.schedules import learning_rate
from paraform_papers.rivals.sgcp.batches import PairBatch
from paraform_papers.rivals.sgcp.config import SgcpConfig
from paraform_papers.rivals.sgcp.paraphraser import SgcpParaphraser

CLIP_NORM = 2.0  # of the gradient of each of the three parts


def make_update(
    model: SgcpParaphraser, config: SgcpConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One Adam step on −ln p(Y | X, tree of Y, cut) − ln p(pops); encoder, tree and decoder are clipped each by itself.

    The authors have an Adam for each of the three: since Adam moves each number by itself, that is the same.

    Args:
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss`, `nll` (the mean over all units of the batch, ends counted, nats a unit),
        `pop_nll` (over the places between units) and the three gradients' norms; and the optimiser's state.
    """
    adam = torch.optim.Adam(model.network.parameters(), lr=config.learning_rate)
    names = ("encoder_gradient_norm", "tree_gradient_norm", "decoder_gradient_norm")
    parts = dict(zip(names, model.network.parts(), strict=True))
    rate = learning_rate(config.schedule, total=config.epochs * steps_per_epoch)
    stepper = Stepper(model.network, adam, accelerator, rate=rate, clip_norm=CLIP_NORM, parts=parts)

    def update(batch: PairBatch, step: int) -> dict[str, float]:
        # DDP averages over processes: by the mean count that is the mean over all.
        nll, pop_nll = (
            -each.sum() / accelerator.reduce(each.new_tensor(float(each.numel())), "mean")
            for each in stepper.network(batch.to(accelerator.device))
        )
        norms = stepper(nll + pop_nll, step)
        return terms_of(loss=nll + pop_nll, nll=nll, pop_nll=pop_nll, **norms)

    return update, State({"adam": adam})
