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

from paraform.cli.measuring import add_resamples, add_sets, names_of, show_measured, spaces_for
from paraform.cli.systems import add_systems, write_texts
from paraform.records import InputError


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_systems(parser)
    add_sets(parser, "score")
    add_resamples(parser)
    parser.add_argument(
        "--trained", nargs="+", choices=("default", "paper"), default=[], help="regressions: ours, SentEval's, or both"
    )


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.measuring import bounded, measured
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
    if options.texts_out is not None:
        return write_texts(options, [*sets, *trained])
    spaces = spaces_for(options, [*sets, *trained])
    findings = measured(sets, spaces)
    findings += set_means(findings)
    more = bounded(measured(trained, spaces), options.resamples)
    # Twelve figures a set with their intervals would fit no screen.
    scores = bounded(findings, options.resamples if options.json else 0)
    shown = similarity_table(sets, spaces, scores)
    shown = f"{shown}\n\n{table(more)}" if more else shown
    return show_measured(options, spaces, [*scores, *more], shown, models=names_of(spaces))
