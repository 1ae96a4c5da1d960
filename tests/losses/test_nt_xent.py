"""NT-Xent against its closed forms and a plain double loop over the paper's equations."""

from __future__ import annotations

import doctest
import math
from typing import Any, Literal

import pytest
import torch
from torch import Tensor

from paraform.losses import nt_xent as module
from paraform.losses.nt_xent import nt_xent


def by_the_equations(first: Tensor, second: Tensor, tau: float, similarity: str, clusters: list[int]) -> float:
    """Eqs. 6–8: l(a_i, b_i) = −ln exp(a_i·b_i/τ) / (Σ_{k≠i} exp(a_i·a_k/τ) + Σ_k exp(a_i·b_k/τ)); L = Σ_i both ways."""

    def like(a: Tensor, b: Tensor) -> float:
        norms = a.norm() * b.norm() if similarity == "cosine" else torch.ones(())
        return math.exp(float(a @ b / norms) / tau)

    total = 0.0
    rows = range(len(first))
    for ours, theirs in ((first, second), (second, first)):
        for i in rows:
            others = [k for k in rows if k != i and clusters[k] != clusters[i]]
            bottom = like(ours[i], theirs[i])
            bottom += sum(like(ours[i], ours[k]) + like(ours[i], theirs[k]) for k in others)
            total -= math.log(like(ours[i], theirs[i]) / bottom)
    return total


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
@pytest.mark.parametrize("clusters", [None, [0, 1, 0, 2, 1, 3]])
def test_the_papers_equations(similarity: Literal["dot", "cosine"], clusters: list[int] | None) -> None:
    torch.manual_seed(0)
    first, second = torch.randn(2, 6, 5, dtype=torch.float64)
    given = None if clusters is None else torch.tensor(clusters)
    expected = by_the_equations(first, second, 0.7, similarity, clusters or list(range(6)))
    both = [
        nt_xent(first, second, temperature=0.7, similarity=similarity, reduction=reduction, clusters=given).item()
        for reduction in ("sum", "mean")
    ]
    assert both == pytest.approx([expected, expected / 12], rel=1e-9)


@pytest.mark.parametrize("batch", [2, 5, 64])
def test_all_alike(batch: int) -> None:
    """Every row looks like the partner: ln(2B − 1), whatever the temperature."""
    ones = torch.ones(batch, 3)
    assert nt_xent(ones, ones, temperature=0.1).item() == pytest.approx(math.log(2 * batch - 1), rel=1e-6)


def test_all_apart() -> None:
    """Orthogonal pairs: the partner has e^(1/τ), the 2B − 2 others have 1."""
    rows = torch.eye(4)
    expected = math.log(math.exp(1 / 0.5) + 6) - 1 / 0.5
    assert nt_xent(rows, 3 * rows, temperature=0.5).item() == pytest.approx(expected, rel=1e-6)


def test_one_cluster_has_nothing_to_contrast() -> None:
    torch.manual_seed(0)
    first, second = torch.randn(2, 4, 3)
    assert nt_xent(first, second, temperature=0.5, clusters=torch.zeros(4, dtype=torch.long)).item() == 0.0


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_gradients(similarity: Literal["dot", "cosine"]) -> None:
    torch.manual_seed(0)
    first, second = (torch.randn(4, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    clusters = torch.tensor([0, 0, 1, 2])

    def loss(first: Tensor, second: Tensor) -> Tensor:
        return nt_xent(first, second, temperature=0.5, similarity=similarity, clusters=clusters)

    assert torch.autograd.gradcheck(loss, (first, second))
    zero = torch.zeros(4, 3, requires_grad=True)  # no direction, yet no NaN
    loss(zero, zero).backward()
    assert zero.grad is not None and torch.isfinite(zero.grad).all()


@pytest.mark.parametrize(
    ("first", "second", "temperature"),
    [((4, 3), (4, 2), 0.5), ((1, 3), (1, 3), 0.5), ((4,), (4,), 0.5), ((4, 3), (4, 3), 0.0), ((4, 3), (4, 3), -1.0)],
)
def test_errors(first: tuple[int, ...], second: tuple[int, ...], temperature: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        nt_xent(torch.ones(first), torch.ones(second), temperature=temperature)


def test_the_example() -> None:
    assert doctest.testmod(module).failed == 0 < doctest.testmod(module).attempted


@pytest.mark.parametrize("clusters", [None, [0, 1, 0]])
def test_further_negatives_stand_in_every_denominator(clusters: list[int] | None) -> None:
    """By a loop: −ln of the partner among the others of other clusters and the negatives of other clusters."""
    torch.manual_seed(2)
    first, second, negatives = torch.randn(3, 4), torch.randn(3, 4), torch.randn(2, 4)
    given = None if clusters is None else torch.tensor(clusters)
    beyond = None if clusters is None else torch.tensor([1, 9])
    rows, numbers = torch.cat([first, second]), (clusters or [0, 1, 2]) * 2
    total = 0.0
    for i in range(6):
        like = [math.exp(float(rows[i] @ rows[k]) / 0.5) for k in range(6)]
        partner = (i + 3) % 6
        bottom = like[partner] + sum(like[k] for k in range(6) if k % 3 != i % 3 and numbers[k] != numbers[i])
        for k, cluster in enumerate([-1, -1] if clusters is None else [1, 9]):
            bottom += math.exp(float(rows[i] @ negatives[k]) / 0.5) if cluster != numbers[i] else 0
        total -= math.log(like[partner] / bottom)
    options: dict[str, Any] = {"temperature": 0.5, "similarity": "dot", "reduction": "sum", "clusters": given}
    found = nt_xent(first, second, **options, negatives=negatives, negative_clusters=beyond)
    assert found.item() == pytest.approx(total, rel=1e-5)


def test_negatives_without_clusters_beside_rows_with_some() -> None:
    with pytest.raises(ValueError, match="with clusters if the rows have some"):
        nt_xent(torch.ones(2, 3), torch.ones(2, 3), temperature=1, clusters=torch.arange(2), negatives=torch.ones(1, 3))
