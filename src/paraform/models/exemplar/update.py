"""CRL-EGPG's optimisation step (eq. 12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from paraform.losses.nt_xent import nt_xent
from paraform.losses.sequence_nll import sequence_nll
from paraform.models.exemplar.batches import TripleBatch
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.paraphraser import ExemplarParaphraser
from paraform.models.update import State, Update, gather_with_gradient
from paraform.schedules import constant, warmup_linear

if TYPE_CHECKING:  # its import takes longer than a short answer
    from accelerate import Accelerator


def make_update(
    model: ExemplarParaphraser,
    config: ExemplarConfig,
    accelerator: Accelerator,
    *,
    draw: Callable[[int], list[TripleBatch]] | None = None,
    steps_per_epoch: int,
) -> tuple[Update, State]:
    """One Adam step on L = L_nll + scale · (λ1 L_ccl + λ2 L_scl), terms in nats.

    Args:
        draw: not used; this system needs no further batches in a step.
        steps_per_epoch: for the learning rate's decay.
    Returns: the update, which gives `loss`, `nll`, `content`, `style` (those with a weight) and `gradient_norm`; and
        the optimiser's state.
    """
    trainable = [parameter for parameter in model.network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=config.learning_rate)
    network, prepared = accelerator.prepare(model.network, optimizer)
    total = config.epochs * steps_per_epoch
    rate = warmup_linear(total=total, warmup=min(500, total // 20)) if config.schedule == "linear" else constant()

    def update(batch: TripleBatch, step: int) -> dict[str, float]:
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * rate(step)
        batch = batch.to(accelerator.device)
        out = network(batch)
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
        prepared.zero_grad()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(trainable, config.clip_norm or float("inf"))
        prepared.step()
        return {
            "loss": loss.item(),
            **{name: term.item() for name, term in terms.items()},
            "gradient_norm": norm.item(),
        }

    return update, State({"adam": optimizer})
