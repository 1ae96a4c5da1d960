"""A seq2seq's optimisation step: the likelihood of its outputs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import torch

from paraform.models.seq2seq.batches import PairBatch
from paraform.models.seq2seq.config import Seq2SeqConfig
from paraform.models.seq2seq.paraphraser import Seq2SeqParaphraser
from paraform.models.update import State, Update
from paraform.schedules import warmup_linear

if TYPE_CHECKING:  # its import takes longer than a short answer
    from accelerate import Accelerator


def make_update(
    model: Seq2SeqParaphraser,
    config: Seq2SeqConfig,
    accelerator: Accelerator,
    *,
    draw: Callable[[int], list[PairBatch]] | None = None,
    steps_per_epoch: int,
) -> tuple[Update, State]:
    """One AdamW step on −ln p(output | input), the mean over all pieces of the batch, ends counted, nats a piece.

    Args:
        draw: not used; this system needs no further batches in a step.
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss` and the gradient's norm; and the optimiser's state.
    """
    weights = [weight for weight in model.network.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=config.weight_decay)
    network, prepared = accelerator.prepare(model.network, optimizer)
    total = config.epochs * steps_per_epoch
    rate = warmup_linear(total=total, warmup=min(config.warmup, total // 2))

    def update(batch: PairBatch, step: int) -> dict[str, float]:
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * rate(step)
        # DDP averages over processes: by the mean count of pieces that is the mean over all pieces.
        pieces = accelerator.reduce(batch.target.lengths_B.sum().float().to(accelerator.device), "mean")
        parts = batch.parts(config.accumulation)
        loss = torch.zeros((), device=accelerator.device)  # read once: each reading waits for a GPU
        prepared.zero_grad()
        for number, part in enumerate(parts, start=1):
            # Gradients are shared once, behind the last part.
            with nullcontext() if number == len(parts) else accelerator.no_sync(network):
                nll = -network(part.to(accelerator.device)).sum() / pieces
                accelerator.backward(nll)
            loss += nll.detach()
        norm = accelerator.clip_grad_norm_(weights, config.clip_norm or float("inf")).item()
        prepared.step()
        return {"loss": loss.item(), "gradient_norm": norm}

    return update, State({"adamw": optimizer})
