"""What a command measures side by side: models by `--model`, and vectors that the user made by `--vectors`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.messages import tell
from paraform.cli.models import EMBEDDERS, GIVEN, GIVEN_HELP, given_name, load_able, read_given
from paraform.cli.output import show
from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.capabilities import Embedder
    from paraform.evaluation.embedding.measuring import System
    from paraform.evaluation.embedding.task import Task


def add_systems(parser: ArgumentParser) -> None:
    """The options of every command that measures vectors of sentences."""
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    parser.add_argument(
        "--model", type=str, nargs="+", action="extend", default=[], help="models, side by side; none: minilm"
    )
    parser.add_argument(
        "--vectors",
        nargs=2,
        type=str,
        action="append",
        default=[],
        metavar=GIVEN,
        help=f"vectors of your own beside the models, or alone; may be given again: {GIVEN_HELP}",
    )
    parser.add_argument(
        "--texts-out",
        type=str | None,
        default=None,
        metavar="FILE",
        help="measure nothing: write each text that --vectors has to have there, one a line",
    )
    parser.add_argument(
        "--floors",
        choices=("all", "words", "none"),
        default="all",
        help="beside the models: words alone, and all: the same networks with random weights too",
    )


def model_names(options: Namespace) -> list[str]:
    """What tables call the models, the first one first, then vectors; networks with random weights are none."""
    return [*_models(options), *map(given_name, options.vectors)]


def given_models(options: Namespace) -> list[str]:
    """The options that name these, as they are typed."""
    return [
        *(f"--model {shlex.quote(name)}" for name in _models(options)),
        *(shlex.join(["--vectors", *given]) for given in options.vectors),
    ]


def systems_of(options: Namespace) -> list[System]:
    """The models and the vectors, and behind them the networks with random weights, if these are wanted.

    Raises: InputError if a model cannot be loaded, does not embed, or a name comes twice.
    """
    names = model_names(options)
    if twice := [name for name in names if names.count(name) > 1]:
        option = "--model" if twice[0] in options.model else "--vectors"
        expected = "such as minilm and minilm@layer=3" if option == "--model" else "such as mine=FILE.npy"
        raise InputError(f"{option} {twice[0]} twice; expected names that differ, {expected}")
    given = [(given_name(one), read_given(one)) for one in options.vectors]  # read first: a mistake costs no minute
    models = _models(options)
    systems = [_system(name, _load(name, options), options) for name in models]
    systems += [_system(name, model, options) for name, model in given]
    return systems + (_untrained(models, options) if options.floors == "all" else [])


def write_texts(options: Namespace, tasks: Sequence[Task]) -> int:
    """Write what `--texts-out` asks for: each different text of the tasks, as it comes first; returns the exit status.

    White space in a text counts as one space, so that each is a line; `GivenVectors` finds its vector all the same.
    """
    from paraform.weights import atomic_path

    spaced = (" ".join(text.split()) for task in tasks for text in task.texts())
    texts = list(dict.fromkeys(text for text in spaced if text))
    with atomic_path(options.texts_out) as unfinished:
        unfinished.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    lines = (
        f"{options.texts_out}: {len(texts):,} texts; --vectors {options.texts_out} VECTORS.npy measures vectors of them"
    )
    return show(options, {"texts_out": options.texts_out, "texts": len(texts)}, lines)


def _models(options: Namespace) -> list[str]:
    """The models by name; minilm, where nothing else is named."""
    return list(options.model or ([] if options.vectors else ["minilm"]))


def _untrained(names: list[str], options: Namespace) -> list[System]:
    """The same networks with the weights that training starts from; word vectors, for one, have none such."""
    from paraform.encoders.names import parse_name, with_choices

    systems = []
    for name in names:
        if parse_name(name)[1].weights is not None:
            continue
        random = with_choices(name, {"weights": "random"})
        try:
            model = _load(random, options)
        except InputError as error:
            tell(f"no network with random weights beside {name}: {error}")
            continue
        systems.append(_system(random, model, options))
    return systems


def _load(name: str, options: Namespace) -> Embedder:
    from paraform.capabilities import Embedder

    model: Embedder = load_able(options, Embedder, "a model that embeds", name=name)
    return model


def _system(name: str, model: Embedder, options: Namespace) -> System:
    from paraform.evaluation.embedding.measuring import system_of

    return system_of(name, model, batch_size=options.batch_size or 0, seed=options.seed, progress=True)
