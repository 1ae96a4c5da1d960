"""How vectors' cosines go with scores that people gave: STS12 to 16, STS-B, SICK-R, or scored pairs of one's own.

Pearson and Spearman, × 100, each as the mean over a set's domains, weighted by their pairs, and of all pairs at once,
beside two floors: the share of words in common, and TF-IDF. --data is a folder as SentEval lays it out (STS.input.X.txt
and STS.gs.X.txt, sts-test.csv, SICK_test_annotated.txt), anywhere below it, or a file. --trained trains a regression on
STS-B's and SICK-R's own pairs, as SentEval does, too. --json has the interval of each figure (bootstrap over pairs).

Example:
  paraform evaluate similarity --model minilm --data ../shared/data
  paraform evaluate similarity --model minilm --data pairs.csv --columns left right score
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import NonNegativeInt

from paraform.cli.output import show_measured
from paraform.cli.systems import add_systems, systems_of
from paraform.records import InputError


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
    parser.add_argument(
        "--trained", nargs="+", choices=("default", "paper"), default=[], help="regressions: ours, SentEval's, or both"
    )


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.measuring import bounded, measured, spaces_of
    from paraform.evaluation.embedding.regression import regression_sets
    from paraform.evaluation.embedding.similarity import set_means, similarity_sets, similarity_table
    from paraform.evaluation.embedding.task import distinct
    from paraform.score import table

    sets = distinct((path, one) for path in options.data for one in similarity_sets(path, options.columns))
    paths = options.data if options.trained else []
    trained = distinct((path, one) for path in paths for one in regression_sets(path, options.trained))
    if options.trained and not trained:
        raise InputError(
            f"--trained: no train, dev and test part of STS-B or SICK below {options.data[0]}; expected them"
        )
    systems = systems_of(options)
    spaces = spaces_of([*sets, *trained], systems, words=options.floors != "none")
    findings = measured(sets, spaces)
    findings += set_means(findings)
    more = bounded(measured(trained, spaces), options.resamples)
    # Twelve figures a set with their intervals would fit no screen.
    scores = bounded(findings, options.resamples if options.json else 0)
    shown = similarity_table(sets, spaces, scores)
    shown = f"{shown}\n\n{table(more)}" if more else shown
    models = [system.name for system in systems]
    return show_measured(options, spaces, [*scores, *more], shown, models=models)
