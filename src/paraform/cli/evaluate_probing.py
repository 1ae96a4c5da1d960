"""How much form, length and content a classifier reads off a model's vectors: SentEval's probing tasks.

--data names a folder with SentEval's files (bigram_shift.txt …), one such file, or treebanks (.mrg files), from which
BShift, TreeDepth, TopConst, SentLen and WordContent are re-created: other text and fewer sentences than SentEval's.
Chance stands beside each figure. --before names the model before a change: what share of its accuracy above chance the
change takes away is printed too. --write keeps the re-created sets in SentEval's format.

Example:
  paraform evaluate probing --model minilm --data ../shared/data/treebank --tasks BShift TopConst
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import load_able
from paraform.cli.embed import embedder
from paraform.cli.output import show
from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.evaluation.embedding.probing import ProbingSet
    from paraform.evaluation.embedding.space import Vectors


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument("--data", type=str, required=True, help="SentEval's probing files, or treebanks")
    parser.add_argument("--model", type=str | None, default=None, help="any model that embeds; null: only --write")
    parser.add_argument("--vectors", type=str | None, default=None, help="content or style, of a model that has both")
    parser.add_argument("--before", type=str | None, default=None, help="the model before a change that led to --model")
    parser.add_argument("--tasks", type=str, nargs="+", default=[], metavar="SET", help="sets by name; else all there")
    parser.add_argument(
        "--protocol", type=str, nargs="+", choices=("default", "paper"), default=["default"], help="one or both"
    )
    parser.add_argument("--write", type=str | None, default=None, help="a folder for the sets in SentEval's format")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.evaluation.embedding.probing import compared, explained, probing_sets, probing_table, write_sets

    if options.model is None and (options.write is None or options.before is not None):
        raise InputError("no --model; expected one, or --write FOLDER alone")
    sets = probing_sets(options.data, options.tasks, protocols=options.protocol, seed=options.seed)
    about: dict[str, Any] = {"data": options.data, "sets": [one.to_json() for one in sets], "scores": []}
    shown = []
    if options.write is not None:
        about["written"] = write_sets(sets, options.write)
        shown += [f"{path}: {count:,} sentences" for path, count in about["written"].items()]
    if options.model is not None:
        spaces = [_space(options, name, sets) for name in ("before", "model") if options[name] is not None]
        findings = [[finding for one in sets for finding in one.measure(space)] for space in spaces]
        scores = [finding.score for some in findings for finding in some]
        shown.append(probing_table(sets, spaces, scores))
        if len(findings) == 2:
            taken = compared(*findings)
            scores += taken
            shown += ["", explained(taken)]
        about["scores"] = [score.to_json() for score in scores]
    return show(options, about, "\n".join(shown))


def _space(options: Namespace, option: str, sets: Sequence[ProbingSet]) -> Vectors:
    from paraform.capabilities import Embedder
    from paraform.evaluation.embedding.space import embedded
    from paraform.score import signature

    embed = embedder(load_able(options, Embedder, "a model that embeds", option), options)
    name = f"{options[option]} {options.vectors}" if options.vectors else options[option]
    texts = [text for one in sets for text in one.texts()]
    return embedded(lambda part: embed(list(part)), texts, name=name, signature=signature(encoder=name))
