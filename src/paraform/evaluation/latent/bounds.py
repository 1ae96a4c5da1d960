"""How likely sentences are: bounds that are bounds, the tightest that a model's posterior and its prior can help to.

Shape key: N sentences, S samples of each, Q a quarter of them, Z latent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from paraform.evaluation.latent.proposals import GaussianProposal, Mixture, adapted
from paraform.evaluation.latent.protocol import LatentModel, Proposal, log_likelihood, log_prior, log_prior_of
from paraform.progress import track

HELD = 1 << 22  # numbers of a bound's z held at once, if not those of one sample or sentence: bounds its memory
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 0.0)  # of the posterior in a tempered proposal; the best is taken
PILOT_SENTENCES = 32  # at most, that a proposal is chosen by
PILOT_SAMPLES = 32  # of each, at most; others than those of the evaluation, so that its bound stays one
ADAPTED_FROM = 256  # samples of a bound; with fewer, a fit's half of the work may be better spent on samples
GAIN = 0.1  # nats that a fit must bring to a bound of `PILOT_SAMPLES`


def log_weights(
    log_likelihood_SN: Tensor, log_proposal_SN: Tensor, z_SNZ: Tensor, prior: Callable[[Tensor], Tensor] = log_prior
) -> Tensor:
    """ln p(x|z) p(z) / r(z|x), z from r.

    Args:
        log_likelihood_SN: ln p(x|z).
        log_proposal_SN: ln r(z|x).
        z_SNZ: drawn from r.
        prior: ln p(z); N(0, I)'s unless told otherwise.
    Returns: [S, N] nats, float64.
    """
    return log_likelihood_SN.double() + prior(z_SNZ.double()) - log_proposal_SN.double()


def importance_bound(log_weights_SN: Tensor) -> Tensor:
    """ln 1/S Σ_s w_s with w = p(x|z) p(z) / r(z|x): at most ln p(x) on average (Burda et al. 2016, eq. 8).

    It rises with S. With r = q and S = 1 it is the ELBO.

    Args:
        log_weights_SN: [S, N] ln w, of S ≥ 1 samples of r.
    Returns: [N] nats.
    """
    return log_weights_SN.logsumexp(0) - math.log(len(log_weights_SN))


def bound_by_a_quarter(log_weights_SN: Tensor) -> Tensor:
    """The same bound by a quarter of the samples: how much four times as many have brought.

    It is the mean over four quarters, so that it is never above the bound by all (of a multiple of 4).

    Args:
        log_weights_SN: [S, N], as for `importance_bound`.
    Returns: [N] nats; NaN for less than 4 samples.
    """
    few = len(log_weights_SN) // 4
    if not few:
        return torch.full_like(log_weights_SN[0], math.nan)
    quarters_4QN = log_weights_SN[: 4 * few].reshape(4, few, -1)
    return torch.stack([importance_bound(weights_QN) for weights_QN in quarters_4QN]).mean(0)


def mean_bound(log_weights_SN: Tensor) -> float:
    """The bound on −ln p(x), the mean of the sentences."""
    return -float(importance_bound(log_weights_SN).mean())


class Joint(NamedTuple):
    """p(x, z) of a model's sentences, which the weights of all proposals have in common.

    Args:
        progress: say on stderr how far it is.
        device: of z.
    """

    model: LatentModel
    texts: Sequence[str]
    progress: bool = False
    device: torch.device = torch.device("cpu")

    def rows(self, at: slice, *, progress: bool = False) -> Joint:
        """That of some of the sentences."""
        return Joint(self.model, self.texts[at], progress, self.device)

    def log_prior(self, z_SNZ: Tensor) -> Tensor:
        """ln p(z)."""
        return log_prior_of(self.model, z_SNZ)

    def weights(self, proposal: Proposal | Mixture, samples: int, generator: torch.Generator) -> Tensor:
        """ln p(x|z) p(z) / r(z|x) of samples of the proposal r, [S, N]; some of them at a time."""
        at_once = max(1, HELD // (len(self.texts) * self.model.latent_width))
        inner, parts = self.progress and at_once >= samples, []
        for start in self._shown(range(0, samples, at_once)):
            z_SNZ = proposal.sample(min(at_once, samples - start), generator)
            found_SN = log_likelihood(self.model, self.texts, z_SNZ, progress=inner)
            parts.append(log_weights(found_SN, proposal.log_density(z_SNZ), z_SNZ, self.log_prior))
        return torch.cat(parts)

    def adapted_weights(self, begun: GaussianProposal, fitted: int, samples: int, seed: int) -> Tensor:
        """The same, of proposals fitted to `fitted` other samples; some sentences at a time."""
        generator = torch.Generator(begun.mean_NZ.device).manual_seed(seed)
        at_once = max(1, HELD // (fitted * begun.mean_NZ.shape[1]))
        inner, parts = self.progress and at_once >= len(self.texts), []
        for start in self._shown(range(0, len(self.texts), at_once)):
            at = slice(start, start + at_once)
            some = self.rows(at, progress=inner)
            known = partial(log_likelihood, self.model, some.texts, progress=inner)
            parts.append(some.weights(adapted(known, begun.rows(at), fitted, generator), samples, generator))
        return torch.cat(parts, 1)

    def _shown(self, starts: range) -> Iterable[int]:
        """With a bar, if there are several; of one, what is done for it has a bar."""
        shown = self.progress and len(starts) > 1
        return track(starts, "evaluating", show=shown)


class TightBound(NamedTuple):
    """Bounds on −ln p(x), and the proposal that they have.

    Args:
        bound_N: the importance-weighted one of each sentence, of that proposal.
        quarter: that with a quarter of its samples, the mean of four and of the sentences; NaN if it has less than 4.
        share: the posterior's share of the tempered proposal.
        adapted: whether that is only where a proposal of each sentence began, fitted to as many other samples.
    """

    bound_N: Tensor
    quarter: float
    share: float
    adapted: bool


def tight_bound(
    joint: Joint, posterior: Proposal, samples: int, seed: int, *, own_SN: Tensor | None = None
) -> TightBound:
    """The bound of the proposal that is the best for a few sentences, spread over all.

    Args:
        joint: sentences and their model.
        posterior: q of each sentence, of the same model. Only a Gaussian is fitted further.
        samples: S of the bound.
        seed: and the next one are of the draws.
        own_SN: the logarithms of as many weights of q itself, if they are known.
    """
    few = slice(None, None, -(-len(joint.texts) // PILOT_SENTENCES))
    pilot, few_posterior, drawn = joint.rows(few), posterior.rows(few), min(samples, PILOT_SAMPLES)
    generator = torch.Generator(joint.device)
    found = {}
    for share in SHARES:  # the same noise for all proposals
        bound = mean_bound(pilot.weights(few_posterior.tempered(share), drawn, generator.manual_seed(seed)))
        found[share] = math.inf if math.isnan(bound) else bound
    share, adapts = min(found, key=found.__getitem__), False
    begun, proposal = few_posterior.tempered(share), posterior.tempered(share)
    if samples >= ADAPTED_FROM and isinstance(begun, GaussianProposal):
        few_SN = joint.rows(few, progress=joint.progress).adapted_weights(begun, samples, drawn, seed)
        adapts = mean_bound(few_SN) < found[share] - GAIN
    if adapts and isinstance(proposal, GaussianProposal):
        weights_SN = joint.adapted_weights(proposal, samples, samples, seed + 1)
    elif share == 1 and own_SN is not None:
        weights_SN = own_SN
    else:
        weights_SN = joint.weights(proposal, samples, generator.manual_seed(seed + 1))
    return TightBound(-importance_bound(weights_SN), -float(bound_by_a_quarter(weights_SN).mean()), share, adapts)
