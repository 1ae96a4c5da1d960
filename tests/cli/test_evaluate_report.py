"""`evaluate report`: a page and JSON of several models, what is left out, and one line for what it cannot use."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Command = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    rows = [f"a {animal} {verb},the {animal} {verb},4\na {animal} {verb},no {animal} is here,1\n"
            for animal in ("cat", "dog", "bird") for verb in ("sits", "runs")]  # fmt: skip
    (tmp_path / "data/stsb-en-test.csv").write_text("".join(rows))
    orders = {"O": "the {} that we saw sits", "I": "that the {} we saw sits"}
    lines = [
        f"{part}\t{label}\t{text.format(noun + str(at))}\n"
        for part in ("tr", "va", "te")
        for at in range(6)
        for noun in ("cat", "dog")
        for label, text in orders.items()
    ]
    (tmp_path / "data/bigram_shift.txt").write_text("".join(lines))
    return tmp_path / "data"


def test_two_models_side_by_side(folder: Path, tmp_path: Path, command: Command) -> None:
    page = tmp_path / "out" / "report.html"
    models = ["--model", "minilm", "--model", "minilm@layer=2,pooling=cls"]
    given = ["evaluate", "report", *models, "--data", folder, "--out", page, "--resamples", 20, "--floors", "words"]
    done = command(*given, "--families", "similarity", "probing", "transfer")
    assert done.status == 0, done.err
    assert done.out.startswith("Meaning: ") and done.out.endswith(f"{page}, {page.with_suffix('.json')}\n")
    assert "paraform: transfer: left out; expected SentEval's files" in done.err
    texts = 6 + 6 + 3 + 24  # of STS-B those with a, with the, with no; the parts of BShift have the same
    assert f"paraform: encoding: {texts} different texts\n" in done.err
    assert "paraform: similarity: 1 set, 4 systems\n" in done.err and "paraform: probing: 1 set, " in done.err
    found = json.loads(page.with_suffix(".json").read_text("utf-8"))
    assert list(found["models"]) == ["minilm", "minilm@layer=2,pooling=cls"]
    assert list(found["floors"]) == ["shared words", "TF-IDF"]
    assert [family["family"] for family in found["families"]] == ["similarity", "probing"]
    assert found["families"][0]["command"] == (
        f"paraform evaluate similarity --model minilm --model minilm@layer=2,pooling=cls --data {folder} --resamples 20"
    )
    assert {point["system"] for point in found["points"]} == {*found["models"], *found["floors"]}
    text = page.read_text("utf-8")
    assert text.count("<svg") == 2 and "minilm@layer=2,pooling=cls" in text and "<script" not in text


def test_the_page_names_the_command_of_vectors_that_the_user_made(
    folder: Path, tmp_path: Path, command: Command
) -> None:
    sides = [line.split(",")[:2] for line in (folder / "stsb-en-test.csv").read_text("utf-8").splitlines()]
    texts = sorted({text for side in sides for text in side})
    (tmp_path / "my texts.txt").write_text("\n".join(texts) + "\n", "utf-8")
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(len(texts), 4)))
    given = ["--data", folder, "--vectors", tmp_path / "my texts.txt", tmp_path / "v.npy", "--floors", "none"]
    more = ["--families", "similarity", "--resamples", 5, "--json"]
    done = command("evaluate", "report", *given, "--out", tmp_path / "r.html", *more)
    (family,) = json.loads(done.out)["families"]
    program, *typed = shlex.split(family["command"])
    again = json.loads(command(*typed, "--floors", "none", "--json").out)
    assert program == "paraform" and again["scores"] == family["scores"]


def test_vectors_of_the_texts_that_it_asks_for_stand_beside_a_model(
    folder: Path, tmp_path: Path, command: Command
) -> None:
    texts, page = tmp_path / "texts.txt", tmp_path / "r.html"
    families = ["--families", "similarity", "probing", "--data", folder]
    (folder / "stsb-en-test.csv").write_text("a  cat,the cat,4\na cat,no cat,1\na dog,the dog,5\n")
    asked = json.loads(command("evaluate", "report", *families, "--texts-out", texts, "--json").out)
    lines = texts.read_text("utf-8").splitlines()
    assert asked == {"texts_out": str(texts), "texts": len(lines)}
    assert lines[:5] == ["a cat", "the cat", "no cat", "a dog", "the dog"] and len(set(lines)) == len(lines) == 29
    assert command("embed", texts, "--out", tmp_path / "v.npy").status == 0
    given = [*families, "--vectors", texts, f"copy={tmp_path / 'v.npy'}", "--model", "minilm", "--resamples", 5]
    found = json.loads(command("evaluate", "report", *given, "--out", page, "--floors", "none", "--json").out)
    assert list(found["models"]) == ["minilm", "copy"] and "|weights:" in found["models"]["copy"]
    for family in found["families"]:
        values = {name: [one["value"] for one in family["scores"] if one["system"] == name] for name in found["models"]}
        assert values["copy"] == pytest.approx(values["minilm"], abs=1e-3)
        assert f" --model minilm --vectors {texts} copy={tmp_path / 'v.npy'} " in family["command"]
    lines.remove("no cat")
    texts.write_text("\n".join(lines) + "\n", "utf-8")
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(len(lines), 4)))
    refused = command("evaluate", "similarity", "--data", folder, "--vectors", texts, tmp_path / "v.npy")
    assert refused.status == 2 and "lacks 1 of " in refused.err and "the first of them 'no cat'" in refused.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--out", "report.pdf"], "--out report.pdf: expected a page's name, such as report.html"),
        ([], "no --out; expected --out report.html, or --texts-out texts.txt"),
        (["--out", "r.html", "--texts-out", "t.txt"], "--out r.html beside --texts-out, which measures nothing"),
        (["--out", "r.html", "--families", "form"], "--families"),
        (["--out", "r.html", "--families", "transfer"], "nothing for transfer; expected SentEval's files"),
        (["--out", "r.html", "--model", "minilm", "minilm"], "--model minilm twice; expected names that differ"),
    ],
)
def test_one_line_for_what_it_cannot_use(given: list[str], said: str, folder: Path, command: Command) -> None:
    done = command("evaluate", "report", "--data", folder, *given)
    assert (done.status, done.out) == (2, "") and said in done.err and done.err.count("\n") <= 2


@pytest.mark.parametrize("ending", ["html", "json"])
def test_what_cannot_be_written_is_told_before_anything_is_measured(
    ending: str, folder: Path, tmp_path: Path, command: Command
) -> None:
    (tmp_path / f"r.{ending}").mkdir()
    done = command("evaluate", "report", "--data", folder, "--out", tmp_path / "r.html", "--families", "similarity")
    said = f"paraform: error: {tmp_path / 'r'}.{ending}: not a regular file; expected the name of one to write\n"
    assert (done.status, done.out, done.err) == (2, "", said)
    assert list(tmp_path.glob(".*")) == [] and not (tmp_path / "r.html").is_file()
