"""Stratified folds, and an L2 for each that its test rows had no part in.

Shape key: N rows, F folds, L values of L2, I inner folds of a fold.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.embedding.probes import (
    Folds,
    Masks,
    ProbeConfig,
    Probed,
    UnusableLabels,
    fit_probes,
    try_probes,
)


def cross_validate(
    vectors_ND: NDArray[np.float32],
    labels_N: Sequence[Hashable] | NDArray[Any],
    test_FN: Masks,
    config: ProbeConfig,
    rows_N: NDArray[np.bool_] | None = None,
) -> Probed:
    """A probe for each set of test rows, trained on all others, with an L2 chosen as `config.selection` says.

    "nested": the L2 with the best mean accuracy over inner folds of the training rows, all folds' inner folds and
    values of L2 in one call; then one probe a fold with all its training rows ("adam": but those held out for the
    epoch, which SentEval does not stratify). "held-out": by the held-out rows alone.

    Args:
        test_FN: [F, N] booleans.
        rows_N: the rows that are used at all; None: all.
    Raises: ValueError as `fit_probes`; UnusableLabels if a label has fewer rows than there are inner folds.
    """
    _, numbers_N = np.unique(np.asarray(labels_N), return_inverse=True)
    train_FN = ~test_FN if rows_N is None else ~test_FN & rows_N
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
    last = try_probes(vectors_ND, labels_N, folds, l2_F1, config).chosen(folds, np.zeros(len(best_F), dtype=np.int64))
    return replace(last, dev_accuracy_F=mean_FL.max(1))


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
