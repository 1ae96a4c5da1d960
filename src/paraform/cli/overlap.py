"""Sentences of training files that stand in evaluation sets, by text without case, punctuation and spacing.

--against names files or folders of evaluation sets in any layout: SentEval's, TSV, CSV, JSON lines, trees. With --drop
the training file is written without them, and without whatever is of one cluster with them: of pairs the connected
component, of captions the whole image (the line).

Example:
  paraform overlap captions.tsv --format captions --against sts/ stsb/ --drop --out clean.tsv
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import NonNegativeInt

from paraform.cli.options import add_reading
from paraform.cli.output import aligned, show
from paraform.cli.reading import read_records
from paraform.records import InputError, counted, sides_of

if TYPE_CHECKING:
    from paraform.corpora.leaks import Overlaps


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("train", nargs="+", type=str, metavar="TRAIN", help="training files, of one format")
    add_reading(parser)
    parser.add_argument("--against", nargs="+", type=str, required=True, help="evaluation files, or folders of them")
    parser.add_argument("--examples", type=NonNegativeInt, default=1, help="sentences shown of each evaluation file")
    parser.add_argument("--drop", action="store_true", help="write the training file without them to --out")
    parser.add_argument("--out", type=str | None, default=None, help="the file that --drop writes")


def run(options: Namespace) -> int:
    """Print what was found, and write what is left."""
    from paraform.corpora.evaluation_sets import read_evaluation_sets
    from paraform.corpora.leaks import drop_overlap, overlaps

    if options.drop != (options.out is not None):
        raise InputError(f"{'--drop' if options.drop else '--out'} alone; expected --drop --out FILE")
    if options.drop and (len(options.train) > 1 or options.train[0] == "-" or options.format == "qqp-pos"):
        raise InputError("--drop with several files, stdin or a folder; expected one training file")
    if options.drop and options.format == "labelled-pairs":  # PAN's are three files, MRPC's has a header …
        raise InputError("--drop with --format labelled-pairs; train has the same by --against")
    training = {
        path: [side.text for record in read_records(path, options) for side in sides_of(record).values()]
        for path in options.train
    }
    evaluation = read_evaluation_sets(options.against)
    found = overlaps(training, evaluation)
    about, shown = _about(found, options.examples), _shown(found, options.examples)
    if options.drop:
        texts = (text for some in evaluation.values() for text in some)
        rows = drop_overlap(options.train[0], options.out, texts, options.format, skip_bad_lines=options.skip_bad_lines)
        about |= {"out": options.out, **rows._asdict()}
        shown += f"\n\n{options.out}: {counted(rows.kept, 'row')}; dropped are {rows.leaked:,} with such a sentence"
        shown += f" and {rows.related:,} of one cluster with them"
    return show(options, about, shown)


def _about(found: Overlaps, examples: int) -> dict[str, Any]:
    return {
        "evaluation": [
            {
                "file": name,
                "sentences": one.evaluation,
                "in_training": len(one.shared),
                "examples": [{"training": ours, "evaluation": theirs} for ours, theirs in one.shared[:examples]],
            }
            for name, one in found.evaluation.items()
        ],
        "training": [
            {"file": name, "sentences": one.training, "in_evaluation": len({ours for ours, _ in one.shared})}
            for name, one in found.training.items()
        ],
    }


def _shown(found: Overlaps, examples: int) -> str:
    rows = [["file", "sentences", "in training", "share"]]
    for name, one in found.evaluation.items():
        rows.append([name, f"{one.evaluation:,}", f"{len(one.shared):,}", f"{len(one.shared) / one.evaluation:.1%}"])
    others = [["file", "sentences", "in evaluation", "share"]]
    for name, one in found.training.items():
        others.append([name, f"{one.training:,}", f"{len(one.shared):,}", f"{len(one.shared) / one.training:.1%}"])
    some = [
        f"{name}: {theirs!r} is in training: {ours!r}"
        for name, one in found.evaluation.items()
        for ours, theirs in one.shared[:examples]
    ]
    return "\n".join([*aligned(rows), "", *aligned(others), *(["", *some] if some else [])])
