"""ParaBART's optimisation step: the adversary's, then everything else's (section 3, "Training")."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from paraform.losses.bag_of_constituents import bag_loss
from paraform.losses.nt_xent import nt_xent
from paraform.losses.similarity_distance import similarity_distance
from paraform.models.disentangled.config import DisentangledConfig
from paraform.models.disentangled.pairs import PairBatch
from paraform.models.update import Accelerator, State, Stepper, Update, gather_with_gradient, terms_of
from paraform.schedules import learning_rate

WEIGHT_DECAY, CLIP_NORM = 0.01, 1.0  # AdamW's, and the largest gradient norm; the code's


def make_update(
    model: Any, config: DisentangledConfig, accelerator: Accelerator, *, steps_per_epoch: int
) -> tuple[Update, State]:
    """One step of min over E_sem, E_syn, D_dec of (max over D_dis of L_para − λ L_adv) and what is beyond the paper.

        the adversary:   L_adv(ū without gradient)
        all else:        w L_para − λ L_adv(ū) + w_c NT-Xent(ū_source, ū_target) + w_d distance to the start

    Args:
        model: a `DisentangledParaphraser`.
        steps_per_epoch: for the start of the adversary and the learning rate's decay.
    Returns: the update, which gives `loss`, and of those with a weight `generation` (nats a piece), `adversary` (nats,
        before its step), `contrast` (nats), `distance`; and `gradient_norm`; and the optimisers' state.
    """
    network = model.network
    encoder = [weight for weight in network.semantic.parameters() if weight.requires_grad]
    known = {id(weight) for weight in network.semantic.parameters()}
    rest = [weight for weight in network.parameters() if id(weight) not in known]
    groups = [{"params": encoder, "lr": config.learning_rate}, {"params": rest, "lr": config.decoder_learning_rate}]
    adamw = torch.optim.AdamW([g for g in groups if g["params"]], weight_decay=WEIGHT_DECAY, fused=True)
    optimizers: dict[str, torch.optim.Optimizer] = {"adamw": adamw}
    rate = learning_rate(config.schedule, total=config.epochs * steps_per_epoch)
    stepper = Stepper(network, adamw, accelerator, rate=rate, clip_norm=CLIP_NORM)
    adversary: Any = model.adversary
    fooling: Stepper | None = None
    if adversary is not None:
        own = config.adversary_learning_rate or config.learning_rate
        optimizers["adversary"] = torch.optim.AdamW(
            adversary.parameters(), lr=own, weight_decay=WEIGHT_DECAY, fused=True
        )
        fooling = Stepper(adversary, optimizers["adversary"], accelerator, parts={})

    def update(batch: PairBatch, step: int) -> dict[str, float]:
        batch = batch.to(accelerator.device)
        out = stepper.network(batch)
        terms: dict[str, Tensor] = {}
        loss = out.source_BD.new_zeros(())
        if out.written:
            # DDP averages over processes: by the mean count of pieces that is the mean over all pieces.
            means = [each.nll / accelerator.reduce(each.pieces.float(), "mean") for each in out.written]
            terms["generation"] = torch.stack(means).mean()
            loss = loss + config.generation_weight * terms["generation"]
        if fooling is not None:
            both_BD, bags_BC = [out.source_BD], [batch.source_tree.bags_BC]
            if config.directions == "both" and out.target_BD is not None:
                both_BD, bags_BC = [*both_BD, out.target_BD], [*bags_BC, batch.target_tree.bags_BC]
            vectors_BD, bag_BC = torch.cat(both_BD), torch.cat(bags_BC)
            terms["adversary"] = bag_loss(fooling.network(vectors_BD.detach()), bag_BC, kind=config.adversary_loss)
            fooling(terms["adversary"], step)
            if step >= config.adversary_start * steps_per_epoch:
                said_BC = adversary.frozen(vectors_BD)
                if config.fooled == "loss":
                    fooled = -bag_loss(said_BC, bag_BC, kind=config.adversary_loss)
                else:
                    fooled = bag_loss(said_BC, adversary.prior_C.expand_as(bag_BC), kind=config.adversary_loss)
                loss = loss + config.adversary_weight * fooled
        if config.contrast_weight and out.target_BD is not None:
            clusters_B = gather_with_gradient(batch.source.clusters_B)
            more: dict[str, Any] = {}
            if out.negatives_ND is not None and batch.negatives is not None:
                more = {"negatives": out.negatives_ND, "negative_clusters": batch.negatives.clusters_B}
            terms["contrast"] = nt_xent(
                gather_with_gradient(out.source_BD),
                gather_with_gradient(out.target_BD),
                temperature=config.temperature,
                clusters=clusters_B,
                **more,
            )
            loss = loss + config.contrast_weight * terms["contrast"]
        if batch.start_RD is not None and out.target_BD is not None:
            vectors_RD = gather_with_gradient(torch.cat([out.source_BD, out.target_BD]))
            terms["distance"] = similarity_distance(vectors_RD, gather_with_gradient(batch.start_RD))
            loss = loss + config.distance_weight * terms["distance"]
        norms = stepper(loss, step)
        return terms_of(loss=loss, **terms, **norms)

    return update, State(optimizers)
