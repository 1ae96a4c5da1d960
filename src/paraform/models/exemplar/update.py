"""CRL-EGPG's optimisation step (eq. 12)."""

from __future__ import annotations

import torch

from paraform.losses.nt_xent import nt_xent
from paraform.losses.sequence_nll import sequence_nll
from paraform.models.exemplar.batches import TripleBatch
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.paraphraser import ExemplarParaphraser
from paraform.models.update import Accelerator, State, Stepper, Update, gather_with_gradient, terms_of
from paraform.schedules import learning_rate


def make_update(
    model: ExemplarParaphraser, config: ExemplarConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One Adam step on L = L_nll + scale · (λ1 L_ccl + λ2 L_scl), terms in nats.

    Args:
        steps_per_epoch: for the learning rate's decay.
    Returns: the update, which gives `loss`, `nll`, `content`, `style` (those with a weight) and `gradient_norm`; and
        the optimiser's state.
    """
    trainable = [parameter for parameter in model.network.parameters() if parameter.requires_grad]
    adam = torch.optim.Adam(trainable, lr=config.learning_rate, fused=True)
    rate = learning_rate(config.schedule, total=config.epochs * steps_per_epoch)
    stepper = Stepper(model.network, adam, accelerator, rate=rate, clip_norm=config.clip_norm)

    def update(batch: TripleBatch, step: int) -> dict[str, float]:
        batch = batch.to(accelerator.device)
        out = stepper.network(batch)
        nll = sequence_nll(out.log_probs_N, out.lengths_B, reduction=config.nll_reduction)
        # DDP averages over processes; a sum over the whole batch is that average times their number.
        loss = nll * accelerator.num_processes if config.nll_reduction == "sum" else nll
        terms = {"nll": loss}
        clusters_B = gather_with_gradient(batch.clusters_B) if config.mask_clusters else None
        for name, weight, first, second in (
            ("content", config.content_weight, out.source_content, out.target_content),
            ("style", config.style_weight, out.exemplar_style, out.target_style),
        ):
            if second is None:
                continue
            terms[name] = nt_xent(
                gather_with_gradient(first),
                gather_with_gradient(second),
                temperature=config.temperature,
                similarity=config.similarity,
                reduction=config.contrastive_reduction,
                clusters=clusters_B,
            )
            loss = loss + config.contrastive_scale * weight * terms[name]
        norms = stepper(loss, step)
        return terms_of(loss=loss, **terms, **norms)

    return update, State({"adam": adam})
