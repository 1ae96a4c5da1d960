"""The embedded latent model: made from a file of pairs, and what ships."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform
from paraform.evaluation.latent import refitted_dual, report
from paraform.manifest import read
from paraform.weights import pretrained_folder
from paraform_papers.clvae.configs import TINY
from paraform_papers.shipped import latent_compact

WORDS = ["we", "like", "the", "cat", "and", "she", "saw", "a", "dog", "run", "by", "in", "rain", "or", "snow", "where"]


def pairs(count: int) -> str:
    random = np.random.default_rng(0)

    def one() -> str:
        return " ".join(random.choice(WORDS, random.integers(3, 7))).capitalize() + "."

    return "".join(f"{one()}\t{one()}\n" for _ in range(count))


def test_no_split_shares_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("A b.\tC d.\nC d.\tE f.\n" + pairs(80), encoding="utf-8")
    training, validation, test = (set(split) for split in latent_compact.splits(tmp_path / "pairs.tsv"))
    assert training and validation and test
    assert not (training & validation or training & test or validation & test)
    assert any({"A b.", "C d.", "E f."} <= split for split in (training, validation, test))


def test_the_training_sentences_go_to_a_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pairs.tsv").write_text(pairs(80), encoding="utf-8")
    given = ["latent_compact", str(tmp_path / "pairs.tsv"), "--list", str(tmp_path / "seen.txt")]
    monkeypatch.setattr(sys, "argv", given)
    latent_compact.main()
    seen = (tmp_path / "seen.txt").read_text(encoding="utf-8").splitlines()
    assert seen == latent_compact.splits(tmp_path / "pairs.tsv")[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.tsv", "seen.txt"]


def test_the_splits_are_those_of_the_card(data: Path) -> None:
    training, _, test = latent_compact.splits(data / "tatoeba" / "pairs.tsv")
    card = Path(latent_compact.__file__).parents[1] / "pretrained" / "latent-compact" / "README.md"
    text = card.read_text(encoding="utf-8")
    assert f"\n{len(training):,} sentences, 40 epochs" in text and f"on {len(test):,} sentences that share" in text
    assert set(latent_compact.ENDS) <= set(test)  # nothing that it has learnt by heart
    assert all(f'"{end}"' in text for end in latent_compact.ENDS)


def test_the_recipe_makes_a_model_with_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pairs.tsv").write_text(pairs(120), encoding="utf-8")
    sizes: dict[str, Any] = {**TINY, "word_width": 16, "hidden_width": 16, "batch_size": 16, "epochs": 4}
    small = replace(latent_compact.config(), **sizes)
    monkeypatch.setattr(latent_compact, "config", lambda: small)
    quick = partial(refitted_dual, steps=20, prior_draws=1 << 12, width=16)
    monkeypatch.setattr(report, "refitted_dual", quick)
    monkeypatch.setattr(sys, "argv", ["latent_compact", str(tmp_path / "pairs.tsv"), "--out", str(tmp_path / "run")])
    latent_compact.main()
    model = paraform.load(tmp_path / "run" / "final", device="cpu")
    assert model.config == small and len(model.sample(3)) == 3
    manifest = read(tmp_path / "run" / "final")
    assert manifest.dtype == "float16" and {score["name"].partition(" ")[0] for score in manifest.scores} >= {"honest"}
    card = (tmp_path / "run" / "final" / "README.md").read_text(encoding="utf-8")
    assert "CC BY 2.0" in card and "{" not in card and card.count("\n- ") >= 7


@pytest.mark.skipif(pretrained_folder("latent-compact") is None, reason="latent-compact is not here yet")
def test_what_ships() -> None:
    folder = pretrained_folder("latent-compact")
    assert folder is not None
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 10_000_000
    model = paraform.load("latent-compact", device="cpu")
    assert model.config == latent_compact.config()
    said = model.sample(200)
    assert len(set(said)) > 150 and not any("<unk>" in text for text in said)
    line = model.interpolate(*latent_compact.ENDS, steps=7)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "\n".join(f"- {text}" for text in line) in card
