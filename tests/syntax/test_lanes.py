"""Values of 512 bits in compiled code against whole numbers of Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from paraform.syntax.compiled import compiled
from paraform.syntax.lanes import WIDTH, WORDS, load, same, some, store


@compiled
def results(words: NDArray[np.uint64], out: NDArray[np.uint64]) -> tuple[bool, bool]:
    one, other = load(words, np.uint64(0)), load(words, np.uint64(WORDS))
    for place, value in enumerate((one & other, one | other, one ^ other, ~one, same(True), same(False))):
        store(out, np.uint64(place * WORDS), value)
    return some(one), some(one & other)


@given(*[st.integers(0, 2**WIDTH - 1) | st.integers(0, WIDTH - 1).map(lambda bit: 1 << bit) for _ in range(2)])
def test_like_whole_numbers(one: int, other: int) -> None:
    everything = 2**WIDTH - 1
    out = np.zeros(6 * WORDS, np.uint64)
    asked = np.frombuffer(one.to_bytes(WIDTH // 8, "little") + other.to_bytes(WIDTH // 8, "little"), np.uint64)
    assert results(asked, out) == (one > 0, one & other > 0)
    found = [int.from_bytes(row.tobytes(), "little") for row in out.reshape(6, WORDS)]
    assert found == [one & other, one | other, one ^ other, one ^ everything, everything, 0]
