"""The adversary's game solved in closed form: what any linear reader could tell of a tree is erased from vectors.

LEACE (Belrose et al. 2023, "LEACE: Perfect linear concept erasure in closed form", NeurIPS): among all affine maps
after which no linear function of a vector correlates with the concepts, the one that changes the vectors least.

    r(x) = x − W⁺ P W (x − E x),   W = Σ_xx^{−1/2},   P the projection onto the columns of W Σ_xz

x are vectors of sentences, z what is erased of their trees. As the paper's adversary is linear, it can tell no more
from r(x) than from nothing, whatever its weights: its loss at the best weights is the entropy of the mean bag.

Shape key: N sentences, D features, C concepts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError
from paraform.syntax.trees import Tree, top_constituents

ROUNDING = 1e-4  # of the concepts' deviation: what is told less is the float32 of vectors, not a concept
LEAST = 1e-6  # of the largest eigenvalue: smaller ones are noise, and their directions are left as they are
LEAST_A_FEATURE = 2  # sentences: with fewer, chance alone correlates with a tree's shares
MOST = 20_000  # sentences it is fitted to: 50 times as many as features, so that their covariance is known well
SEEN = 0.003  # share of the sentences that a way to build the top level must have to be a concept of its own


def concepts(trees: Sequence[Tree], symbols: TreeSymbols, erased: str) -> Tensor:
    """What is erased of each tree: float64 [N, C].

    Args:
        erased: "constituents", their shares of a tree as the paper's adversary tells them; "form", that and which
            constituents stand at the top level, of those that several in a thousand trees have.
    """
    columns = [torch.stack([torch.from_numpy(symbols.constituent_shares(tree)) for tree in trees]).double()]
    if erased == "form":
        tops = [top_constituents(tree) for tree in trees]
        usual = [top for top, count in sorted(Counter(tops).items()) if count >= max(2, SEEN * len(trees))]
        number = {top: column for column, top in enumerate(usual)}
        one_hot_NC = torch.zeros(len(trees), len(usual), dtype=torch.float64)
        rows = [row for row, top in enumerate(tops) if top in number]
        one_hot_NC[rows, [number[tops[row]] for row in rows]] = 1.0
        columns.append(one_hot_NC)
    return torch.cat(columns, 1)


def least_squares_erasure(vectors_ND: Tensor, concepts_NC: Tensor) -> tuple[Tensor, Tensor]:
    """The affine map r(x) = A x + b of these vectors and concepts: A float32 [D, D], b float32 [D].

    Raises: InputError for vectors that are not finite.
    """
    x_ND, z_NC = vectors_ND.double(), concepts_NC.double()
    if not torch.isfinite(x_ND).all():
        raise InputError("vectors to erase from hold NaN or infinity; expected finite ones: try a lower learning rate")
    mean_D = x_ND.mean(0)
    x_ND, z_NC = x_ND - mean_D, z_NC - z_NC.mean(0)
    values_D, axes_DD = torch.linalg.eigh(x_ND.T @ x_ND / len(x_ND))
    there_D = values_D > LEAST * values_D[-1]
    root_D = torch.where(there_D, values_D, 0).sqrt()
    whiten_DD = (axes_DD * torch.where(there_D, 1 / root_D, 0)) @ axes_DD.T
    colour_DD = (axes_DD * root_D) @ axes_DD.T
    told_DC = whiten_DD @ (x_ND.T @ z_NC / len(x_ND))
    left_DC, singular_C, _ = torch.linalg.svd(told_DC, full_matrices=False)
    basis_DK = left_DC[:, singular_C > ROUNDING * z_NC.square().mean(0).sum().sqrt()]
    erased_DD = torch.eye(len(mean_D), dtype=torch.float64) - colour_DD @ basis_DK @ basis_DK.T @ whiten_DD
    return erased_DD.float(), (mean_D - erased_DD @ mean_D).float()
