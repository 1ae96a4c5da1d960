"""A judge's optimisation step."""

from __future__ import annotations

import torch

from paraform.losses.both_ways import both_ways_nll
from paraform.models.judge.batches import JudgeBatch
from paraform.models.judge.config import JudgeConfig
from paraform.models.judge.judge import MeaningJudge
from paraform.models.update import Accelerator, State, Stepper, Update, terms_of
from paraform.schedules import warmup_linear

CLIP_NORM = 1.0  # of the gradient


def make_update(
    model: MeaningJudge, config: JudgeConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One AdamW step on `both_ways_nll`.

    Args:
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss`, nats a pair, and the gradient's norm; and the optimiser's state.
    """
    network = model.trainable()
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    adamw = torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=0.0, fused=True)
    total = config.epochs * steps_per_epoch
    rate = warmup_linear(total=total, warmup=min(config.warmup, total // 2))
    stepper = Stepper(network, adamw, accelerator, rate=rate, clip_norm=CLIP_NORM)

    def update(batch: JudgeBatch, step: int) -> dict[str, float]:
        stepper.network.train()  # which is no part of the model, and so not told by it
        there = batch.to(accelerator.device)
        loss = both_ways_nll(stepper.network(there), there.known_B3)
        return terms_of(loss=loss.detach(), **stepper(loss, step))

    return update, State({"adamw": adamw})
