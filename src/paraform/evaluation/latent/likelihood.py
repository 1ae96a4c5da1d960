"""How likely sentences are, by the tightest bound that a model's posterior and its prior can help to.

Shape key: N sentences, S samples of each, Z latent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from rich.progress import track
from torch import Tensor

from paraform.encoders import STDERR
from paraform.evaluation.latent.adaptation import Mixture, adapted
from paraform.evaluation.latent.bounds import (
    GaussianProposal,
    bound_by_a_quarter,
    importance_bound,
    log_weights,
    tempered,
)
from paraform.evaluation.latent.protocol import LatentModel, log_likelihood

HELD = 1 << 22  # numbers of a bound's z held at once, if not those of one sample or sentence: bounds its memory
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 0.0)  # of the posterior in a tempered proposal; the best is taken
PILOT_SENTENCES = 32  # at most, that a proposal is chosen by
PILOT_SAMPLES = 32  # of each, at most; others than those of the evaluation, so that its bound stays one
ADAPTED_FROM = 256  # samples of a bound; with fewer, a fit's half of the work may be better spent on samples
GAIN = 0.1  # nats that a fit must bring to a bound of `PILOT_SAMPLES`


class TightBound(NamedTuple):
    """Bounds on −ln p(x), and the proposal that they have.

    Args:
        bound_N: the importance-weighted one of each sentence, of that proposal.
        quarter: that with a quarter of its samples, the mean of four and of the sentences; NaN if it has less than 4.
        share: of the posterior in the tempered proposal.
        adapted: whether that is only where a proposal of each sentence began, fitted to as many other samples.
    """

    bound_N: Tensor
    quarter: float
    share: float
    adapted: bool


def tight_bound(
    model: LatentModel,
    texts: Sequence[str],
    posterior: GaussianProposal,
    samples: int,
    seed: int,
    *,
    own_SN: Tensor | None = None,
    progress: bool = False,
) -> TightBound:
    """The bound of the proposal that is the best for a few sentences, spread over all.

    Args:
        posterior: q of each sentence, of the same model.
        samples: S of the bound.
        seed: and the next one are of the draws.
        own_SN: the logarithms of as many weights of q itself, if they are known.
    """
    few = slice(None, None, -(-len(texts) // PILOT_SENTENCES))
    few_texts, few_posterior, drawn = texts[few], posterior.rows(few), min(samples, PILOT_SAMPLES)
    found = {share: _pilot(model, few_texts, tempered(few_posterior, share), drawn, seed) for share in SHARES}
    share = min(found, key=found.__getitem__)
    adapts = False
    if samples >= ADAPTED_FROM:
        begun = tempered(few_posterior, share)
        few_SN = _adapted_weights(model, few_texts, begun, samples, drawn, seed, progress=progress)
        adapts = mean_bound(few_SN) < found[share] - GAIN
    if adapts:
        begun = tempered(posterior, share)
        weights_SN = _adapted_weights(model, texts, begun, samples, samples, seed + 1, progress=progress)
    elif share == 1 and own_SN is not None:
        weights_SN = own_SN
    else:
        generator = torch.Generator(posterior.mean_NZ.device).manual_seed(seed + 1)
        proposal = tempered(posterior, share)
        weights_SN = proposal_weights(model, texts, proposal, samples, generator, progress=progress)
    return TightBound(-importance_bound(weights_SN), -float(bound_by_a_quarter(weights_SN).mean()), share, adapts)


def _pilot(model: LatentModel, texts: Sequence[str], proposal: GaussianProposal, samples: int, seed: int) -> float:
    """The bound of a few sentences, the same noise for all proposals; infinite for one that is NaN."""
    generator = torch.Generator(proposal.mean_NZ.device).manual_seed(seed)
    found = mean_bound(proposal_weights(model, texts, proposal, samples, generator))
    return math.inf if math.isnan(found) else found


def _adapted_weights(
    model: LatentModel,
    texts: Sequence[str],
    begun: GaussianProposal,
    fitted: int,
    samples: int,
    seed: int,
    *,
    progress: bool,
) -> Tensor:
    """As `proposal_weights`, of proposals fitted to `fitted` other samples; some sentences at a time."""
    generator = torch.Generator(begun.mean_NZ.device).manual_seed(seed)
    at_once = max(1, HELD // (fitted * begun.mean_NZ.shape[1]))
    inner = progress and at_once >= len(texts)
    parts = []
    for start in _shown(range(0, len(texts), at_once), progress=progress):
        at = slice(start, start + at_once)
        known = partial(log_likelihood, model, texts[at], progress=inner)
        proposal = adapted(known, begun.rows(at), fitted, generator)
        parts.append(proposal_weights(model, texts[at], proposal, samples, generator, progress=inner))
    return torch.cat(parts, 1)


def proposal_weights(
    model: LatentModel,
    texts: Sequence[str],
    proposal: GaussianProposal | Mixture,
    samples: int,
    generator: torch.Generator,
    *,
    progress: bool = False,
) -> Tensor:
    """ln p(x|z) p(z) / r(z|x) of samples of the proposal r, [S, N]; some of them at a time."""
    at_once = max(1, HELD // (len(texts) * model.latent_width))
    parts = []
    for start in _shown(range(0, samples, at_once), progress=progress):
        z_SNZ = proposal.sample(min(at_once, samples - start), generator)
        found_SN = log_likelihood(model, texts, z_SNZ, progress=progress and at_once >= samples)
        parts.append(log_weights(found_SN, proposal.log_density(z_SNZ), z_SNZ))
    return torch.cat(parts)


def _shown(starts: range, *, progress: bool) -> Iterable[int]:
    """With a bar, if there are several; of one, what is done for it has a bar."""
    shown = progress and len(starts) > 1
    return track(starts, "evaluating", console=STDERR, disable=not shown, transient=True)


def mean_bound(log_weights_SN: Tensor) -> float:
    """The bound on −ln p(x), the mean of the sentences."""
    return -float(importance_bound(log_weights_SN).mean())
