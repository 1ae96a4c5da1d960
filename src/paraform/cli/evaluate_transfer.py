"""What a probe finds in a model's vectors: MR, CR, MPQA, SUBJ, SST-2, TREC, MRPC and SICK-E, in percent.

--data is a folder that holds SentEval's files, in its own folders or not; all sets that are there are measured, or
those that --tasks names. The probe is a logistic regression, or with --classifier mlp a network of 50 hidden units.
default: coordinates standardised on a probe's training rows, L2 chosen by inner folds (mlp: by a held-out tenth).
paper: SentEval as its code behaves today. Beside each figure stand the middle 95 % over resamples of the test rows, the
commonest label's, and the test rows whose text training holds. Of several models the first is compared with each other
one by a paired bootstrap.

Example:
  paraform evaluate transfer --model minilm --data ../shared/data --tasks MR TREC MRPC
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.measuring import add_protocol, add_resamples, add_tasks, names_of, show_measured, spaces_for
from paraform.cli.systems import add_systems, model_names, write_texts


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_systems(parser)
    parser.add_argument("--data", type=str, required=True, help="a folder that holds SentEval's files")
    add_tasks(parser)
    parser.add_argument("--classifier", type=Literal["logistic", "mlp"], default="logistic", help="the probe")
    add_protocol(parser)
    add_resamples(parser)


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.measuring import bounded, differences_of, measured
    from paraform.evaluation.embedding.probe_rows import protocols_of
    from paraform.evaluation.embedding.transfer import transfer_sets
    from paraform.score import table

    sets = transfer_sets(options.data, options.tasks, protocols_of(options.classifier, options.protocol))
    if options.texts_out is not None:
        return write_texts(options, sets)
    with bad_values():
        spaces = spaces_for(options, sets)
        findings = measured(sets, spaces)
    scores = bounded(findings, options.resamples)
    differences = differences_of(findings, model_names(options), options.resamples)
    about = {"models": names_of(spaces), "differences": [difference.to_json() for difference in differences]}
    shown = "\n".join([table(scores), *(["", *map(str, differences)] if differences else [])])
    return show_measured(options, spaces, scores, shown, **about)
