"""What the commands that measure have in common: options, spaces of the sets' texts, and what is printed of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import NonNegativeInt, PositiveInt

from paraform.cli.options import add_reading
from paraform.cli.output import show
from paraform.cli.systems import systems_of
from paraform.cli.tag import add_tagger

if TYPE_CHECKING:
    from paraform.evaluation.embedding.space import Judged, Space
    from paraform.evaluation.embedding.task import Task
    from paraform.score import Score


def add_pairs(parser: ArgumentParser, default: str) -> None:
    """The options of a command that measures a model on pairs."""
    parser.add_argument("--model", type=str, default=default, help="embedded, a folder, or a hub id")
    parser.add_argument("--data", type=str, required=True, metavar="PATH", help="the test pairs, or - for stdin")
    parser.add_argument("--max-tokens", type=PositiveInt, default=15, help="words of each text that count")
    add_reading(parser)
    add_tagger(parser)


def add_sets(parser: ArgumentParser, columns: str) -> None:
    """The options of a command that reads sets of pairs, from tables too."""
    parser.add_argument("--data", type=str, nargs="+", required=True, metavar="PATH", help="folders or files")
    parser.add_argument(
        "--columns", type=str, nargs=3, default=None, metavar="NAME", help=f"of a table: two texts and the {columns}"
    )


def add_tasks(parser: ArgumentParser) -> None:
    """The option of a command that trains probes on sets."""
    parser.add_argument("--tasks", type=str, nargs="+", default=[], metavar="SET", help="sets by name; else all there")


def add_protocol(parser: ArgumentParser) -> None:
    """The option of a command whose probes are trained as ours or as a paper's."""
    parser.add_argument("--protocol", nargs="+", choices=("default", "paper"), default=["default"], help="one or both")


def add_resamples(parser: ArgumentParser) -> None:
    """The option of a command that gives intervals."""
    parser.add_argument("--resamples", type=NonNegativeInt, default=1000, help="draws of the bootstrap; 0: none")


def spaces_for(options: Namespace, tasks: Sequence[Task]) -> list[Space]:
    """The spaces of the tasks' texts of all models that the options name, and the floors that they want."""
    from paraform.evaluation.embedding.measuring import spaces_of

    return spaces_of(tasks, systems_of(options), words=options.floors != "none")


def names_of(spaces: Sequence[Space]) -> list[str]:
    """Those that an encoder made, one with random weights too."""
    from paraform.evaluation.embedding.space import Vectors

    return [space.name for space in spaces if isinstance(space, Vectors)]


def show_measured(
    options: Namespace, spaces: Sequence[Space | Judged], scores: Sequence[Score], text: str, **more: Any
) -> int:
    """Print what was measured of spaces, and which of their models have seen such sentences; returns the exit status.

    Args:
        more: what else the JSON object holds, before its scores.
    """
    from paraform.evaluation.embedding.measuring import seen_notes

    notes = seen_notes(spaces)
    about = {"data": options.data, **more, "scores": [score.to_json() for score in scores], "notes": notes}
    return show(options, about, "\n".join([text, *notes]))
