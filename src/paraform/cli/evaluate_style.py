"""What a model's vectors know: content matching accuracy (CMA), and the tags of what a style vector retrieves.

An exemplar model has a vector for each; of other models the one vector is asked both.

Example:
  paraform evaluate style --model compact --data test.tsv
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.config_options import bad_values
from paraform.cli.measuring import add_pairs
from paraform.cli.models import EMBEDDERS, add_given_vectors, load_embedder, name_of_vectors
from paraform.cli.output import show
from paraform.cli.paraphrase import LIKE_MODEL
from paraform.cli.reading import read_pairs

VECTORS = ("content", "style")  # those of content matching, and of style retrieval


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    add_pairs(parser, LIKE_MODEL)
    add_given_vectors(parser)
    parser.add_argument("--queries", type=PositiveInt, default=200, help="sentences to retrieve for")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.checkpoint import signature_of
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
    settings = {kind: signature_of(model, name, kind if kind in model.vector_names else "") for kind in VECTORS}
    scores = [
        replace(score, signature=f"{score.signature}|{settings[VECTORS[score.name.startswith('style')]]}")
        if score.system == name
        else score
        for score in report.scores
    ]
    about = {"model": name, "data": options.data, **replace(report, scores=tuple(scores)).to_json()}
    # The table has the model's settings once, below it, and not with each figure.
    told = dict.fromkeys(f"{name}: {one}" for one in settings.values())
    return show(options, about, "\n".join([table(report.scores, "plain"), *told]))
