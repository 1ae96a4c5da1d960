"""The models that a command measures side by side: `--model`, once or more often, or vectors that the user made."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.messages import tell
from paraform.cli.models import EMBEDDERS, add_given_vectors, load_able
from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.capabilities import Embedder
    from paraform.evaluation.embedding.measuring import System


def add_systems(parser: ArgumentParser) -> None:
    """The options of every command that measures vectors of sentences."""
    parser.description = f"{parser.description}\n\n{EMBEDDERS}"
    parser.add_argument(
        "--model", type=str, nargs="+", action="extend", default=[], help="models, side by side; none: minilm"
    )
    add_given_vectors(parser)
    parser.add_argument(
        "--floors",
        choices=("all", "words", "none"),
        default="all",
        help="beside the models: words alone, and all: the same networks with random weights too",
    )


def model_names(options: Namespace) -> list[str]:
    """What tables call the models, the first one first; networks with random weights are none."""
    if options.vectors is not None:
        return [str(options.vectors[1])]
    return list(options.model or ["minilm"])


def given_models(options: Namespace) -> str:
    """The option that names vectors which the user made, as it is typed; "" of models."""
    return "" if options.vectors is None else shlex.join(["--vectors", *map(str, options.vectors)])


def systems_of(options: Namespace) -> list[System]:
    """The models, and behind them the networks with random weights, if these are wanted.

    Raises: InputError if a model cannot be loaded, does not embed, or is named twice.
    """
    if options.vectors is not None:
        if options.model:
            raise InputError(f"--vectors beside --model {options.model[0]}; expected one of the two")
        from paraform.encoders import read_vectors

        return [_system(model_names(options)[0], read_vectors(*options.vectors), options)]
    names = model_names(options)
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"--model {twice[0]} twice; expected names that differ, such as minilm and minilm@layer=3")
    systems = [_system(name, _load(name, options), options) for name in names]
    return systems + (_untrained(names, options) if options.floors == "all" else [])


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
