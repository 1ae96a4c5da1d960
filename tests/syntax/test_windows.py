from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paraform.encoders import Encoder
from paraform.syntax.windows import same_length, shortened, windows_of


@given(st.lists(st.text(min_size=1), max_size=50), st.integers(1, 12))
def test_windows_are_the_words(words: list[str], size: int) -> None:
    """All of them in order, in as few windows as can be, whose lengths differ by one at most."""
    windows = windows_of(words, size)
    assert [word for window in windows for word in window] == words
    assert len(windows) == -(-len(words) // size)
    lengths = {len(window) for window in windows}
    assert not lengths or (max(lengths) <= size and max(lengths) - min(lengths) <= 1)


def test_rows_of_one_length() -> None:
    lengths = np.array([3, 0, 2, 3, 3, 200, 2])
    rows = list(same_length(lengths, words=6))
    assert rows == [[2, 6], [0, 3], [4], [5]]  # six words at most, unless one sentence has more
    assert list(same_length(np.array([]), words=6)) == []


def test_words_are_cut_only_where_the_encoder_must(minilm: Encoder) -> None:
    assert shortened(["do", "n't"], minilm) == ["do", "n't"]
    assert shortened(["x" * 100], minilm) == ["x" * 40]
    for word in ("x7" * 50, "한국어" * 20, "힝", "你好" * 30):
        found = shortened([word] * 120, minilm)
        assert len(found) == 120 and all(found)
        assert len(minilm.word_states([found], layers=[0]).states_NLD) == 120  # raises where it is too long
