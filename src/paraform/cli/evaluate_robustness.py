"""Are paraphrases told from other pairs whatever their form, and is a sentence's paraphrase the nearest of all.

Of labelled pairs (PAN's .labels, MRPC's, PAWS's or Quora's files, or a table's --columns) as many paraphrases as others
are drawn: of all, of those with the same top-level constituents as the other sentence (Easy), and of those with
different ones (Hard). Accuracy, its threshold tuned on other pairs and, as papers do it, on the test pairs; average
precision; then the place of each paraphrase among all sentences of paraphrases, of all and of the third of pairs with
the fewest words in common. Two floors stand beside: the share of words in common, and TF-IDF. A file of pairs without
labels gets its others mined: sentences and their nearest of another cluster by TF-IDF. --data is a folder with such
files anywhere below it, or a file.

Example:
  paraform evaluate robustness --model minilm --data ../shared/data
  paraform evaluate robustness --model minilm --data pairs.csv --columns left right duplicate
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.measuring import add_resamples, add_sets, names_of, show_measured, spaces_for
from paraform.cli.parse import add_parser
from paraform.cli.systems import add_systems


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_systems(parser)
    add_sets(parser, "label")
    add_resamples(parser)
    add_parser(parser)
    parser.add_argument(
        "--tuning", type=str | None, default=None, metavar="FILE", help="pairs for the threshold; null: half of a file"
    )
    parser.add_argument("--size", type=PositiveInt, default=1000, help="paraphrases, and others, of a set at most")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.measuring import bounded, measured
    from paraform.evaluation.embedding.robustness import robustness_sets, robustness_table
    from paraform.evaluation.embedding.task import Choices, distinct

    draw = Choices(options.size, options.parser, options.seed, True)
    how = {"columns": options.columns, "tuning": options.tuning}
    sets = distinct((path, one) for path in options.data for one in robustness_sets(path, draw, **how))
    spaces = spaces_for(options, sets)
    scores = bounded(measured(sets, spaces), options.resamples)
    return show_measured(options, spaces, scores, robustness_table(sets, spaces, scores), models=names_of(spaces))
