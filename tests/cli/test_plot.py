"""`plot space`, `plot form`, `plot curves`: the picture and its points, and one line for what cannot be drawn."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform
from paraform.evaluation.embedding.plane import principal_plane

Command = Callable[..., Any]
ROWS = [(f"Can I {verb} my {noun}?", verb) for verb in ("freeze", "replace") for noun in ("card", "account", "address")]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    with open(tmp_path / "labelled.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "intent"), *ROWS])
    return tmp_path / "labelled.csv"


def test_a_space_has_a_point_for_each_row(table: Path, tmp_path: Path, command: Command) -> None:
    given = ["plot", "space", table, "--label-column", "intent", "--json", "--out"]
    found = json.loads(command(*given, tmp_path / "a.svg").out)
    plane = principal_plane(paraform.load("minilm").embed([text for text, _ in ROWS]))
    assert np.allclose([(point["x"], point["y"]) for point in found["points"]], plane.points_N2, atol=1e-4)
    assert [(point["text"], point["label"]) for point in found["points"]] == ROWS
    assert found["axes"] == list(plane.axes) and found["model"] == "minilm"
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert ">freeze (3)</text>" in text and ">6 texts by minilm</text>" in text and plane.axes[1] in text
    assert command(*given, tmp_path / "b.svg").status == 0
    assert (tmp_path / "b.svg").read_text("utf-8") == text


def test_a_space_of_latents_of_ones_own_vectors_or_of_some_rows(table: Path, tmp_path: Path, command: Command) -> None:
    given = ["plot", "space", table, "--out", tmp_path / "a.png", "--overwrite", "--json"]
    latent = json.loads(command(*given, "--model", "latent-compact").out)
    means = paraform.load("latent-compact").embed([text for text, _ in ROWS])
    assert latent["axes"] == list(principal_plane(means).axes) and "label" not in latent["points"][0]
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text, _ in ROWS), encoding="utf-8")
    np.save(tmp_path / "v.npy", means)
    own = json.loads(command(*given, "--vectors", tmp_path / "texts.txt", f"mine={tmp_path / 'v.npy'}").out)
    assert own["points"] == latent["points"] and own["model"] == "mine"
    done = command(*given, "--size", 4, "--seed", 1)
    assert "paraform: 4 of 6 texts, drawn by --seed 1 (--size)\n" in done.err
    drawn = [point["text"] for point in json.loads(done.out)["points"]]
    assert len(drawn) == 4 and drawn == [text for text, _ in ROWS if text in drawn]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["space", "TABLE", "--out", "a.pdf"], "--out a.pdf: expected a picture's name, which ends in .png or .svg"),
        (["space", "TABLE", "--label-column", "kind"], "labelled.csv: no column 'kind'; expected one of 'intent'"),
        (["space", "nothing.csv"], "nothing.csv: no such file; expected a table or a file of texts"),
        (["space", "TABLE", "--by", "umap"], "UMAP needs the package umap-learn; install it with: pip install umap"),
        (["space", "TABLE", "--model", "smollm2-judge"], "smollm2-judge"),
        (["form", "TABLE"], "labelled.csv: no report (JSONDecodeError: "),
        (["form", "TABLE", "--out", "a.gif"], "--out a.gif: expected a picture's name"),
        (["curves", "FOLDER"], "no log.jsonl with records; expected a run's folder"),
        (["curves", "RUN", "--metric", "loss"], "no run has the metric 'loss'; expected one of validation/loss"),
        (["curves", "RUN", "RUN"], "2 runs, 1 different; expected each once"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(
    given: list[str], said: str, table: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "log.jsonl").write_text('{"step": 2, "validation": {"loss": 1.5}}\n', encoding="utf-8")
    names = {"TABLE": table, "FOLDER": tmp_path, "RUN": tmp_path / "run"}
    out = [] if "--out" in given else ["--out", tmp_path / "a.png"]
    done = command("plot", *(names.get(word, word) for word in given), *out)
    assert (done.status, done.out) == (2, "") and done.err.count("\n") == 1 and said in done.err, done.err
    assert not (tmp_path / "a.png").exists()


def test_without_matplotlib_its_extra_is_named(
    table: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = command("plot", "space", table, "--out", tmp_path / "a.png")
    assert done.status == 2 and done.err.endswith("needs matplotlib; install it with: pip install 'paraform[eval]'\n")


def test_form_and_curves_print_their_points(tmp_path: Path, command: Command) -> None:
    score = {"value": 60.0, "signature": "", "system": "one", "protocol": "", "subset": "all"}
    summary = [{"name": name, **score} for name in ("meaning", "form")]
    point = {"system": "one", "floor": False, "meaning": 60.0, "form": 60.0}
    (tmp_path / "r.json").write_text(json.dumps({"summary": summary, "points": [point]}), encoding="utf-8")
    found = json.loads(command("plot", "form", tmp_path / "r.json", "--out", tmp_path / "f.svg", "--json").out)
    assert [(one["system"], one["form"]["value"]) for one in found["points"]] == [("one", 60.0)]
    assert command("plot", "form", tmp_path / "r.json", "--out", tmp_path / "f.png").out.endswith("f.png: 1 system\n")
    (tmp_path / "log.jsonl").write_text('{"step": 2, "validation": {"loss": 1.5}}\n', encoding="utf-8")
    found = json.loads(command("plot", "curves", tmp_path, "--out", tmp_path / "c.svg", "--json").out)
    assert found["metrics"] == {"validation/loss": {str(tmp_path): [[2, 1.5]]}}
    assert ">validation/loss</text>" in (tmp_path / "c.svg").read_text("utf-8")
