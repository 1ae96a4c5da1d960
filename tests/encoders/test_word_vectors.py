"""Means of word vectors against means by hand; formats as they are distributed, and lines that are wrong."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from paraform import checkpoint
from paraform.encoders import word_vectors
from paraform.encoders.word_vectors import WordVectors, load_word_vectors
from paraform.records import InputError
from paraform.weights import sha256

GLOVE = "the 0.5 -1 2e-1\nThe 1 1 1\ndog 0 0.25 4\n. . . 7 7 7\nn't 3 3 3\ncafé 1 2 3\n"


def load(folder: Path, content: str | bytes, name: str = "glove.txt") -> WordVectors:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_word_vectors(path)


def test_a_text_is_the_mean_of_the_words_that_are_known(tmp_path: Path) -> None:
    """As written, else lower-cased; each as often as it stands there; `don't` is `do n't`."""
    found = load(tmp_path, GLOVE)
    assert (len(found), found.dimension) == (6, 3)
    the, capital, dog, negation, cafe = np.array([[0.5, -1, 0.2], [1, 1, 1], [0, 0.25, 4], [3, 3, 3], [1, 2, 3]])
    expected = {
        "the dog": (the + dog) / 2,
        "The dog the the": (capital + dog + 2 * the) / 4,
        "THE DOG barks": (the + dog) / 2,
        "don't": negation,
        "Café": cafe,
        "a cat": np.zeros(3),
        "": np.zeros(3),
    }
    for batch_size in (0, 1, 3):
        vectors = found.embed(list(expected), batch_size=batch_size)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, list(expected.values()), atol=1e-6)
    assert found.embed([]).shape == (0, 3)


@pytest.mark.parametrize(
    "content",
    [
        "2 3\na 1 2 3\nb 4 5 6\n",  # word2vec's and fastText's header
        "2 3\na 1 2 3 \nb 4 5 6 \n",  # word2vec's own program ends lines with a space
        "a 1 2 3\r\nb 4 5 6\r\n",
        "a 1 2 3\nb 4 5 6",
    ],
)
def test_the_formats_that_are_distributed(content: str, tmp_path: Path) -> None:
    found = load(tmp_path, content, "some.vec")
    np.testing.assert_array_equal(found.embed(["a", "b", "a b"]), [[1, 2, 3], [4, 5, 6], [2.5, 3.5, 4.5]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": 0 words; expected a line a word"),
        ("a b c\n", ":1: no word with numbers behind it"),
        ("a 1 2\nb 1\n", ":2: 1 numbers; expected a word and 2 numbers"),
        ("a 1 2\n\nb 1 2\n", ":2: nothing; expected a word and 2 numbers"),
        ("a 1 2\nb 1 2 3\n", ":2: more than 2 numbers"),
        ("a 1 2\n 1 2\n", ":2: no word before the numbers"),
        ("2 2\na 1 2\nb 1 2 3\n", ":3: more than 2 numbers"),
        ("a 1 2\nb 3 4\na 5 6\n", ":3: 'a' again, after line 1"),
        ("3 2\na 1 2\nb 3 4\n", ": 2 words; expected 3 words, as line 1 says"),
        (b"a " + b"1" * (1 << 20), ":1: more than 1,048,576 bytes"),
    ],
)
def test_a_bad_file_is_told_with_its_line(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, content)
    assert str(caught.value).startswith(f"{tmp_path / 'glove.txt'}{message}") and "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["nan", "inf", "1e99", "x", "1,5", ""])
def test_a_bad_number_is_told_with_its_line(number: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"glove\.txt:2: 'b' has no 2 finite numbers behind it"):
        load(tmp_path, f"a 1 2\nb {number} 4\nc 5 6\n")


@pytest.mark.parametrize("number", ["0.5", "-0", ".5", "5.", "-1.25e-3", "1e9", "123456789012345678901234567890", "+3"])
def test_the_ways_to_write_a_number(number: str, tmp_path: Path) -> None:
    np.testing.assert_array_equal(load(tmp_path, f"a 1 {number}\n").embed(["a"])[0], np.float32([1, float(number)]))


def test_a_file_is_read_once_and_again_when_it_changes(
    tmp_path: Path, own_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words and vectors are in the cache; what is damaged there is made again; a bad file leaves nothing."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("PARAFORM_CACHE", str(cache))
    first = load(tmp_path, GLOVE)
    files = sorted((cache / "word-vectors").iterdir())
    assert [file.suffix for file in files] == [".npy", ".words"]
    np.testing.assert_array_equal(np.load(files[0])[2], [0, 0.25, 4])
    with monkeypatch.context() as patch:
        patch.setattr(word_vectors, "_convert", None)
        again = load_word_vectors(tmp_path / "glove.txt")
    assert again.digest == first.digest == sha256(tmp_path / "glove.txt")
    for damage in (lambda: files[0].write_bytes(b"x"), files[0].unlink, lambda: files[1].write_bytes(b"x\nthe")):
        damage()
        np.testing.assert_array_equal(load_word_vectors(tmp_path / "glove.txt").embed(["dog"]), [[0, 0.25, 4]])
    changed = load(tmp_path, GLOVE + "cat 5 5 5\n")
    np.testing.assert_array_equal(changed.embed(["cat"]), [[5, 5, 5]])
    before = sorted((cache / "word-vectors").iterdir())
    with pytest.raises(InputError):
        load(tmp_path, GLOVE + "cat 5 5 x\n")
    assert sorted((cache / "word-vectors").iterdir()) == before


def test_memory_does_not_grow_with_the_vectors(tmp_path: Path) -> None:
    rows = 20_000
    row = " ".join(["0.125"] * 100)
    path = tmp_path / "glove.txt"
    path.write_text("".join(f"w{number} {row}\n" for number in range(rows)))
    tracemalloc.start()
    found = load_word_vectors(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows * 100 * 4  # bytes of the vectors; what is held is the words
    np.testing.assert_array_equal(found.embed(["w19999"]), np.full((1, 100), 0.125, np.float32))


def test_a_file_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("a 1 2\nb 3 4\n")
    model = checkpoint.load(path)
    assert isinstance(model, WordVectors)
    assert checkpoint.signature_of(model, "x") == (
        f"model:{path}|words:penn-treebank|case:own-then-lc|pooling:mean|weights:{model.digest[:12]}"
    )
    with pytest.raises(InputError, match="has no choice of layer; expected its name alone"):
        checkpoint.load(f"{path}@layer=1")
    path.rename(tmp_path / "glove.bin")
    with pytest.raises(InputError, match=r"a file; expected a folder, or a text file of word vectors \(\.txt, \.vec\)"):
        checkpoint.load(tmp_path / "glove.bin")


def test_words_are_found_as_they_are_written(tmp_path: Path) -> None:
    """InferSent's lookup: nothing is cut or lower-cased; of unknown words none."""
    found = load(tmp_path, GLOVE + "<s> 9 9 9\n")
    the, capital, none, mark, again = found.words(["the", "The", "THE", "<s>", "the"])
    assert none is None and the is not None and capital is not None and mark is not None and again is not None
    np.testing.assert_allclose([the, capital, mark, again], [[0.5, -1, 0.2], [1, 1, 1], [9, 9, 9], [0.5, -1, 0.2]])
    assert found.words([]) == []
    with pytest.raises(InputError, match="string"):
        found.words("the")
