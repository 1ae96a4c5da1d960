"""Probes by Adam with early stop, as SentEval trains them, many on the same rows at once.

Shape key: N rows, D features, F folds, K fits, A fits still running, H hidden units, C classes, B rows of a step.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim.adam import adam

from paraform.evaluation.embedding.probe_rows import ProbeConfig, ProbeRows


class Adam:
    """torch's Adam of weights with one learning rate (Kingma and Ba 2015), in one pass over them.

    The first optimiser of `torch.optim` imports torch's compiler, for seconds.
    """

    def __init__(self, parameters: Sequence[Tensor], learning_rate: float) -> None:
        self.parameters, self.learning_rate = list(parameters), learning_rate
        self.means = [torch.zeros_like(parameter) for parameter in parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in parameters]
        self.steps = [torch.zeros(()) for _ in parameters]

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        """Move the parameters, in place."""
        adam(
            self.parameters,
            list(gradients),
            self.means,
            self.squares,
            [],
            self.steps,
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    def keep(self, kept_K: Tensor) -> list[Tensor]:
        """Go on with these along the first dimension alone; returns their parameters, which are new tensors."""
        self.parameters = [parameter.detach()[kept_K].requires_grad_() for parameter in self.parameters]
        self.means = [mean[kept_K] for mean in self.means]
        self.squares = [square[kept_K] for square in self.squares]
        return self.parameters


Parameters = list[Tensor]
"""Weights and biases, layer by layer, the fits along the first dimension: [K, H, D], [K, H], [K, C, H], [K, C]."""


class AdamProbes(NamedTuple):
    """Trained networks, those of the look at the dev rows that was best.

    Args:
        parameters: in each fit's own coordinates.
        fold_K: the fold of each fit.
        epochs_K: the epochs that each was trained for.
    """

    parameters: Parameters
    fold_K: Tensor
    epochs_K: Tensor

    def predictions(self, rows: ProbeRows) -> Tensor:
        """The number of the class of each row, [K, N] int32."""
        return _predictions(self.parameters, rows, self.fold_K)


def adam_probes(
    rows: ProbeRows,
    labels_N: Tensor,
    train_FN: Tensor,
    dev_FN: Tensor,
    fold_K: Tensor,
    l2_K: Tensor,
    classes: int,
    config: ProbeConfig,
) -> AdamProbes:
    """Linear, or Linear–sigmoid–Linear, by Adam on the mean cross-entropy of a fit's own training rows.

    All fits begin with the same weights, and all rows that any fit is trained on come in one order an epoch; of the
    rows of a step a fit's batch is those that it is trained on. So a step is one product of the rows with all fits'
    weights (of standardised rows one batched product), and what a fit learns does not depend on what is trained beside
    it. Every `epoch_size` epochs the dev accuracy is looked at; fits that have stopped leave the tensor.

    Args:
        labels_N: [N], 0 to `classes` − 1.
        train_FN, dev_FN: [F, N] booleans, the rows of a fold.
        fold_K, l2_K: [K], the fold and the weight decay of each fit.
    """
    order = torch.Generator().manual_seed(config.seed + 1)
    layers = initial_layers(rows.vectors_ND.shape[1], classes, config.hidden, config.seed)
    parameters = [layer.expand(len(fold_K), *layer.shape).clone().requires_grad_() for layer in layers]
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
                logits_ACB = _logits(parameters, rows.seen(rows_B, fold_A))
                loss = _loss(logits_ACB, labels_N[rows_B], train_FN[:, rows_B][fold_A])
                gradients = torch.autograd.grad(loss, parameters)
                decayed = [
                    torch.addcmul(g, p.detach(), _over(l2_A, p)) for g, p in zip(gradients, parameters, strict=True)
                ]
                optimiser.step(decayed)
        epoch += config.epoch_size
        found_AN = _predictions(parameters, rows, fold_A, dev)
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
    return AdamProbes(best, fold_K, epochs_K)


def initial_layers(features: int, classes: int, hidden: int, seed: int) -> Parameters:
    """Weights and biases of one network, uniform within 1/√inputs, as torch's `nn.Linear` draws them."""
    generator = torch.Generator().manual_seed(seed)
    widths = [features, *([hidden] if hidden else []), classes]
    layers = []
    for inputs, outputs in itertools.pairwise(widths):
        for shape in ((outputs, inputs), (outputs,)):
            layers.append((torch.rand(shape, generator=generator) * 2 - 1) * inputs**-0.5)
    return layers


def _logits(parameters: Parameters, vectors: Tensor) -> Tensor:
    """[A, C, B], of vectors [B, D] that all fits see, or of each fit's own, [A, B, D]; the rows innermost."""
    weights_AHD, bias_AH = parameters[:2]
    if vectors.dim() == 2:
        weights_QD = weights_AHD.reshape(-1, weights_AHD.shape[-1])
        first_AHB = torch.addmm(bias_AH.reshape(-1, 1), weights_QD, vectors.T).view(*bias_AH.shape, len(vectors))
    else:
        first_AHB = torch.baddbmm(bias_AH[..., None], weights_AHD, vectors.transpose(1, 2))
    if len(parameters) == 2:
        return first_AHB
    weights_ACH, bias_AC = parameters[2:]
    return torch.baddbmm(bias_AC[..., None], weights_ACH, first_AHB.sigmoid())


def _loss(logits_ACB: Tensor, labels_B: Tensor, train_AB: Tensor) -> Tensor:
    """The sum of the fits' losses, none of which depends on another's weights."""
    losses_AB = cross_entropy(logits_ACB, labels_B.expand(len(logits_ACB), -1), reduction="none") * train_AB
    return (losses_AB.sum(1) / train_AB.sum(1).clamp(min=1)).sum()


@torch.no_grad()
def _predictions(parameters: Parameters, rows: ProbeRows, fold_A: Tensor, chosen: Tensor | None = None) -> Tensor:
    """[A, N] int32, of the chosen rows or of all."""
    folded = [*rows.folded(parameters[0], parameters[1], fold_A), *parameters[2:]]
    chosen = torch.arange(len(rows.vectors_ND)) if chosen is None else chosen
    found_AN = torch.empty(len(fold_A), len(chosen), dtype=torch.int32)
    for part in rows.blocks(folded[1].numel()):
        if len(chosen[part]):
            found_AN[:, part] = _logits(folded, rows.vectors_ND[chosen[part]]).argmax(1).int()
    return found_AN


def _over(values_A: Tensor, like: Tensor) -> Tensor:
    return values_A.view(-1, *[1] * (like.dim() - 1))
