"""A language model's optimisation step: the likelihood of its targets."""

from __future__ import annotations

import torch

from paraform.models.lm.batches import LMBatch
from paraform.models.lm.config import LMConfig
from paraform.models.lm.paraphraser import LMParaphraser
from paraform.models.update import Accelerator, State, Stepper, Update, terms_of
from paraform.schedules import warmup_linear

CLIP_NORM = 1.0  # of the gradient


def make_update(
    model: LMParaphraser, config: LMConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One AdamW step on −ln p(target | prompt), the mean over all pieces of the targets, ends counted, nats a piece.

    Args:
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss` and the gradient's norm; and the optimiser's state.
    """
    network = model.trainable()
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    adamw = torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=0.0)
    total = config.epochs * steps_per_epoch
    rate = warmup_linear(total=total, warmup=min(config.warmup, total // 2))
    stepper = Stepper(network, adamw, accelerator, rate=rate, clip_norm=CLIP_NORM)

    def update(batch: LMBatch, step: int) -> dict[str, float]:
        stepper.network.train()  # which is no part of the model, and so not told by it
        # DDP averages over processes: by the mean count of pieces that is the mean over all pieces.
        pieces = accelerator.reduce(
            (batch.rows.lengths_B - batch.prompts_B).sum().float().to(accelerator.device), "mean"
        )
        loss = -stepper.network(batch.to(accelerator.device)).sum() / pieces
        return terms_of(loss=loss.detach(), **stepper(loss, step))

    return update, State({"adamw": adamw})
