"""What a model's vectors know: content matching accuracy (CMA), and the tags of what a style vector retrieves.

An exemplar model has a vector for each; an encoder's one vector is asked both.

Example:
  paraform evaluate style --model quora-compact --data test.tsv
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.arguments import bad_values, kind_of, load_model
from paraform.cli.evaluate_generation import add_measuring
from paraform.cli.output import print_json
from paraform.cli.reading import read_pairs
from paraform.records import InputError


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_measuring(parser)
    parser.add_argument("--queries", type=PositiveInt, default=200, help="sentences to retrieve for")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation import table
    from paraform.models.latent import LatentLanguageModel
    from paraform.recipes.exemplar_evaluation import evaluate_vectors

    records = read_pairs(options.data, options)
    model = load_model(options)
    if isinstance(model, LatentLanguageModel):
        raise InputError(f"--model {options.model}: {kind_of(model)}; expected an exemplar model or an encoder")
    with bad_values():
        report = evaluate_vectors(
            model,
            records,
            name=options.model,
            tagger=options.tagger,
            max_tokens=options.max_tokens,
            queries=options.queries,
            seed=options.seed,
        )
    if options.json:
        print_json({"model": options.model, "data": options.data, **report.to_json()})
    else:
        print(table(report.scores, "plain"))
    return 0
