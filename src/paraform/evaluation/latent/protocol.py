"""What evaluation asks of a latent-variable model, and what it draws from one.

Shape key: N sentences, S samples of each, P numbers that name a sentence's posterior, Z latent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self, runtime_checkable

import torch
from torch import Tensor

from paraform.progress import track
from paraform.records import InputError, require_count

MOST_SAMPLES = 1_000_000  # of each sentence; more is a slip
TOKENS_AT_ONCE = 16384  # words, of all samples, that are scored together: bounds the memory of [tokens, vocabulary]


@runtime_checkable
class LatentModel(Protocol):
    """A text autoencoder: anyone's, and all that its figures need. Every density is in nats.

    Its prior is N(0, I), unless it is an `OwnPrior`. It has no critics, unless it is a `HasCritics`. Where it is asked
    for gradients nobody wants any: all of it is called within `torch.no_grad()`.
    """

    @property
    def latent_width(self) -> int:
        """Z, the numbers of a latent vector."""
        ...

    @property
    def has_noise(self) -> bool:
        """Whether z is drawn; if not, there is no likelihood, and no figure that needs one."""
        ...

    @property
    def has_density(self) -> bool:
        """Whether `log_posterior` and `closed_kl` are known; such a model has a `posterior_mean`, and it is a
        `GaussianPosterior` or a `ProposesOwn`."""
        ...

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """How many words each text has, those of its end counted: what perplexity divides by."""
        ...

    def unknown(self, texts: Sequence[str]) -> int:
        """How many words of all texts the model takes for one, `<unk>`."""
        ...

    def encode(self, texts: Sequence[str]) -> Tensor:
        """What names each text's posterior, [N, P] floats: whatever the methods below take as `encoded`."""
        ...

    def posterior_mean(self, encoded: Tensor) -> Tensor | None:
        """E[z|x], [N, Z]; None where only samples tell."""
        ...

    def sample_posterior(self, encoded: Tensor, samples: int, generator: torch.Generator) -> Tensor:
        """z of q(z|x): [S, N, Z]; the generator, on the device of `encoded`, is all that it draws by."""
        ...

    def log_posterior(self, encoded: Tensor, z_SNZ: Tensor) -> Tensor:
        """ln q(z|x): [S, N]; asked only of a model that `has_density`."""
        ...

    def closed_kl(self, encoded: Tensor) -> Tensor:
        """KL(q(z|x) ‖ p(z)): [N]; asked only of a model that `has_density`."""
        ...

    def log_likelihood(self, texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        """ln p(x|z) of the whole text, its end counted: [S, N]; z may be float64, whatever the model's weights are."""
        ...


@runtime_checkable
class HasCritics(Protocol):
    """A model with critics, whose estimates of KL are the paper's."""

    def critic_values(self, encoded: Tensor, z_SNZ: Tensor) -> tuple[Tensor, Tensor] | None:
        """That of q(z|x) and that of the aggregated posterior: [S, N] each; None: this one has none."""
        ...


@runtime_checkable
class ReadsSoManyWords(Protocol):
    """A model that reads no text longer than so many words, and none without any."""

    @property
    def max_tokens(self) -> int: ...
    def words(self, text: str) -> list[str]: ...


@runtime_checkable
class HasLexicon(Protocol):
    """A model that tells what its likelihoods are likelihoods of."""

    @property
    def lexicon(self) -> tuple[str, frozenset[str]]:
        """How texts are split, and the words known: likelihoods compare between models of one lexicon."""
        ...


@runtime_checkable
class GaussianPosterior(Protocol):
    """A model whose posteriors are Gaussians."""

    def posterior_root(self, encoded: Tensor) -> Tensor:
        """A [N, Z, Z] with the covariance A Aᵀ."""
        ...


class Proposal(Protocol):
    """A distribution of each sentence, to draw z from."""

    def rows(self, at: slice) -> Self:
        """Those of some of the sentences."""
        ...

    def sample(self, samples: int, generator: torch.Generator) -> Tensor:
        """z [S, N, Z], float64."""
        ...

    def log_density(self, z_SNZ: Tensor) -> Tensor:
        """ln r(z|x): [S, N] nats."""
        ...

    def tempered(self, share: float) -> Self:
        """What is ∝ r^s p^(1 − s), p the prior: 0 is the prior, 1 the proposal itself."""
        ...


@runtime_checkable
class ProposesOwn(Protocol):
    """A model with posteriors of any other kind that it can draw from, tempered too."""

    def proposal(self, encoded: Tensor) -> Proposal:
        """The posterior of each sentence."""
        ...


@runtime_checkable
class OwnPrior(Protocol):
    """A model whose prior is another than N(0, I)."""

    def log_prior(self, z_SNZ: Tensor) -> Tensor:
        """ln p(z): [..., N] nats, by the same measure as its `log_posterior`."""
        ...

    def sample_prior(self, samples: int, generator: torch.Generator) -> Tensor:
        """z [S, Z]."""
        ...

    def prior_variance(self) -> Tensor:
        """Of each number of z, [Z]."""
        ...


def is_implicit(model: LatentModel) -> bool:
    """Whether the posterior has no density: a Gaussian fitted to its samples gives lower bounds on KL and MI."""
    return model.has_noise and not model.has_density


class Drawn(NamedTuple):
    """S samples of each sentence's posterior, and how likely the sentence is given each."""

    encoded: Tensor  # [N, P]
    z_SNZ: Tensor
    log_likelihood_SN: Tensor


def draw(model: LatentModel, texts: Sequence[str], *, samples: int, seed: int, progress: bool = False) -> Drawn:
    """What most estimators share, so that all speak of the same samples.

    Raises: InputError for less than one sample, or if a z or a likelihood is not finite.
    """
    require_count(samples, "samples", 1, MOST_SAMPLES)
    encoded = model.encode(texts)
    generator = torch.Generator(encoded.device).manual_seed(seed)
    z_SNZ = model.sample_posterior(encoded, samples, generator)
    require_shape("sample_posterior", z_SNZ, (samples, len(texts), model.latent_width))
    require_finite("a latent vector", z_SNZ)
    likelihood_SN = log_likelihood(model, texts, z_SNZ, progress=progress)
    require_finite("ln p(x|z)", likelihood_SN)
    return Drawn(encoded, z_SNZ, likelihood_SN)


def require_shape(name: str, values: Tensor, shape: tuple[int, ...]) -> None:
    """Raise InputError if a model's method gave another: it would be summed up to figures that are none."""
    if tuple(values.shape) != shape:
        raise InputError(f"{name} gave {list(values.shape)}; expected {list(shape)}, as `LatentModel` says")


def require_finite(name: str, values: Tensor) -> None:
    """Raise InputError if one is not."""
    if not values.isfinite().all():
        raise InputError(f"{name} is {values[~values.isfinite()][0]}; expected finite numbers: the training diverged")


def log_likelihood(model: LatentModel, texts: Sequence[str], z_SNZ: Tensor, *, progress: bool = False) -> Tensor:
    """ln p(x|z) of all samples, [S, N] nats; sentences of like length together, `TOKENS_AT_ONCE` words at a time."""
    samples, count, _ = z_SNZ.shape
    lengths = model.lengths(texts)
    order = sorted(range(count), key=lambda row: lengths[row])
    out_SN = z_SNZ.new_empty(samples, count)
    for rows, some in track(list(_parts(order, lengths, samples)), "evaluating", show=progress):
        found_SN = model.log_likelihood([texts[row] for row in rows], z_SNZ[some][:, rows])
        require_shape("log_likelihood", found_SN, (len(range(samples)[some]), len(rows)))
        out_SN[some, rows] = found_SN.to(out_SN.dtype)
    return out_SN


def log_prior(z_SNZ: Tensor) -> Tensor:
    """ln N(z; 0, I), [..., N] nats."""
    return -0.5 * (z_SNZ.square() + math.log(2 * math.pi)).sum(-1)


def log_prior_of(model: LatentModel, z_SNZ: Tensor) -> Tensor:
    """ln p(z) by the model's prior, [..., N] nats."""
    return model.log_prior(z_SNZ) if isinstance(model, OwnPrior) else log_prior(z_SNZ)


def prior_samples(model: LatentModel, samples: int, generator: torch.Generator) -> Tensor:
    """z [S, Z] of the model's prior."""
    if isinstance(model, OwnPrior):
        return model.sample_prior(samples, generator)
    return torch.randn(samples, model.latent_width, generator=generator, device=generator.device)


def _parts(order: Sequence[int], lengths: Sequence[int], samples: int) -> list[tuple[list[int], slice]]:
    """Which sentences and which of their samples are scored together; `order` is by length."""
    parts: list[tuple[list[int], slice]] = []
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end + 1 - start) * lengths[order[end]] * samples <= TOKENS_AT_ONCE:
            end += 1
        rows = list(order[start:end])
        some = max(1, TOKENS_AT_ONCE // (len(rows) * lengths[rows[-1]]))
        parts += [(rows, slice(first, min(first + some, samples))) for first in range(0, samples, some)]
        start = end
    return parts
