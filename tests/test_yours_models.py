"""docs/yours.md, "An encoder" and "A latent model": its lines, as they stand, in a folder of their own."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "yours.md").read_text("utf-8")
Command = Callable[..., Any]
TASKS = [("freeze", "account"), ("replace", "card"), ("check", "balance"), ("update", "address")]


def blocks(title: str) -> list[tuple[str, str]]:
    """Language and text of each block of a section."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = (part for part in section if part.startswith(f"{title}\n"))
    return re.findall(r"^```(python|sh|toml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def ran(block: str, command: Command, *more: str) -> list[Any]:
    """What the commands of a block of the shell did."""
    done = [command(*shlex.split(line)[1:], *more) for line in block.splitlines()]
    assert all(one.status == 0 for one in done), [one.err for one in done]
    return done


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_encoder(folder: Path, command: Command) -> None:
    (folder / "sets").mkdir()
    pairs = [f"a {animal} {verb},the {animal} {verb},4\na {animal} {verb},no {animal} is here,1\n"
             for animal in ("cat", "dog", "bird") for verb in ("sits", "runs")]  # fmt: skip
    (folder / "sets/stsb-en-test.csv").write_text("".join(pairs), encoding="utf-8")
    orders = {"O": "the {} that we saw sits", "I": "that the {} we saw sits"}
    lines = [f"{part}\t{label}\t{text.format(noun + str(at))}\n" for part in ("tr", "va", "te") for at in range(6)
             for noun in ("cat", "dog") for label, text in orders.items()]  # fmt: skip
    (folder / "sets/bigram_shift.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "labelled.csv").write_text("text,label\nA cat sits.,cat\nA dog runs.,dog\nA dog sits.,dog\n", "utf-8")
    (_, first), (_, encoder), (_, then) = blocks("An encoder")
    ran(first, command)
    exec(compile(encoder, "yours.md", "exec"), {})
    ran(then, command)
    report = json.loads((folder / "report.json").read_text("utf-8"))
    assert list(report["models"]) == ["minilm", "mine"]
    assert {one["first"] for family in report["families"] for one in family["differences"]} == {"minilm"}
    assert ">mine</text>" in (folder / "form.svg").read_text("utf-8") and (folder / "space.png").is_file()


def test_a_latent_model(folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    forms = ("how do i {} my {} ?", "what is the best way to {} my {} ?", "can i {} my {} ?")
    texts = [form.format(*task) + when for task in TASKS for form in forms for when in ("", " today", " online")]
    (folder / "sentences.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (folder / "test.txt").write_text("can i check my card ?\nhow do i freeze my address ?\n", encoding="utf-8")
    for name in ("vae", "clvae"):
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / "log.jsonl").write_text('{"step": 1, "validation": {"kl": 2.0}}\n', encoding="utf-8")
    (_, module), (_, project), (_, train), (_, shell) = blocks("A latent model")
    assert len(module.splitlines()) <= 40
    (folder / "bag.py").write_text(module, encoding="utf-8")
    installed(folder, tomllib.loads(project)["project"])
    monkeypatch.syspath_prepend(str(folder))
    found: dict[str, Any] = {}
    try:
        exec(compile(train, "yours.md", "exec"), found)
        *measured, drawn = shell.splitlines()
        alone, compared = (json.loads(done.out) for done in ran("\n".join(measured), command, "--json"))
        text = ran(measured[1], command)[0].err
        ran(drawn, command)
        monkeypatch.setattr("paraform.evaluation.latent.ngram.require_ngrams", lambda: None)
        samples = command("evaluate", "latent", "--model", "bag-model", "--data", "test.txt", "--training", "test.txt")
        refused = command("train", "bag", "--data", "test.txt", "--out", "run")
    finally:
        sys.modules.pop("bag", None)
    assert samples.status == 2 and "--model bag-model: Bag; expected a model with `sample`, `words`" in samples.err
    assert "train bag: a system without a trainer" in refused.err
    assert "train bag" not in command("--help").out
    values = {(one["protocol"], one["name"]): one["value"] for one in alone["scores"]}
    assert values["honest", "−ln p(x)"] == pytest.approx(values["honest", "−ELBO"], abs=0.5)  # nearly its posterior
    assert "precision:the model's own" in alone["scores"][0]["signature"]
    (comparison,) = compared["comparisons"]
    assert (comparison["first"], comparison["second"]) == ("bag-model", "bag-wide")
    assert "bag-model has no `lexicon`: whether both models know the same words" in text
    trained = {(one.protocol, one.name): one.value for one in found["report"].scores}
    # Without z all texts are drawn from one bag, whose perplexity is that of their words' shares.
    assert trained["honest", "PPL of −ELBO"] < unigram_perplexity(texts)


def unigram_perplexity(texts: list[str]) -> float:
    import numpy as np

    words = [word for text in texts for word in [*text.split(), "</s>"]]
    shares = np.unique(words, return_counts=True)[1] / len(words)
    return float(np.exp(-(shares * np.log(shares)).sum()))


def installed(folder: Path, project: dict[str, Any]) -> None:
    """What `pip install -e .` would leave of the project."""
    about = folder / f"{project['name']}-{project['version']}.dist-info"
    about.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (about / "METADATA").write_text(head, encoding="utf-8")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    (about / "entry_points.txt").write_text("".join(groups), encoding="utf-8")
