"""The metrics of a latent-variable model under the paper's protocol and under an honest one; two models compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from paraform.decoding import MOST_SEED
from paraform.evaluation.bootstrap import Comparison, paired_bootstrap
from paraform.evaluation.latent.critics import STEPS, refitted_dual
from paraform.evaluation.latent.estimates import Estimates, estimate
from paraform.evaluation.latent.information import most_information
from paraform.evaluation.latent.monitor import COLLAPSED, alarms
from paraform.evaluation.latent.protocol import LatentModel, OwnPrior, is_implicit
from paraform.evaluation.metrics import row_mean
from paraform.records import InputError, require_count, require_kind, require_text, require_texts
from paraform.score import Score, signature, table

LOOSE = 0.1  # nats that a bound falls by with four times the samples
MANY_UNKNOWN = 0.1  # of the words; PTB's test split, whose rare words are <unk>, has 0.06


@dataclass(frozen=True)
class SentenceBounds:
    """The bound on −ln p(x) of each sentence, by which two models are compared.

    Args:
        nats: one a sentence.
        settings: the bound's signature, but for its proposal.
        proposal: a model's own, which was drawn from.
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
        bounds: a single model's, if it has some.
        comparisons: two models'.
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
        name: the model's, in the table.
        samples: draws of each sentence's posterior.
        bound_samples: draws for the bound on −ln p(x); None: as many.
        refit: fit critics anew, which takes two samples of each sentence.
        precision: the products', for the signature; the caller sees to it.
    Raises: InputError for less than one sample, or no sentence.
    """
    require_kind(model, LatentModel, "model")
    require_text(name, "name")
    require_count(seed, "seed", -MOST_SEED, MOST_SEED)
    texts = require_texts(texts)
    if not texts:
        raise InputError("0 sentences; expected at least one to evaluate")
    found, drawn = estimate(model, texts, samples=samples, bound_samples=bound_samples, seed=seed, progress=progress)
    bound_samples = samples if bound_samples is None else bound_samples
    words, unknown = sum(model.lengths(texts)), model.unknown(texts)
    shared: dict[str, str | int] = {"sentences": len(texts), "words": words, "unknown": unknown}
    shared |= {"seed": seed, "precision": precision}
    kind = "none" if not model.has_noise else "closed" if model.has_density else "fitted gaussian"
    qualifier = ", at least" if is_implicit(model) else ""
    scores: list[Score] = []

    def add(protocol: str, metric: str, value: float, digits: int = 2, **settings: str | int) -> None:
        if not math.isnan(value):  # which the model has not
            scores.append(Score(metric, value, signature(**settings, **shared), name, protocol, digits=digits))

    def perplexity(nats: float) -> float:
        return math.exp(min(nats * len(texts) / words, 700))

    trained = not math.isnan(found.dual)
    paper_kl = found.dual if trained else found.kl
    paper_mi = found.dual - found.dual_latent if trained else found.batch_mi
    by = "critic as trained" if trained else kind
    mi_by, mi_samples = ("critics' difference", samples) if trained else ("batches of 32", found.mi_samples)
    add("paper", "−ln p(x|z)", found.reconstruction, samples=samples)
    add("paper", "KL", paper_kl, kl=by, samples=samples)
    add("paper", "−ELBO", found.reconstruction + paper_kl, kl=by, samples=samples)
    add("paper", "PPL", perplexity(found.reconstruction + paper_kl), kl=by, samples=samples)
    add("paper", "MI", paper_mi, mi=mi_by, samples=mi_samples)
    add("paper", "AU", found.active, 0)
    add("honest", "−ln p(x|z)", found.reconstruction, samples=samples)
    add("honest", f"KL{qualifier}", found.kl, kl=kind)
    if kind == "closed":
        elbo = found.reconstruction + found.kl
        add("honest", "−ELBO", elbo, kl=kind, samples=samples)
        add("honest", "PPL of −ELBO", perplexity(elbo), kl=kind, samples=samples)
    of_posterior = f"importance, {samples} samples, proposal {kind}"
    tempered = f"tempered {found.share:g}"
    proposal = f"adapted by {bound_samples} from {tempered}" if found.adapted else tempered
    of_tempered = f"importance, {bound_samples} samples, proposal {proposal}"
    of_quarter = f"mean of 4, importance, {bound_samples // 4} samples, proposal {proposal}"
    add("honest", "−ln p(x) by q", found.posterior_bound, bound=of_posterior)
    add("honest", "PPL by q", perplexity(found.posterior_bound), bound=of_posterior)
    add("honest", "−ln p(x), a quarter of the samples", found.quarter_bound, bound=of_quarter)
    add("honest", "−ln p(x)", found.tempered_bound, bound=of_tempered)
    add("honest", "PPL", perplexity(found.tempered_bound), bound=of_tempered)
    add("honest", f"MI{qualifier}", found.mi, mi="aggregated posterior", posterior=kind, samples=found.mi_samples)
    add("honest", "AU", found.active, 0)
    lines = _alarms(found, len(texts), at_least=is_implicit(model))
    if refit and not math.isnan(found.kl) and samples > 1:
        dual = refitted_dual(
            drawn.encoded,
            drawn.z_SNZ,
            seed=seed,
            prior=model.sample_prior if isinstance(model, OwnPrior) else None,
            progress=progress,
        )
        how: dict[str, Any] = {"most": f"{dual.most:.2f}", "steps": f"up to {STEPS}", "samples": samples}
        add("honest", "KL by a critic fitted anew", dual.of_sentence, **how)
        add("honest", "KL(q(z)‖p) by a critic", dual.of_latent, **how)
        if dual.of_sentence < dual.of_latent - COLLAPSED:
            lines.append(
                f"a critic fitted anew says {dual.of_sentence:.2f} of KL and {dual.of_latent:.2f} of KL(q(z)‖p),"
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
        loose = not found.quarter_bound - found.tempered_bound <= LOOSE  # of fewer than four samples nobody knows
        bounds = SentenceBounds(found.nats, settings, proposal, loose)
    return LatentReport(tuple(scores), tuple(lines), bounds)


def _alarms(found: Estimates, sentences: int, *, at_least: bool) -> list[str]:
    lines = alarms(found.metrics(), sentences, at_least=at_least)
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


def compare_latent(
    first: LatentReport, second: LatentReport, *, names: tuple[str, str] = ("first", "second"), resamples: int = 1000
) -> Comparison:
    """How far the first one's bound on −ln p(x) is above (worse than) the second's: paired bootstrap over sentences.

    An interval that holds 0: these sentences do not tell the two apart. It knows nothing of another seed in training;
    and where the worse bound is a loose one, `beware` says that its likelihood may be no worse.

    Args:
        first, second: reports of the same sentences, by models that know the same words.
    Raises: InputError if one has no bound, if there is but one sentence, or if the two are not of as many sentences,
        words, unknown words and samples.
    """
    one, other = first.bounds, second.bounds
    if one is None or other is None:
        name = names[0] if one is None else names[1]
        raise InputError(f"{name} has no bound on −ln p(x); expected a model with noise")
    if len(one.nats) < 2:
        raise InputError("1 sentence; expected two or more, to tell luck from a difference")
    metrics = (row_mean("−ln p(x)", np.asarray(bounds.nats), bounds.settings) for bounds in (one, other))
    found = paired_bootstrap(*metrics, names=names, protocol="honest", resamples=resamples)
    worse, name = (one, names[0]) if found.difference > 0 else (other, names[1])
    beware = f"that of {name} is loose: more samples would lower it" if worse.loose and found.difference else ""
    proposals = f"proposals:{one.proposal} and {other.proposal}"
    return replace(found, beware=beware, signature=f"{found.signature}|{proposals}")


def side_by_side(first: LatentReport, second: LatentReport, names: tuple[str, str]) -> LatentReport:
    """Both reports as one, whose alarms say which model they are of; compared.

    Raises: InputError as `compare_latent` does.
    """
    alarms = [f"{name}: {line}" for name, report in zip(names, (first, second), strict=True) for line in report.alarms]
    comparison = compare_latent(first, second, names=names)
    return LatentReport((*first.scores, *second.scores), tuple(alarms), None, (comparison,))
