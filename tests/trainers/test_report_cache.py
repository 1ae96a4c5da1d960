"""The figures of a row are measured once for each of the things that they depend on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from paraform.evaluation.latent import LatentReport, SentenceBounds
from paraform.score import Score
from paraform_papers.clvae import report_cache
from paraform_papers.clvae.report_cache import cached_report

SETTINGS: dict[str, object] = {"samples": 128, "seed": 0, "precision": "float32"}


class Measure:
    """Counts how often it is asked; each report has a number of its own."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> LatentReport:
        self.times += 1
        scores = (Score("KL", float(self.times), "kl:closed", "vae", "honest"),)
        return LatentReport(scores, (f"alarm {self.times}",), self.bounds())

    def bounds(self) -> SentenceBounds | None:
        """None once in three times, as of an autoencoder."""
        found = SentenceBounds((1.5, 0.1 + self.times), "bound:importance", "tempered 0.3", self.times % 2 == 0)
        return found if self.times % 3 else None


class Row:
    """A row's folder: a checkpoint, and the file of its figures."""

    def __init__(self, folder: Path) -> None:
        self.path, self.checkpoint, self.measure = folder / "figures.json", folder, Measure()
        self.write("{}")

    def write(self, manifest: str) -> None:
        (self.checkpoint / "paraform.json").write_text(manifest, encoding="utf-8")

    def measured(self, settings: Mapping[str, object] = SETTINGS) -> bool:
        """Whether figures with these settings are measured; if not, those that are kept are returned as they were."""
        before = self.measure.times
        found = cached_report(self.path, self.checkpoint, settings, self.measure)
        assert found.scores[0].value == self.measure.times and found.alarms == (f"alarm {self.measure.times}",)
        assert found.bounds == self.measure.bounds()
        return self.measure.times > before


@pytest.fixture
def row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Row:
    monkeypatch.setattr(report_cache, "revision", lambda: "a" * 40)
    return Row(tmp_path)


def test_the_same_settings_are_measured_once(row: Row) -> None:
    assert row.measured()
    assert not row.measured() and not row.measured(dict(reversed(SETTINGS.items())))


@pytest.mark.parametrize("other", [{"samples": 64}, {"seed": 1}, {"precision": "bfloat16"}, {"texts": "0123"}])
def test_each_changed_setting_is_measured_again(row: Row, other: dict[str, object]) -> None:
    assert row.measured()
    assert row.measured({**SETTINGS, **other}) and not row.measured({**SETTINGS, **other})
    assert row.measured()  # the file has one report
    assert row.measured({"samples": 128})


def test_other_weights_other_code_and_a_damaged_file_are_measured_again(
    row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert row.measured()
    row.write('{"other": "weights"}')
    assert row.measured() and not row.measured()
    monkeypatch.setattr(report_cache, "revision", lambda: "b" * 40)
    assert row.measured() and not row.measured()
    monkeypatch.setattr(report_cache, "versions", lambda: {"torch": "other"})
    assert row.measured() and not row.measured()
    row.path.write_text(row.path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    assert row.measured() and not row.measured()


def test_code_that_no_commit_has_is_measured_each_time(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_cache, "revision", lambda: "a" * 40 + "-dirty")
    assert row.measured() and row.measured()
