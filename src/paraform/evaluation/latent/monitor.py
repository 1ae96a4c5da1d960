"""A quick look at a latent space while it is trained: is it used, and are its estimates to be believed?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch

from paraform.evaluation.latent.bounds import Fitted, importance_bound
from paraform.evaluation.latent.information import active_units, most_information, mutual_information
from paraform.evaluation.latent.protocol import LatentModel, draw, log_likelihood
from paraform.losses.dual_kl import dual_kl

COLLAPSED = 0.1  # nats of KL
EXPLODED = 30.0  # a critic's value; e^30 of one sample outweighs a million others


def watch(model: LatentModel, texts: Sequence[str], *, samples: int = 8, seed: int = 0) -> dict[str, float]:
    """Figures of an evaluation set, in nats a sentence.

    Returns: `loss`, which chooses checkpoints: the importance-weighted bound on −ln p(x) (of a "point", which has none,
        the reconstruction); `reconstruction`; `au`; of all but a "point", `kl` (closed form, or of the Gaussian fitted
        to an implicit posterior's samples) and `mi`; with critics, `dual_kl`, `dual_kl_latent` and `largest_critic`.
    """
    drawn = draw(model, texts, samples=samples, seed=seed)
    figures = {"reconstruction": -float(drawn.log_likelihood_SN.mean())}
    generator = torch.Generator(drawn.z_SNZ.device).manual_seed(seed + 1)
    if model.posterior == "point":
        return {"loss": figures["reconstruction"], **figures, "au": float(active_units(drawn.z_SNZ))}
    if model.posterior == "mlp":
        many_SNZ = model.sample_posterior(drawn.encoded, 2 * model.latent_width + 2, generator)
        fitted = Fitted.to(many_SNZ)
        z_SNZ = fitted.sample(samples, generator)
        bound_N = importance_bound(log_likelihood(model, texts, z_SNZ), fitted.log_density(z_SNZ), z_SNZ)
        own = fitted.log_density(drawn.z_SNZ)
        prior = -0.5 * (drawn.z_SNZ.square() + math.log(2 * math.pi)).sum(-1)
        kl = float((own - prior).mean())
        mi = mutual_information(drawn.z_SNZ[:1], fitted.log_density)
        units = active_units(many_SNZ)
    else:
        log_posterior_SN = model.log_posterior(drawn.encoded, drawn.z_SNZ)
        bound_N = importance_bound(drawn.log_likelihood_SN, log_posterior_SN, drawn.z_SNZ)
        kl = float(model.closed_kl(drawn.encoded).mean())
        mi = mutual_information(drawn.z_SNZ[:1], lambda z: model.log_posterior(drawn.encoded, z))
        units = active_units(drawn.z_SNZ)
    figures = {"loss": -float(bound_N.mean()), **figures, "kl": kl, "mi": mi, "au": float(units)}
    on_posterior = model.critic_values(drawn.encoded, drawn.z_SNZ)
    if on_posterior is None:
        return figures
    prior_SNZ = torch.randn(drawn.z_SNZ.shape, generator=generator, device=drawn.z_SNZ.device)
    on_prior = model.critic_values(drawn.encoded, prior_SNZ)
    assert on_prior is not None
    return figures | {
        "dual_kl": float(dual_kl(on_posterior[0], on_prior[0])),
        "dual_kl_latent": float(dual_kl(on_posterior[1], on_prior[1])),
        "largest_critic": max(float(values.abs().max()) for values in (*on_posterior, *on_prior)),
    }


def alarms(figures: Mapping[str, float], sentences: int) -> list[str]:
    """What a person should know of such figures, a line each; [] if all is well.

    Args:
        sentences: of the evaluation set, N.
    """
    found = []
    if (kl := figures.get("kl", math.inf)) < COLLAPSED:
        found.append(f"the posterior has collapsed: KL {kl:.3f} nats, below {COLLAPSED}")
    for name in ("dual_kl", "dual_kl_latent"):
        if figures.get(name, 0.0) < 0:
            found.append(f"{name} is {figures[name]:.3f}, below 0: this critic tells nothing of KL")
    dual, closed = figures.get("dual_kl", 0.0), figures.get("kl", math.inf)
    if dual > closed:
        found.append(f"dual_kl {dual:.3f} is above the closed form {closed:.3f}: an estimate by few samples")
    if (largest := figures.get("largest_critic", 0.0)) > EXPLODED:
        found.append(f"a critic says {largest:.1f}: it explodes, and e^f of one sample outweighs all others")
    difference = figures.get("dual_kl", 0.0) - figures.get("dual_kl_latent", 0.0)
    if difference > most_information(sentences):
        found.append(
            f"the critics' difference {difference:.2f} is above ln {sentences:,} = {most_information(sentences):.2f}:"
            " it is no mutual information"
        )
    return found
