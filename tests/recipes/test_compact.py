"""The recipe of `compact`: what it measures on, and the table that it prints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from paraform import checkpoint, corpora, manifest
from paraform_papers.shipped import compact


def test_only_paraphrases_are_measured(data: Path) -> None:
    sets = compact.test_sets(data)
    assert {name: len(pairs) for name, pairs in sets.items()} == {
        "quora/test": 3001,
        "paranmt/test": 500,
        "PAN's test": 1500,
    }
    assert all(pair.cluster is not None for pairs in sets.values() for pair in pairs)
    labels = (data / compact.PAN).read_text().split()
    firsts = (data / "pan" / "pan-test_s1.txt").read_text().splitlines()
    kept = [text for text, label in zip(firsts, labels, strict=True) if label == "1"]
    assert [pair.source.text for pair in sets["PAN's test"]] == kept


def test_the_table_has_the_model_before_and_the_floor(
    question_pairs: Path, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = corpora.clusters(list(corpora.read_pairs(question_pairs))[:30])
    monkeypatch.setattr(compact, "test_sets", lambda data: {"quora/test": pairs})
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    measures = compact.measured(run, tmp_path, ["compact"])
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in measures.table.splitlines()]
    assert [line.split(":")[0] for line in measures.differences] == [
        f"quora/test, {figure}, first" for figure in compact.FIGURES
    ]
    assert rows[0] == ["test set", "rows", "system", *compact.FIGURES]
    assert [row[:3] for row in rows[2:]] == [
        ["quora/test", subset, system]
        for subset in ("all", "least overlap")
        for system in ("model", "compact", "copy source")
    ]
    assert [row[-1] for row in rows[2:] if row[2] == "copy source"] == ["1.00", "1.00"]
    written = [json.loads(line) for line in (run / "quora-test.jsonl").read_text().splitlines()]
    assert {row["source"] for row in written} == {pair.source.text for pair in pairs}
    compact.write(run, measures, records=24, seed=3)
    final = manifest.read(run / "final")
    assert [f"{score['value']:.2f}" for score in final.scores[: len(compact.FIGURES)]] == rows[2][3:]
    assert "24 records" in (run / "final" / manifest.CARD).read_text()
    kept, said = (checkpoint.load(place).network.state_dict() for place in (run / "final", run / "best"))
    assert all(torch.equal(kept[name], said[name].half().float()) for name in kept)


def test_files_that_were_made_keep_their_clusters(tmp_path: Path) -> None:
    line = {"source": "a b", "target": "b a", "cluster": 7, "label": 1}
    (tmp_path / "made.jsonl").write_text(json.dumps(line) + "\n")
    (pair,) = compact.read_made(tmp_path / "made.jsonl")
    assert (pair.source.text, pair.target.text, pair.cluster, pair.label) == ("a b", "b a", 7, 1)
