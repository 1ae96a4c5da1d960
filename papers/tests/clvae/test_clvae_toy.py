"""The synthetic clusters, with few categories and steps: learnt, kept, gone on with, drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraform import manifest
from paraform.records import InputError
from paraform_papers.clvae import toy as clvae_toy
from paraform_papers.clvae.toy import TABLE, Size, distances
from paraform_papers.tables import Asked, measured


def test_spaces_are_learnt_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clvae_toy, "CATEGORIES", (3,))
    monkeypatch.setitem(clvae_toy.SIZES, "smoke", Size(2e-2, 32, 8, (0, 0.25, 1.0)))
    found = measured(TABLE, Asked(out=tmp_path))
    cells = {(score.system, score.name): score.value for score in found.scores}
    assert {system for system, _ in cells} == {"VAE", "iVAE", "clVAE+"}
    assert all(0 <= cells[system, "accuracy"] <= 1 for system in clvae_toy.ROWS)
    assert cells["clVAE+", "accuracy"] > 0.6  # a third is chance
    for system in clvae_toy.ROWS:
        assert 1 <= cells.get((system, "steps to 95 %"), 1) <= 32
    assert (tmp_path / "toy" / "smoke" / "panels.png").stat().st_size > 5000
    spaces = {int(path.stem): np.load(path) for path in (tmp_path / "toy" / "smoke" / "vae-3").glob("*.npy")}
    assert spaces.keys() == {0, 8, 32}
    again = measured(TABLE, Asked(out=tmp_path))  # done already: nothing is trained again
    for step, space in spaces.items():
        assert np.array_equal(np.load(tmp_path / "toy" / "smoke" / "vae-3" / f"{step}.npy"), space)
    assert again.scores == found.scores and "K = 3" in found.table()
    control = measured(TABLE, Asked(out=tmp_path, rows=("clVAE+, two views",)))
    assert {score.system for score in control.scores} == {"clVAE+, two views"}
    config = manifest.read(tmp_path / "toy" / "smoke" / "clvae+-two-views-3" / "last").config
    assert (config["kl"], config["contrast"], config["contrast_weight"]) == ("circle", "z", 0.0)
    with pytest.raises(InputError, match="row 'gan'; expected one of VAE; iVAE"):
        measured(TABLE, Asked(out=tmp_path, rows=("gan",)))


def test_steps_are_those_until_95_in_100_are_decoded_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three spaces: reached, lost and reached again; reached to the hundredth; never reached."""
    histories = {"vae": [0.5, 0.96, 0.9, 0.97], "ivae": [0.2, 0.3, 0.95], "clvae+": [0.9, 0.94, 0.949]}

    def trained(objective: str, categories: int, size: Size, folder: Path, **_: Any) -> None:
        folder.mkdir(parents=True)
        for share in size.shown:
            np.save(folder / f"{round(share * size.steps)}.npy", np.zeros((6, 2)))

    def validated(folder: Path) -> list[dict[str, Any]]:
        scores = enumerate(histories[folder.name.removesuffix("-3")], start=1)
        return [{"step": 50 * number, "validation": {"accuracy": score}} for number, score in scores]

    monkeypatch.setattr(clvae_toy, "train", trained)
    monkeypatch.setattr(clvae_toy, "validated", validated)
    monkeypatch.setattr(clvae_toy, "draw_panels", lambda panels, path: None)
    monkeypatch.setattr(clvae_toy, "CATEGORIES", (3,))
    found = {(score.system, score.name): score.value for score in measured(TABLE, Asked(out=tmp_path)).scores}
    assert [found.get((row, "steps to 95 %")) for row in ("VAE", "iVAE", "clVAE+")] == [100, 150, None]
    assert [found[row, "accuracy"] for row in ("VAE", "iVAE", "clVAE+")] == [0.97, 0.95, 0.949]
    assert [found[row, "early"] for row in ("VAE", "iVAE", "clVAE+")] == [0.5, 0.2, 0.9]
    assert found["VAE", "within"] == found["VAE", "between"] == 0  # all draws are one point


def test_distances_by_hand() -> None:
    """A category of 4 draws around (0, 0) at distance 1, and one of 4 times (3, 4)."""
    around = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    assert distances(np.concatenate([around, np.tile([3, 4], (4, 1))]), 2) == (0.5, 5.0)
