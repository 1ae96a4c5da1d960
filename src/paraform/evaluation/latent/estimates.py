"""All that is estimated of a latent-variable model on one set of samples.

Shape key: N sentences, S samples of each, Z latent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from paraform.evaluation.latent.bounds import Joint, log_weights, mean_bound, tight_bound
from paraform.evaluation.latent.information import active_units, batch_information, mutual_information
from paraform.evaluation.latent.proposals import GaussianProposal
from paraform.evaluation.latent.protocol import (
    MOST_SAMPLES,
    Drawn,
    GaussianPosterior,
    HasCritics,
    LatentModel,
    OwnPrior,
    Proposal,
    ProposesOwn,
    draw,
    is_implicit,
    log_prior_of,
    prior_samples,
)
from paraform.losses.dual_kl import dual_kl
from paraform.records import InputError, require_count

FITTED = 32  # samples for each number of z that a Gaussian is fitted to: what it errs by is about Z / 4 / FITTED nats
FITTED_AT_ONCE = 128  # sentences: bounds the memory of their samples
MI_DRAWS = 4096  # samples of all sentences together that mutual information is averaged over; each costs N densities


class Estimates(NamedTuple):
    """Metrics of an evaluation set; NaN for what a model has not. Nats a sentence, but for `active`.

    Args:
        reconstruction: −E_q[ln p(x|z)].
        kl: KL(q(z|x) ‖ p) in closed form; of an implicit posterior, E_q[ln q̂ − ln p] with the Gaussian q̂ fitted to
            other samples, at most KL on average, and not below 0.
        posterior_bound: the importance-weighted bound on −ln p(x), the posterior (of an implicit one: q̂) its proposal.
        tempered_bound: the same with a proposal between the posterior and the prior (`tempered`), which is far tighter
            where the posterior is far from p(z|x); of many samples with one fitted to each sentence (`adapted`), where
            that is tighter still.
        quarter_bound: that with a quarter of its samples, the mean of four; NaN if it has less than 4.
        nats: the tempered bound of each sentence; () of a model that has none.
        share: the posterior's share of that proposal, or in what it was fitted from.
        adapted: whether it was fitted.
        mi: I(x; z) with the aggregated posterior over the whole set; with q̂ at most that on average, and not below 0.
        batch_mi: the same within batches of 32, at most ln 32 (He et al. 2019).
        mi_samples: draws of each sentence that mi is of; the other metrics are of all.
        active: units.
        dual, dual_latent: the dual estimates of the critics as trained, of q(z|x) and of the aggregated posterior.
        largest_critic: the largest absolute value of either.
    """

    reconstruction: float
    active: int
    kl: float = math.nan
    posterior_bound: float = math.nan
    tempered_bound: float = math.nan
    quarter_bound: float = math.nan
    nats: tuple[float, ...] = ()
    share: float = math.nan
    adapted: bool = False
    mi: float = math.nan
    batch_mi: float = math.nan
    mi_samples: int = 0
    dual: float = math.nan
    dual_latent: float = math.nan
    largest_critic: float = math.nan

    def metrics(self) -> dict[str, float]:
        """Those of a training's log, by the names there; what the model has not is left out."""
        found = {
            "reconstruction": self.reconstruction,
            "kl": self.kl,
            "mi": self.mi,
            "au": float(self.active),
            "dual_kl": self.dual,
            "dual_kl_latent": self.dual_latent,
            "largest_critic": self.largest_critic,
        }
        return {name: value for name, value in found.items() if not math.isnan(value)}


@torch.no_grad()
def estimate(
    model: LatentModel,
    texts: Sequence[str],
    *,
    samples: int,
    bound_samples: int | None = None,
    seed: int,
    progress: bool = False,
) -> tuple[Estimates, Drawn]:
    """The metrics, and the samples that all are of but bounds whose proposal, or number of samples, is another.

    Args:
        samples: S of each sentence.
        bound_samples: draws for the tempered bound; None: S.
    Raises: InputError for less than one sample, or if the model's metrics are not finite.
    """
    if bound_samples is not None:
        require_count(bound_samples, "bound_samples", 1, MOST_SAMPLES)
    drawn = draw(model, texts, samples=samples, seed=seed, progress=progress)
    encoded, z_SNZ, likelihood_SN = drawn
    generator = torch.Generator(z_SNZ.device).manual_seed(seed + 1)
    reconstruction = -float(likelihood_SN.mean())
    mean_NZ = model.posterior_mean(encoded)
    unit_Z = model.prior_variance() if isinstance(model, OwnPrior) else None
    if mean_NZ is None and not is_implicit(model):
        raise InputError(
            f"a {type(model).__name__} without a posterior_mean; expected one, but where only samples tell"
        )
    if not model.has_noise:
        assert mean_NZ is not None
        return Estimates(reconstruction, active_units(mean_NZ, of_prior_Z=unit_Z)), drawn
    joint, noise_Z, least = Joint(model, texts, progress, z_SNZ.device), None, -math.inf
    log_density: Callable[[Tensor], Tensor]
    proposal: Proposal
    if is_implicit(model):  # q̂ in place of q, whose metrics by samples may fall below what those of no posterior do
        proposal, noise_Z = _fitted(model, encoded, generator)
        mean_NZ, log_density, least = proposal.mean_NZ, proposal.log_density, 0.0
        kl = float((log_density(z_SNZ) - log_prior_of(model, z_SNZ.double())).mean())
        own_SN = joint.weights(proposal, samples, generator)
    else:
        assert mean_NZ is not None
        if isinstance(model, ProposesOwn):
            proposal = model.proposal(encoded)
        elif isinstance(model, GaussianPosterior):
            proposal = GaussianProposal.of_root(mean_NZ, model.posterior_root(encoded))
        else:
            raise InputError(f"a {type(model).__name__} with a density; expected posterior_root or proposal beside it")
        log_density = partial(model.log_posterior, encoded)
        kl = float(model.closed_kl(encoded).mean())
        own_SN = log_weights(likelihood_SN, log_density(z_SNZ), z_SNZ, joint.log_prior)
    count = samples if bound_samples is None else bound_samples
    known = own_SN if count == samples else None
    tight = tight_bound(joint, proposal, count, seed + 2, own_SN=known)
    some_SNZ = z_SNZ[: max(1, MI_DRAWS // z_SNZ.shape[1])]
    metrics = {
        "kl": max(kl, least),  # in this order, NaN stays
        "posterior_bound": mean_bound(own_SN),
        "tempered_bound": float(tight.bound_N.mean()),
        "mi": max(mutual_information(some_SNZ, log_density), least),
        "batch_mi": batch_information(some_SNZ, log_density),
        **_critics(model, encoded, z_SNZ, generator),
    }
    for name, value in metrics.items():  # NaN would pass for what the model has not
        if math.isnan(value):
            raise InputError(f"{name} is nan; expected a number: the posterior, a likelihood or a critic is not finite")
    return Estimates(
        reconstruction,
        active_units(mean_NZ, noise_Z, of_prior_Z=unit_Z),
        quarter_bound=tight.quarter,  # of few it is NaN
        nats=tuple(tight.bound_N.tolist()),
        share=tight.share,
        adapted=tight.adapted,
        mi_samples=len(some_SNZ),
        **metrics,
    ), drawn


def _critics(model: LatentModel, encoded: Tensor, z_SNZ: Tensor, generator: torch.Generator) -> dict[str, float]:
    """The dual estimates of the model's critics, and their largest value; {} without critics."""
    on_posterior = model.critic_values(encoded, z_SNZ) if isinstance(model, HasCritics) else None
    if not isinstance(model, HasCritics) or on_posterior is None:
        return {}
    samples, count, _ = z_SNZ.shape
    prior_SNZ = prior_samples(model, samples * count, generator).view(z_SNZ.shape)
    on_prior = model.critic_values(encoded, prior_SNZ)
    assert on_prior is not None
    dual, dual_latent = (float(dual_kl(*pair)) for pair in zip(on_posterior, on_prior, strict=True))
    largest = max(float(values.abs().max()) for values in (*on_posterior, *on_prior))
    return {"dual": dual, "dual_latent": dual_latent, "largest_critic": largest}


def _fitted(model: LatentModel, encoded_NP: Tensor, generator: torch.Generator) -> tuple[GaussianProposal, Tensor]:
    """A Gaussian of each sentence's posterior, and [Z] the variance of its mean, which is one of samples."""
    samples = FITTED * max(4, model.latent_width)
    means, factors, noise_Z = [], [], torch.zeros(model.latent_width, device=encoded_NP.device)
    for encoded in torch.split(encoded_NP, FITTED_AT_ONCE):
        z_SNZ = model.sample_posterior(encoded, samples, generator)
        mean_NZ, factor_NZZ = GaussianProposal.fitted(z_SNZ)
        means.append(mean_NZ)
        factors.append(factor_NZZ)
        noise_Z += z_SNZ.var(0).sum(0) / samples / len(encoded_NP)
    return GaussianProposal(torch.cat(means), torch.cat(factors)), noise_Z
