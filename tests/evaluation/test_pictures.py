"""Pictures as files: what the name says, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from paraform.evaluation.pictures import require_picture, run_look, save_plot
from paraform.records import InputError


@pytest.mark.parametrize(("name", "begins"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a", b"\x89PNG")])
def test_a_picture_is_what_its_name_ends_in_and_comes_again(name: str, begins: bytes, tmp_path: Path) -> None:
    found = []
    for folder in ("one", "two"):
        figure = Figure()
        figure.add_subplot(title="Meaning").plot([1, 2], marker="o", label="run")
        save_plot(figure, tmp_path / folder / name)
        found.append((tmp_path / folder / name).read_bytes())
    assert found[0] == found[1] and found[0].startswith(begins)
    if name == "a.SVG":
        assert b">Meaning</text>" in found[0] and b"<dc:date>" not in found[0]


def test_another_ending_is_refused() -> None:
    require_picture("a.PNG")
    with pytest.raises(InputError, match=r"^--plot a\.pdf: expected a picture's name, which ends in \.png or \.svg$"):
        require_picture("a.pdf", "--plot")


def test_twenty_runs_look_different_without_colours_too() -> None:
    looks = [run_look(row) for row in range(21)]
    assert len({(look["linestyle"], look["marker"]) for look in looks[:20]}) == 20
    assert looks[20] == looks[0]
