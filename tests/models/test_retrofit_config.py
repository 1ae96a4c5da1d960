"""Where the three configurations differ, and which make no sense."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from paraform.models.retrofit import RetrofitConfig

DISAGREE = {
    "optimiser": ("sgd", "adam", "adam"),
    "learning_rate": (0.005, 0.001, 0.001),
    "batch_size": (128, 256, 32),
    "epochs": (20, 100, 10),
    "margin": (3.0, 4.0, 3.0),
    "early_stop": (True, False, True),
    "hinge_reduction": ("sum", "mean", "mean"),
    "negatives": ("substitute", "labelled", "batch"),
    "sample": ("random", "first", "random"),
    "skip_stopwords": (False, True, False),
    "max_tokens": (0, 40, 0),
    "min_tokens": (0, 3, 0),
    "states": ("all", "all", "last"),
    "train_mix": (False, True, False),
    "push": ("further", "further", "start"),
}


def test_the_three_differ_in_these_fields_and_in_no_other() -> None:
    three = [asdict(one) for one in (RetrofitConfig.paper(), RetrofitConfig.reference(), RetrofitConfig())]
    found = {name: tuple(one[name] for one in three) for name in three[0]}
    assert {name: values for name, values in found.items() if len(set(values)) > 1} == DISAGREE


def test_the_papers_margins_and_epochs_by_corpus() -> None:
    found = [RetrofitConfig.paper(corpus) for corpus in ("mrpc", "pan", "quora")]
    assert [(one.margin, one.epochs) for one in found] == [(3.0, 20), (2.0, 14), (3.0, 10)]
    assert {one.orthogonality_weight for one in found} == {1.0}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"margin": 0}, "margin 0; expected a number above 0"),
        ({"margin": float("nan")}, "margin is nan; expected a finite number"),
        ({"batch_size": 0}, "batch_size 0; expected 1 or more"),
        ({"negatives": "hard"}, "negatives 'hard'; expected one of substitute, labelled, batch"),
        ({"train_mix": True}, "train_mix with states 'last'"),
        ({"train_mix": True, "states": "all"}, "train_mix with push 'start'; expected 'further'"),
        (
            {"fit": "whitening", "place": "after", "states": "all", "orthogonality": "free"},
            "fit 'whitening'; expected place 'after', states 'last'",
        ),
        ({"fit": "whitening"}, "fit 'whitening'; expected place 'after', states 'last' and orthogonality 'free'"),
        ({"learning_rate": float("inf")}, "learning_rate is inf; expected a finite number"),
    ],
)
def test_what_makes_no_sense(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        RetrofitConfig(**fields)
