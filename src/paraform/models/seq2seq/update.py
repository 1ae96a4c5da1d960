"""A seq2seq's optimisation step: the likelihood of its outputs."""

from __future__ import annotations

from contextlib import nullcontext

import torch

from paraform.models.seq2seq.batches import PairBatch
from paraform.models.seq2seq.config import Seq2SeqConfig
from paraform.models.seq2seq.paraphraser import Seq2SeqParaphraser
from paraform.models.update import Accelerator, State, Stepper, Update, terms_of
from paraform.schedules import warmup_linear

CLIP_NORM = 1.0  # of the gradient


def make_update(
    model: Seq2SeqParaphraser, config: Seq2SeqConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One AdamW step on −ln p(output | input), the mean over all pieces of the batch, ends counted, nats a piece.

    Args:
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss` and the gradient's norm; and the optimiser's state.
    """
    weights = [weight for weight in model.network.parameters() if weight.requires_grad]
    adamw = torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=0.0, fused=True)
    total = config.epochs * steps_per_epoch
    rate = warmup_linear(total=total, warmup=min(config.warmup, total // 2))
    stepper = Stepper(model.network, adamw, accelerator, rate=rate, clip_norm=CLIP_NORM)

    def update(batch: PairBatch, step: int) -> dict[str, float]:
        # DDP averages over processes: by the mean count of pieces that is the mean over all pieces.
        pieces = accelerator.reduce(batch.target.lengths_B.sum().float().to(accelerator.device), "mean")
        parts = batch.parts(config.accumulation)
        loss = torch.zeros((), device=accelerator.device)  # read once: each reading waits for a GPU
        stepper.begin(step)
        for number, part in enumerate(parts, start=1):
            # Gradients are shared once, behind the last part.
            with nullcontext() if number == len(parts) else accelerator.no_sync(stepper.network):
                nll = -stepper.network(part.to(accelerator.device)).sum() / pieces
                accelerator.backward(nll)
            loss += nll.detach()
        return terms_of(loss=loss, **stepper.end())

    return update, State({"adamw": adamw})
