"""All that is estimated of a latent-variable model on one set of samples.

Shape key: N sentences, S samples of each, Z latent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from paraform.evaluation.latent.bounds import GaussianProposal, log_weights
from paraform.evaluation.latent.information import active_units, batch_information, mutual_information
from paraform.evaluation.latent.likelihood import mean_bound, proposal_weights, tight_bound
from paraform.evaluation.latent.protocol import Drawn, LatentModel, draw, is_implicit, log_prior
from paraform.losses.dual_kl import dual_kl
from paraform.records import InputError

FITTED = 32  # samples for each number of z that a Gaussian is fitted to: what it errs by is about Z / 4 / FITTED nats
FITTED_AT_ONCE = 128  # sentences: bounds the memory of their samples
MI_DRAWS = 4096  # samples of all sentences together that mutual information is averaged over; each costs N densities


class Estimates(NamedTuple):
    """Figures of an evaluation set; NaN for what a model has not. Nats a sentence, but for `active`.

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
        share: of the posterior in that proposal, or in what it was fitted from.
        adapted: whether it was fitted.
        mi: I(x; z) with the aggregated posterior over the whole set; with q̂ at most that on average, and not below 0.
        batch_mi: the same within batches of 32, at most ln 32 (He et al. 2019).
        mi_samples: of each sentence, that mi is of; the other figures are of all.
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


def estimate(
    model: LatentModel,
    texts: Sequence[str],
    *,
    samples: int,
    bound_samples: int | None = None,
    seed: int,
    progress: bool = False,
) -> tuple[Estimates, Drawn]:
    """The figures, and the samples that all are of but bounds whose proposal, or number of samples, is another.

    Args:
        samples: S of each sentence.
        bound_samples: of the tempered bound; None: S.
    Raises: ValueError for less than one sample. InputError if the model's figures are not finite.
    """
    if bound_samples is not None and bound_samples < 1:
        raise ValueError(f"{bound_samples} samples of a bound; expected at least 1")
    bound_samples = samples if bound_samples is None else bound_samples
    drawn = draw(model, texts, samples=samples, seed=seed, progress=progress)
    generator = torch.Generator(drawn.z_SNZ.device).manual_seed(seed + 1)
    reconstruction = -float(drawn.log_likelihood_SN.mean())
    if model.posterior == "point":
        mean_NZ = model.posterior_mean(drawn.encoded)
        assert mean_NZ is not None
        return Estimates(reconstruction, active_units(mean_NZ)), drawn
    posterior = _posterior(model, drawn.encoded, generator)
    found = Estimates(reconstruction, active_units(posterior.proposal.mean_NZ, posterior.noise_Z))
    found = _with_bounds(found, model, texts, drawn, posterior, generator, bound_samples, seed=seed, progress=progress)
    found = _with_information(found, model, drawn, posterior)
    return _with_critics(found, model, drawn, generator), drawn


class _Posterior(NamedTuple):
    """q(z|x) of each sentence, or q̂ of an implicit one.

    Args:
        proposal: as a Gaussian.
        log_density: ln q(z|x) of z [S, N, Z], [S, N].
        noise_Z: the variance of the mean, if it is one of samples.
    """

    proposal: GaussianProposal
    log_density: Callable[[Tensor], Tensor]
    noise_Z: Tensor | None


def _posterior(model: LatentModel, encoded_NP: Tensor, generator: torch.Generator) -> _Posterior:
    mean_NZ = model.posterior_mean(encoded_NP)
    if mean_NZ is None:
        fitted, noise_Z = _fitted(model, encoded_NP, generator)
        return _Posterior(fitted, fitted.log_density, noise_Z)
    proposal = GaussianProposal.of_root(mean_NZ, model.posterior_root(encoded_NP))
    return _Posterior(proposal, partial(model.log_posterior, encoded_NP), None)


def _with_bounds(
    found: Estimates,
    model: LatentModel,
    texts: Sequence[str],
    drawn: Drawn,
    posterior: _Posterior,
    generator: torch.Generator,
    bound_samples: int,
    *,
    seed: int,
    progress: bool,
) -> Estimates:
    """And KL, and the bounds on −ln p(x)."""
    samples = len(drawn.z_SNZ)
    if is_implicit(model):
        kl = float((posterior.log_density(drawn.z_SNZ) - log_prior(drawn.z_SNZ.double())).mean())
        kl = max(kl, 0.0)  # a lower bound by samples, which may fall below what no posterior has; NaN stays
        own_SN = proposal_weights(model, texts, posterior.proposal, samples, generator, progress=progress)
    else:
        kl = float(model.closed_kl(drawn.encoded).mean())
        own_SN = log_weights(drawn.log_likelihood_SN, posterior.log_density(drawn.z_SNZ), drawn.z_SNZ)
    known = own_SN if bound_samples == samples else None
    tight = tight_bound(model, texts, posterior.proposal, bound_samples, seed + 2, own_SN=known, progress=progress)
    bound = float(tight.bound_N.mean())
    found = _filled(found, kl=kl, posterior_bound=mean_bound(own_SN), tempered_bound=bound, share=tight.share)
    nats = tuple(tight.bound_N.tolist())
    return found._replace(quarter_bound=tight.quarter, adapted=tight.adapted, nats=nats)  # a quarter of few is NaN


def _with_information(found: Estimates, model: LatentModel, drawn: Drawn, posterior: _Posterior) -> Estimates:
    """And mutual information, of some of the samples."""
    some_SNZ = drawn.z_SNZ[: max(1, MI_DRAWS // drawn.z_SNZ.shape[1])]
    mi = mutual_information(some_SNZ, posterior.log_density)
    return _filled(
        found,
        mi=max(mi, 0.0) if is_implicit(model) else mi,  # as KL
        batch_mi=batch_information(some_SNZ, posterior.log_density),
        mi_samples=len(some_SNZ),
    )


def _with_critics(found: Estimates, model: LatentModel, drawn: Drawn, generator: torch.Generator) -> Estimates:
    """And what its critics say, if it has any."""
    on_posterior = model.critic_values(drawn.encoded, drawn.z_SNZ)
    if on_posterior is None:
        return found
    prior_SNZ = torch.randn(drawn.z_SNZ.shape, generator=generator, device=drawn.z_SNZ.device)
    on_prior = model.critic_values(drawn.encoded, prior_SNZ)
    assert on_prior is not None
    dual, dual_latent = (float(dual_kl(*pair)) for pair in zip(on_posterior, on_prior, strict=True))
    largest = max(float(values.abs().max()) for values in (*on_posterior, *on_prior))
    return _filled(found, dual=dual, dual_latent=dual_latent, largest_critic=largest)


def _filled(found: Estimates, **figures: Any) -> Estimates:
    """With those figures. Raises: InputError for NaN, which would pass for what the model has not."""
    for name, value in figures.items():
        if math.isnan(value):
            raise InputError(f"{name} is nan; expected a number: the posterior, a likelihood or a critic is not finite")
    return found._replace(**figures)


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
