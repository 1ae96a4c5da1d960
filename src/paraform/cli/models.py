"""The model that an option names, and the device that it is put on."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.records import InputError

if TYPE_CHECKING:
    from paraform.capabilities import Embedder, Paraphraser
    from paraform.encoders.sentence_vectors import GivenVectors


def device_of(options: Namespace) -> str | None:
    """The device, if torch can use it. Raises: InputError otherwise."""
    if options.device is None:
        return None
    import torch

    try:
        if torch.empty(0, device=options.device).is_meta:
            raise RuntimeError("it holds no numbers")
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was compiled with CUDA
        reason = re.sub(r"^Expected one of .*", "no kind of device", str(error).splitlines()[0])  # a line of nineteen
        raise InputError(f"--device {options.device}: {reason}; cpu always works") from error
    return str(options.device)


def training_device(options: Namespace) -> str:
    """The kind of device that accelerate trains on. Raises: InputError for another GPU than the first."""
    device, _, number = (device_of(options) or "auto").partition(":")
    if number not in ("", "0"):
        raise InputError(f"--device {options.device}: expected {device}; CUDA_VISIBLE_DEVICES says which")
    return device


def checkpoint_named(name: str) -> str:
    """The best checkpoint of a run's folder; any other name as it is."""
    from paraform.manifest import NAME

    best = os.path.join(name, "best")
    run = not os.path.isfile(os.path.join(name, NAME)) and os.path.isfile(os.path.join(best, NAME))
    return best if run else name


def chosen_name(given: str, options: Namespace) -> str:
    """A model's name as `checkpoint.load` takes it: of a run's folder the best checkpoint, with --layer and --pooling.

    Raises: InputError if one of them is chosen in the name already.
    """
    from paraform.encoders.names import with_choices

    return with_choices(checkpoint_named(given), {key: options.get(key) for key in ("layer", "pooling")})


def load_able(options: Namespace, ability: Any, expected: str, option: str = "model", name: str | None = None) -> Any:
    """The model that the option names (of a run's folder the best checkpoint), if it can do what a protocol asks.

    Args:
        ability: one of `capabilities`.
        expected: such a model in words.
        name: one of several that the option names; None: the only one.
    Raises: InputError otherwise.
    """
    from paraform.checkpoint import abilities

    given = options[option] if name is None else name
    chosen, device = chosen_name(given, options), device_of(options)
    return abilities.load_able(chosen, ability, expected, device, called=f"--{option} {given}")


def load_paraphraser(options: Namespace) -> Paraphraser:
    """The model, if it can paraphrase. Raises: InputError otherwise."""
    from paraform.capabilities import Paraphraser

    model: Paraphraser = load_able(options, Paraphraser, "a model that paraphrases")
    return model


EMBEDDERS = """A model is named, by --model:
  minilm, compact, latent-compact  embedded ones
  FOLDER | OWNER/NAME      a checkpoint, a run, a Hugging Face encoder, a seq2seq model (its encoder half), a
                           sentence-transformers model with all its modules; of safetensors, and no code of its own;
                           or ELMo's published options.json and weights.hdf5
  FILE.txt | FILE.vec      GloVe or word2vec: the mean of the words' vectors
What is chosen of it stands behind an @, so that variants are models side by side:
  minilm@layer=3           the states of a layer: 0 the embeddings, negative from the end
  minilm@layer=3,pooling=cls    mean, cls (the first token), max, or last (the last token)
  compact@vectors=style   of a model with several kinds of vectors
  minilm@weights=random,seed=1  the same network untrained, a floor
"""


def load_embedder(options: Namespace) -> Embedder:
    """The model, if it can embed, or what `--vectors SENTENCES VECTORS` names. Raises: InputError otherwise."""
    from paraform.capabilities import Embedder

    if isinstance(given := options.get("vectors"), list):
        return read_given(given)
    model: Embedder = load_able(options, Embedder, "a model that embeds")
    return model


def name_of_vectors(options: Namespace) -> str:
    """What tables call the model that `load_embedder` gives: --model, or the name of the vectors in its place."""
    given = options.get("vectors")
    return given_name(given) if isinstance(given, list) else str(options.model)


GIVEN = ("SENTENCES", "[NAME=]VECTORS")
GIVEN_HELP = "a text file, and a .npy file with a row for each of its lines"


def add_given_vectors(parser: ArgumentParser) -> None:
    """The option of a command that measures vectors, in the place of --model."""
    parser.add_argument(
        "--vectors", nargs=2, type=str, default=None, metavar=GIVEN, help=f"measure these, not a model: {GIVEN_HELP}"
    )


def given_name(given: Sequence[str]) -> str:
    """What tables call vectors that the user made: the NAME of `SENTENCES NAME=VECTORS`, else the file's."""
    return _named(given[1])[0]


def read_given(given: Sequence[str]) -> GivenVectors:
    """The vectors of `SENTENCES [NAME=]VECTORS`. Raises: InputError as `encoders.read_vectors`."""
    from paraform.encoders import read_vectors

    return read_vectors(given[0], _named(given[1])[1])


def _named(text: str) -> tuple[str, str]:
    """The name and the file of `[NAME=]FILE`; a file that is there may have an equals sign in its own name."""
    name, equals, file = text.partition("=")
    return (name, file) if equals and name and file and not os.path.exists(text) else (text, text)
