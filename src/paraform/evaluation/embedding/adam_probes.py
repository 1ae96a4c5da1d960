"""Probes by Adam with early stop, as SentEval trains them, many on the same rows at once.

Shape key: N rows, D features, F folds, K fits, A fits still running, H hidden units, C classes, B rows of a step.
"""

from __future__ import annotations

import itertools
from typing import Literal, Protocol

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from paraform.evaluation.embedding.adam import Adam
from paraform.evaluation.embedding.probe_rows import ProbeRows

Parameters = list[Tensor]
"""Weights and biases, layer by layer, the fits along the first dimension: [K, H, D], [K, H], [K, C, H], [K, C]."""


class AdamConfig(Protocol):
    """The fields of `probes.ProbeConfig` that say how Adam goes."""

    @property
    def hidden(self) -> int: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def epoch_size(self) -> int: ...
    @property
    def max_epochs(self) -> int: ...
    @property
    def tenacity(self) -> int: ...
    @property
    def failures(self) -> Literal["consecutive", "total"]: ...
    @property
    def loss(self) -> Literal["mean", "sum"]: ...
    @property
    def activation(self) -> Literal["sigmoid", "tanh"]: ...
    @property
    def dropout(self) -> float: ...
    @property
    def seed(self) -> int: ...


class AdamProbes:
    """Trained networks, those of the look at the dev rows that was best.

    Args:
        parameters: in each fit's own coordinates.
        fold_K: the fold of each fit.
        epochs_K: the epochs that each was trained for.
    """

    def __init__(self, parameters: Parameters, fold_K: Tensor, epochs_K: Tensor, config: AdamConfig) -> None:
        self.parameters, self.fold_K, self.epochs_K, self.config = parameters, fold_K, epochs_K, config

    def predictions(self, rows: ProbeRows) -> Tensor:
        """The number of the class of each row, [K, N] int32."""
        return _predictions(self.parameters, rows, self.fold_K, self.config)


def adam_probes(
    rows: ProbeRows,
    labels_N: Tensor,
    train_FN: Tensor,
    dev_FN: Tensor,
    fold_K: Tensor,
    l2_K: Tensor,
    classes: int,
    config: AdamConfig,
) -> AdamProbes:
    """Linear, or Linear–Dropout–activation–Linear, by Adam on the cross-entropy of a fit's own training rows.

    All fits begin with the same weights, and all rows that any fit is trained on come in one order an epoch; of the
    rows of a step a fit's batch is those that it is trained on. So a step is one product of the rows with all fits'
    weights (of standardised rows one batched product), and what a fit learns does not depend on what is trained beside
    it. Every `epoch_size` epochs the dev accuracy is looked at; fits that have stopped leave the tensor.

    Args:
        labels_N: [N], 0 to `classes` − 1.
        train_FN, dev_FN: [F, N] booleans, the rows of a fold.
        fold_K, l2_K: [K], the fold and the weight decay of each fit.
    """
    order, dropping = (torch.Generator().manual_seed(config.seed + plus) for plus in (1, 2))
    parameters = _initial(rows.vectors_ND.shape[1], classes, config, len(fold_K))
    best = [parameter.detach().clone() for parameter in parameters]
    best_K, failures_K, epochs_K = (torch.full((len(fold_K),), value) for value in (-1, 0, 0))
    running_A = torch.arange(len(fold_K))
    optimiser = Adam(parameters, config.learning_rate)
    used = train_FN.any(0).nonzero().squeeze(1)
    dev = dev_FN.any(0).nonzero().squeeze(1)
    share = float(train_FN[:, used].double().mean())
    step_size = max(1, round(config.batch_size / share))
    epoch = 0
    while len(running_A) and epoch <= config.max_epochs:
        fold_A, l2_A = fold_K[running_A], l2_K[running_A]
        for _ in range(config.epoch_size):
            for rows_B in torch.split(used[torch.randperm(len(used), generator=order)], step_size):
                logits_ACB = _logits(parameters, rows.seen(rows_B, fold_A), config, dropping)
                loss = _loss(logits_ACB, labels_N[rows_B], train_FN[:, rows_B][fold_A], config.loss)
                gradients = torch.autograd.grad(loss, parameters)
                decayed = [
                    torch.addcmul(g, p.detach(), _over(l2_A, p)) for g, p in zip(gradients, parameters, strict=True)
                ]
                optimiser.step(decayed)
        epoch += config.epoch_size
        found_AN = _predictions(parameters, rows, fold_A, config, dev)
        right_A = ((found_AN == labels_N[dev]) & dev_FN[:, dev][fold_A]).sum(1)
        better_A = right_A > best_K[running_A]
        improved = running_A[better_A]
        for kept, parameter in zip(best, parameters, strict=True):
            kept[improved] = parameter.detach()[better_A]
        best_K[improved], epochs_K[improved] = right_A[better_A], epoch
        stopped_A = ~better_A & (failures_K[running_A] >= config.tenacity)
        failures_K[running_A[~better_A]] += 1
        if config.failures == "consecutive":
            failures_K[improved] = 0
        if stopped_A.any():
            running_A = running_A[~stopped_A]
            parameters = optimiser.keep(~stopped_A)
    return AdamProbes(best, fold_K, epochs_K, config)


def initial_layers(features: int, classes: int, hidden: int, seed: int) -> Parameters:
    """Weights and biases of one network, uniform within 1/√inputs, as torch's `nn.Linear` draws them."""
    generator = torch.Generator().manual_seed(seed)
    widths = [features, *([hidden] if hidden else []), classes]
    layers = []
    for inputs, outputs in itertools.pairwise(widths):
        for shape in ((outputs, inputs), (outputs,)):
            layers.append((torch.rand(shape, generator=generator) * 2 - 1) * inputs**-0.5)
    return layers


def _initial(features: int, classes: int, config: AdamConfig, fits: int) -> Parameters:
    layers = initial_layers(features, classes, config.hidden, config.seed)
    return [layer.expand(fits, *layer.shape).clone().requires_grad_() for layer in layers]


def _logits(parameters: Parameters, vectors: Tensor, config: AdamConfig, dropping: torch.Generator | None) -> Tensor:
    """[A, C, B], of vectors [B, D] that all fits see, or of each fit's own, [A, B, D]; the rows innermost."""
    weights_AHD, bias_AH = parameters[:2]
    if vectors.dim() == 2:
        weights_QD = weights_AHD.reshape(-1, weights_AHD.shape[-1])
        first_AHB = torch.addmm(bias_AH.reshape(-1, 1), weights_QD, vectors.T).view(*bias_AH.shape, len(vectors))
    else:
        first_AHB = torch.baddbmm(bias_AH[..., None], weights_AHD, vectors.transpose(1, 2))
    if not config.hidden:
        return first_AHB
    if dropping is not None and config.dropout:
        kept_HB = torch.rand(first_AHB.shape[1:], generator=dropping) >= config.dropout
        first_AHB = first_AHB * (kept_HB / (1 - config.dropout))
    hidden_AHB = first_AHB.sigmoid() if config.activation == "sigmoid" else first_AHB.tanh()
    weights_ACH, bias_AC = parameters[2:]
    return torch.baddbmm(bias_AC[..., None], weights_ACH, hidden_AHB)


def _loss(logits_ACB: Tensor, labels_B: Tensor, train_AB: Tensor, over: Literal["mean", "sum"]) -> Tensor:
    """The sum of the fits' losses, none of which depends on another's weights."""
    losses_AB = cross_entropy(logits_ACB, labels_B.expand(len(logits_ACB), -1), reduction="none") * train_AB
    if over == "sum":
        return losses_AB.sum()
    return (losses_AB.sum(1) / train_AB.sum(1).clamp(min=1)).sum()


@torch.no_grad()
def _predictions(
    parameters: Parameters, rows: ProbeRows, fold_A: Tensor, config: AdamConfig, chosen: Tensor | None = None
) -> Tensor:
    """[A, N] int32, of the chosen rows or of all."""
    folded = [*rows.folded(parameters[0], parameters[1], fold_A), *parameters[2:]]
    chosen = torch.arange(len(rows.vectors_ND)) if chosen is None else chosen
    found_AN = torch.empty(len(fold_A), len(chosen), dtype=torch.int32)
    for part in rows.blocks(folded[1].numel()):
        if len(chosen[part]):
            found_AN[:, part] = _logits(folded, rows.vectors_ND[chosen[part]], config, None).argmax(1).int()
    return found_AN


def _over(values_A: Tensor, like: Tensor) -> Tensor:
    return values_A.view(-1, *[1] * (like.dim() - 1))
