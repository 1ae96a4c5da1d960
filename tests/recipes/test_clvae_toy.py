"""The synthetic clusters, with few categories and steps: learnt, kept, gone on with, drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform.recipes import clvae_toy
from paraform.recipes.clvae_toy import Size


def test_spaces_are_learnt_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clvae_toy, "CATEGORIES", (3,))
    monkeypatch.setitem(clvae_toy.SIZES, "smoke", Size(5e-3, 160))
    found = clvae_toy.run(scale="smoke", out=tmp_path)
    cells = {(score.system, score.name): score.value for score in found.scores}
    assert {system for system, _ in cells} == {"VAE", "iVAE", "clVAE+"}
    assert all(0 <= cells[system, "accuracy"] <= 1 for system in clvae_toy.ROWS)
    assert cells["clVAE+", "accuracy"] > 0.6  # a third is chance
    for system in clvae_toy.ROWS:
        reached = cells[system, "steps to 95 %"]
        assert reached == -1 or 1 <= reached <= 160
    assert (tmp_path / "toy" / "smoke" / "panels.png").stat().st_size > 5000
    assert sorted(path.stem for path in (tmp_path / "toy" / "smoke" / "vae-3").glob("*.npy")) == [
        "10",
        "160",
        "30",
        "60",
    ]
    again = clvae_toy.run(scale="smoke", out=tmp_path)  # done already: nothing is trained again
    assert again.scores == found.scores and "K = 3" in found.table()
