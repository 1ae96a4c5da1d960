"""A picture of the learning curves of one or several runs: a panel for each metric, a line for each run.

A run is the folder that `paraform train … --out` made; its log.jsonl may still grow. Metrics are named as TensorBoard
names them, train/nll or validation/loss; without --metric all that the validations say are drawn. --out ends in .png or
.svg.

Example:
  paraform plot curves runs/vae runs/clvae --out curves.png
  paraform plot curves runs/vae runs/clvae --metric validation/kl train/nll --out kl.svg
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.output import show
from paraform.records import InputError, counted


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("run", type=str, nargs="+", metavar="RUN", help="folders of runs")
    parser.add_argument(
        "--metric", type=str, nargs="+", default=[], metavar="NAME", help="such as validation/loss; null: those of it"
    )
    parser.add_argument("--out", type=str, required=True, metavar="FILE", help="the picture, .png or .svg")


def run(options: Namespace) -> int:
    """Write the picture; with --json, print the points too."""
    from paraform.evaluation.curves import curves_plot, read_curves
    from paraform.evaluation.pictures import require_picture, save_plot

    require_picture(options.out)
    folders = {str(Path(name)): Path(name) for name in options.run}
    if len(folders) < len(options.run):
        raise InputError(f"{len(options.run)} runs, {len(folders)} different; expected each once")
    curves = read_curves(folders, options.metric)
    save_plot(curves_plot(curves, list(folders)), options.out, dpi=150)
    about = {"out": options.out, "runs": list(folders), "metrics": curves}
    panels = ", ".join(curves)
    return show(options, about, f"{options.out}: {counted(len(folders), 'run')}; {panels}")
