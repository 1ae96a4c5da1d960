"""Every command that takes a model takes an encoder's variants, vectors of words, and vectors that the user made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform.encoders import Encoder

Command = Callable[..., Any]
TEXTS = ["A dog runs.", "Nobody came."]


def rows_of(done: Any) -> Any:
    assert (done.status, done.err) == (0, "")
    return np.array(json.loads(done.out)["vectors"], np.float32)


def test_a_layer_and_a_pooling_by_name_or_by_option(command: Command, minilm: Encoder) -> None:
    expected = minilm.encode(TEXTS, layer=3, pooling="cls")
    for given in (
        ["--model", "minilm@layer=3,pooling=cls"],
        ["--layer", "3", "--pooling", "cls"],
        ["--model", "minilm@layer=3", "--pooling", "cls"],
        ["--model", "minilm@pooling=cls", "--layer=-4"],
    ):
        found = rows_of(command("embed", *TEXTS, *given, "--device", "cpu", "--json"))
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_kind_of_vectors_by_name_or_by_option(tiny_run: Path, command: Command) -> None:
    given = ["embed", *TEXTS, "--device", "cpu", "--json", "--model"]
    by_option = rows_of(command(*given, tiny_run, "--vectors", "style"))
    np.testing.assert_array_equal(rows_of(command(*given, f"{tiny_run}@vectors=style")), by_option)
    assert not np.array_equal(rows_of(command(*given, f"{tiny_run}@vectors=content")), by_option)


def test_help_says_how_variants_are_named(command: Command) -> None:
    for name in (["embed"], ["evaluate", "style"]):
        assert "minilm@layer=3,pooling=cls " in command(*name, "--help").out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--layer", "9"], "layer 9 of minilm; expected 0, the embeddings, to 6, the last"),
        (["--model", "minilm@layer=3", "--layer", "2"], "--layer 2: minilm@layer=3 says layer=3; expected one"),
        (["--pooling", "sum"], "pooling is 'sum'; expected one of mean, cls, max, last"),
        (["--model", "nothing@here"], "nothing@here: no such file or folder, and 'here' behind the @"),
        (["--model", "compact@vectors=x"], "vectors=x: compact is an exemplar model; expected content or"),
        (
            ["--model", "latent-compact", "--layer", "1"],
            "latent-compact, a latent-variable model, has no choice of layer",
        ),
    ],
)
def test_what_cannot_be_chosen(given: list[str], message: str, command: Command) -> None:
    done = command("embed", *TEXTS, *given, "--device", "cpu", "--json")
    assert (done.status, done.out) == (2, "") and message in done.err
    assert done.err.startswith("paraform: error: ") and done.err.count("\n") == 1


def test_vectors_of_words(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("a 1 2\ndog 3 4\n")
    np.testing.assert_array_equal(
        rows_of(command("embed", "A dog", "cat", "--model", path, "--json")), [[2, 3], [0, 0]]
    )
    path.write_text("a 1 2\ndog 3\n")
    assert command("embed", "A dog", "--model", path, "--json").err == (
        f"paraform: error: {path}:2: 1 numbers; expected a word and 2 numbers\n"
    )


def test_vectors_that_the_user_made_are_measured_as_the_model_that_made_them(
    tmp_path: Path, question_pairs: Path, command: Command
) -> None:
    pairs = question_pairs.read_text(encoding="utf-8").splitlines()[:40]
    (tmp_path / "pairs.tsv").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    texts = list(dict.fromkeys(text for pair in pairs for text in pair.split("\t")))
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    given = ["--model", "minilm@layer=2", "--device", "cpu"]
    assert command("embed", tmp_path / "texts.txt", *given, "--out", tmp_path / "v.npy").status == 0
    style = ["evaluate", "style", "--data", tmp_path / "pairs.tsv", "--queries", 5, "--json"]
    by_model = json.loads(command(*style, *given).out)
    by_file = json.loads(command(*style, "--vectors", tmp_path / "texts.txt", tmp_path / "v.npy").out)
    assert (by_model.pop("model"), by_file.pop("model")) == ("minilm@layer=2", str(tmp_path / "v.npy"))

    own = {
        "minilm@layer=2": "|model:minilm|layer:2|",
        str(tmp_path / "v.npy"): f"|vectors:{tmp_path / 'v.npy'}|weights:",
    }
    for report in (by_model, by_file):
        for score in report["scores"]:  # a floor's is nobody's own
            assert (own.get(score["system"], "|weights:") in score["signature"]) == (score["system"] in own)
    told = command(*style[:-1], *given).out
    assert told.count("model:minilm|layer:2|") == 1 and "\nminilm@layer=2: model:minilm|layer:2|" in told

    def figures(report: Any) -> list[float]:
        return [score["value"] for score in report["scores"]]

    assert figures(by_file) == pytest.approx(figures(by_model), abs=1e-6) and len(figures(by_file)) > 1
    (tmp_path / "texts.txt").write_text("\n".join(texts[1:]) + "\n", encoding="utf-8")
    done = command(*style, "--vectors", tmp_path / "texts.txt", tmp_path / "v.npy")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"paraform: error: {tmp_path / 'v.npy'}: {len(texts)} rows for the {len(texts) - 1} lines of"
        f" {tmp_path / 'texts.txt'}; expected one each\n"
    )
