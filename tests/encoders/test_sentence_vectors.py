"""Vectors that the user made: the rows of their sentences, and files that do not fit together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform.capabilities import Embedder
from paraform.encoders import GivenVectors, read_vectors
from paraform.records import InputError

SENTENCES = ["A dog runs.", "", "Two  cats.", "A dog runs."]
ROWS = np.array([[1.5, 2], [0, 0], [3, 4], [1.5, 2]])


def write(folder: Path, rows: Any, sentences: list[str] = SENTENCES) -> GivenVectors:
    (folder / "sentences.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    np.save(folder / "vectors.npy", np.asarray(rows))
    return read_vectors(folder / "sentences.txt", folder / "vectors.npy")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f8"])
def test_a_text_has_the_row_of_its_line(dtype: str, tmp_path: Path) -> None:
    """White space may differ; an empty text has zeros even where no line is empty."""
    found = write(tmp_path, ROWS.astype(dtype))
    assert isinstance(found, Embedder)
    vectors = found.embed(["Two cats.", "A dog runs.", " ", "Two  cats. "])
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, [[3, 4], [1.5, 2], [0, 0], [3, 4]])
    assert found.embed([]).shape == (0, 2)
    assert found.signature == f"vectors:{tmp_path / 'vectors.npy'}|weights:{found.digest[:12]}"
    other = write(tmp_path, ROWS + 1)
    assert other.digest != found.digest


def test_texts_without_a_vector_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    found = write(tmp_path, ROWS)
    with pytest.raises(InputError) as caught:
        found.embed(["A dog runs.", "No such.", "Nor this.", "No such.", ""])
    assert str(caught.value) == (
        f"{tmp_path / 'sentences.txt'}: lacks 2 of 4 texts, the first of them 'No such.'; expected a sentence and a"
        " vector for each"
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:3], "vectors.npy: 3 rows for the 4 lines of"),
        (ROWS.astype(int), "vectors.npy: int64 [4, 2]; expected a .npy file of floats, [N, D]"),
        (ROWS[0], "vectors.npy: float64 [2]; expected a .npy file of floats"),
        (ROWS[:, :0], "vectors.npy: float64 [4, 0]; expected a .npy file of floats"),
        (np.where(ROWS == 4, np.nan, ROWS), "vectors.npy: row 3 holds NaN or infinity; expected finite float32"),
        (np.where(ROWS == 4, 1e99, ROWS), "vectors.npy: row 3 holds NaN or infinity"),
        (np.ones((4, 2)), "vectors.npy: all 4 rows are the same vector"),
        (ROWS + np.array([[0], [0], [0], [1]]), "sentences.txt:4: the sentence of line 1 with another vector"),
        (ROWS.astype(object), "vectors.npy: "),
    ],
)
def test_files_that_do_not_fit_are_told_in_one_line(rows: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        write(tmp_path, rows)
    assert str(caught.value).startswith(f"{tmp_path}/{message}") and "\n" not in str(caught.value)


def test_files_of_another_kind(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    np.savez(tmp_path / "several.npz", ROWS)
    (tmp_path / "text.npy").write_text("1 2\n3 4\n")
    for name, message in (("several.npz", "magic"), ("text.npy", ""), ("nowhere.npy", "no such file")):
        with pytest.raises(InputError, match=rf"{name}: .*{message}.*; expected a \.npy file of"):
            read_vectors(tmp_path / "sentences.txt", tmp_path / name)
    with pytest.raises(InputError, match=r"nowhere\.txt"):
        read_vectors(tmp_path / "nowhere.txt", tmp_path / "vectors.npy")


def test_one_sentence_is_not_constant(tmp_path: Path) -> None:
    np.testing.assert_array_equal(write(tmp_path, ROWS[:1], SENTENCES[:1]).embed(["A dog runs."]), [[1.5, 2]])
