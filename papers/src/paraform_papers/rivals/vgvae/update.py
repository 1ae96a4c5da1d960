"""VGVAE's steps: both sides of pairs by their own meaning and each other's, KLs, places, and hardest negatives."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from paraform.losses.distance_hinge import distance_hinge
from paraform.models.update import Accelerator, State, Stepper, Update
from paraform_papers.rivals.averaged.negatives import hardest_negatives
from paraform_papers.rivals.vgvae.batches import MegaBatch, picked
from paraform_papers.rivals.vgvae.config import VgvaeConfig
from paraform_papers.rivals.vgvae.network import Outputs
from paraform_papers.rivals.vgvae.posterior import Noise

SEMANTIC_KL, SYNTAX_KL = 1e-4, 1e-3  # weights of the two KLs, beside a word's mean nats
MARGIN = 0.4  # γ of the hinge, on cosines


def make_update(model: Any, config: VgvaeConfig, accelerator: Accelerator) -> tuple[Update, State]:
    """Adam on the sum over a pair's two sides, and their negatives, of the losses below, a mean over a batch's pairs.

        −ln p(x_i|y_i, z_i) − ln p(x_i|y_j, z_i) + λ_y KL(q(y|x_i) ‖ p) + λ_z KL(q(z|x_i) ‖ p) + λ_W L_W(x_i, z_i)
        + λ_D [γ − cos(μ_i, μ_j) + cos(μ_i, μ_n)]₊

    n is the sentence of the other side and of another cluster that is nearest to i in the mega-batch, by the directions
    μ at its beginning. A negative has the first line's losses too, without the second term. All of a mega-batch is one
    step of the loop: so a resumed run has the same negatives. Every process finds those of the whole and learns from
    its share of each batch.

    Args:
        model: a `Vgvae`.
    Returns: the update, which gives means over its batches: `loss`, and of a sentence `nll`, `crossed_nll` and
        `position`, nats a word, and `semantic_kl` and `syntax_kl`, nats; `discriminative` where it is learnt from;
        `batches`, how many they were; and `gradient_norm`. And the optimiser's state.
    """
    adam = torch.optim.Adam(model.network.parameters(), lr=config.learning_rate)
    stepper = Stepper(model.network, adam, accelerator, clip_norm=config.clip_norm)
    rank, world = accelerator.process_index, accelerator.num_processes
    device = accelerator.device

    def negatives(batch: MegaBatch) -> Tensor:
        """[2 M] the row of each sentence's negative, −1 without any; of evaluation mode, so that dropout hides none."""
        pairs, training = len(batch.clusters_M), model.network.training
        with torch.no_grad():
            model.network.eval()
            source_MD, target_MD = model.network.semantic(batch.sentences).direction_BM.chunk(2)
            model.network.train(training)
        of_source_M = hardest_negatives(source_MD, target_MD, batch.clusters_M)
        of_target_M = hardest_negatives(target_MD, source_MD, batch.clusters_M)
        return torch.cat([of_source_M + pairs * (of_source_M >= 0), of_target_M])

    def update(batch: MegaBatch, step: int) -> dict[str, float]:
        batch = batch.to(device)
        pairs, size = len(batch.clusters_M), batch.batch_size
        negative_M = negatives(batch) if batch.contrasted else None
        generator = torch.Generator(device).manual_seed(batch.seed)
        found: list[dict[str, Tensor]] = []
        for start in range(0, pairs, size):
            own = torch.arange(rank, size, world, device=device)
            rows = torch.cat([own + start, own + start + pairs])
            drawn, some = torch.cat([own, own + size]), None
            if negative_M is not None:
                some = negative_M[rows] >= 0  # without any other cluster there is nothing to be told from
                rows = torch.cat([rows, negative_M[rows].clamp_min(0)])
                drawn = torch.cat([drawn, drawn + 2 * size])
            noise = Noise(generator, (2 if negative_M is None else 4) * size, drawn)
            out = stepper.network(picked(batch.sentences, rows), picked(batch.read, rows), len(own), noise)
            terms = _terms(out, len(own), some, config)
            terms |= stepper(terms["loss"], step)
            found.append({name: term.detach() for name, term in terms.items()})
            generator.manual_seed((batch.seed + len(found)) % 2**62)
        means = {name: torch.stack([terms[name] for terms in found]).mean().item() for name in found[0]}
        return {**means, "batches": float(len(found))}

    return update, State({"adam": adam})


def _terms(out: Outputs, pairs: int, some: Tensor | None, config: VgvaeConfig) -> dict[str, Tensor]:
    """Every loss by name.

    Args:
        some: [2 · pairs] which of the sentences have a negative, whose rows stand behind all; None: there are none.
    """
    both = 2 * pairs
    own_B = out.nll_B + SEMANTIC_KL * out.semantic_kl_B + SYNTAX_KL * out.syntax_kl_B
    own_B = own_B + config.position_weight * out.position_B
    total = own_B[:both].sum() + out.crossed_B.sum()
    terms = {
        "nll": out.nll_B[:both].mean(),
        "crossed_nll": out.crossed_B[:both].mean(),
        "semantic_kl": out.semantic_kl_B[:both].mean(),
        "syntax_kl": out.syntax_kl_B[:both].mean(),
        "position": out.position_B[:both].mean(),
    }
    if some is not None:
        direction_BM, negative_BM = out.direction_BM[:both], out.direction_BM[both:]
        other_BM = torch.cat([direction_BM[pairs:], direction_BM[:pairs]])
        together_B, apart_B = ((direction_BM * each).sum(-1) for each in (other_BM, negative_BM))
        # a cosine's distance is 1 less it, and the ones fall out
        hinge = (distance_hinge(-together_B, -apart_B, margin=MARGIN) * some).sum()
        total = total + (own_B[both:] * some).sum() + config.discriminative_weight * hinge
        terms["discriminative"] = hinge / both
    return {"loss": total / pairs, **terms}
