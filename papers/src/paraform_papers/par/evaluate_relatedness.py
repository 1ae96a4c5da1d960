"""SICK-R as PAR's paper has it: a tree-LSTM over the words' states, by the trees of our parser; correlations × 100.

--data is a folder that holds SICK's files, in a folder of their own or not. Models are those whose words have states,
such as encoders. Of several models the first is compared with each other one by a paired bootstrap.

Example:
  paraform evaluate relatedness --model minilm minilm-par --data ../shared/data
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.measuring import add_resamples
from paraform.cli.models import device_of, load_able
from paraform.cli.output import show
from paraform.records import InputError

SICK = "SICK-R"


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--model", type=str, nargs="+", default=["minilm"], help="models, side by side")
    parser.add_argument("--data", type=str, required=True, help="a folder that holds SICK's files")
    add_resamples(parser)


def run(options: Namespace) -> int:
    """Print the figures. Raises: InputError if the set is not there, or a model has no states of words."""
    from paraform.capabilities import ReadsWords
    from paraform.evaluation.embedding.distances import word_system
    from paraform.evaluation.embedding.measuring import bounded, differences_of
    from paraform.evaluation.embedding.regression import SCALES
    from paraform.evaluation.embedding.similarity import similarity_splits
    from paraform.evaluation.on_pairs import head_name
    from paraform.score import table
    from paraform.syntax.parsing import load_parser, parser_digest
    from paraform.syntax.running import DEFAULT
    from paraform_papers.par.tree_relatedness import TreeConfig, tree_relatedness

    parts = similarity_splits(options.data).get(SICK)
    if parts is None:
        raise InputError(f"{options.data}: without SICK's train, dev and test parts")
    parser, parsed_by = load_parser(device=device_of(options)), head_name(DEFAULT, parser_digest())
    findings, config = [], TreeConfig(seed=options.seed)
    with bad_values():
        for name in options.model:
            words = word_system(name, load_able(options, ReadsWords, "a model with states of words", name=name))
            findings += tree_relatedness(SICK, parts, *SCALES[SICK], words, parser, parsed_by=parsed_by, config=config)
    scores = bounded(findings, options.resamples)
    differences = differences_of(findings, options.model, options.resamples)
    about = {
        "data": options.data,
        "models": list(options.model),
        "seed": options.seed,
        "differences": [difference.to_json() for difference in differences],
        "scores": [score.to_json() for score in scores],
    }
    return show(options, about, "\n".join([table(scores), *map(str, differences)]))
