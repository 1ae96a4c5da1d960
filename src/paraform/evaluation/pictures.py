"""Pictures as files, and how what stands side by side in them is told apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraform.records import InputError
from paraform.weights import PathLike, atomic_path

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

MARKERS = "o^svDP*X<>"
ENDINGS = (".png", ".svg")
APART = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7")
"""Colours that the colour-blind tell apart too (Okabe and Ito 2008), without yellow, which is lost on white."""


def require_picture(path: PathLike, option: str = "--out") -> None:
    """Raises: InputError unless the name is a picture's: PNG or SVG."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise InputError(f"{option} {path}: expected a picture's name, which ends in {' or '.join(ENDINGS)}")


def save_plot(figure: Figure, path: PathLike, dpi: int = 100) -> None:
    """Write it as what its name ends in, PNG unless that is .svg; a kill leaves the old picture or the new one.

    The same figure gives the same bytes: an SVG has no date and no random names; its text stays text.
    """
    from matplotlib import rc_context

    svg = Path(path).suffix.lower() == ".svg"
    with atomic_path(path) as unfinished, rc_context({"svg.hashsalt": "paraform", "svg.fonttype": "none"}):
        if svg:
            figure.savefig(unfinished, format="svg", metadata={"Date": None})
        else:
            figure.savefig(unfinished, format="png", dpi=dpi)


def run_look(row: int) -> dict[str, Any]:
    """How the row-th run is drawn, in every panel: no two of the first twenty look alike, in grey neither.

    An autoencoder has no KL, so that a panel's own count would not do; and lines that lie on each other (MI at its
    most) are told apart by their marks.
    """
    from matplotlib import colormaps

    return {"color": colormaps["tab10"](row % 10), "linestyle": ("-", "--")[row // 10 % 2], "marker": MARKERS[row % 10]}
