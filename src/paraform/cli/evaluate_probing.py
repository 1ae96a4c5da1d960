"""How much form, length and content a classifier reads off a model's vectors: SentEval's probing tasks.

--data names a folder with SentEval's files (bigram_shift.txt …), one such file, or treebanks (.mrg files), from which
BShift, TreeDepth, TopConst, SentLen and WordContent are re-created: other text and fewer sentences than SentEval's.
Chance stands beside each figure. Of several models the first is the one before a change: what share of its accuracy
above chance each other one has lost is printed too. --write keeps the re-created sets in SentEval's format, and alone
measures nothing.

Example:
  paraform evaluate probing --model minilm@layer=3 minilm --data ../shared/data/treebank --tasks BShift TopConst
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.measuring import add_protocol, add_tasks, show_measured, spaces_for
from paraform.cli.systems import add_systems, model_names, write_texts
from paraform.records import counted


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--data", type=str, required=True, help="SentEval's probing files, or treebanks")
    add_systems(parser)
    add_tasks(parser)
    add_protocol(parser)
    parser.add_argument("--write", type=str | None, default=None, help="a folder for the sets in SentEval's format")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.measuring import measured
    from paraform.evaluation.embedding.probing import compared, explained, probing_sets, probing_table, write_sets

    sets = probing_sets(options.data, options.tasks, protocols=options.protocol, seed=options.seed)
    if options.texts_out is not None:
        return write_texts(options, sets)
    about: dict[str, Any] = {"sets": [one.to_json() for one in sets]}
    shown, spaces, scores = [], [], []
    if options.write is not None:
        about["written"] = write_sets(sets, options.write)
        shown += [f"{path}: {counted(count, 'sentence')}" for path, count in about["written"].items()]
    if options.write is None or options.model or options.vectors:
        spaces = spaces_for(options, sets)
        findings = measured(sets, spaces)
        scores = [finding.score for finding in findings]
        shown.append(probing_table(sets, spaces, scores))
        first, *others = ([one for one in findings if one.score.system == name] for name in model_names(options))
        taken = [score for other in others for score in compared(first, other)]
        if taken:
            scores += taken
            shown += ["", explained(taken)]
    return show_measured(options, spaces, scores, "\n".join(shown), **about)
