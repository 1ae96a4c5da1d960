"""How far words move when a sentence is reworded: distances of the states of words that two sentences share.

L2 and cosine distance, the mean over shared words, in paraphrases and in other pairs, as they are labelled; of a file
without labels the others are mined: a sentence of another cluster with a shared word. Beside them the share of words
that are farther apart than "good" and "bad", or "large" and "small", in unrelated sentences, and the ratio of the two
means, which no rescaling of the vectors changes; of a model with a matrix M also ‖I − MᵀM‖_F and M's singular values,
which say how far M rescales. --data is a file (PAN's .labels, MRPC's, PAWS's or Quora's, source TAB
target, or a table's --columns), or a folder with such files anywhere below it. With --against MODEL that model stands
beside, and the differences with their intervals (bootstrap over pairs).

A model is minilm, a folder or hub id of a Hugging Face encoder, what `train retrofit` made, or a folder with ELMo's
options.json and weights.hdf5; @layer=3 behind its name is the layer that --layers own takes.

Example:
  paraform evaluate distances --model minilm --data ../shared/data/mrpc
  paraform evaluate distances --model minilm --against minilm@layer=3 --data pairs.tsv --plot distances.png --examples
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.measuring import add_resamples, add_sets
from paraform.cli.messages import tell
from paraform.cli.models import load_able
from paraform.cli.output import aligned, show
from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.evaluation.embedding.distances import WordSystem


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--model", type=str, default="minilm", help="an encoder")
    parser.add_argument("--against", type=str | None, default=None, metavar="MODEL", help="another, to compare with")
    add_sets(parser, "label")
    parser.add_argument(
        "--layers", choices=("own", "all", "mean"), default="own", help="the model's own; all side by side; their mean"
    )
    parser.add_argument("--skip-stopwords", action="store_true", help="leave out stop words and words without a letter")
    parser.add_argument("--size", type=PositiveInt | None, default=None, help="pairs of each kind at most; null: all")
    parser.add_argument(
        "--contexts",
        type=str | None,
        default=None,
        metavar="FILE",
        help="sentences for good–bad; null: those of --data",
    )
    add_resamples(parser)
    parser.add_argument("--plot", type=str | None, default=None, metavar="FILE", help="the distances, .png or .svg")
    parser.add_argument("--examples", action="store_true", help="the printed pairs of the paper's Tables 1 and 5 too")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.distance_report import evaluate_distances
    from paraform.evaluation.embedding.distances import fitting_all
    from paraform.evaluation.embedding.printed_pairs import example_distances, example_lines
    from paraform.evaluation.embedding.shared_words import SharedDraw, read_contexts, shared_word_sets
    from paraform.evaluation.embedding.task import distinct
    from paraform.evaluation.pictures import require_picture
    from paraform.weights import require_writable

    if options.plot is not None:
        require_picture(options.plot, "--plot")
        require_writable(options.plot)
    systems = _systems(options)
    fitting = fitting_all(systems)
    draw = SharedDraw(options.skip_stopwords, options.size or 0, options.seed)
    how: dict[str, Any] = {"columns": options.columns, "fitting": fitting}
    sets = distinct((path, one) for path in options.data for one in shared_word_sets(path, draw, **how))
    contexts = None if options.contexts is None else read_contexts(options.contexts, fitting)
    report = evaluate_distances(sets, systems, contexts=contexts, resamples=options.resamples, seed=options.seed)
    for note in report.notes:
        tell(f"{note} (--contexts FILE names other sentences)")
    examples = {system.name: example_distances(system) for system in systems} if options.examples else {}
    if options.plot is not None:
        report.draw(options.plot)
    about = {"data": options.data, **report.to_json(), "plot": options.plot}
    about["examples"] = {name: [one.to_json() for one in found] for name, found in examples.items()}
    lines = ["", *aligned(example_lines(examples))] if examples else []
    return show(options, about, "\n".join([report.table(), *lines]))


def _systems(options: Namespace) -> list[WordSystem]:
    """The model, and the one that it is compared with. Raises: InputError if one has no states of words."""
    from paraform.capabilities import ReadsWords
    from paraform.evaluation.embedding.distances import word_system

    if options.against == options.model:
        raise InputError(f"--against {options.against}: the model of --model; expected another one")
    how: dict[str, Any] = {"layers": options.layers, "progress": True}
    if options.batch_size:
        how["batch_tokens"] = 16 * options.batch_size
    systems = []
    for option in ("model", "against") if options.against is not None else ("model",):
        model = load_able(options, ReadsWords, "a model with states of words, such as an encoder", option)
        systems.append(word_system(options[option], model, **how))
    return systems
