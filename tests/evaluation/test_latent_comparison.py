"""Whose bound is better, sentence by sentence, and what a reader is told of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.evaluation.latent import LatentReport, SentenceBounds, compare_latent, side_by_side
from paraform.score import Score

BOUNDS = np.random.default_rng(0).normal(100, 30, 40)


def report(
    nats: NDArray[np.float64], *, loose: bool = False, settings: str = "bound:importance", name: str = ""
) -> LatentReport:
    bounds = SentenceBounds(tuple(nats.tolist()), settings, f"tempered {len(name)}", loose)
    return LatentReport((Score("KL", 1.0, "kl:closed", name, "honest"),), (f"alarm of {len(nats)}",), bounds)


def test_the_difference_and_its_interval() -> None:
    """The first is 0.5 nats worse of all but two of 40 sentences, and 0.7 better of those."""
    first, second = report(BOUNDS), report(BOUNDS - np.repeat([0.5, -0.7], [38, 2]), name="b")
    found = compare_latent(first, second, names=("a", "b"))
    assert found.difference == pytest.approx(0.5 - 1.2 * 2 / 40) and 0.3 < found.low < found.high < 0.501
    assert (found.first, found.second, found.name, found.beware) == ("a", "b", "−ln p(x)", "")
    assert found.signature.startswith("bound:importance|test:paired-bootstrap|rows:40|")
    assert found.signature.endswith("|proposals:tempered 0 and tempered 1")
    assert str(found) == f"−ln p(x), honest: a − b = +0.44 (95 %: {found.low:+.2f} to +0.50)"


def test_a_model_does_not_differ_from_itself() -> None:
    found = compare_latent(report(BOUNDS, loose=True), report(BOUNDS, loose=True))
    assert str(found) == "−ln p(x), honest: first − second = +0.00 (95 %: +0.00 to +0.00)"


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (True, True), (False, False)])
def test_only_a_loose_bound_that_is_the_worse_one_may_change_the_order(first: bool, second: bool) -> None:
    worse, better = report(BOUNDS + 1, loose=first), report(BOUNDS, loose=second)
    expected = "that of a is loose: more samples would lower it" if first else ""
    assert compare_latent(worse, better, names=("a", "b")).beware == expected
    found = compare_latent(better, worse, names=("b", "a"))
    assert found.beware == expected and str(found).endswith(f"; {expected}" if first else "to -1.00)")


def test_what_does_not_compare_is_an_error() -> None:
    first, none = report(BOUNDS), LatentReport((), ())
    with pytest.raises(ValueError, match=r"b has no bound on −ln p\(x\); expected a model with noise"):
        compare_latent(first, none, names=("a", "b"))
    with pytest.raises(ValueError, match="a has no bound"):
        compare_latent(none, first, names=("a", "b"))
    with pytest.raises(ValueError, match="1 sentence; expected two or more"):
        compare_latent(report(BOUNDS[:1]), report(BOUNDS[:1]))
    with pytest.raises(ValueError, match="expected the same figure"):
        compare_latent(first, report(BOUNDS, settings="bound:importance|unknown:7"))
    with pytest.raises(ValueError, match="second"):
        compare_latent(first, report(BOUNDS[1:]))


def test_side_by_side_each_alarm_says_whose_it_is() -> None:
    first, second = report(BOUNDS, name="a"), report(BOUNDS - 1, name="b")
    found = side_by_side(first, second, ("a", "b"))
    assert found.alarms == ("a: alarm of 40", "b: alarm of 40") and found.scores == (*first.scores, *second.scores)
    comparison = compare_latent(first, second, names=("a", "b"))
    assert found.comparisons == (comparison,) and found.to_json()["comparisons"] == [comparison.to_json()]
    assert found.table().splitlines()[-3:] == [str(comparison), "alarm: a: alarm of 40", "alarm: b: alarm of 40"]
    assert "comparisons" not in first.to_json()
    with pytest.raises(ValueError, match="b has no bound"):
        side_by_side(first, replace(second, bounds=None), ("a", "b"))
