"""The options of decoding, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import NonNegativeFloat, PositiveInt

from paraform.cli.options import Share

if TYPE_CHECKING:
    from paraform.decoding import Decoding


def add_search(parser: ArgumentParser) -> None:
    """The options of a command that decodes from sources."""
    parser.add_argument("--beam", type=PositiveInt, default=1, help="hypotheses kept; 1 is greedy")
    parser.add_argument(
        "--allow-repetition",
        "--no-ration",  # as version 0.1.0 called it
        action="store_true",
        help="words may be said twice running, and any number of times",
    )


def add_drawing(parser: ArgumentParser) -> None:
    """The options of drawing words."""
    parser.add_argument("--temperature", type=NonNegativeFloat, default=0.0, help="above 0 words are drawn")
    parser.add_argument("--top-p", type=Share, default=1.0, help="share of the probability that is drawn from")


def repetition_of(options: Namespace) -> Decoding:
    """What `--allow-repetition` says, if it is given."""
    return {"constrain_repetition": False} if options.allow_repetition else {}


def decoding_of(options: Namespace) -> Decoding:
    """What the options of decoding say. Raises: InputError as `require_decoding` does."""
    from paraform.decoding import Decoding, require_decoding

    how = Decoding(beam=options.beam, temperature=options.temperature, top_p=options.top_p, seed=options.seed)
    how["progress"] = True
    if options.batch_size:
        how["batch_size"] = options.batch_size
    require_decoding(how, lambda name: f"--{name.replace('_', '-')}")
    return how
