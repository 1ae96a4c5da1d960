"""Figure 3's picture: the runs of a table, panel by panel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paraform.evaluation.latent import PROTOCOL_PANELS, collapse_plot


def look(line: Any) -> tuple[Any, str, str]:
    return line.get_color(), line.get_linestyle(), line.get_marker()


def test_a_run_looks_the_same_in_every_panel_and_like_no_other(tmp_path: Path) -> None:
    figures = {"kl": 1.0, "mi": 0.5, "au": 3.0, "reconstruction": 90.0}
    of_runs = {"ae": {"au": 4.0, "reconstruction": 80.0}} | {f"run {number}": figures for number in range(12)}
    for name, found in of_runs.items():
        (tmp_path / name).mkdir()
        lines = [json.dumps({"step": step, "validation": found}) for step in (5, 10)]
        (tmp_path / name / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    figure = collapse_plot({name: tmp_path / name for name in of_runs})
    assert figure is not None
    looks = [{line.get_label(): look(line) for line in axes.get_lines()} for axes in figure.axes]
    assert [len(panel) for panel in looks] == [12, 12, 13, 13]
    assert all(panel.items() <= looks[-1].items() for panel in looks)
    assert len({(style, mark) for _, style, mark in looks[-1].values()}) == 13  # without colours, too
    assert len({colour for colour, _, _ in looks[-1].values()}) == 10
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(of_runs)
    assert collapse_plot({"none yet": tmp_path}) is None


def test_each_protocol_has_its_own_kl_and_bound(tmp_path: Path) -> None:
    """The paper's are the critic's, of a Gaussian those in closed form; an autoencoder has neither."""
    of_runs = {
        "ae": {"loss": 80.0, "reconstruction": 80.0},
        "vae": {"loss": 99.0, "reconstruction": 98.5, "kl": 1.5},
        "ivae": {"loss": 120.0, "reconstruction": 90.0, "kl": 60.0, "dual_kl": -2.0},
    }
    for name, found in of_runs.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_text(json.dumps({"step": 5, "validation": found}), encoding="utf-8")
    figure = collapse_plot({name: tmp_path / name for name in (*of_runs, "not begun")}, PROTOCOL_PANELS)
    assert figure is not None
    drawn = [{line.get_label(): line.get_ydata()[0] for line in axes.get_lines()} for axes in figure.axes]
    assert drawn == [
        {"vae": 1.5, "ivae": 60.0},
        {"vae": 1.5, "ivae": -2.0},
        {"ae": 80.0, "vae": 99.0, "ivae": 120.0},
        {"vae": 100.0, "ivae": 88.0},
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(of_runs)
