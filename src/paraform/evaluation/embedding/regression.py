"""Similarity by a regression that is trained on scored pairs, as SentEval trains it for STS-B and SICK-R.

Shape key: N pairs, B pairs of a step, D features, G grades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import mse_loss

from paraform.corpora.sts import INPUT
from paraform.evaluation.embedding.adam_probes import Adam, initial_layers
from paraform.evaluation.embedding.correlation import ALL, MEAN, correlations
from paraform.evaluation.embedding.probe_rows import pair_features
from paraform.evaluation.embedding.similarity import SIX, TESTS, Splits, set_means, similarity_sets, similarity_splits
from paraform.evaluation.embedding.space import Space, VectorSpace
from paraform.evaluation.embedding.task import Choices, Family, Finding, Headline, Task, holding, signed_finding
from paraform.records import InputError, Pair, texts_of
from paraform.score import signature
from paraform.weights import PathLike

GRADES = 5
SCALES = {"STS-B": (0.0, 5.0), "SICK-R": (1.0, 5.0)}


@dataclass(frozen=True)
class RegressionConfig:
    """How the regression is trained, on features as they come.

    Standardised, halves of both dev sets had a lower Pearson (85.7 against 87.8, 86.3 against 87.9, of minilm).

    Args:
        loss: "kl" between the target's two points and the softmax (Tai, Socher and Manning 2015), or "mse", as
            SentEval's code behaves.
        low_scores: "rescaled": a set's lowest score is 1 and its highest 5, so that every target is a distribution;
            "unnormalised": a score y below 1 gives the target y at 1 and 0 elsewhere, as SentEval's code has it for
            STS-B, whose scores begin at 0.
        failures: looks without a higher dev Pearson, "consecutive" ones or in "total", as SentEval's counter.
        tenacity: training stops at the look after that many.
        epoch_size: epochs between two looks at the dev pairs.
        max_epochs: no look comes after one at more epochs.
        batch_size, learning_rate: of Adam.
        seed: of initial weights and order.
    """

    loss: Literal["kl", "mse"] = "kl"
    low_scores: Literal["rescaled", "unnormalised"] = "rescaled"
    failures: Literal["consecutive", "total"] = "consecutive"
    tenacity: int = 3
    epoch_size: int = 50
    max_epochs: int = 1000
    batch_size: int = 64
    learning_rate: float = 1e-3
    seed: int = 1111

    @classmethod
    def paper(cls) -> RegressionConfig:
        """SentEval as its code behaves today."""
        return cls(loss="mse", low_scores="unnormalised", failures="total")

    @property
    def signature(self) -> str:
        """All settings that change a metric."""
        first = {"loss": self.loss, "low_scores": self.low_scores, "standardise": False}
        return signature(regression="softmax-5", features="|u-v|,u*v", **first | vars(self))


@final
@dataclass(frozen=True, eq=False, slots=True)
class RegressionSet:
    """Scored pairs to train on, to stop by, and to measure on; a `Task`.

    Args:
        lowest, highest: the ends of the scale: 0 and 5 of STS-B, 1 and 5 of SICK-R.
    Raises: InputError, naming file and line, for a score outside the scale.
    """

    needs_vectors: ClassVar[bool] = True

    name: str
    parts: Splits
    lowest: float
    highest: float
    protocols: Sequence[tuple[str, RegressionConfig]] = (("default", RegressionConfig()),)

    def __post_init__(self) -> None:
        require_on_scale(self.name, self.parts, self.lowest, self.highest)

    def texts(self) -> list[str]:
        """Both sentences of every pair."""
        return texts_of(pair for part in self.parts for pair in part)

    def measure(self, space: Space) -> list[Finding]:
        """Pearson and Spearman × 100 of the test pairs' scores, by each protocol.

        Raises: InputError if the space has no vectors.
        """
        if not isinstance(space, VectorSpace):
            raise InputError(f"{self.name}: {space.name} has no vectors; expected some to train a regression on")
        features = [_features(space, part) for part in self.parts]
        train_N, dev_N, test_N = (np.array([pair.score for pair in part], dtype=np.float64) for part in self.parts)
        findings = []
        for protocol, config in self.protocols:
            found_N = fit_regression(
                features[0], train_N, features[1], dev_N, features[2], self.lowest, self.highest, config
            )
            metrics = correlations([found_N], [test_N], config.signature)
            for name in ("Pearson", "Spearman"):
                findings.append(signed_finding(metrics[name, ALL], space, self.name, protocol))
        return findings

    def limited(self, most: int) -> RegressionSet:
        """So many pairs of each part."""
        return replace(self, parts=Splits(*(part[:most] for part in self.parts)))


def require_on_scale(name: str, parts: Splits, lowest: float, highest: float) -> None:
    """Raises: InputError, naming file and line or else the set, for a score outside the scale."""
    for pair in (pair for part in parts for pair in part):
        if pair.score is None or not lowest <= pair.score <= highest:
            place = pair.origin or name
            raise InputError(f"{place}: the score is {pair.score}; expected {lowest:g} to {highest:g}")


def regression_sets(path: PathLike, protocols: Sequence[Literal["default", "paper"]]) -> list[RegressionSet]:
    """The STS Benchmark and SICK-R below a folder, where their train and dev parts are there too.

    Raises: InputError as `RegressionSet` and `similarity_splits` do.
    """
    known = {"default": RegressionConfig(), "paper": RegressionConfig.paper()}
    chosen = [(name, known[name]) for name in protocols]
    return [
        RegressionSet(f"{name}, trained", parts, *SCALES[name], chosen)
        for name, parts in similarity_splits(path).items()
    ]


def _features(space: VectorSpace, pairs: Sequence[Pair]) -> NDArray[np.float32]:
    lefts, rights = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    return pair_features(space.vectors(lefts), space.vectors(rights))


def two_points(scores_N: NDArray[np.float64]) -> NDArray[np.float32]:
    """Grades 1 to 5 on either side of a score, weighted by nearness, [N, G] (Tai, Socher and Manning 2015, eq. 15).

    p_i = y − ⌊y⌋ at i = ⌊y⌋ + 1, ⌊y⌋ − y + 1 at i = ⌊y⌋, else 0; a score below 1 has no grade ⌊y⌋, and its row adds
    up to the score.
    """
    nearness_NG = 1 - np.abs(scores_N[:, None] - np.arange(1, GRADES + 1))
    targets_NG: NDArray[np.float32] = np.clip(nearness_NG, 0, None).astype(np.float32)
    return targets_NG


def fit_regression(
    train_ND: NDArray[np.float32],
    train_scores: NDArray[np.float64],
    dev_ND: NDArray[np.float32],
    dev_scores: NDArray[np.float64],
    test_ND: NDArray[np.float32],
    lowest: float,
    highest: float,
    config: RegressionConfig,
) -> NDArray[np.float64]:
    """What the regression says of the test pairs: Σ r p_r, p the softmax over grades r = 1 … 5, on the targets' scale.

    The weights are those of the look at the dev pairs with the highest Pearson.
    """
    rescaled = config.low_scores == "rescaled"
    scores_N = 1 + 4 * (train_scores - lowest) / (highest - lowest) if rescaled else train_scores
    targets_NG = torch.from_numpy(two_points(scores_N))
    train, rest = len(train_ND), len(train_ND) + len(dev_ND)
    vectors_ND = torch.from_numpy(np.concatenate([train_ND, dev_ND, test_ND]))
    weights_GD, bias_G = (
        layer.requires_grad_() for layer in initial_layers(vectors_ND.shape[1], GRADES, 0, config.seed)
    )
    optimiser = Adam([weights_GD, bias_G], config.learning_rate)
    order = torch.Generator().manual_seed(config.seed + 1)
    best, failures, epoch = -math.inf, 0, 0
    kept = (weights_GD.detach().clone(), bias_G.detach().clone())
    while epoch <= config.max_epochs:
        for _ in range(config.epoch_size):
            for rows_B in torch.split(torch.randperm(train, generator=order), config.batch_size):
                log_p_BG = torch.addmm(bias_G, vectors_ND[rows_B], weights_GD.T).log_softmax(1)
                loss = _loss(log_p_BG, targets_NG[rows_B], config.loss)
                optimiser.step(torch.autograd.grad(loss, [weights_GD, bias_G]))
        epoch += config.epoch_size
        current = (weights_GD.detach(), bias_G.detach())
        found = pearson(_expected(vectors_ND[train:rest], *current), dev_scores)
        if found > best:
            best, kept = found, (current[0].clone(), current[1].clone())
            failures = 0 if config.failures == "consecutive" else failures
        elif failures >= config.tenacity:
            break
        else:
            failures += 1
    return _expected(vectors_ND[rest:], *kept)


def _loss(log_p_BG: Tensor, targets_BG: Tensor, kind: Literal["kl", "mse"]) -> Tensor:
    if kind == "mse":
        return mse_loss(log_p_BG.exp(), targets_BG)
    return -(targets_BG * log_p_BG).sum(1).mean()  # KL but for the entropy of the targets, which has no gradient


def _expected(vectors_ND: Tensor, weights_GD: Tensor, bias_G: Tensor) -> NDArray[np.float64]:
    p_NG = torch.addmm(bias_G, vectors_ND, weights_GD.T).softmax(1).double()
    expected_N: NDArray[np.float64] = (p_NG @ torch.arange(1.0, GRADES + 1, dtype=torch.float64)).numpy()
    return expected_N


def pearson(found_N: NDArray[np.float64], gold_N: NDArray[np.float64]) -> float:
    """Pearson's r; 0 where either is constant."""
    return correlations([found_N], [gold_N], "")["Pearson", ALL].over() / 100


def _read(place: Path, choices: Choices) -> list[Task]:
    return [*similarity_sets(place), *(regression_sets(place, ["default"]) if choices.trained else ())]


FAMILIES = (
    Family(
        name="similarity",
        title="Similarity",
        about="How cosines go with people's scores, × 100; default: how a regression on the vectors does, trained on"
        " other pairs.",
        headlines=(Headline("Pearson", protocol=MEAN), Headline("Pearson", protocol="default")),
        expected=f"{INPUT}*.txt, sts-test.csv or SICK_test_annotated.txt",
        find=lambda folder: holding(folder, f"{INPUT}*.txt", *TESTS),
        read=_read,
        command="evaluate similarity",
        options=lambda tasks, choices: " --trained default" if any(task.needs_vectors for task in tasks) else "",
        # Of the means those that papers print, ParaBART's and SimCSE's: each holds the rows of all sets.
        means=lambda findings: set_means(
            [one for one in findings if (one.score.name, one.score.protocol) in (("Pearson", MEAN), ("Spearman", ALL))]
        ),
        counts=lambda score: (
            "meaning" if (score.name, score.protocol) == ("Pearson", MEAN) and score.subset in SIX else ""
        ),
    ),
)
