"""Probes: small classifiers trained on vectors of texts, all folds and all values of L2 side by side in one tensor.

Shape key: N rows, D features, F folds, L values of L2, K fits (F × L), C classes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.evaluation.embedding.adam_probes import adam_probes
from paraform.evaluation.embedding.logistic import logistic_optimum
from paraform.evaluation.embedding.probe_rows import standardised_rows
from paraform.evaluation.preparation import same_length
from paraform.records import InputError
from paraform.score import signature

Masks = NDArray[np.bool_]

MOST_WEIGHTS = 1 << 25
"""Weights trained at once, 128 MiB, of which Adam holds five copies; fits beyond them wait for the next turn."""


class UnusableLabels(ValueError):
    """Labels that no probe can be trained on.

    Args:
        row: the number of the first one that shows it.
    """

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


@dataclass(frozen=True)
class ProbeConfig:
    """How probes are trained, and their L2 is chosen.

    The defaults are what we recommend; `paper()` is SentEval as its code behaves today (Conneau and Kiela 2018), and
    what differs are the fields that a test lists.

    Args:
        hidden: units of the hidden layer; 0: multinomial logistic regression.
        optimiser: "lbfgs": the optimum of the convex loss, for which there are no steps, epochs or seed (logistic
            regression only); "adam": Adam, and the weights of the epoch that is best on the dev rows.
        standardise: each coordinate to mean 0 and variance 1 over a fit's own training rows, a constant one to 0; else
            as they come (SentEval).
        l2: values to choose from. The loss is the mean cross-entropy over a fit's training rows + l2/2 ‖W‖², so that
            scikit-learn's C is 1 / (l2 · training rows); with Adam it is weight decay, which holds for biases too.
        selection: how L2 is chosen where a set has no dev rows of its own. "nested": the best mean over stratified
            folds of a fold's training rows, with all of which it is then trained anew; "held-out": the best on a part
            of them, without another training.
        folds: stratified folds of a set without a split, and inner folds of "nested".
        held_out: share of the training rows that are held out, for L2 with "held-out", for the epoch with Adam.
        batch_size, learning_rate: of Adam; a step takes so many rows that a fit has `batch_size` of them on average.
        epoch_size: epochs between two looks at the dev rows.
        max_epochs: no look comes after one at that many epochs or more.
        tenacity: a fit stops at the look after that many without a higher dev accuracy.
        failures: which of these are counted: "consecutive", or "total", as SentEval's counter is never reset.
        loss: of a batch: "mean" over its rows, or "sum", which SentEval sets in a way that torch ignores today.
        activation: "sigmoid" as in SentEval's code, "tanh" as in its README.
        dropout: share of hidden units left out in a step, the same ones for all fits.
        seed: of folds, initial weights, order of rows and dropout.
    """

    hidden: int = 0
    optimiser: Literal["lbfgs", "adam"] = "lbfgs"
    standardise: bool = True
    l2: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1)
    selection: Literal["nested", "held-out"] = "nested"
    folds: int = 10
    held_out: float = 0.1
    batch_size: int = 64
    learning_rate: float = 1e-3
    epoch_size: int = 4
    max_epochs: int = 200
    tenacity: int = 5
    failures: Literal["consecutive", "total"] = "consecutive"
    loss: Literal["mean", "sum"] = "mean"
    activation: Literal["sigmoid", "tanh"] = "sigmoid"
    dropout: float = 0.0
    seed: int = 1111

    def __post_init__(self) -> None:
        if self.optimiser == "lbfgs" and self.hidden:
            raise InputError(f"hidden is {self.hidden} with optimiser lbfgs; expected 0, or adam")
        least = {"folds": 2, "batch_size": 1, "epoch_size": 1, "max_epochs": 1, "tenacity": 0, "hidden": 0}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise InputError(f"{name} is {getattr(self, name)}; expected at least {bound}")
        if not self.l2 or not all(0 < value < math.inf for value in self.l2):
            raise InputError(f"l2 is {self.l2}; expected numbers above 0")
        if not 0 < self.held_out < 1 or not 0 <= self.dropout < 1:
            raise InputError(f"held_out {self.held_out}, dropout {self.dropout}; expected shares below 1")

    @classmethod
    def mlp(cls, hidden: int = 50) -> ProbeConfig:
        """A multi-layer perceptron as we recommend it: L2 and epoch by held-out rows, since it has no one optimum."""
        return cls(hidden=hidden, optimiser="adam", selection="held-out")

    @classmethod
    def paper(cls, hidden: int = 0) -> ProbeConfig:
        """SentEval as its code behaves today; ParaBART's classifier has 50 hidden units."""
        return cls(
            hidden=hidden,
            optimiser="adam",
            standardise=False,
            l2=(1e-5, 1e-4, 1e-3, 1e-2),
            selection="nested",
            held_out=0.05,
            failures="total",
        )

    @property
    def signature(self) -> str:
        """All settings that change a figure."""
        about: dict[str, Any] = {
            "probe": f"mlp-{self.hidden}" if self.hidden else "logistic",
            "optimiser": self.optimiser,
            "standardise": self.standardise,
            "l2": ",".join(f"{value:g}" for value in self.l2),
            "selection": self.selection,
            "folds": self.folds,
        }
        if self.selection == "held-out" or self.optimiser == "adam":
            about["held_out"] = self.held_out
        if self.optimiser == "adam":
            names = ["batch_size", "learning_rate", "epoch_size", "max_epochs", "tenacity", "failures", "loss"]
            about |= {name: getattr(self, name) for name in names}
        if self.hidden:
            about |= {"activation": self.activation, "dropout": self.dropout}
        return signature(**about, seed=self.seed)


@dataclass(frozen=True, eq=False, slots=True)
class Folds:
    """Which rows each fold's probe is trained, tuned and measured on: booleans [F, N]."""

    train_FN: Masks
    dev_FN: Masks
    test_FN: Masks

    def __post_init__(self) -> None:
        shapes = [self.train_FN.shape, self.dev_FN.shape, self.test_FN.shape]
        if len(set(shapes)) > 1 or len(shapes[0]) != 2:
            raise InputError(f"masks of {' and '.join(map(str, shapes))}; expected [folds, rows] of all three")
        if (self.train_FN & (self.dev_FN | self.test_FN)).any() or (self.dev_FN & self.test_FN).any():
            raise InputError("a row stands in two parts of a fold; expected train, dev and test apart")
        if not self.train_FN.any(1).all():
            raise InputError("a fold has no training row; expected at least one")

    @classmethod
    def split(cls, parts: Sequence[str] | NDArray[Any]) -> Folds:
        """One fold, from the part of each row: "train", "dev" or "test"."""
        parts_N = np.asarray(parts)
        if strange := set(parts_N.tolist()) - {"train", "dev", "test"}:
            raise InputError(f"a part is {min(map(str, strange))!r}; expected train, dev or test")
        return cls(*(parts_N[None, :] == part for part in ("train", "dev", "test")))


@dataclass(frozen=True, eq=False, slots=True)
class Probed:
    """What the probes say, of each fold the one with the L2 that was chosen.

    Args:
        predictions_FN: the label that each fold's probe gives each row, those that it was trained on, too.
        l2_F: the L2 that was chosen.
        dev_accuracy_F: on the rows that chose it, 0 to 1; NaN without some.
        test_accuracy_F: on the test rows, 0 to 1; NaN without some.
        train_accuracy_F: on the training rows, 0 to 1.
        epochs_F: epochs until the weights that were kept; 0 with "lbfgs".
    """

    predictions_FN: NDArray[Any]
    l2_F: NDArray[np.float64]
    dev_accuracy_F: NDArray[np.float64]
    test_accuracy_F: NDArray[np.float64]
    train_accuracy_F: NDArray[np.float64]
    epochs_F: NDArray[np.int64]


def fit_probes(
    vectors_ND: NDArray[np.float32], labels_N: Sequence[Hashable] | NDArray[Any], folds: Folds, config: ProbeConfig
) -> Probed:
    """Train a probe for each fold and each L2, all at once, and keep of each fold the one that is best on its dev rows.

    Of equally good ones it is the L2 that `config.l2` names first. Without dev rows there must be one L2 and "lbfgs".

    Args:
        vectors_ND: finite, [N, D]; held once, as float32, whatever the number of fits.
        labels_N: one a row, of any kind that can be sorted.
    Raises: InputError if shapes do not fit, a number is not finite, there are not two classes, or dev rows are missing.
    """
    tried = try_probes(vectors_ND, labels_N, folds, np.tile(config.l2, (len(folds.train_FN), 1)), config)
    best_F = np.nan_to_num(tried.dev_accuracy_FL, nan=0.0).argmax(1)
    return tried.chosen(folds, best_F)


@dataclass(frozen=True, eq=False, slots=True)
class Tried:
    """The probes of all folds and all their values of L2, [F, L]."""

    classes_C: NDArray[Any]
    labels_N: NDArray[np.int64]
    predictions_FLN: NDArray[np.int32]
    l2_FL: NDArray[np.float64]
    dev_accuracy_FL: NDArray[np.float64]
    epochs_FL: NDArray[np.int64]

    def chosen(self, folds: Folds, best_F: NDArray[np.int64]) -> Probed:
        """Of each fold the probe of that number among its values of L2."""
        each = np.arange(len(best_F))
        found_FN = self.predictions_FLN[each, best_F]
        right_FN = found_FN == self.labels_N
        return Probed(
            self.classes_C[found_FN],
            self.l2_FL[each, best_F],
            self.dev_accuracy_FL[each, best_F],
            mean_where(right_FN, folds.test_FN),
            mean_where(right_FN, folds.train_FN),
            self.epochs_FL[each, best_F],
        )


def try_probes(
    vectors_ND: NDArray[np.float32],
    labels_N: Sequence[Hashable] | NDArray[Any],
    folds: Folds,
    l2_FL: NDArray[np.float64],
    config: ProbeConfig,
) -> Tried:
    """A probe for each fold and each of the fold's own values of L2, [F, L]; `fit_probes` without the choice."""
    classes_C, numbers_N = np.unique(np.asarray(labels_N), return_inverse=True)
    rows = same_length(vectors=vectors_ND, labels=numbers_N)
    _require(vectors_ND, classes_C, folds, l2_FL, config)
    train, dev = torch.from_numpy(folds.train_FN), torch.from_numpy(folds.dev_FN)
    labels = torch.from_numpy(numbers_N)
    shared = standardised_rows(torch.as_tensor(vectors_ND, dtype=torch.float32), train, config.standardise)
    folds_count, tries = l2_FL.shape
    fold_K = torch.arange(folds_count).repeat_interleave(tries)
    l2_K = torch.from_numpy(l2_FL.reshape(-1)).float()
    weights = shared.vectors_ND.shape[1] * (max(config.hidden, 1) if config.hidden else len(classes_C))
    found, epochs = [], []
    for fits in torch.split(torch.arange(len(fold_K)), max(1, MOST_WEIGHTS // weights)):
        of = fold_K[fits]
        if config.optimiser == "lbfgs":
            found.append(logistic_optimum(shared, labels, train, of, l2_K[fits], len(classes_C)).predictions(shared))
            epochs.append(torch.zeros(len(fits), dtype=torch.int64))
        else:
            trained = adam_probes(shared, labels, train, dev, of, l2_K[fits], len(classes_C), config)
            found.append(trained.predictions(shared))
            epochs.append(trained.epochs_K)
    predictions_FLN = torch.cat(found).view(folds_count, tries, rows).numpy()
    right_FLN = predictions_FLN == numbers_N
    dev_FL = np.stack([mean_where(right_FLN[:, at], folds.dev_FN) for at in range(tries)], 1)
    epochs_FL = torch.cat(epochs).view(folds_count, tries).numpy()
    return Tried(classes_C, numbers_N, predictions_FLN, l2_FL, dev_FL, epochs_FL)


def mean_where(values_FN: NDArray[np.bool_], mask_FN: Masks) -> NDArray[np.float64]:
    """The mean of each row's values where its mask is, [F]; NaN where it is nowhere."""
    count_F = mask_FN.sum(1)
    with np.errstate(invalid="ignore"):
        mean_F: NDArray[np.float64] = (values_FN & mask_FN).sum(1) / count_F
    return mean_F


def _require(
    vectors_ND: NDArray[np.float32],
    classes_C: NDArray[Any],
    folds: Folds,
    l2_FL: NDArray[np.float64],
    config: ProbeConfig,
) -> None:
    if vectors_ND.ndim != 2 or folds.train_FN.shape[1] != len(vectors_ND):
        raise InputError(f"vectors {vectors_ND.shape}, folds of {folds.train_FN.shape[1]} rows; expected [N, D] and N")
    if len(classes_C) < 2:
        came = f"all {folds.train_FN.shape[1]:,} labels are {classes_C[0] if len(classes_C) else 'missing'}"
        raise UnusableLabels(f"{came}; expected two classes or more", row=0)
    if not np.isfinite(vectors_ND).all():
        row = int(np.flatnonzero(~np.isfinite(vectors_ND).all(1))[0])
        raise InputError(f"the vector of row {row + 1} holds NaN or infinity; expected finite numbers")
    if not folds.dev_FN.any(1).all() and (l2_FL.shape[1] > 1 or config.optimiser == "adam"):
        raise InputError("a fold without dev rows; expected some, to choose among L2 values and epochs by")
