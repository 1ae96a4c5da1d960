"""Say each text in the form of an exemplar.

Texts and exemplars pair up when there are as many of one as of the other; one exemplar serves all texts; --each gives
every combination. Without --like, exemplars are drawn from the bank that ships with the model. Every output has a
content score: the cosine of the offline encoder between source and output.

Example:
  paraform paraphrase "how can i earn money online ?" --like "what is the best way to reduce weight ?"
  paraform paraphrase questions.txt --num 5 --min-content 0.6 --json > reworded.json
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import NonNegativeFloat, PositiveInt, restricted_number_type

from paraform.cli.arguments import Share, add_search, add_texts, bad_values, decoding_of, load_paraphraser, tell
from paraform.cli.output import print_json, print_rewordings
from paraform.cli.reading import read_texts
from paraform.records import InputError

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from paraform.capabilities import Paraphraser

DEFAULT_MODEL = "quora-compact"
Cosine = restricted_number_type("Cosine", float, [(">=", -1), ("<=", 1)])


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_texts(parser)
    parser.add_argument(
        "--like", nargs="+", type=str, metavar="EXEMPLAR", help="sentences whose form to take, or a file of them"
    )
    parser.add_argument("--each", action="store_true", help="every text with every exemplar")
    parser.add_argument("--num", type=PositiveInt, default=1, help="exemplars drawn from the bank for each text")
    parser.add_argument("--min-content", type=Cosine | None, default=None, help="drop outputs of a lower content score")
    parser.add_argument("--model", type=str, default=DEFAULT_MODEL, help="embedded, a folder, or a hub id")
    add_search(parser)
    parser.add_argument("--temperature", type=NonNegativeFloat, default=0.0, help="above 0 words are drawn")
    parser.add_argument("--top-p", type=Share, default=1.0, help="share of the probability that is drawn from")


def run(options: Namespace) -> int:
    """Print the paraphrases."""
    how = decoding_of(options)
    if options.like is not None and options.num > 1:
        raise InputError("--num draws from the model's bank; leave out --like, or give it more exemplars")
    if options.each and options.like is None:
        raise InputError("--each needs --like")
    texts = read_texts(options.text, options)
    like = None if options.like is None else read_texts(options.like, options, "exemplar")
    model = load_paraphraser(options)
    chosen = model.exemplars(texts, like, each=options.each, num=options.num, seed=options.seed)
    sources = [text for text, row in zip(texts, chosen, strict=True) for _ in row]
    exemplars = [exemplar for row in chosen for exemplar in row]
    with bad_values():
        outputs = model.decode(sources, exemplars, ration=False if options.no_ration else None, **how)
    scores = content_scores(model, sources, outputs)
    least = -1.0 if options.min_content is None else options.min_content
    kept = [row for row, score in enumerate(scores) if score >= least]
    if len(kept) < len(outputs):
        tell(f"{len(outputs) - len(kept)} of {len(outputs)} paraphrases dropped, content below {least}")
    if options.json:
        found: list[dict[str, Any]] = [
            {
                "source": sources[row],
                "exemplar": exemplars[row],
                "paraphrase": outputs[row],
                "content": round(float(scores[row]), 4),
            }
            for row in kept
        ]
        print_json({"paraphrases": found, "model": options.model})
    else:
        print_rewordings([(sources[row], outputs[row]) for row in kept])
    return 0


def content_scores(model: Paraphraser, sources: Sequence[str], outputs: Sequence[str]) -> NDArray[float64]:
    """Cosine of the offline encoder between each source and its output, [N]."""
    from paraform import encoders
    from paraform.evaluation.content import content_kept, embed_unique

    encoder = encoders.load(device=model.device)  # mostly the model's style encoder too, which is in memory already
    vectors = embed_unique(encoder.encode, [*sources, *outputs])
    return content_kept(vectors[: len(sources)], vectors[len(sources) :])
