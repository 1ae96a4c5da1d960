"""A language model's optimisation step: the likelihood of its targets, and CRL-EGPG's contrasts of a style vector."""

from __future__ import annotations

import torch
from torch import Tensor

from paraform.losses.nt_xent import nt_xent
from paraform.models.lm.batches import LMBatch
from paraform.models.lm.config import LMConfig
from paraform.models.lm.paraphraser import LMParaphraser
from paraform.models.update import Accelerator, State, Stepper, Update, terms_of
from paraform.schedules import warmup_linear

CLIP_NORM = 1.0  # of the gradient
CONTRASTIVE_SCALE = 2.0


def make_update(
    model: LMParaphraser, config: LMConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One AdamW step on −ln p(target | prompt), the mean over all pieces of the targets, ends counted, nats a piece.

    With guide "style" on L = L_nll + 2 (λ1 L_ccl + λ2 L_scl), as CRL-EGPG's eq. 12 with means (`ExemplarConfig` says
    why 2): source against target by the pooled states of the last layer, exemplar against target by style vectors. Each
    process contrasts its own rows.

    Args:
        steps_per_epoch: for the learning rate's schedule.
    Returns: the update, which gives `loss`, with contrasts `nll`, `content` and `style` (those with a weight), and the
        gradient's norm; and the optimiser's state.
    """
    network = model.trainable()
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    adamw = torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=0.0, fused=True)
    total = config.epochs * steps_per_epoch
    rate = warmup_linear(total=total, warmup=min(config.warmup, total // 2))
    stepper = Stepper(network, adamw, accelerator, rate=rate, clip_norm=CLIP_NORM)

    def update(batch: LMBatch, step: int) -> dict[str, float]:
        stepper.network.train()  # which is no part of the model, and so not told by it
        # DDP averages over processes: by the mean count of pieces that is the mean over all pieces.
        pieces = accelerator.reduce(
            (batch.rows.lengths_B - batch.prompts_B).sum().float().to(accelerator.device), "mean"
        )
        out = stepper.network(batch.to(accelerator.device))
        loss = nll = -out.log_probs_N.sum() / pieces
        terms: dict[str, Tensor] = {}
        for name, weight, views in (
            ("content", config.content_weight, out.contents),
            ("style", config.style_weight, out.styles),
        ):
            if views is not None and len(views[0]) > 1:
                terms[name] = nt_xent(*views, temperature=config.temperature)
                loss = loss + CONTRASTIVE_SCALE * weight * terms[name]
        if terms:
            terms["nll"] = nll.detach()
        return terms_of(loss=loss.detach(), **terms, **stepper(loss, step))

    return update, State({"adamw": adamw})
