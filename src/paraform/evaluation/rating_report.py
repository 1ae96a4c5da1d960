"""What raters' answers say of each system, how sure that is, and how far the raters agree."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.bootstrap import Comparison, paired_bootstrap, with_interval
from paraform.evaluation.metrics import RowMetric, ratio
from paraform.evaluation.preparation import require
from paraform.evaluation.rating import Item, Key
from paraform.evaluation.rating_answers import ACCEPTABLE, BEST, SCALES, WORST, Answer
from paraform.records import InputError
from paraform.score import Score, signature, table

Unit: TypeAlias = Literal["sources", "outputs"]
MOST_OF_BAD = 0.1  # share of a control of bad outputs, such as copies, that raters may find acceptable
LEAST_OF_GOOD = 0.5  # share of a control of good outputs, such as people's own, that they have to


def _quality(answer: Answer) -> float:
    return float(np.mean([mark for name in SCALES if (mark := getattr(answer, name)) is not None]))


METRICS: Mapping[str, tuple[str, int, Callable[[Answer], float | None]]] = {  # what is counted, digits, of an answer
    "meaning": ("mean", 2, lambda answer: answer.meaning),
    "fluency": ("mean", 2, lambda answer: answer.fluency),
    "form": ("mean", 2, lambda answer: answer.form),
    "quality": ("mean of an item's scales", 2, _quality),
    "strictly acceptable": ("share", 3, lambda answer: float(answer.acceptable == "strictly")),
    "acceptable": ("share, strictly or leniently", 3, lambda answer: float(answer.acceptable != "no")),
}


@dataclass(frozen=True)
class RatingReport:
    """Metrics of each system, and of the raters.

    Args:
        scores: by system, with intervals.
        comparisons: the first system against each other, on the units that both have.
        agreement: Krippendorff's α of all raters, Spearman's ρ of each two; () of a single rater.
        alarms: what a reader should know before the metrics.
        raters: by name, how many items each has rated.
        items: of the sheet.
    """

    scores: tuple[Score, ...]
    comparisons: tuple[Comparison, ...]
    agreement: tuple[Score, ...]
    alarms: tuple[str, ...]
    raters: Mapping[str, int]
    items: int

    def to_json(self) -> dict[str, Any]:
        """A JSON object of all fields."""
        return {
            "items": self.items,
            "raters": dict(self.raters),
            "scores": [score.to_json() for score in self.scores],
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "agreement": [score.to_json() for score in self.agreement],
            "alarms": list(self.alarms),
        }

    def table(self, style: Literal["plain", "markdown"] = "plain") -> str:
        """Who rated, a row for each system, the comparisons, the agreement and the alarms."""
        rated = ", ".join(f"{name}: {count} of {self.items} items" for name, count in self.raters.items())
        blocks = [f"raters: {rated}", table(self.scores, style), "\n".join(map(str, self.comparisons))]
        blocks += [table(self.agreement, style) if self.agreement else ""]
        blocks += ["\n".join(f"alarm: {line}" for line in self.alarms)]
        return "\n\n".join(block for block in blocks if block)


def rating_report(
    answers: Sequence[Answer],
    key: Key,
    *,
    bad: str | None = None,
    good: str | None = None,
    resample: Unit = "sources",
    resamples: int = 1000,
    seed: int = 0,
) -> RatingReport:
    """Means, shares and differences of systems with 95 % bootstrap intervals, and the agreement of raters.

    An item counts by the mean of its raters, and as often as the system wrote it. Intervals are percentiles over
    resamples of whole sources, whose outputs are not independent of each other; shares have the same, since Wilson's
    interval would take each output for a draw of its own.

    Args:
        bad, good: systems that are controls; an alarm says that the sheet is no good if more than a tenth of the bad
            one is acceptable, or less than half of the good one.
        resample: "sources"; or "outputs": pairs of a source and an exemplar, where there are too few sources to say
            anything beyond them. The outputs of one pair are drawn together.
        resamples: draws of the bootstrap.
        seed: of the bootstrap.
    Raises: InputError if there is no answer, or no system of the name of `bad` or `good`.
    """
    if not answers:
        raise InputError("no answers; expected at least one rated item")
    for name in (bad, good):
        if name is not None and name not in key.systems:
            raise InputError(f"no system {name!r} in the sheet; expected one of {', '.join(key.systems)}")
    by_item: dict[str, list[Answer]] = {}
    for answer in {(answer.rater, answer.id): answer for answer in answers}.values():
        by_item.setdefault(answer.id, []).append(answer)
    raters = dict(Counter(answer.rater for rated in by_item.values() for answer in rated))
    names = list(key.systems)
    of_raters = signature(raters=len(raters), item="mean of its raters", resample=resample)
    drawn = signature(interval="percentile", resamples=resamples, seed=seed)
    scores: list[Score] = []
    comparisons: list[Comparison] = []
    for title, (counted, digits, value) in METRICS.items():
        scale = {"scale": f"{WORST} to {BEST}"} if title in (*SCALES, "quality") else {}
        settings = f"{signature(**scale, value=counted)}|{of_raters}"
        sums = {name: _sums(key.systems[name], key.items, by_item, value, resample) for name in names}
        for name in names:
            if sums[name]:
                metric = RowMetric(title, np.array(list(sums[name].values())), f"{settings}|{drawn}", ratio, digits)
                scores.append(with_interval(metric.score(system=name), metric, resamples=resamples, seed=seed))
        for other in names[1:]:
            if both := [unit for unit in sums[names[0]] if unit in sums[other]]:
                one, two = (
                    RowMetric(title, np.array([sums[name][unit] for unit in both]), settings, ratio, digits)
                    for name in (names[0], other)
                )
                found = paired_bootstrap(one, two, names=(names[0], other), resamples=resamples, seed=seed)
                comparisons.append(found)
    scores += _counts(key, by_item)
    agreement = _agreement(list(raters), by_item)
    alarms = _alarms(scores, bad, good, raters, len(key.items))
    return RatingReport(tuple(scores), tuple(comparisons), tuple(agreement), tuple(alarms), raters, len(key.items))


def _sums(
    ids: Sequence[str],
    items: Mapping[str, Item],
    by_item: Mapping[str, Sequence[Answer]],
    value: Callable[[Answer], float | None],
    resample: Unit,
) -> dict[Hashable, tuple[float, int]]:
    """For each unit that is resampled the sum over a system's rated outputs, and their number."""
    sums: dict[Hashable, tuple[float, int]] = {}
    for id in ids:
        marks = [mark for answer in by_item.get(id, ()) if (mark := value(answer)) is not None]
        if marks:
            item = items[id]
            unit = item.source if resample == "sources" else (item.source, item.exemplar)
            total, count = sums.get(unit, (0.0, 0))
            sums[unit] = total + float(np.mean(marks)), count + 1
    return sums


def _counts(key: Key, by_item: Mapping[str, Sequence[Answer]]) -> list[Score]:
    """Of each system its rated outputs, those that wait to be rated, and those that it left out."""
    found = []
    for name, ids in key.systems.items():
        rated = sum(id in by_item for id in ids)
        for title, count in {"rated": rated, "not rated": len(ids) - rated, "skipped": key.skipped[name]}.items():
            found.append(Score(title, count, "count:outputs", name, digits=0))
    return found


def _alarms(
    scores: Sequence[Score], bad: str | None, good: str | None, raters: Mapping[str, int], items: int
) -> list[str]:
    shares = {score.system: score.value for score in scores if score.name == "acceptable"}
    found = []
    if bad in shares and shares[bad] > MOST_OF_BAD:
        found.append(f"the sheet is no good: {shares[bad]:.2f} of {bad} is acceptable; expected {MOST_OF_BAD} at most")
    if good in shares and shares[good] < LEAST_OF_GOOD:
        found.append(
            f"the sheet is no good: {shares[good]:.2f} of {good} is acceptable; expected {LEAST_OF_GOOD} at least"
        )
    if len(raters) == 1:
        found.append("one rater: how far another would agree is not known")
    if any(count < items for count in raters.values()):
        found.append("not every rater has rated every item")
    return found


def krippendorff_alpha(ratings_RI: NDArray[np.float64], level: Literal["nominal", "ordinal"]) -> float:
    """Krippendorff's α of R raters on I items, by the library of that name (Krippendorff 2011).

    Args:
        ratings_RI: NaN where a rater has not rated an item.
        level: what two different values say: that they differ, or how many ratings lie between them.
    Returns: 1 if all agree, 0 as by chance; NaN where no item has two ratings, or those all are one value.
    Raises: InputError if the extra `eval` is not installed.
    """
    twice_RI = ratings_RI[:, (~np.isnan(ratings_RI)).sum(axis=0) > 1]
    if len(np.unique(twice_RI[~np.isnan(twice_RI)])) < 2:
        return math.nan
    return float(require("krippendorff", "Krippendorff's α").alpha(twice_RI, level_of_measurement=level))


def spearman(first_I: NDArray[np.float64], second_I: NDArray[np.float64]) -> float:
    """Spearman's ρ of two raters over the items that both rated, equal marks sharing a rank (scipy's).

    Returns: NaN where there are fewer than two such items, or one rater gave all of them one value.
    Raises: InputError if the extra `eval` is not installed.
    """
    both = ~np.isnan(first_I) & ~np.isnan(second_I)
    if any(len(np.unique(marks[both])) < 2 for marks in (first_I, second_I)):
        return math.nan
    return float(require("scipy.stats", "Spearman's ρ").spearmanr(first_I[both], second_I[both]).statistic)


def _agreement(raters: Sequence[str], by_item: Mapping[str, Sequence[Answer]]) -> list[Score]:
    if len(raters) < 2:
        return []
    found, everyone = [], ", ".join(raters)
    row_of = {rater: row for row, rater in enumerate(raters)}
    values: dict[str, Callable[[Answer], float | None]] = {name: value for name, (_, _, value) in METRICS.items()}
    values["acceptable"] = lambda answer: ACCEPTABLE.index(answer.acceptable)
    for name in (*SCALES, "quality", "acceptable"):
        ratings_RI = np.full((len(raters), len(by_item)), np.nan)
        for column, answers in enumerate(by_item.values()):
            for answer in answers:
                mark = values[name](answer)
                ratings_RI[row_of[answer.rater], column] = np.nan if mark is None else mark
        if np.isnan(ratings_RI).all():
            continue
        level: Literal["nominal", "ordinal"] = "nominal" if name == "acceptable" else "ordinal"
        alpha = krippendorff_alpha(ratings_RI, level)
        twice = int(((~np.isnan(ratings_RI)).sum(axis=0) > 1).sum())
        found.append(Score(f"α, {name}", alpha, signature(level=level, items=twice), everyone, digits=3))
        for one, two in itertools.combinations(raters, 2) if level == "ordinal" else ():
            first_I, second_I = ratings_RI[row_of[one]], ratings_RI[row_of[two]]
            rho = spearman(first_I, second_I)
            found.append(
                Score(f"ρ, {name}", rho, signature(ranks="average", items="rated by both"), f"{one}, {two}", digits=3)
            )
    return found
