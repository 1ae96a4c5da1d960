"""Everything that is measured of vectors, for two or more models side by side, as one page and as JSON beside it.

A picture of form against meaning, three sentences of findings with their intervals, and tables: similarity, transfer,
probing, robustness, retrieval, content matching and style retrieval. --data is a folder; whatever sets are anywhere
below it are measured, and a family without any is left out and named. The first model is compared with each other one
by a paired bootstrap. Each different sentence is encoded once. The JSON stands under the page's name with .json.
Any other encoder: --texts-out writes every text that is needed, and --vectors takes its vectors of these.

Example:
  paraform evaluate report --model minilm minilm@layer=3 --data ../shared/data --out report.html
  paraform evaluate report --data ../shared/data --out report.html --families similarity probing --floors words
  paraform evaluate report --data ../shared/data --texts-out texts.txt
  paraform evaluate report --data ../shared/data --out report.html --model minilm --vectors texts.txt mine=vectors.npy
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.measuring import add_resamples
from paraform.cli.messages import tell
from paraform.cli.output import show
from paraform.cli.parse import add_parser
from paraform.cli.systems import add_systems, given_models, model_names, systems_of, write_texts
from paraform.cli.tag import add_tagger
from paraform.evaluation.embedding.families import FAMILIES
from paraform.records import InputError


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_systems(parser)
    parser.add_argument("--data", type=str, required=True, metavar="FOLDER", help="holds evaluation sets")
    parser.add_argument("--out", type=str | None, default=None, metavar="FILE.html", help="the page")
    parser.add_argument(
        "--families", nargs="+", choices=FAMILIES, default=list(FAMILIES), metavar="FAMILY", help="what is measured"
    )
    add_resamples(parser)
    parser.add_argument("--size", type=PositiveInt, default=1000, help="paraphrases of a set of robustness at most")
    add_parser(parser)
    add_tagger(parser)


def run(options: Namespace) -> int:
    """Write the page and the JSON; print the findings."""
    from paraform.evaluation.embedding.families import read_families
    from paraform.evaluation.embedding.measuring import spaces_of
    from paraform.evaluation.embedding.report import embedding_report
    from paraform.evaluation.embedding.report_page import write_report
    from paraform.evaluation.embedding.task import Choices
    from paraform.weights import require_writable

    choices = Choices(options.size, options.parser, options.seed, True, options.tagger)
    if options.texts_out is not None:
        if options.out is not None:
            raise InputError(f"--out {options.out} beside --texts-out, which measures nothing; expected one of the two")
        return write_texts(options, read_families(options.data, options.families, choices).tasks)
    if options.out is None:
        raise InputError("no --out; expected --out report.html, or --texts-out texts.txt")
    if Path(options.out).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out {options.out}: expected a page's name, such as report.html; the JSON stands beside it")
    for file in (options.out, Path(options.out).with_suffix(".json")):
        require_writable(file)
    systems = systems_of(options)
    families = read_families(options.data, options.families, choices)
    for name, expected in families.left_out.items():
        tell(f"{name}: left out; {expected}")
    tell(f"encoding: {len({text for task in families.tasks for text in task.texts()}):,} different texts")
    spaces = spaces_of(families.tasks, systems, words=options.floors != "none")
    report = embedding_report(
        families, spaces, model_names(options), resamples=options.resamples, given=given_models(options), tell=tell
    )
    beside = write_report(report, options.out)
    lines = "\n".join([*report.findings, f"{options.out}, {beside}"])
    return show(options, {"out": options.out, **report.to_json()}, lines)
