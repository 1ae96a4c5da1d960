"""What the commands of latent-variable models share: their options, their model, and the texts that it can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.decoding import add_drawing
from paraform.cli.messages import tell
from paraform.cli.models import load_able
from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.capabilities import LatentSpace

LATENT_MODEL = "latent-compact"


def add_decoding(parser: ArgumentParser) -> None:
    """The options of a command that says what latent vectors mean."""
    parser.add_argument(
        "--model", type=str, default=LATENT_MODEL, help="embedded, a run's folder, a checkpoint, or a hub id"
    )
    parser.add_argument("--beam", type=PositiveInt, default=1, help="hypotheses kept; 1 is greedy")
    add_drawing(parser)


def load_latent(options: Namespace) -> LatentSpace:
    """The model, if it has a latent space to decode from. Raises: InputError otherwise."""
    from paraform.capabilities import LatentSpace

    model: LatentSpace = load_able(options, LatentSpace, "a latent-variable model")
    return model


def tell_unknown(model: LatentSpace, texts: Sequence[str]) -> None:
    """How many words a latent-variable model does not know, if there are some: it says others in their place."""
    if unknown := model.unknown(texts):
        words = sum(len(model.words(text)) for text in texts)
        tell(f"{unknown:,} of {words:,} words are unknown to the model")


Item = TypeVar("Item")


def readable(
    model: LatentSpace, items: Iterable[Item], options: Namespace, text_of: Callable[[Item], str] = str
) -> Iterator[Item]:
    """The texts that a latent-variable model can read; with --skip-bad-lines longer ones are counted and left out.

    Args:
        items: the texts, or what `text_of` finds them in.

    Raises: InputError for a longer one, by its number among all, or if none is left.
    """
    most = model.max_tokens
    number, long = 0, 0
    for number, item in enumerate(items, start=1):
        count = len(model.words(text_of(item)))
        if count <= most:
            yield item
        elif options.skip_bad_lines:
            long += 1
        else:
            raise InputError(
                f"text {number:,} has {count:,} words; expected at most {most}, as {options.model} was"
                " trained (--skip-bad-lines leaves longer ones out)"
            )
    if long == number:
        raise InputError(f"no text of at most {most} words, as {options.model} was trained on; expected some")
    if long:
        tell(f"{long:,} of {number:,} texts have more than {most} words; left out")
