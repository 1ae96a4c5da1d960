"""What many probes share: how they are trained, and their rows, of which each has its own coordinates without a copy.

Shape key: N rows, D features, F folds, K fits, C classes, B rows at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraform.records import InputError
from paraform.score import signature

BLOCK = 1 << 23
"""Numbers of a product held at once, 32 MiB; bounds the memory, not the result."""
NOTHING = 1e-6
"""A standard deviation below this share of the largest coordinate is the rounding of float32: no variance."""


@dataclass(frozen=True)
class ProbeConfig:
    """How probes are trained, and their L2 is chosen.

    The defaults are what we recommend; `paper()` is SentEval as its code behaves today (Conneau and Kiela 2018), and
    what differs are the fields that a test lists. Hidden units are sigmoids, as in its code, not its README's tanh.

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
        seed: of folds, initial weights and order of rows.
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
        if not 0 < self.held_out < 1:
            raise InputError(f"held_out {self.held_out}; expected a share below 1")

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
        """All settings that change a metric."""
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
            names = ["batch_size", "learning_rate", "epoch_size", "max_epochs", "tenacity", "failures"]
            about |= {name: getattr(self, name) for name in names} | {"loss": "mean"}
        if self.hidden:
            about |= {"activation": "sigmoid", "dropout": 0.0}
        return signature(**about, seed=self.seed)


def protocols_of(
    classifier: Literal["logistic", "mlp"], names: Sequence[Literal["default", "paper"]]
) -> dict[str, ProbeConfig]:
    """The probes of these protocols, by name; a multi-layer perceptron has 50 units."""
    hidden = 50 if classifier == "mlp" else 0
    known = {"default": ProbeConfig.mlp() if hidden else ProbeConfig(), "paper": ProbeConfig.paper(hidden)}
    return {name: known[name] for name in names}


@dataclass(frozen=True, eq=False, slots=True)
class ProbeRows:
    """Vectors that stand in memory once; fold f sees (vectors − shift_f) · scale_f.

    A fit's weights are folded into the shared coordinates instead: W (x − shift) scale + b = (W scale) x + b', so that
    all fits' weights side by side are one matrix product with the same rows.

    Args:
        vectors_ND: [N, D] float32, standardised over all training rows if folds are.
        shift_FD, scale_FD: what a fold's own training rows differ by, [F, D]; None: it sees the vectors as they are.
    """

    vectors_ND: Tensor
    shift_FD: Tensor | None
    scale_FD: Tensor | None

    def folded(self, weights_KHD: Tensor, bias_KH: Tensor, fold_K: Tensor) -> tuple[Tensor, Tensor]:
        """Weights and biases of the shared coordinates, of those of the fits' own."""
        if self.shift_FD is None or self.scale_FD is None:
            return weights_KHD, bias_KH
        shared_KHD = weights_KHD * self.scale_FD[fold_K, None]
        return shared_KHD, bias_KH - (shared_KHD @ self.shift_FD[fold_K, :, None]).squeeze(-1)

    def seen(self, rows_B: Tensor, fold_K: Tensor) -> Tensor:
        """Some rows as the fits see them: [B, D] if all see the same, else [K, B, D]."""
        vectors_BD = self.vectors_ND[rows_B]
        if self.shift_FD is None or self.scale_FD is None:
            return vectors_BD
        return ((vectors_BD - self.shift_FD[:, None]) * self.scale_FD[:, None])[fold_K]

    def blocks(self, width: int) -> list[slice]:
        """Parts of the rows, of which a product of that many columns is `BLOCK` numbers at most."""
        size = max(1, BLOCK // width)
        return [slice(start, start + size) for start in range(0, len(self.vectors_ND), size)]


def pair_features(lefts_ND: NDArray[np.float32], rights_ND: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a probe sees of two vectors u and v: |u − v| and u ∗ v, [N, 2 D]."""
    features: NDArray[np.float32] = np.concatenate([np.abs(lefts_ND - rights_ND), lefts_ND * rights_ND], axis=1)
    return features


def standardised_rows(vectors_ND: Tensor, train_FN: Tensor, standardise: bool) -> ProbeRows:
    """The rows of folds with these training rows, [F, N]; without `standardise` the vectors as they come.

    A coordinate that is constant over a fold's training rows has scale 0.
    """
    if not standardise:
        return ProbeRows(vectors_ND, None, None)
    used_N = train_FN.any(0)[None]
    mean_D = _mean(vectors_ND, used_N)[0]
    spread_D = _mean(vectors_ND, used_N, mean_D)[0].sqrt()
    # Rows outside all training rows may hold anything; a coordinate that is constant in training is 0 there, too.
    spread_D[spread_D <= NOTHING * vectors_ND[used_N[0]].abs().amax(0)] = torch.inf
    shared_ND = torch.empty_like(vectors_ND)
    for part in ProbeRows(vectors_ND, None, None).blocks(len(mean_D)):
        shared_ND[part] = (vectors_ND[part] - mean_D) / spread_D
    shift_FD = _mean(shared_ND, train_FN)
    variance_FD = _mean(shared_ND, train_FN, torch.zeros(())) - shift_FD.square()
    scale_FD = variance_FD.clamp(min=0).sqrt().reciprocal()
    scale_FD[variance_FD <= NOTHING] = 0
    return ProbeRows(shared_ND, shift_FD.float(), scale_FD.float())


def _mean(values_ND: Tensor, mask_FN: Tensor, centre_D: Tensor | None = None) -> Tensor:
    """The mean over each mask's rows, or the mean square about a centre, [F, D], in parts of the rows.

    In float64: what an encoder leaves of a coordinate may be so small that its square is nothing in float32.
    """
    sums_FD = torch.zeros(len(mask_FN), values_ND.shape[1], dtype=torch.float64)
    for part in ProbeRows(values_ND, None, None).blocks(values_ND.shape[1]):
        values_BD = values_ND[part].double()
        values_BD = values_BD if centre_D is None else (values_BD - centre_D).square()
        sums_FD += mask_FN[:, part].double() @ values_BD
    return sums_FD / mask_FN.sum(1, keepdim=True)
