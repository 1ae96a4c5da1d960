"""SCPN's optimisation step: both networks' likelihood of the same pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from paraform.models.update import State, Update
from paraform.schedules import Schedule, constant, halving, warmup_linear
from paraform_papers.rivals.scpn.batches import PairBatch
from paraform_papers.rivals.scpn.config import ScpnConfig
from paraform_papers.rivals.scpn.paraphraser import ScpnParaphraser

if TYPE_CHECKING:  # its import takes longer than a short answer
    from accelerate import Accelerator


def make_update(
    model: ScpnParaphraser,
    config: ScpnConfig,
    accelerator: Accelerator,
    *,
    draw: Callable[[int], list[PairBatch]] | None = None,
    steps_per_epoch: int,
) -> tuple[Update, State]:
    """One Adam step on −ln p(Y | X, P_Y) − ln p(P_Y | P_X, template of P_Y), nats a unit and nats a symbol.

    The authors train the two networks one after the other; they share no weight, so that in one step each moves as it
    would alone.

    Args:
        draw: not used; this system needs no further batches in a step.
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss`, `nll`, `parse_nll` (the mean over all units of the batch, ends counted) and
        the two gradients' norms; and the optimiser's state.
    """
    parts = [list(part.parameters()) for part in (model.network.paraphraser, model.network.generator)]
    optimizer = torch.optim.Adam([weight for part in parts for weight in part], lr=config.learning_rate)
    network, prepared = accelerator.prepare(model.network, optimizer)
    rate = _rate(config, steps_per_epoch)

    def update(batch: PairBatch, step: int) -> dict[str, float]:
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * rate(step)
        # DDP averages over processes: by the mean count of units that is the mean over all units.
        nll, parse_nll = (
            -written.log_probs_N.sum() / accelerator.reduce(written.lengths_B.sum().float(), "mean")
            for written in network(batch.to(accelerator.device))
        )
        prepared.zero_grad()
        accelerator.backward(nll + parse_nll)
        norms = [accelerator.clip_grad_norm_(part, config.clip_norm or float("inf")).item() for part in parts]
        prepared.step()
        return {
            "loss": (nll + parse_nll).item(),
            "nll": nll.item(),
            "parse_nll": parse_nll.item(),
            "gradient_norm": norms[0],
            "parse_gradient_norm": norms[1],
        }

    return update, State({"adam": optimizer})


def _rate(config: ScpnConfig, steps_per_epoch: int) -> Schedule:
    if config.schedule == "halving":
        return halving(every=steps_per_epoch)
    total = config.epochs * steps_per_epoch
    return warmup_linear(total=total, warmup=min(500, total // 20)) if config.schedule == "linear" else constant()
