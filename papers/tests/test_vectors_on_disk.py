"""Vectors kept on disk: nothing is encoded twice, and other settings have other files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.records import InputError
from paraform_papers.vectors_on_disk import kept


class Counting:
    """The letters and the words of a text; it notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.array([[len(text), len(text.split())] for text in texts], np.float32)


def test_a_text_is_encoded_once_over_calls(tmp_path: Path) -> None:
    embed = Counting()
    assert kept(embed, "a", tmp_path)(["x y", "z", "x y"]).tolist() == [[3, 2], [1, 1], [3, 2]]
    assert kept(embed, "a", tmp_path)(["new one", "z"]).tolist() == [[7, 2], [1, 1]]
    assert kept(embed, "a", tmp_path)(["z", "new one", "x y"]).tolist() == [[1, 1], [7, 2], [3, 2]]
    assert embed.asked == [["x y", "z"], ["new one"]]
    kept(embed, "b", tmp_path)(["z"])
    assert embed.asked[-1] == ["z"]  # other settings, other vectors


def test_rows_without_a_text_are_left_and_texts_without_a_row_are_an_error(tmp_path: Path) -> None:
    kept(Counting(), "a", tmp_path)(["x", "y"])
    (texts,) = tmp_path.glob("*.json")
    texts.write_text('["x"]')  # as a kill between the two files leaves them
    embed = Counting()
    assert kept(embed, "a", tmp_path)(["y", "x"]).tolist() == [[1, 1], [1, 1]] and embed.asked == [["y"]]
    texts.write_text('["x", "y", "z"]')
    with pytest.raises(InputError, match="2 rows for 3 texts; remove it"):
        kept(embed, "a", tmp_path)(["x"])


@pytest.mark.parametrize("ending", ["json", "npy"])
def test_damaged_files_are_named(ending: str, tmp_path: Path) -> None:
    kept(Counting(), "a", tmp_path)(["x", "y"])
    (damaged,) = tmp_path.glob(f"*.{ending}")
    damaged.write_bytes(damaged.read_bytes()[:-4])
    with pytest.raises(InputError, match=f"^{damaged.with_suffix('.npy')} and .json: .*; remove both"):
        kept(Counting(), "a", tmp_path)(["x"])


def test_an_embed_that_leaves_texts_out_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"embed gave shape \[1, 2\] for 2 texts"):
        kept(lambda texts: np.zeros((1, 2), np.float32), "a", tmp_path)(["x", "y"])


def test_what_is_no_vector_is_not_kept(tmp_path: Path) -> None:
    """Else it would be found in every later call."""
    with pytest.raises(ValueError, match="embed gave NaN or infinity"):
        kept(lambda texts: np.full((len(texts), 2), np.nan, np.float32), "a", tmp_path)(["x"])
    assert kept(Counting(), "a", tmp_path)(["x"]).tolist() == [[1, 1]]
