"""Learning curves: what `log.jsonl` says, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraform.evaluation.curves import curves_plot, read_curves, read_log
from paraform.records import InputError
from paraform.training.journal import Journal, as_record


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    """As the trainings' own journal writes them; the second run has no KL yet, and its last line is unfinished."""
    records = {
        "one": [
            as_record(1, "train", {"nll": 3.0}),
            as_record(2, "train", {"nll": float("nan")}),
            as_record(2, "validation", {"loss": 2.5, "kl": 0.5}),
            as_record(3, "train", {"nll": 1.0}),
        ],
        "two": [as_record(1, "train", {"nll": 4.0}), as_record(2, "validation", {"loss": 3.5})],
    }
    for name, history in records.items():
        (tmp_path / name).mkdir()
        with Journal(tmp_path / name, history, tensorboard=False):
            pass
    with open(tmp_path / "two" / "log.jsonl", "a", encoding="utf-8") as log:
        log.write('{"step": 3, "trai')
    return {name: tmp_path / name for name in records}


def test_the_metrics_are_those_that_the_runs_wrote(runs: dict[str, Path]) -> None:
    assert read_curves(runs) == {
        "validation/loss": {"one": [(2, 2.5)], "two": [(2, 3.5)]},
        "validation/kl": {"one": [(2, 0.5)]},
    }
    assert read_curves(runs, ["train/nll"]) == {"train/nll": {"one": [(1, 3.0), (3, 1.0)], "two": [(1, 4.0)]}}
    assert len(read_log(runs["two"] / "log.jsonl")) == 2 and read_log(runs["two"] / "none") == []


def test_without_a_validation_the_training_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1, "train": {"nll": 2.0}}\n7\n', encoding="utf-8")
    assert read_curves({"run": tmp_path}) == {"train/nll": {"run": [(1, 2.0)]}}


def test_a_panel_a_metric_and_a_run_looks_the_same_in_all(runs: dict[str, Path]) -> None:
    figure = curves_plot(read_curves(runs, ["validation/kl", "train/nll"]), ["two", "one"])
    kl, nll = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["validation/kl", "train/nll"]
    assert [line.get_xydata().tolist() for line in nll.get_lines()] == [[[1, 3], [3, 1]], [[1, 4]]]
    assert kl.get_lines()[0].get_color() == nll.get_lines()[0].get_color() != nll.get_lines()[1].get_color()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["two", "one"]


def test_what_is_no_run_or_no_metric_is_told(runs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run has the metric 'loss'; expected one of train/nll, validation/loss, "):
        read_curves(runs, ["loss"])
    with pytest.raises(InputError, match=r"no log\.jsonl with records; expected a run's folder"):
        read_curves({**runs, "none": tmp_path})
