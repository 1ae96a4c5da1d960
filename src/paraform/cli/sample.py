"""Sentences that a latent-variable model decodes from vectors drawn from its prior.

With --near FILE (its training sentences) the nearest of them stands beside each, so that memorising shows.

Example:
  paraform sample --num 10
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.decoding import decoding_of
from paraform.cli.latent import add_decoding, load_latent
from paraform.cli.messages import tell
from paraform.cli.options import Count, add_reading
from paraform.cli.output import show
from paraform.cli.reading import sentences_of

if TYPE_CHECKING:
    from paraform.evaluation.latent import Neighbour


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    add_decoding(parser)
    parser.add_argument("--num", type=Count, default=10, help="sentences")
    parser.add_argument(
        "--near", type=str | None, default=None, metavar="FILE", help="training sentences to compare with"
    )
    add_reading(parser, "text")


def run(options: Namespace) -> int:
    """Print the sentences."""
    from paraform.evaluation.latent import nearest_sentences

    how = decoding_of(options)
    training = None if options.near is None else list(dict.fromkeys(sentences_of(options.near, options)))
    model = load_latent(options)
    with bad_values():
        texts = model.sample(options.num, **how)
    if not model.has_noise:
        tell(
            f"{options.model} is an autoencoder: nothing has kept its vectors near the prior that these are drawn from"
        )
    near: Sequence[Neighbour | None] = [None] * len(texts)
    if training is not None:
        near = nearest_sentences(texts, training, model.words)
    samples: list[dict[str, Any]] = []
    lines = []
    for text, found in zip(texts, near, strict=True):
        beside = {} if found is None else {"nearest": found.text, "similarity": round(found.similarity, 4)}
        samples.append({"text": text} | beside)
        lines.append(text if found is None else f"{text}\n    {found.similarity:.2f}  {found.text}")
    return show(options, {"samples": samples, "model": options.model}, "\n".join(lines))
