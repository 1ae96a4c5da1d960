"""The optimum of many logistic regressions on the same rows, by L-BFGS for all of them at once.

Shape key: N rows, D features, F folds, K fits, A fits still running, C classes, O outputs (1 of two classes, else C),
P weights of a fit (O × (D + 1)), M pairs remembered, B rows at once.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus

from paraform.evaluation.embedding.probe_rows import ProbeRows

MEMORY = 10
EVALUATIONS = 1000
TOLERANCE = 1e-5
"""The largest part of the gradient of the mean loss at which a fit is done."""
SUFFICIENT = 1e-4  # Armijo's constant, as Nocedal and Wright (2006, algorithm 3.1) suggest
ROUNDING = 1e-7  # of float32: a loss this much higher is the same
DAMPING = 0.1  # of the mean eigenvalue; without it the rounding of directions that no row has is blown up by 1 / l2
MOST_EIGEN = 2048  # features up to which the covariance is decomposed; of more it would take longer than it spares


class LinearProbes(NamedTuple):
    """Logistic regressions: weights and biases in the shared coordinates, [K, O, D] and [K, O]."""

    weights_KOD: Tensor
    bias_KO: Tensor

    def predictions(self, rows: ProbeRows) -> Tensor:
        """The number of the class of each row, [K, N] int32; of equal ones the first."""
        fits, outputs, _ = self.weights_KOD.shape
        found_KN = torch.empty(fits, len(rows.vectors_ND), dtype=torch.int32)
        for part in rows.blocks(fits * outputs):
            logits_BOK = _logits(rows.vectors_ND[part], self.weights_KOD, self.bias_KO)
            best_BK = logits_BOK[:, 0] > 0 if outputs == 1 else logits_BOK.argmax(1)
            found_KN[:, part] = best_BK.T.int()
        return found_KN


def logistic_optimum(
    rows: ProbeRows, labels_N: Tensor, train_FN: Tensor, fold_K: Tensor, l2_K: Tensor, classes: int
) -> LinearProbes:
    """The weights W and biases b of least mean cross-entropy + l2/2 ‖W‖² over each fit's training rows.

    scikit-learn's `LogisticRegression(C=1 / (l2 · training rows))` has the same optimum: of two classes one vector of
    weights, of more one a class, biases not penalised. The loss is strictly convex in W, so that a step that lowers it
    enough (Armijo) leaves a curvature above 0, and no other condition is needed. Each evaluation of the loss is one
    product with the rows for all fits that run still; a fit whose step is too long tries half of it in the next.

    Args:
        labels_N: [N], 0 to `classes` − 1.
        train_FN: [F, N] booleans, the training rows of a fold.
        fold_K, l2_K: [K], the fold and the L2 of each fit.
    """
    problem_rows = rows
    mean_D = torch.zeros(rows.vectors_ND.shape[1])
    if rows.shift_FD is None:
        # The bias is free, so that the optimum is the same about the mean, where weights and bias do not pull together.
        mean_D = rows.vectors_ND[train_FN.any(0)].mean(0)
        problem_rows = ProbeRows(rows.vectors_ND - mean_D, None, None)
    outputs = 1 if classes == 2 else classes
    fits, features = len(fold_K), rows.vectors_ND.shape[1]
    problem = _Problem(problem_rows, labels_N, train_FN, fold_K, l2_K, outputs)
    inverse = _InverseHessian(problem, classes)
    points_KP = torch.zeros(fits, outputs * (features + 1))
    losses_K, gradients_KP = problem.evaluate(points_KP, torch.arange(fits))
    directions_KP = -inverse.times(gradients_KP, torch.arange(fits))
    steps_K = torch.ones(fits)
    running_A = torch.arange(fits)
    for _ in range(EVALUATIONS):
        moves_AP = steps_K[running_A, None] * directions_KP[running_A]
        trials_AP = points_KP[running_A] + moves_AP
        trial_losses_A, trial_gradients_AP = problem.evaluate(trials_AP, running_A)
        slopes_A = (gradients_KP[running_A] * moves_AP).sum(1)
        most_A = losses_K[running_A] + SUFFICIENT * slopes_A + ROUNDING * losses_K[running_A].abs()
        lower_A = trial_losses_A <= most_A
        moved = running_A[lower_A]
        inverse.remember(moves_AP[lower_A], trial_gradients_AP[lower_A] - gradients_KP[moved], moved)
        points_KP[moved], losses_K[moved] = trials_AP[lower_A], trial_losses_A[lower_A]
        gradients_KP[moved] = trial_gradients_AP[lower_A]
        directions_KP[moved] = -inverse.times(gradients_KP[moved], moved)
        steps_K[moved] = 1.0
        steps_K[running_A[~lower_A]] *= 0.5
        done_A = (gradients_KP[running_A].abs().amax(1) <= TOLERANCE) | (steps_K[running_A] < ROUNDING)
        running_A = running_A[~done_A]
        if not len(running_A):
            break
    weights_KOD, bias_KO = problem.parts(points_KP)
    weights_KOD, bias_KO = rows.folded(weights_KOD, bias_KO, fold_K)
    return LinearProbes(weights_KOD, bias_KO - weights_KOD @ mean_D)


def _logits(vectors_BD: Tensor, weights_KOD: Tensor, bias_KO: Tensor) -> Tensor:
    """[B, O, K]: one product; fits innermost, so that what goes over outputs works on whole lines of fits."""
    fits, outputs, features = weights_KOD.shape
    weights_QD = weights_KOD.transpose(0, 1).reshape(outputs * fits, features)
    return torch.addmm(bias_KO.T.reshape(-1), vectors_BD, weights_QD.T).view(-1, outputs, fits)


class _Problem:
    """The losses of all fits and their gradients, in each fit's own coordinates."""

    def __init__(
        self, rows: ProbeRows, labels_N: Tensor, train_FN: Tensor, fold_K: Tensor, l2_K: Tensor, outputs: int
    ) -> None:
        self.rows, self.labels_N, self.fold_K, self.l2_K, self.outputs = rows, labels_N, fold_K, l2_K, outputs
        self.features = rows.vectors_ND.shape[1]
        # A row's part of the mean, 0 where it is not trained on.
        self.share_NF = (train_FN / train_FN.sum(1, keepdim=True)).T.float().contiguous()
        self.used_N = train_FN.any(0)

    def parts(self, points_KP: Tensor) -> tuple[Tensor, Tensor]:
        """Weights and biases of the fits' own coordinates."""
        points = points_KP.view(len(points_KP), self.outputs, self.features + 1)
        return points[..., :-1], points[..., -1]

    def evaluate(self, points_AP: Tensor, running_A: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of each running fit, [A] float64, and its gradient, [A, P]."""
        fold_A, l2_A = self.fold_K[running_A], self.l2_K[running_A]
        weights_AOD, bias_AO = self.parts(points_AP)
        shared_AOD, shared_AO = self.rows.folded(weights_AOD, bias_AO, fold_A)
        losses_A = torch.zeros(len(running_A), dtype=torch.float64)
        gradient_QD = torch.zeros(self.outputs * len(running_A), self.features)
        bias_gradient_Q = torch.zeros(len(gradient_QD))
        for part in self.rows.blocks(len(gradient_QD)):
            vectors_BD, labels_B = self.rows.vectors_ND[part], self.labels_N[part]
            share_BA = self.share_NF[part][:, fold_A]
            logits_BOA = _logits(vectors_BD, shared_AOD, shared_AO)
            losses_BA, residuals_BOA = _cross_entropy(logits_BOA, labels_B)
            losses_A += (losses_BA * share_BA).sum(0, dtype=torch.float64)
            residuals_BQ = (residuals_BOA * share_BA[:, None]).view(len(vectors_BD), -1)
            gradient_QD.addmm_(residuals_BQ.T, vectors_BD)
            bias_gradient_Q += residuals_BQ.sum(0)
        gradient_AOD = gradient_QD.view(self.outputs, -1, self.features).transpose(0, 1)
        bias_gradient_AO = bias_gradient_Q.view(self.outputs, -1).T
        rows = self.rows
        if rows.shift_FD is not None and rows.scale_FD is not None:  # the chain rule through `folded`
            moved_AOD = bias_gradient_AO[..., None] * rows.shift_FD[fold_A, None]
            gradient_AOD = (gradient_AOD - moved_AOD) * rows.scale_FD[fold_A, None]
        gradient_AOD = gradient_AOD + l2_A[:, None, None] * weights_AOD
        losses_A += 0.5 * l2_A * weights_AOD.square().sum((1, 2), dtype=torch.float64)
        return losses_A, torch.cat([gradient_AOD, bias_gradient_AO[..., None]], -1).flatten(1)


def _cross_entropy(logits_BOA: Tensor, labels_B: Tensor) -> tuple[Tensor, Tensor]:
    """−ln p of each row's class, [B, A], and its gradient with respect to the logits, [B, O, A]."""
    if logits_BOA.shape[1] == 1:
        target_B1 = labels_B[:, None].float()
        logits_BA = logits_BOA[:, 0]
        return softplus(logits_BA) - target_B1 * logits_BA, (logits_BA.sigmoid() - target_B1)[:, None]
    at_B1A = labels_B[:, None, None].expand(-1, 1, logits_BOA.shape[2])
    log_p_BOA = logits_BOA.log_softmax(1)
    losses_BA = -log_p_BOA.gather(1, at_B1A).squeeze(1)
    minus_one_B1A = torch.tensor(-1.0).expand(at_B1A.shape)
    return losses_BA, log_p_BOA.exp_().scatter_add_(1, at_B1A, minus_one_B1A)


class _InverseHessian:
    """L-BFGS's estimate of each fit's inverse Hessian (Nocedal and Wright 2006, algorithm 7.4).

    It starts from the Hessian at W = 0, which all fits share but for their L2: with covariance Q diag(λ) Qᵀ of the
    rows it is v Q diag(λ) Qᵀ + l2 I for each output, v = (1/C)(1 − 1/C) being the variance of a class. On minilm's
    vectors of CR some twenty evaluations reach the optimum of all fits, where a thousand from the identity do not.
    """

    def __init__(self, problem: _Problem, classes: int) -> None:
        fits, features = len(problem.fold_K), problem.features
        self.features = features
        self.outputs, self.variance = problem.outputs, (1 - 1 / classes) / classes
        vectors_ND = problem.rows.vectors_ND
        self.axes_DD: Tensor | None = None
        share_N = problem.used_N.float() / problem.used_N.sum()
        mean_D = share_N @ vectors_ND
        values_D = share_N @ (vectors_ND - mean_D).square()
        if features <= MOST_EIGEN:
            covariance_DD = (vectors_ND * share_N[:, None]).T @ vectors_ND - torch.outer(mean_D, mean_D)
            with contextlib.suppress(RuntimeError):  # LAPACK, of few rows: the same optimum, by more steps
                values_D, self.axes_DD = torch.linalg.eigh(covariance_DD)
        values_D = values_D.clamp(min=0) + DAMPING * values_D.mean()
        scale_KD = self.variance * values_D + problem.l2_K[:, None]
        self.first_KD = scale_KD.reciprocal()
        self.moves_MKP = torch.zeros(MEMORY, fits, self.outputs * (features + 1))
        self.changes_MKP = torch.zeros_like(self.moves_MKP)
        self.curvature_MK = torch.zeros(MEMORY, fits)  # 1 / (s · y); 0: no pair there
        self.gain_K = torch.ones(fits)
        self.count_K = torch.zeros(fits, dtype=torch.int64)

    def first(self, values_AP: Tensor, fits_A: Tensor) -> Tensor:
        """The estimate without a pair, times a vector of each of these fits."""
        values_AOX = values_AP.view(len(values_AP), self.outputs, self.features + 1)
        weights_AOD, bias_AO1 = values_AOX[..., :-1], values_AOX[..., -1:]
        turned = weights_AOD if self.axes_DD is None else weights_AOD @ self.axes_DD
        turned = turned * self.first_KD[fits_A, None]
        turned = turned if self.axes_DD is None else turned @ self.axes_DD.T
        return torch.cat([turned, bias_AO1 / self.variance], -1).flatten(1)

    def remember(self, moves_AP: Tensor, changes_AP: Tensor, fits_A: Tensor) -> None:
        """A step of each of these fits, and what it changed of the gradient."""
        products_A = (moves_AP * changes_AP).sum(1)
        kept_A = products_A > ROUNDING * moves_AP.norm(dim=1) * changes_AP.norm(dim=1)
        fits_A, moves_AP, changes_AP, products_A = (x[kept_A] for x in (fits_A, moves_AP, changes_AP, products_A))
        at_A = self.count_K[fits_A] % MEMORY
        self.moves_MKP[at_A, fits_A], self.changes_MKP[at_A, fits_A] = moves_AP, changes_AP
        self.curvature_MK[at_A, fits_A] = products_A.reciprocal()
        self.gain_K[fits_A] = products_A / (changes_AP * self.first(changes_AP, fits_A)).sum(1)
        self.count_K[fits_A] += 1

    def times(self, gradients_AP: Tensor, fits_A: Tensor) -> Tensor:
        """The estimate times a vector of each of these fits, [A, P]: the two loops."""
        values_AP = gradients_AP.clone()
        depth = int(self.count_K[fits_A].amax().clamp(max=MEMORY)) if len(fits_A) else 0
        newest_first = [(self.count_K[fits_A] - 1 - back) % MEMORY for back in range(depth)]
        weights = []
        for at_A in newest_first:
            weight_A = self.curvature_MK[at_A, fits_A] * (self.moves_MKP[at_A, fits_A] * values_AP).sum(1)
            values_AP -= weight_A[:, None] * self.changes_MKP[at_A, fits_A]
            weights.append(weight_A)
        values_AP = self.gain_K[fits_A, None] * self.first(values_AP, fits_A)
        for at_A, weight_A in zip(reversed(newest_first), reversed(weights), strict=True):
            back_A = self.curvature_MK[at_A, fits_A] * (self.changes_MKP[at_A, fits_A] * values_AP).sum(1)
            values_AP += (weight_A - back_A)[:, None] * self.moves_MKP[at_A, fits_A]
        return values_AP
