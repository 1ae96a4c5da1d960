"""Numbers out of text against Python's own reading of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.encoders.decimals import parse_decimals


@given(st.lists(st.tuples(st.decimals(allow_nan=False, allow_infinity=False, places=6)), min_size=1, max_size=5))
def test_any_number_is_read_as_python_reads_it(numbers: list[tuple[object]]) -> None:
    texts = [f"{number[0]:f}" for number in numbers]
    with np.errstate(over="ignore"):
        expected = np.array([float(text) for text in texts]).astype(np.float32)
    np.testing.assert_array_equal(parse_decimals(" ".join(texts).encode(), len(texts)), expected)


@pytest.mark.parametrize("text", ["0.5", "-0", ".5", "5.", "-1.25e-3", "1e9", "123456789012345678901234567890", "+3"])
def test_the_ways_to_write_a_number(text: str) -> None:
    np.testing.assert_array_equal(parse_decimals(f"1 {text}".encode(), 2), np.array([1, float(text)], np.float32))


@pytest.mark.parametrize("text", ["", "1", "1 2 3", "1 x", "1 -", "1 .", "1 2.3.4", "1 2-3"])
def test_what_is_no_pair_of_numbers(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected 2|unmatched data"):
        parse_decimals(text.encode(), 2)


def test_nan_is_a_number() -> None:
    np.testing.assert_array_equal(parse_decimals(b"nan -inf", 2), np.array([np.nan, -np.inf], np.float32))
