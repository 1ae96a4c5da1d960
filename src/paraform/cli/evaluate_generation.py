"""Figures of a model that paraphrases, under three exemplar protocols, beside two floors, by thirds of overlap.

"first" is the honest protocol (the exemplar is fixed before decoding), "oracle" the authors' (best of five by overlap
with the reference), "blind" draws exemplars without knowing the reference. Pairs get exemplars mined from their own
targets; triples (--format triples, or what `mine` wrote: --format jsonl) bring theirs. Printed are five figures on all
rows; --details has the others, thirds of overlap, vectors, and each figure's own settings; --json has all always.

Example:
  paraform evaluate generation --model compact --data test.tsv --json
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.config_options import bad_values
from paraform.cli.decoding import add_search, repetition_of
from paraform.cli.measuring import add_pairs, add_resamples
from paraform.cli.models import load_able, load_paraphraser
from paraform.cli.output import show
from paraform.cli.paraphrase import LIKE_MODEL
from paraform.cli.reading import read_pairs

if TYPE_CHECKING:
    from paraform.decoding import Decoding

PROTOCOLS = ("first", "oracle", "blind")


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_pairs(parser, LIKE_MODEL)
    add_search(parser)
    parser.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=list(PROTOCOLS), help="which exemplars")
    parser.add_argument("--exemplars", type=PositiveInt, default=5, help="mined for each row, at most")
    parser.add_argument("--bleu-tokenize", type=str, default="none", help="none, multi-bleu, 13a, intl")
    add_resamples(parser)
    parser.add_argument(
        "--parser", type=str | None, default=None, help="syntax, stanza …: tree edit distances, too; null: without"
    )
    parser.add_argument(
        "--judge",
        type=str | None,
        default=None,
        help="smollm2-judge, minilm-judge …: how likely it says the same, too; null: without",
    )
    parser.add_argument("--details", action="store_true", help="print every figure, and each one's settings")
    parser.add_argument("--outputs", type=str | None, default=None, metavar="FILE", help="every output, as JSON lines")


def run(options: Namespace) -> int:
    """Print the figures."""
    from paraform.checkpoint.vectors import model_digest
    from paraform.evaluation.on_pairs import evaluate_paraphraser, evaluation_set, head_name

    records = read_pairs(options.data, options)
    model = load_paraphraser(options)
    judge: JudgesMeaning | None = None
    if options.judge is not None:
        from paraform.capabilities import JudgesMeaning

        judge = load_able(options, JudgesMeaning, "a judge of meaning", "judge")
    how: Decoding = {"beam": options.beam, "batch_size": options.batch_size or 512, "progress": True}
    how |= repetition_of(options)
    with bad_values():
        settings = {name: options[name] for name in ("tagger", "max_tokens", "exemplars", "seed")}
        report = evaluate_paraphraser(
            model,
            evaluation_set(records, **settings, progress=True),
            name=options.model,
            protocols=list(dict.fromkeys(options.protocols)),
            bleu_tokenize=options.bleu_tokenize,
            resamples=options.resamples,
            parser=options.parser,
            judge=judge,
            judge_name="none" if judge is None else head_name(options.judge, model_digest(judge)),
            **how,
        )
    if options.outputs is not None:
        report.write_outputs(options.outputs)
    text = report.table("plain") if options.details else report.summary()
    return show(options, {"model": options.model, "data": options.data, **report.to_json()}, text)
