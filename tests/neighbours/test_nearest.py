"""The nearest of all vectors, against a brute force in float64; ties, and products whose factors are rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from paraform.evaluation.content import unit
from paraform.neighbours import nearest as nearest_module
from paraform.neighbours.nearest import SLACK, Nearest, nearest

NONE = np.zeros(0, np.int64)


def drawn(count: int, width: int = 16, seed: int = 0) -> NDArray[np.float32]:
    return unit(np.random.default_rng(seed).standard_normal((count, width), np.float32))


def found(
    vectors: NDArray[np.float32], questions: NDArray[np.float32], num: int, least: float = -1.0, without: Any = NONE
) -> list[Nearest]:
    return nearest(torch.from_numpy(vectors), questions, num, least, without)


@pytest.mark.parametrize("num", [1, 3, 40, 5000])
@pytest.mark.parametrize("count", [1, 2, 9, 64, 701, 4099])
def test_is_the_brute_force(count: int, num: int) -> None:
    """But for the order of rows that a last digit of float32 tells apart."""
    vectors, questions = drawn(count), drawn(7, seed=1)
    for least in (-1.0, 0.2, 0.9999):
        answers = found(vectors, questions, num, least)
        assert len(answers) == 7
        for question, answer in zip(questions, answers, strict=True):
            cosines = vectors.astype(np.float64) @ question.astype(np.float64)
            expected = np.sort(cosines[cosines >= least])[::-1][:num]
            assert len(set(answer.rows.tolist())) == len(answer.rows) == len(expected)
            np.testing.assert_allclose(cosines[answer.rows], expected, atol=1e-6)
            np.testing.assert_allclose(answer.cosines, expected, atol=1e-6)


@settings(max_examples=200)
@given(
    whole=st.lists(st.tuples(*[st.integers(-1, 1)] * 3).filter(any), min_size=1, max_size=700),
    num=st.integers(1, 30),
    least=st.sampled_from([-1.0, 0.0, 0.7]),
)
def test_of_equal_cosines_the_lower_row_is_first(whole: list[tuple[int, ...]], num: int, least: float) -> None:
    """Of 26 different vectors many are the same, and many as near."""
    vectors = unit(np.array(whole, np.float32))
    for question in unit(np.array([[1, 0, 0], [1, 1, 1], [0, -1, 1]], np.float32)):
        (answer,) = found(vectors, question[None], num, least)
        order = np.lexsort((np.arange(len(vectors)), -(vectors * question).sum(1)))
        expected = [row for row in order.tolist() if (vectors[row] * question).sum() >= least][:num]
        assert len(answer.rows) == len(expected)
        for one, other in zip(answer.rows.tolist(), expected, strict=True):  # a last digit may be another
            assert one == other or abs(float(((vectors[one] - vectors[other]) * question).sum())) < 1e-6
        same = [(-cosine, row) for row, cosine in zip(answer.rows.tolist(), answer.cosines.tolist(), strict=True)]
        assert same == sorted(same)


def test_rows_without_a_vector_are_near_to_nothing() -> None:
    vectors = drawn(300)
    vectors[[3, 200]] = 0
    without = np.array([3, 200])
    (answer,) = found(vectors, drawn(1, seed=1), 300, without=without)
    assert sorted(answer.rows.tolist()) == [row for row in range(300) if row not in (3, 200)]
    (answer,) = found(vectors[[3, 200]], drawn(1, seed=1), 5, without=np.array([0, 1]))
    assert answer.rows.tolist() == []


def test_parts_make_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, questions = drawn(500), drawn(20, seed=1)
    whole = found(vectors, questions, 30)
    monkeypatch.setattr(nearest_module, "BLOCK", 1500)
    monkeypatch.setattr(nearest_module, "CHECKED", 100)
    for one, other in zip(found(vectors, questions, 30), whole, strict=True):
        assert one.rows.tolist() == other.rows.tolist() and one.cosines.tolist() == other.cosines.tolist()
    assert found(vectors, questions[:0], 3) == []


def test_a_product_of_rounded_factors_loses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch computes it with AMX while another thread encodes: in bfloat16 other rows are nearest."""
    vectors, questions = drawn(4000, 24), drawn(50, 24, seed=1)
    expected = found(vectors, questions, 10)
    rounded = torch.from_numpy(vectors).bfloat16().float()
    asked = torch.from_numpy(questions).bfloat16().float()
    worst = ((asked @ rounded.T) - torch.from_numpy(questions @ vectors.T)).abs().max()
    assert 1e-4 < worst < SLACK / 2
    assert any(
        torch.topk(one @ rounded.T, 10).indices.tolist() != answer.rows.tolist()
        for one, answer in zip(asked, expected, strict=True)
    )
    monkeypatch.setattr(
        torch.Tensor, "__matmul__", lambda one, other: torch.mm(one.bfloat16().float(), other.bfloat16().float())
    )
    for answer, other in zip(found(vectors, questions, 10), expected, strict=True):
        assert answer.rows.tolist() == other.rows.tolist() and answer.cosines.tolist() == other.cosines.tolist()
