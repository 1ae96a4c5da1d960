"""Paraphrase or not, by a threshold on similarity, and by average precision, which needs none.

Shape key: N pairs, C candidate thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.embedding.space import PairSpace
from paraform.evaluation.embedding.task import Finding, first_of_each, signed_finding
from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.records import Pair, texts_of
from paraform.score import signature

GRID = np.arange(-100, 100) / 100
"""ParaBART's thresholds: −1 to 0.99 in steps of 0.01."""

METRICS: Mapping[str, str] = {
    "accuracy": signature(unit="percent", threshold="best of other pairs", resampled="pairs, the threshold kept"),
    "accuracy, tuned on test": signature(
        unit="percent", threshold="best of these pairs, -1 to 0.99 by 0.01", resampled="pairs, the threshold tuned anew"
    ),
    "AUC": signature(unit="percent", ties="half", resampled="pairs, ranked anew"),
    "AP": signature(unit="percent", ties="one threshold", resampled="pairs, ranked anew"),
}
"""The settings of each metric that no set and no space has a part in."""


@final
@dataclass(frozen=True, eq=False, slots=True)
class PairSet:
    """Pairs that are labelled 1, paraphrases, or 0; a `Task`.

    Args:
        pairs: to be measured on.
        tuning: other pairs, for the threshold.
        settings: what the signatures say of how they were drawn.
    """

    needs_vectors: ClassVar[bool] = False

    name: str
    pairs: Sequence[Pair]
    tuning: Sequence[Pair]
    settings: str

    def texts(self) -> list[str]:
        """Both sentences of every pair."""
        return texts_of([*self.pairs, *self.tuning])

    def measure(self, space: PairSpace) -> list[Finding]:
        """The accuracy with the threshold of other pairs and with the paper's, and the average precision."""
        found_N, labels_N = similarities(space, self.pairs)
        threshold = best_threshold(*similarities(space, self.tuning))
        made = (
            tuned_accuracy(found_N, labels_N, threshold),
            grid_accuracy(found_N, labels_N),
            average_precision(found_N, labels_N),
        )
        metrics = [replace(metric, signature=f"{metric.signature}|{self.settings}") for metric in made]
        return [signed_finding(metric, space, self.name) for metric in metrics]

    def limited(self, most: int) -> PairSet:
        """So many pairs of each label, to be measured on and for the threshold."""
        pairs, tuning = (first_of_each(some, most, lambda pair: pair.label) for some in (self.pairs, self.tuning))
        return replace(self, pairs=pairs, tuning=tuning)


def best_threshold(found_N: NDArray[np.float64], labels_N: NDArray[np.bool_]) -> float:
    """The threshold with the most pairs right, if those at or above it are called paraphrases; the lowest of equals.

    Candidates are the midpoints of neighbouring similarities, and one below all of them.
    """
    order = np.argsort(found_N, kind="stable")
    ranked_N, right_N = found_N[order], labels_N[order]
    # With the threshold below row i, paraphrases from i on are right, and so are others before it.
    hits_N: NDArray[np.int64] = np.cumsum(right_N[::-1])[::-1] + np.cumsum(~right_N) - ~right_N
    starts = np.flatnonzero(np.r_[True, ranked_N[1:] > ranked_N[:-1]])
    best = int(starts[np.argmax(hits_N[starts])])
    return float(ranked_N[0] - 1 if best == 0 else (ranked_N[best - 1] + ranked_N[best]) / 2)


def tuned_accuracy(found_N: NDArray[np.float64], labels_N: NDArray[np.bool_], threshold: float) -> RowMetric:
    """The share of pairs that a given threshold puts on their side."""
    hits_N = (found_N >= threshold) == labels_N
    return row_mean("accuracy", 100 * hits_N, METRICS["accuracy"], digits=1)


def grid_accuracy(found_N: NDArray[np.float64], labels_N: NDArray[np.bool_]) -> RowMetric:
    """The accuracy of the best threshold of `GRID` for these very pairs (Huang, Huang and Chang 2021, section 4.4)."""
    hits_NC = (found_N[:, None] >= GRID) == labels_N[:, None]
    rows = np.concatenate([hits_NC, np.ones((len(found_N), 1), np.bool_)], axis=1)  # the last counts the pairs

    def value(sums: NDArray[Any]) -> float:
        return 100 * float(sums[:-1].max() / sums[-1])

    name = "accuracy, tuned on test"
    return RowMetric(name, rows, METRICS[name], value, digits=1)


def average_precision(found_N: NDArray[np.float64], labels_N: NDArray[np.bool_]) -> RowMetric:
    """AP = Σ (R_k − R_{k−1}) P_k over the different similarities, from the highest down; no interpolation.

    No sums of a few columns make it: a resample is ranked by how often each pair was drawn.
    """
    order = np.argsort(-found_N, kind="stable")
    ranked_N, labelled_N = found_N[order], labels_N[order]
    ends = np.flatnonzero(np.r_[ranked_N[1:] < ranked_N[:-1], True])

    def value(times_N: NDArray[Any]) -> float:
        drawn_N = times_N[order]
        right, called = np.cumsum(drawn_N * labelled_N)[ends], np.cumsum(drawn_N)[ends]
        if right[-1] == 0:
            return 0.0
        precision = np.divide(right, called, out=np.zeros(len(ends)), where=called > 0)
        return 100 * float(np.sum(np.diff(right, prepend=0) * precision) / right[-1])

    return RowMetric("AP", np.empty((len(found_N), 0), dtype=np.bool_), METRICS["AP"], value, digits=1)


def roc_auc(found_N: NDArray[np.float64], labels_N: NDArray[np.bool_]) -> RowMetric:
    """How often a paraphrase is nearer than another pair, ties counted half: the area under the ROC curve."""
    order = np.argsort(found_N, kind="stable")
    ranked_N, labelled_N = found_N[order], labels_N[order]
    starts = np.flatnonzero(np.r_[True, ranked_N[1:] > ranked_N[:-1]])  # of the runs of one similarity

    def value(times_N: NDArray[Any]) -> float:
        drawn_N = times_N[order]
        right = np.add.reduceat(drawn_N * labelled_N, starts, dtype=np.float64)
        wrong = np.add.reduceat(drawn_N * ~labelled_N, starts, dtype=np.float64)
        if not right.sum() or not wrong.sum():
            return 50.0
        below = np.cumsum(wrong) - wrong
        return 100 * float((right * (below + wrong / 2)).sum() / (right.sum() * wrong.sum()))

    return RowMetric("AUC", np.empty((len(found_N), 0), dtype=np.bool_), METRICS["AUC"], value, digits=1)


def similarities(space: PairSpace, pairs: Sequence[Pair]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The similarity of each pair, and whether it is a paraphrase; both [N]."""
    found_N = space.similarity([pair.source.text for pair in pairs], [pair.target.text for pair in pairs])
    return found_N, np.array([pair.label == 1 for pair in pairs], dtype=np.bool_)
