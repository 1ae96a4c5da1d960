"""How vectors' cosines go with scores that people gave: STS12 to 16, STS-B, SICK-R, or scored pairs of one's own.

Pearson and Spearman, × 100, each as the mean over a set's domains, weighted by their pairs, and of all pairs at once,
beside two floors: the share of words in common, and TF-IDF. --data is a folder as SentEval lays it out (STS.input.X.txt
and STS.gs.X.txt, sts-test.csv, SICK_test_annotated.txt), anywhere below it, or a file. --json has the interval of each
figure (bootstrap over pairs).

Example:
  paraform evaluate similarity --model minilm --data ../shared/data
  paraform evaluate similarity --model minilm --data pairs.csv --columns left right score
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import NonNegativeInt

from paraform.cli.output import show
from paraform.cli.systems import add_systems, systems_of


def add_measuring(parser: ArgumentParser, columns: str) -> None:
    """The options of every command that measures vectors on sets of texts."""
    add_systems(parser)
    parser.add_argument("--data", type=str, nargs="+", required=True, metavar="PATH", help="folders or files")
    parser.add_argument(
        "--columns", type=str, nargs=3, default=None, metavar="NAME", help=f"of a table: two texts and the {columns}"
    )
    parser.add_argument("--resamples", type=NonNegativeInt, default=1000, help="draws of the bootstrap; 0: none")


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_measuring(parser, "score")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.measuring import bounded, measured, require_different, spaces_of
    from paraform.evaluation.embedding.similarity import set_means, similarity_sets, similarity_table

    sets = require_different([one for path in options.data for one in similarity_sets(path, options.columns)])
    systems = systems_of(options)
    spaces = spaces_of(sets, systems, words=options.floors != "none")
    findings = measured(sets, spaces)
    findings += set_means(findings)
    # Twelve figures a set with their intervals would fit no screen.
    scores = bounded(findings, options.resamples if options.json else 0)
    about = {
        "models": [system.name for system in systems],
        "data": options.data,
        "scores": [score.to_json() for score in scores],
    }
    return show(options, about, similarity_table(sets, spaces, scores))
