from __future__ import annotations

from dataclasses import asdict, replace
from typing import Literal

import numpy as np
import pytest
import torch
from scipy import stats

from paraform.evaluation.embedding import regression
from paraform.evaluation.embedding.adam_probes import initial_layers
from paraform.evaluation.embedding.regression import (
    RegressionConfig,
    RegressionSet,
    fit_regression,
    pearson,
    two_points,
)
from paraform.evaluation.embedding.similarity import Splits
from paraform.evaluation.embedding.space import embedded
from paraform.records import InputError, Origin, Pair, Sentence


def senteval_targets(scores: np.ndarray) -> np.ndarray:
    """Tai, Socher and Manning's encoding, case by case as the paper and SentEval write it."""
    rows = np.zeros((len(scores), 5), np.float32)
    for at, score in enumerate(scores):
        for grade in range(1, 6):
            if grade == np.floor(score) + 1:
                rows[at, grade - 1] = score - np.floor(score)
            if grade == np.floor(score):
                rows[at, grade - 1] = np.floor(score) - score + 1
    return rows


def test_targets_have_two_points_and_below_one_they_add_up_to_the_score() -> None:
    scores = np.array([1.0, 1.25, 3.0, 4.6, 5.0, 0.0, 0.4])
    assert two_points(scores) == pytest.approx(senteval_targets(scores), abs=1e-6)
    assert two_points(scores).sum(1) == pytest.approx([1, 1, 1, 1, 1, 0, 0.4], abs=1e-6)
    assert two_points(scores)[:5] @ np.arange(1, 6) == pytest.approx(scores[:5], abs=1e-6)


@pytest.mark.parametrize("config", [RegressionConfig.paper(), RegressionConfig()])
def test_it_is_senteval_s_loop(config: RegressionConfig) -> None:
    """The network, loss, order and stopping of SentEval's relatedness.py, in torch's own words."""
    config = replace(config, epoch_size=2, max_epochs=12, tenacity=1, batch_size=16, learning_rate=0.05)
    generator = np.random.default_rng(0)
    features = generator.normal(size=(60, 4)).astype(np.float32)
    scores = np.clip(2.5 + features[:, 0] + generator.normal(size=60), 0, 5)
    train, dev, test = slice(0, 40), slice(40, 50), slice(50, 60)
    found = fit_regression(features[train], scores[train], features[dev], scores[dev], features[test], 0, 5, config)

    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Softmax(dim=-1))
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), initial_layers(4, 5, 0, config.seed), strict=True):
            parameter.copy_(value)
    optimiser = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
    inputs = torch.from_numpy(features)
    rescaled = 1 + 0.8 * scores if config.low_scores == "rescaled" else scores
    targets = torch.from_numpy(senteval_targets(rescaled))
    order, grades = torch.Generator().manual_seed(config.seed + 1), torch.arange(1.0, 6)
    best, failures, epoch, wanted = -2.0, 0, 0, None
    while epoch <= config.max_epochs:
        for _ in range(config.epoch_size):
            permuted = torch.randperm(40, generator=order)
            for start in range(0, 40, 16):
                batch = permuted[start : start + 16]
                p, target = model(inputs[batch]), targets[batch]
                kl = torch.nn.functional.kl_div(p.log(), target, reduction="batchmean")
                loss = torch.nn.functional.mse_loss(p, target) if config.loss == "mse" else kl
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        epoch += config.epoch_size
        with torch.no_grad():
            r = stats.pearsonr((model(inputs[dev]) @ grades).numpy(), scores[dev])[0]
            if r > best:
                best, wanted = r, (model(inputs[test]) @ grades).numpy()
                failures = 0 if config.failures == "consecutive" else failures
            elif failures >= config.tenacity:
                break
            else:
                failures += 1
    assert found == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(
    ("failures", "dev", "looks", "kept"),
    [
        ("consecutive", [0.1, 0.0, 0.2, 0.0, 0.1, 0.3], 5, 3),  # the better third look forgives the second
        ("total", [0.1, 0.0, 0.2, 0.0, 0.1, 0.3], 4, 3),
        ("consecutive", [0.1, 0.1, 0.1, 0.3], 3, 1),  # as good is not better
        ("consecutive", [-0.2, -0.1, -0.3, -0.3], 4, 2),
    ],
)
def test_training_stops_by_the_looks_at_the_dev_pairs(
    failures: Literal["consecutive", "total"], dev: list[float], looks: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand, with a tenacity of 1; what is kept is what training gives that ends with that look."""
    generator = np.random.default_rng(0)
    features, scores = generator.normal(size=(30, 4)).astype(np.float32), generator.uniform(1, 5, 30)

    def fitted(correlations: list[float], most: int) -> tuple[np.ndarray, int]:
        left = list(correlations)
        monkeypatch.setattr(regression, "pearson", lambda *_: left.pop(0))
        config = RegressionConfig(tenacity=1, failures=failures, epoch_size=2, max_epochs=most, learning_rate=0.1)
        found = fit_regression(features, scores, features, scores, features, 1, 5, config)
        return found, len(correlations) - len(left)

    found, count = fitted(dev, 100)
    wanted, _ = fitted([0.1 * look for look in range(1, 1 + kept)], 2 * (kept - 1))
    assert count == looks and found == pytest.approx(wanted, abs=1e-6)


def test_a_constant_correlates_with_nothing() -> None:
    assert pearson(np.ones(30), np.arange(30.0)) == 0
    assert pearson(np.arange(30.0), 2 * np.arange(30.0)) == pytest.approx(1)


def scored(low: int, high: int) -> list[Pair]:
    """Alike in as many parts as the score says."""
    return [
        Pair(Sentence(f"left {row}"), Sentence(f"right {row}"), score=row % 6, origin=Origin("sick.txt", row + 2))
        for row in range(low, high)
    ]


def test_a_similarity_that_stands_in_the_vectors_is_found() -> None:
    quick = (("default", replace(RegressionConfig(), max_epochs=100, learning_rate=0.05)),)
    task = RegressionSet("STS-B", Splits(scored(0, 120), scored(120, 150), scored(150, 200)), 0, 5, quick)
    generator = np.random.default_rng(0)

    def embed(texts: object) -> np.ndarray:
        rows = [text.split() for text in texts]  # type: ignore[attr-defined]  # any texts
        distance = [(5 - int(number) % 6) * (side == "left") for side, number in rows]
        return np.c_[distance, generator.normal(size=(len(rows), 2))].astype(np.float32)

    space = embedded(embed, task.texts(), name="told", signature="encoder:told")
    metrics = {finding.score.name: finding.score for finding in task.measure(space)}
    assert metrics["Pearson"].value > 95 and metrics["Spearman"].value > 95
    assert "loss:kl" in metrics["Pearson"].signature and metrics["Pearson"].subset == "STS-B"


def test_scores_outside_the_scale() -> None:
    """Before anything is encoded."""
    inside = scored(1, 6)
    with pytest.raises(InputError, match=r"^sick\.txt:14: the score is 0; expected 1 to 5$"):
        RegressionSet("SICK-R", Splits(inside, inside, scored(11, 14)), 1, 5)


def test_paper_and_the_default_differ_in_these_fields_alone() -> None:
    paper, default = asdict(RegressionConfig.paper()), asdict(RegressionConfig())
    differing = {name for name in paper if paper[name] != default[name]}
    assert differing == {"loss", "low_scores", "failures"}
