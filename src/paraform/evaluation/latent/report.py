"""The figures of a latent-variable model under the paper's protocol and under an honest one, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from paraform.evaluation.bootstrap import Comparison
from paraform.evaluation.latent.critics import STEPS, refitted_dual
from paraform.evaluation.latent.estimates import Estimates, estimate
from paraform.evaluation.latent.information import most_information
from paraform.evaluation.latent.monitor import COLLAPSED, alarms
from paraform.evaluation.latent.protocol import LatentModel, is_implicit
from paraform.records import require_texts
from paraform.score import Score, signature, table

LOOSE = 0.1  # nats that a bound falls by with four times the samples
MANY_UNKNOWN = 0.1  # of the words; PTB's test split, whose rare words are <unk>, has 0.06


@dataclass(frozen=True)
class SentenceBounds:
    """The bound on −ln p(x) of each sentence, by which two models are compared.

    Args:
        nats: one a sentence.
        settings: the bound's signature, but for its proposal.
        proposal: what was drawn from, which is a model's own.
        loose: whether more samples would tighten it, in the mean, as far as those that there are tell.
    """

    nats: tuple[float, ...]
    settings: str
    proposal: str
    loose: bool


@dataclass(frozen=True)
class LatentReport:
    """Scores, protocol by protocol, and the alarms that a reader should know of.

    Args:
        bounds: of a single model that has some.
        comparisons: of two models.
    """

    scores: tuple[Score, ...]
    alarms: tuple[str, ...]
    bounds: SentenceBounds | None = None
    comparisons: tuple[Comparison, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object of scores, alarms, and comparisons if there are some."""
        found: dict[str, Any] = {"scores": [score.to_json() for score in self.scores], "alarms": list(self.alarms)}
        compared = [comparison.to_json() for comparison in self.comparisons]
        return found | ({"comparisons": compared} if compared else {})

    def table(self, style: Literal["plain", "markdown"] = "plain") -> str:
        """A row for each protocol, the comparisons and the alarms."""
        lines = [*map(str, self.comparisons), *(f"alarm: {line}" for line in self.alarms)]
        return "\n".join([table(self.scores, style), *lines])


def evaluate_latent(
    model: LatentModel,
    texts: Iterable[str],
    *,
    name: str = "",
    samples: int = 128,
    bound_samples: int | None = None,
    seed: int = 0,
    refit: bool = True,
    precision: str = "float32",
    progress: bool = False,
) -> LatentReport:
    """Reconstruction, KL, −ELBO, perplexity, mutual information and active units.

    The paper's protocol: KL by the critics as trained, MI as their difference; of a Gaussian the closed form, and MI in
    batches of 32. The honest one: KL in closed form where there is one, the importance-weighted bounds, MI by one
    estimator for all, and a critic fitted anew beside them.
    What a quarter of its samples make of the bound tells whether it has enough.

    Args:
        texts: N sentences.
        name: of the model, in the table.
        samples: of each sentence's posterior.
        bound_samples: of the bound on −ln p(x); None: as many.
        refit: fit critics anew, which takes two samples of each sentence.
        precision: of the products, for the signature; the caller sees to it.
    Raises: ValueError for less than one sample, or no sentence.
    """
    texts = require_texts(texts)
    if not texts:
        raise ValueError("0 sentences; expected at least one to evaluate")
    found, drawn = estimate(model, texts, samples=samples, bound_samples=bound_samples, seed=seed, progress=progress)
    bound_samples = samples if bound_samples is None else bound_samples
    words, unknown = sum(model.lengths(texts)), model.unknown(texts)
    shared: dict[str, str | int] = {"sentences": len(texts), "words": words, "unknown": unknown}
    shared |= {"seed": seed, "precision": precision}
    kind = {"gaussian": "closed", "affine": "closed", "mlp": "fitted gaussian", "point": "none"}[model.posterior]
    qualifier = ", at least" if is_implicit(model) else ""

    def score(protocol: str, figure: str, value: float, digits: int = 2, **settings: str | int) -> list[Score]:
        if math.isnan(value):
            return []
        return [Score(figure, value, signature(**settings, **shared), name, protocol, digits=digits)]

    def perplexity(nats: float) -> float:
        return math.exp(min(nats * len(texts) / words, 700))

    trained = not math.isnan(found.dual)
    paper_kl = found.dual if trained else found.kl
    paper_mi = found.dual - found.dual_latent if trained else found.batch_mi
    by = "critic as trained" if trained else kind
    mi_by, mi_samples = ("critics' difference", samples) if trained else ("batches of 32", found.mi_samples)
    scores: list[Score] = []
    scores += score("paper", "−ln p(x|z)", found.reconstruction, samples=samples)
    scores += score("paper", "KL", paper_kl, kl=by, samples=samples)
    scores += score("paper", "−ELBO", found.reconstruction + paper_kl, kl=by, samples=samples)
    scores += score("paper", "PPL", perplexity(found.reconstruction + paper_kl), kl=by, samples=samples)
    scores += score("paper", "MI", paper_mi, mi=mi_by, samples=mi_samples)
    scores += score("paper", "AU", found.active, 0)
    scores += score("honest", "−ln p(x|z)", found.reconstruction, samples=samples)
    scores += score("honest", f"KL{qualifier}", found.kl, kl=kind)
    if model.posterior in ("gaussian", "affine"):
        elbo = found.reconstruction + found.kl
        scores += score("honest", "−ELBO", elbo, kl=kind, samples=samples)
        scores += score("honest", "PPL of −ELBO", perplexity(elbo), kl=kind, samples=samples)
    of_posterior = f"importance, {samples} samples, proposal {kind}"
    proposal = (
        f"adapted by {bound_samples} from tempered {found.share:g}" if found.adapted else f"tempered {found.share:g}"
    )
    of_tempered = f"importance, {bound_samples} samples, proposal {proposal}"
    of_quarter = f"mean of 4, importance, {bound_samples // 4} samples, proposal {proposal}"
    scores += score("honest", "−ln p(x) by q", found.posterior_bound, bound=of_posterior)
    scores += score("honest", "PPL by q", perplexity(found.posterior_bound), bound=of_posterior)
    scores += score("honest", "−ln p(x), a quarter of the samples", found.quarter_bound, bound=of_quarter)
    scores += score("honest", "−ln p(x)", found.tempered_bound, bound=of_tempered)
    scores += score("honest", "PPL", perplexity(found.tempered_bound), bound=of_tempered)
    scores += score(
        "honest", f"MI{qualifier}", found.mi, mi="aggregated posterior", posterior=kind, samples=found.mi_samples
    )
    scores += score("honest", "AU", found.active, 0)
    refitted = None
    if refit and not math.isnan(found.kl) and samples > 1:
        refitted = refitted_dual(drawn.encoded, drawn.z_SNZ, seed=seed, progress=progress)
        most = f"{refitted.most:.2f}"
        for figure, value in (
            ("KL by a critic fitted anew", refitted.of_sentence),
            ("KL(q(z)‖p) by a critic", refitted.of_latent),
        ):
            scores += score("honest", figure, value, most=most, steps=f"up to {STEPS}", samples=samples)
    lines = _alarms(found, len(texts), at_least=is_implicit(model))
    if refitted and refitted.of_sentence < refitted.of_latent - COLLAPSED:
        lines.append(
            f"a critic fitted anew says {refitted.of_sentence:.2f} of KL and {refitted.of_latent:.2f} of KL(q(z)‖p),"
            " which is never above it: neither can be trusted"
        )
    if unknown > MANY_UNKNOWN * (words - len(texts)):  # `</s>` is known
        lines.append(
            f"{unknown:,} of {words - len(texts):,} words are unknown to the model: its figures are those of a text"
            " which says <unk> so often"
        )
    bounds = None
    if found.nats:
        settings = signature(bound=f"importance, {bound_samples} samples", **shared)
        bounds = SentenceBounds(found.nats, settings, proposal, _is_loose(found))
    return LatentReport(tuple(scores), tuple(lines), bounds)


def _alarms(found: Estimates, sentences: int, *, at_least: bool) -> list[str]:
    figures = {
        "kl": found.kl,
        "mi": found.mi,
        "dual_kl": found.dual,
        "dual_kl_latent": found.dual_latent,
        "largest_critic": found.largest_critic,
    }
    lines = alarms(
        {key: value for key, value in figures.items() if not math.isnan(value)}, sentences, at_least=at_least
    )
    short = found.kl - found.dual
    if short > COLLAPSED:
        lines.append(
            f"the critic says {found.dual:.2f} of a KL of {found.kl:.2f}, {short:.2f} nats too little: its −ELBO and"
            " PPL may be no bounds"
        )
    if (fell := found.quarter_bound - found.tempered_bound) > LOOSE:
        lines.append(f"−ln p(x) by a quarter of its samples is {fell:.2f} nats higher: more would tighten it further")
    if not at_least and found.dual - found.dual_latent > found.mi + COLLAPSED and sentences > 1:
        lines.append(
            f"the critics' difference {found.dual - found.dual_latent:.2f} is above the mutual information"
            f" {found.mi:.2f} (at most ln {sentences:,} = {most_information(sentences):.2f})"
        )
    return lines


def _is_loose(found: Estimates) -> bool:
    """Of fewer than four samples nobody knows, so that it counts as loose."""
    return not found.quarter_bound - found.tempered_bound <= LOOSE
