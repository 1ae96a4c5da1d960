"""sp-average's steps on a mega-batch: its hardest negatives, then one step of the margin loss on each batch of it."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.losses.distance_hinge import distance_hinge
from paraform.models.update import Accelerator, State, Stepper, Update
from paraform_papers.rivals.averaged.batches import MegaBatch
from paraform_papers.rivals.averaged.config import AveragedConfig
from paraform_papers.rivals.averaged.negatives import hardest_negatives

MARGIN = 0.4  # γ of the hinge, on cosines


def make_update(model: Any, config: AveragedConfig, accelerator: Accelerator) -> tuple[Update, State]:
    """Adam on Σ [γ − cos(s, t) + cos(s, n_s)]₊ + [γ − cos(s, t) + cos(t, n_t)]₊, a mean over a batch's pairs.

    n_s is the target of another cluster that is nearest to the source s, n_t the source nearest to the target t, both
    of the mega-batch, by the vectors at its beginning. All of a mega-batch is one step of the loop: so a resumed run
    has the same negatives. Every process finds those of the whole and learns from its share of each batch.

    Args:
        model: an `AveragedEncoder`.
    Returns: the update, which gives means over its batches: `loss`, `positive` and `negative`, cosines of the pairs and
        of the hardest negatives, and `batches`, how many they were; and the optimiser's state.
    """
    adam = torch.optim.Adam(model.network.parameters(), lr=config.learning_rate)
    stepper = Stepper(model.network, adam, accelerator, parts={})
    rank, world = accelerator.process_index, accelerator.num_processes

    def update(batch: MegaBatch, step: int) -> dict[str, float]:
        batch = batch.to(accelerator.device)
        pairs = len(batch.clusters_M)
        with torch.no_grad():
            source_MD, target_MD = model.network(batch.sentences).chunk(2)
        negative_M = pairs + hardest_negatives(source_MD, target_MD, batch.clusters_M)  # targets stand behind sources
        other_M = hardest_negatives(target_MD, source_MD, batch.clusters_M)
        terms: list[Tensor] = []
        for start in range(0, pairs, batch.batch_size):
            rows = torch.arange(start + rank, start + batch.batch_size, world, device=accelerator.device)
            some = (other_M[rows] >= 0).float()  # without any other cluster there is nothing to be told from
            near_B, far_B = other_M[rows].clamp_min(0), negative_M[rows].clamp_min(0)
            vectors = stepper.network(batch.sentences.picked(torch.cat([rows, rows + pairs, far_B, near_B]))).chunk(4)
            together_B = F.cosine_similarity(vectors[0], vectors[1])
            apart = [F.cosine_similarity(vectors[0], vectors[2]), F.cosine_similarity(vectors[1], vectors[3])]
            # a cosine's distance is 1 less it, and the ones fall out
            hinges = [distance_hinge(-together_B, -apart_B, margin=MARGIN) * some for apart_B in apart]
            loss = (hinges[0] + hinges[1]).mean()
            stepper(loss, step)
            terms.append(torch.stack([loss, together_B.mean(), (apart[0] + apart[1]).mean() / 2]).detach())
        loss, positive, negative = torch.stack(terms).mean(0).tolist()
        return {"loss": loss, "positive": positive, "negative": negative, "batches": float(len(terms))}

    return update, State({"adam": adam})
