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
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.measuring import add_resamples, add_sets, names_of, show_measured, spaces_for
from paraform.cli.models import load_able
from paraform.cli.parse import add_parser
from paraform.cli.systems import add_systems, write_texts

if TYPE_CHECKING:
    from paraform.capabilities import JudgesMeaning
    from paraform.evaluation.embedding.space import Judged


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_systems(parser)
    add_sets(parser, "label")
    add_resamples(parser)
    add_parser(parser)
    parser.add_argument(
        "--tuning", type=str | None, default=None, metavar="FILE", help="pairs for the threshold; null: half of a file"
    )
    parser.add_argument(
        "--judge",
        type=str | None,
        default=None,
        help="smollm2-judge, minilm-judge …, which reads both texts; null: without",
    )
    parser.add_argument("--size", type=PositiveInt, default=1000, help="paraphrases, and others, of a set at most")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.detection import PairSet
    from paraform.evaluation.embedding.measuring import bounded, measured
    from paraform.evaluation.embedding.robustness import robustness_sets, robustness_table
    from paraform.evaluation.embedding.task import Choices, distinct

    draw = Choices(options.size, options.parser, options.seed, True)
    how = {"columns": options.columns, "tuning": options.tuning}
    sets = distinct((path, one) for path in options.data for one in robustness_sets(path, draw, **how))
    if options.texts_out is not None:
        return write_texts(options, sets)
    spaces = spaces_for(options, sets)
    judges = [] if options.judge is None else [judged_by(options)]
    found = [finding for one in sets if isinstance(one, PairSet) for judge in judges for finding in one.measure(judge)]
    scores = bounded([*found, *measured(sets, spaces)], options.resamples)
    text = robustness_table(sets, [*judges, *spaces], scores)
    return show_measured(options, [*judges, *spaces], scores, text, models=names_of(spaces))


def judged_by(options: Namespace) -> Judged:
    """The judge of `--judge`, which has no place in retrieval. Raises: InputError if it is none."""
    from paraform.capabilities import JudgesMeaning
    from paraform.checkpoint.vectors import model_digest
    from paraform.evaluation.embedding.space import Judged
    from paraform.score import signature

    model: JudgesMeaning = load_able(options, JudgesMeaning, "a judge of meaning", "judge")
    settings = signature(similarity="says the same", model=options.judge, weights=model_digest(model)[:12])
    return Judged(options.judge, settings, lambda pairs: model.judge(pairs, progress=True).same)
