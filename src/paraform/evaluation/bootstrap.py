"""Is one system better than another, or were the rows lucky: paired bootstrap resampling (Koehn 2004)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from paraform.decoding import MOST_SEED
from paraform.evaluation.metrics import RowMetric
from paraform.evaluation.preparation import same_length
from paraform.records import InputError, require_count
from paraform.score import Score, signature

MOST_RESAMPLES = 1_000_000  # their values are held at once; more is a slip, and would take hours in silence
DRAWS = 1_000_000  # row numbers drawn at once; bounds the memory, not the result


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far a metric of `first` is above that of `second`, on the same rows.

    Args:
        difference: first − second, in the metric's unit.
        low, high: the middle 95 % of the difference over the resamples.
        p_value: that a difference this large comes from the choice of rows alone, as sacreBLEU estimates it; it may be
            small where low to high holds 0.
        beware: a warning to whoever reads the difference.
        digits: after the decimal point, when printed.
        subset: the set or the rows, where there are several.
    """

    name: str
    first: str
    second: str
    protocol: str
    difference: float
    low: float
    high: float
    p_value: float
    signature: str
    beware: str = ""
    digits: int = field(default=2, compare=False)
    subset: str = ""

    def __str__(self) -> str:
        difference, low, high = (f"{x:+z.{self.digits}f}" for x in (self.difference, self.low, self.high))
        place = ", ".join(part for part in (self.subset, self.name, self.protocol) if part)
        warning = f"; {self.beware}" if self.beware else ""
        return f"{place}: {self.first} − {self.second} = {difference} (95 %: {low} to {high}){warning}"

    def to_json(self) -> dict[str, str | float]:
        """A JSON object of all fields but `digits`, and `subset` if there is none."""
        subset = {"subset": self.subset} if self.subset else {}
        return subset | {key: value for key, value in asdict(self).items() if key not in ("subset", "digits")}


def paired_bootstrap(
    first: RowMetric,
    second: RowMetric,
    *,
    names: tuple[str, str] = ("first", "second"),
    protocol: str = "",
    resamples: int = 1000,
    seed: int = 12345,
) -> Comparison:
    """Draw as many rows as there are, with replacement and the same for both, and compare the metrics of each draw.

    Draws and p-value are those of sacreBLEU's `PairedTest("bs")` under the same seed (12345 is its default):
    p = (1 + #{|d_r| − mean |d| ≥ |difference|}) / (1 + resamples). It counts > where we count ≥, and so calls a
    system significantly different from itself.

    Raises: InputError if the metrics are not the same one of the same number of rows, or there is no row or resample.
    """
    if (first.name, first.signature) != (second.name, second.signature):
        raise InputError(
            f"{first.name} ({first.signature}) against {second.name} ({second.signature}); expected the same figure"
        )
    rows = same_length(first=first.rows, second=second.rows)
    differences = np.array(
        [
            first.of_sums(one, rows) - second.of_sums(other, rows)
            for drawn_RN in _resampled(rows, resamples, seed)
            for one, other in zip(first.sums(drawn_RN), second.sums(drawn_RN), strict=True)
        ]
    )
    difference = first.over() - second.over()
    centred = np.abs(differences) - np.abs(differences).mean()
    low, high = np.quantile(differences, [0.025, 0.975])
    return Comparison(
        name=first.name,
        first=names[0],
        second=names[1],
        protocol=protocol,
        difference=difference,
        low=float(low),
        high=float(high),
        p_value=(1 + int((centred >= abs(difference)).sum())) / (1 + resamples),
        signature=f"{first.signature}|{signature(test='paired-bootstrap', rows=rows, resamples=resamples, seed=seed)}",
        digits=first.digits,
    )


def bootstrap_interval(metric: RowMetric, *, resamples: int = 1000, seed: int = 12345) -> tuple[float, float]:
    """The middle 95 % of a metric over resamples of its rows (the percentile interval), by `paired_bootstrap`'s draws.

    Raises: InputError if there is no row or no resample.
    """
    rows = len(metric.rows)
    values = [
        metric.of_sums(sums, rows) for drawn_RN in _resampled(rows, resamples, seed) for sums in metric.sums(drawn_RN)
    ]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def with_interval(score: Score, metric: RowMetric, *, resamples: int = 1000, seed: int = 12345) -> Score:
    """The score of a metric with its `bootstrap_interval`."""
    low, high = bootstrap_interval(metric, resamples=resamples, seed=seed)
    return replace(score, low=low, high=high)


def _resampled(rows: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each row is in each draw of as many, with replacement, [R, N]; R draws at once, as `DRAWS` allows.

    Raises: InputError without a row or a resample.
    """
    require_count(resamples, "resamples", 0, MOST_RESAMPLES)
    require_count(seed, "seed", 0, MOST_SEED)
    if resamples < 1 or rows < 1:
        raise InputError(f"{resamples} resamples of {rows} rows; expected at least 1 of each")
    generator = np.random.default_rng(seed)
    block = max(1, DRAWS // rows)
    for start in range(0, resamples, block):
        drawn = generator.choice(rows, size=(min(block, resamples - start), rows), replace=True)
        yield np.stack([np.bincount(draw, minlength=rows) for draw in drawn]).astype(np.float64)
