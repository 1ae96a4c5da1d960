"""SCPN's optimisation step: both networks' likelihood of the same pairs."""

from __future__ import annotations

import torch

from paraform.models.update import Accelerator, State, Stepper, Update, terms_of
from paraform.schedules import learning_rate
from paraform_papers.rivals.scpn.batches import PairBatch
from paraform_papers.rivals.scpn.config import ScpnConfig
from paraform_papers.rivals.scpn.paraphraser import ScpnParaphraser

CLIP_NORM = 5.0  # of the gradient of each of the two networks


def make_update(
    model: ScpnParaphraser, config: ScpnConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One Adam step on −ln p(Y | X, P_Y) − ln p(P_Y | P_X, template of P_Y), nats a unit and nats a symbol.

    The authors train the two networks one after the other; they share no weight, so that in one step each moves as it
    would alone.

    Args:
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss`, `nll`, `parse_nll` (the mean over all units of the batch, ends counted) and
        the two gradients' norms; and the optimiser's state.
    """
    network = model.network
    parts = {
        "gradient_norm": list(network.paraphraser.parameters()),
        "parse_gradient_norm": list(network.generator.parameters()),
    }
    adam = torch.optim.Adam([weight for part in parts.values() for weight in part], lr=config.learning_rate)
    rate = learning_rate(config.schedule, total=config.epochs * steps_per_epoch)
    stepper = Stepper(network, adam, accelerator, rate=rate, clip_norm=CLIP_NORM, parts=parts)

    def update(batch: PairBatch, step: int) -> dict[str, float]:
        # DDP averages over processes: by the mean count of units that is the mean over all units.
        nll, parse_nll = (
            -written.log_probs_N.sum() / accelerator.reduce(written.lengths_B.sum().float(), "mean")
            for written in stepper.network(batch.to(accelerator.device))
        )
        norms = stepper(nll + parse_nll, step)
        return terms_of(loss=nll + parse_nll, nll=nll, parse_nll=parse_nll, **norms)

    return update, State({"adam": adam})
