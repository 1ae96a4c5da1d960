"""SGCP's optimisation step: the targets' likelihood, and that of when their leaves are popped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from paraform.models.update import State, Update
from paraform.schedules import constant, warmup_linear
from paraform_papers.rivals.sgcp.batches import PairBatch
from paraform_papers.rivals.sgcp.config import SgcpConfig
from paraform_papers.rivals.sgcp.paraphraser import SgcpParaphraser

if TYPE_CHECKING:  # its import takes longer than a short answer
    from accelerate import Accelerator


def make_update(
    model: SgcpParaphraser,
    config: SgcpConfig,
    accelerator: Accelerator,
    *,
    draw: Callable[[int], list[PairBatch]] | None = None,
    steps_per_epoch: int,
) -> tuple[Update, State]:
    """One step of three Adams, of encoder, tree and decoder, on −ln p(Y | X, tree of Y, cut) − w ln p(pops).

    Args:
        draw: not used; this system needs no further batches in a step.
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss`, `nll` (the mean over all units of the batch, ends counted, nats a unit),
        `pop_nll` (over the places between units) and the three gradients' norms; and the optimisers' state.
    """
    encoder, tree, decoder = model.network.parts()
    if config.double_updates:  # which optimisers of the code hold the embedding is not known but for their number
        tree = [*model.network.embedding.parameters(), *tree]
    parts = {"encoder": encoder, "tree": tree, "decoder": decoder}
    optimizers = {name: torch.optim.Adam(part, lr=config.learning_rate) for name, part in parts.items()}
    network, *prepared = accelerator.prepare(model.network, *optimizers.values())
    total = config.epochs * steps_per_epoch
    rate = warmup_linear(total=total, warmup=min(500, total // 20)) if config.schedule == "linear" else constant()

    def update(batch: PairBatch, step: int) -> dict[str, float]:
        for optimizer in optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = config.learning_rate * rate(step)
        # DDP averages over processes: by the mean count that is the mean over all.
        nll, pop_nll = (
            -each.sum() / accelerator.reduce(each.new_tensor(float(each.numel())), "mean")
            for each in network(batch.to(accelerator.device))
        )
        loss = nll + config.pop_weight * pop_nll
        for one in prepared:
            one.zero_grad()
        accelerator.backward(loss)
        limit = config.clip_norm or float("inf")
        norms = {name: accelerator.clip_grad_norm_(part, limit).item() for name, part in parts.items()}
        for one in prepared:
            one.step()
        return {
            "loss": loss.item(),
            "nll": nll.item(),
            "pop_nll": pop_nll.item(),
            **{f"{name}_gradient_norm": norm for name, norm in norms.items()},
        }

    return update, State(optimizers)
