"""What a model's vectors know: content matching accuracy (CMA), and the tags of what a style vector retrieves.

An exemplar model has a vector for each; of other models the one vector is asked both.

Example:
  paraform evaluate style --model quora-compact --data test.tsv
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.arguments import EMBEDDERS, add_given_vectors, bad_values, load_embedder, name_of_vectors
from paraform.cli.evaluate_generation import add_measuring
from paraform.cli.output import show
from paraform.cli.reading import read_pairs


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    add_measuring(parser)
    add_given_vectors(parser)
    parser.add_argument("--queries", type=PositiveInt, default=200, help="sentences to retrieve for")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.on_pairs import evaluate_embedder
    from paraform.score import table

    records = read_pairs(options.data, options)
    model = load_embedder(options)
    name = name_of_vectors(options)
    with bad_values():
        report = evaluate_embedder(
            model,
            records,
            name=name,
            tagger=options.tagger,
            max_tokens=options.max_tokens,
            queries=options.queries,
            seed=options.seed,
        )
    about = {"model": name, "data": options.data, **report.to_json()}
    return show(options, about, table(report.scores, "plain"))
