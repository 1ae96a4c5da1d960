"""Figure 3's picture: the runs of a table, panel by panel."""

from __future__ import annotations

import json
from pathlib import Path

from paraform.evaluation.latent import collapse_figure


def test_a_run_has_one_colour_in_every_panel_and_none_shares_it(tmp_path: Path) -> None:
    figures = {"kl": 1.0, "mi": 0.5, "au": 3.0, "reconstruction": 90.0}
    of_runs = {"ae": {"au": 4.0, "reconstruction": 80.0}} | {f"run {number}": figures for number in range(12)}
    for name, found in of_runs.items():
        (tmp_path / name).mkdir()
        lines = [json.dumps({"step": step, "validation": found}) for step in (5, 10)]
        (tmp_path / name / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    figure = collapse_figure({name: tmp_path / name for name in of_runs})
    assert figure is not None
    colours = [{line.get_label(): line.get_color() for line in axes.get_lines()} for axes in figure.axes]
    assert [len(panel) for panel in colours] == [12, 12, 13, 13]
    assert all(panel.items() <= colours[-1].items() for panel in colours)
    assert len(set(colours[-1].values())) == 13
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(of_runs)
    assert collapse_figure({"none yet": tmp_path}) is None
