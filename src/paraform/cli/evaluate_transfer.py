"""What a probe finds in a model's vectors: MR, CR, MPQA, SUBJ, SST-2, TREC, MRPC and SICK-E, in percent.

--data is a folder that holds SentEval's files, in its own folders or not; all sets that are there are measured, or
those that --tasks names. The probe is a logistic regression, or with --classifier mlp a network of 50 hidden units.
default: coordinates standardised on a probe's training rows, L2 chosen by inner folds (mlp: by a held-out tenth).
paper: SentEval as its code behaves today. Beside each figure stand the middle 95 % over resamples of the test rows, the
commonest label's, and the test rows whose text training holds. --relatedness tree-lstm adds SICK-R as PAR's paper has
it: a tree-LSTM over the words' states, by the trees of our parser. Of several models the first is compared with each
other one by a paired bootstrap.

Example:
  paraform evaluate transfer --model minilm --data ../shared/data --tasks MR TREC MRPC
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import bad_values, device_of, load_able
from paraform.cli.measuring import add_protocol, add_resamples, add_tasks, names_of, show_measured, spaces_for
from paraform.cli.systems import add_systems, model_names
from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.evaluation.embedding.task import Finding

SICK = "SICK-R"


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_systems(parser)
    parser.add_argument("--data", type=str, required=True, help="a folder that holds SentEval's files")
    add_tasks(parser)
    parser.add_argument("--classifier", type=Literal["logistic", "mlp"], default="logistic", help="the probe")
    add_protocol(parser)
    parser.add_argument(
        "--relatedness", choices=("none", "tree-lstm"), default="none",
        help="tree-lstm: SICK-R, too, by a tree-LSTM over words' states, of models that have some",
    )  # fmt: skip
    add_resamples(parser)


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.measuring import bounded, differences_of, measured
    from paraform.evaluation.embedding.transfer import protocols_of, transfer_sets
    from paraform.score import table

    sets = transfer_sets(options.data, options.tasks, protocols_of(options.classifier, options.protocol))
    with bad_values():
        spaces = spaces_for(options, sets)
        findings = measured(sets, spaces)
        if options.relatedness == "tree-lstm":
            findings += _by_trees(options)
    scores = bounded(findings, options.resamples)
    differences = differences_of(findings, model_names(options), options.resamples)
    about = {"models": names_of(spaces), "differences": [difference.to_json() for difference in differences]}
    shown = "\n".join([table(scores), *(["", *map(str, differences)] if differences else [])])
    return show_measured(options, spaces, scores, shown, **about)


def _by_trees(options: Namespace) -> list[Finding]:
    """SICK-R by a tree-LSTM. Raises: InputError if the set is not there, or a model has no states of words."""
    from paraform.capabilities import ReadsWords
    from paraform.evaluation.embedding.distances import word_system
    from paraform.evaluation.embedding.regression import SCALES
    from paraform.evaluation.embedding.similarity import similarity_splits
    from paraform.evaluation.on_pairs import head_name
    from paraform.syntax.parsing import load_parser, parser_digest
    from paraform.syntax.running import DEFAULT
    from paraform_papers.par.tree_relatedness import tree_relatedness

    parts = similarity_splits(options.data).get(SICK)
    if parts is None:
        raise InputError(f"{options.data}: --relatedness tree-lstm without SICK's train, dev and test parts")
    if options.vectors is not None:
        raise InputError("--relatedness tree-lstm with --vectors, which has none of words; expected --model")
    parser, parsed_by = load_parser(device=device_of(options)), head_name(DEFAULT, parser_digest())
    findings = []
    for name in model_names(options):
        model = load_able(options, ReadsWords, "a model with states of words, such as an encoder", name=name)
        findings += tree_relatedness(SICK, parts, *SCALES[SICK], word_system(name, model), parser, parsed_by=parsed_by)
    return findings
