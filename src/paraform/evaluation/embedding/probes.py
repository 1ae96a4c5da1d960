"""Probes: small classifiers trained on vectors of texts, all folds and all values of L2 side by side in one tensor.

Shape key: N rows, D features, F folds, L values of L2, I inner folds of a fold, K fits (F × L), C classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.evaluation.embedding.adam_probes import adam_probes
from paraform.evaluation.embedding.logistic import logistic_optimum
from paraform.evaluation.embedding.probe_rows import ProbeConfig, standardised_rows
from paraform.evaluation.preparation import same_length
from paraform.records import InputError

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
        test_accuracy_F: on the test rows, 0 to 1; NaN without some.
    """

    predictions_FN: NDArray[Any]
    l2_F: NDArray[np.float64]
    test_accuracy_F: NDArray[np.float64]


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

    def chosen(self, folds: Folds, best_F: NDArray[np.int64]) -> Probed:
        """Of each fold the probe of that number among its values of L2."""
        each = np.arange(len(best_F))
        found_FN = self.predictions_FLN[each, best_F]
        accuracy_F = mean_where(found_FN == self.labels_N, folds.test_FN)
        return Probed(self.classes_C[found_FN], self.l2_FL[each, best_F], accuracy_F)


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
    weights = shared.vectors_ND.shape[1] * (config.hidden or len(classes_C))
    found = []
    for fits in torch.split(torch.arange(len(fold_K)), max(1, MOST_WEIGHTS // weights)):
        of = fold_K[fits]
        if config.optimiser == "lbfgs":
            found.append(logistic_optimum(shared, labels, train, of, l2_K[fits], len(classes_C)).predictions(shared))
        else:
            trained = adam_probes(shared, labels, train, dev, of, l2_K[fits], len(classes_C), config)
            found.append(trained.predictions(shared))
    predictions_FLN = torch.cat(found).view(folds_count, tries, rows).numpy()
    right_FLN = predictions_FLN == numbers_N
    dev_FL = np.stack([mean_where(right_FLN[:, at], folds.dev_FN) for at in range(tries)], 1)
    return Tried(classes_C, numbers_N, predictions_FLN, l2_FL, dev_FL)


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


def cross_validate(
    vectors_ND: NDArray[np.float32], labels_N: Sequence[Hashable] | NDArray[Any], test_FN: Masks, config: ProbeConfig
) -> Probed:
    """A probe for each set of test rows, trained on all others, with an L2 chosen as `config.selection` says.

    "nested": the L2 with the best mean accuracy over inner folds of the training rows, all folds' inner folds and
    values of L2 in one call; then one probe a fold with all its training rows ("adam": but those held out for the
    epoch, which SentEval does not stratify). "held-out": by the held-out rows alone.

    Args:
        test_FN: [F, N] booleans.
    Raises: ValueError as `fit_probes`; UnusableLabels if a label has fewer rows than there are inner folds.
    """
    _, numbers_N = np.unique(np.asarray(labels_N), return_inverse=True)
    train_FN = ~test_FN
    if config.selection == "held-out":
        return fit_probes(vectors_ND, labels_N, _held_out(train_FN, test_FN, numbers_N, config), config)
    inner_FN = np.stack([stratified_folds(numbers_N, config.folds, config.seed, train_N) for train_N in train_FN])
    dev_IN = (inner_FN[:, None] == np.arange(config.folds)[:, None]).reshape(-1, len(numbers_N))
    inner = Folds(np.repeat(train_FN, config.folds, 0) & ~dev_IN, dev_IN, np.zeros_like(dev_IN))
    tried = try_probes(vectors_ND, numbers_N, inner, np.tile(config.l2, (len(dev_IN), 1)), config)
    mean_FL = tried.dev_accuracy_FL.reshape(len(test_FN), config.folds, -1).mean(1)
    # SentEval rounds to a hundredth of a percent before it takes the first best.
    best_F = mean_FL.round(4).argmax(1)
    folds = Folds(train_FN, np.zeros_like(test_FN), test_FN)
    if config.optimiser == "adam":
        folds = _held_out(train_FN, test_FN, numbers_N, config)
    l2_F1 = np.asarray(config.l2)[best_F][:, None]
    return try_probes(vectors_ND, labels_N, folds, l2_F1, config).chosen(folds, np.zeros(len(best_F), dtype=np.int64))


def stratified_folds(
    labels_N: NDArray[np.int64], folds: int, seed: int, rows_N: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """The fold of each row, [N]; −1 of rows that are not among `rows_N`. Each fold has its share of each label.

    Raises: UnusableLabels if a label has fewer rows than there are folds: some would have none of it.
    """
    generator = np.random.default_rng(seed)
    fold_N = np.full(len(labels_N), -1)
    chosen_N = np.ones(len(labels_N), dtype=np.bool_) if rows_N is None else rows_N
    begin = 0
    for label in np.unique(labels_N):
        rows = generator.permutation(np.flatnonzero((labels_N == label) & chosen_N))
        if len(rows) < folds:
            came = f"the label of this row has {len(rows)} of {int(chosen_N.sum()):,} rows"
            raise UnusableLabels(f"{came}; expected one a fold, {folds}", row=int(np.argmax(labels_N == label)))
        # Where one label's deal ends the next begins, so that folds differ by one row at most.
        fold_N[rows] = (begin + np.arange(len(rows))) % folds
        begin = (begin + len(rows)) % folds
    return fold_N


def _held_out(train_FN: Masks, test_FN: Masks, labels_N: NDArray[np.int64], config: ProbeConfig) -> Folds:
    """The folds with a share of their training rows held out: of each label alike, however few it has."""
    generator = np.random.default_rng(config.seed)
    every = max(2, round(1 / config.held_out))
    dev_FN = np.zeros_like(train_FN)
    for dev_N, train_N in zip(dev_FN, train_FN, strict=True):
        rows = generator.permutation(np.flatnonzero(train_N))
        by_label = rows[np.argsort(labels_N[rows], kind="stable")]
        dev_N[by_label[min(every // 2, len(rows) // 2) :: every]] = True
    return Folds(train_FN & ~dev_FN, dev_FN, test_FN)
