"""Two latent-variable models on the same sentences: whose bound on their likelihood is better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paraform.evaluation.bootstrap import Comparison, paired_bootstrap
from paraform.evaluation.figures import row_mean
from paraform.evaluation.latent.report import LatentReport


def compare_latent(
    first: LatentReport, second: LatentReport, *, names: tuple[str, str] = ("first", "second"), resamples: int = 1000
) -> Comparison:
    """How far the first one's bound on −ln p(x) is above (worse than) the second's: paired bootstrap over sentences.

    An interval that holds 0: these sentences do not tell the two apart. It knows nothing of another seed in training;
    and where the worse bound is a loose one, `beware` says that its likelihood may be no worse.

    Args:
        first, second: of the same sentences, by models that know the same words.
    Raises: ValueError if one has no bound, if there is but one sentence, or if the two are not of as many sentences,
        words, unknown words and samples.
    """
    for name, report in zip(names, (first, second), strict=True):
        if report.bounds is None:
            raise ValueError(f"{name} has no bound on −ln p(x); expected a model with noise")
    one, other = first.bounds, second.bounds
    assert one is not None and other is not None
    if len(one.nats) < 2:
        raise ValueError("1 sentence; expected two or more, to tell luck from a difference")
    figures = (row_mean("−ln p(x)", np.asarray(bounds.nats), bounds.settings) for bounds in (one, other))
    found = paired_bootstrap(*figures, names=names, protocol="honest", resamples=resamples)
    worse, name = (one, names[0]) if found.difference > 0 else (other, names[1])
    beware = f"that of {name} is loose: more samples would lower it" if worse.loose and found.difference else ""
    proposals = f"proposals:{one.proposal} and {other.proposal}"
    return replace(found, beware=beware, signature=f"{found.signature}|{proposals}")


def side_by_side(first: LatentReport, second: LatentReport, names: tuple[str, str]) -> LatentReport:
    """Both reports as one, whose alarms say which model they are of; compared.

    Raises: ValueError as `compare_latent` does.
    """
    alarms = [f"{name}: {line}" for name, report in zip(names, (first, second), strict=True) for line in report.alarms]
    comparison = compare_latent(first, second, names=names)
    return LatentReport((*first.scores, *second.scores), tuple(alarms), None, (comparison,))
