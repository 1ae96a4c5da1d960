"""Sentences between two sentences: what a latent-variable model decodes on the line from one's vector to the other's.

Example:
  paraform interpolate "What is your first name?" "I want to go there." --steps 7
"""

from __future__ import annotations

from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values
from paraform.cli.decoding import decoding_of
from paraform.cli.latent import add_decoding, load_latent, tell_unknown
from paraform.cli.messages import tell
from paraform.cli.options import Steps, add_reading
from paraform.cli.output import show
from paraform.cli.reading import read_texts
from paraform.records import InputError, counted


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument(
        "text", nargs="*", type=str, default=[], metavar="TEXT", help="two sentences, or a file that holds two, or -"
    )
    add_reading(parser, "text")
    add_decoding(parser)
    parser.add_argument("--steps", type=Steps, default=11, help="sentences, both ends among them")


def run(options: Namespace) -> int:
    """Print the sentences."""
    how = decoding_of(options)
    texts = read_texts(options.text, options)
    if len(texts) != 2:
        raise InputError(f"{counted(len(texts), 'sentence')}; expected two, from one to the other")
    if texts[0] == texts[1]:
        tell("both ends are the same sentence; so is the line between them")
    with bad_values():
        model = load_latent(options)
        tell_unknown(model, texts)
        between = model.interpolate(*texts, steps=options.steps, **how)
    shares = [step / (options.steps - 1) for step in range(options.steps)]
    steps = [{"share": round(share, 4), "text": text} for share, text in zip(shares, between, strict=True)]
    lines = [f"{share:.2f}  {text}" for share, text in zip(shares, between, strict=True)]
    return show(options, {"steps": steps, "ends": texts, "model": options.model}, "\n".join(lines))
