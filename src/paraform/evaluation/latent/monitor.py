"""A quick look at a latent space while it is trained: is it used, and are its estimates to be believed?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from paraform.evaluation.curves import read_log
from paraform.evaluation.latent.estimates import estimate
from paraform.evaluation.latent.information import most_information
from paraform.evaluation.latent.protocol import LatentModel

COLLAPSED = 0.1  # nats of KL, or of MI
EXPLODED = 30.0  # a critic's value; e^30 of one sample outweighs a million others


def validate(model: LatentModel, texts: Sequence[str], *, samples: int = 8, seed: int = 0) -> dict[str, float]:
    """What a run's validation says of a model, in nats a sentence; see `Estimates`.

    Returns: `loss`, which chooses checkpoints: the tempered bound on −ln p(x) (of a model without noise, which has
        none, the reconstruction); `reconstruction`; `au`; of all others `kl` and `mi`; with critics `dual_kl`,
        `dual_kl_latent` and `largest_critic`.
    Raises: InputError if the model's metrics are not finite.
    """
    found, _ = estimate(model, texts, samples=samples, seed=seed)
    loss = found.reconstruction if not model.has_noise else found.tempered_bound
    return {"loss": loss, **found.metrics()}


def validations(log: Path) -> list[tuple[int, dict[str, float]]]:
    """Step and metrics of each validation of a run; [] if it has no log yet."""
    return [(record["step"], record["validation"]) for record in read_log(log) if "validation" in record]


def alarms(metrics: Mapping[str, float], sentences: int, *, at_least: bool = False) -> list[str]:
    """What a person should know of such metrics, a line each; [] if all is well.

    Args:
        metrics: the metrics that `validate` gives.
        sentences: N, the size of the evaluation set.
        at_least: KL and MI are lower bounds, as those of an implicit posterior.
    """
    found = []
    bound = "at least " if at_least else ""
    may = "may have" if at_least else "has"
    if (kl := metrics.get("kl", math.inf)) < COLLAPSED:
        found.append(f"the posterior {may} collapsed: KL {bound}{kl:.3f} nats, below {COLLAPSED}")
    elif sentences > 1 and (mi := metrics.get("mi", math.inf)) < COLLAPSED:
        found.append(f"the posterior {may} collapsed: MI {bound}{mi:.3f} nats, though KL is {bound}{kl:.3f}")
    for name in ("dual_kl", "dual_kl_latent"):
        if metrics.get(name, 0.0) < 0:
            found.append(f"{name} is {metrics[name]:.3f}, below 0: this critic tells nothing of KL")
    if (largest := metrics.get("largest_critic", 0.0)) > EXPLODED:
        found.append(f"a critic says {largest:.1f}: it explodes, and e^f of one sample outweighs all others")
    difference = metrics.get("dual_kl", 0.0) - metrics.get("dual_kl_latent", 0.0)
    if difference > most_information(sentences):
        found.append(
            f"the critics' difference {difference:.2f} is above ln {sentences:,} = {most_information(sentences):.2f}:"
            " it is no mutual information"
        )
    return found
