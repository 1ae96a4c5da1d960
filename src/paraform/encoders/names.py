"""Models' names, and what is chosen of a model within its name: `minilm@layer=3,pooling=cls`, `compact@vectors=style`.

So two variants of one model can stand side by side wherever a command takes names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import get_args

from paraform.encoders.types import POOLINGS, Pooling
from paraform.records import InputError

WRITTEN = "NAME@layer=3,pooling=cls"
MOST_SEED = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Variant:
    """What is chosen of a model; None where its own choice stands.

    Args:
        layer: of an encoder, whose states are pooled: 0 the embeddings, negative from the end.
        pooling: of an encoder, one of `types.POOLINGS`.
        vectors: the kind of vectors, of a model with several: content, style.
        weights: "random": the same network with the weights that it would start training with.
        seed: of random weights.
    """

    layer: int | None = None
    pooling: Pooling | None = None
    vectors: str | None = None
    weights: str | None = None
    seed: int | None = None

    @property
    def random_seed(self) -> int | None:
        """The seed that random weights are drawn by; None: the weights are the trained ones."""
        return (self.seed or 0) if self.weights == "random" else None

    def only(self, what: str, *keys: str) -> None:
        """Raises: InputError if anything but these is chosen of `what`."""
        chosen = [key for key, value in asdict(self).items() if value is not None and key not in keys]
        if chosen:
            expected = f"expected {' or '.join(f'{key}=…' for key in keys)}" if keys else "expected its name alone"
            raise InputError(f"{chosen[0]}={getattr(self, chosen[0])}: {what} has no choice of {chosen[0]}; {expected}")


KEYS = tuple(field.name for field in fields(Variant))


def parse_name(text: str) -> tuple[str, Variant]:
    """The model's name, and what is chosen of it. A file or folder of the whole name is that, whatever it holds.

    Raises: InputError for a key or a value that is none.
    """
    name, at, choices = text.rpartition("@")
    if not at or not name or os.path.exists(text):
        return text, Variant()
    found: dict[str, str] = {}
    for choice in choices.split(","):
        key, equals, value = (part.strip() for part in choice.partition("="))
        if key not in KEYS or not equals:
            expected = f"expected some of {', '.join(KEYS)}, as in {WRITTEN}"
            raise InputError(f"{text}: no such file or folder, and {choice!r} behind the @; {expected}")
        if key in found:
            raise InputError(f"{text}: {key} twice; expected it once")
        found[key] = value
    return name, _variant(text, found)


def with_choices(text: str, choices: Mapping[str, object]) -> str:
    """A name with further choices: `minilm`, `{"layer": 3}` → `minilm@layer=3`; those that are None are left out.

    Raises: InputError if one of them is chosen in the name already.
    """
    more = {key: value for key, value in choices.items() if value is not None}
    if not more:
        return text
    name, variant = parse_name(text)
    before = {key: value for key, value in asdict(variant).items() if value is not None}
    if twice := sorted(before.keys() & more.keys()):
        raise InputError(f"--{twice[0]} {more[twice[0]]}: {text} says {twice[0]}={before[twice[0]]}; expected one")
    return f"{name}@{','.join(f'{key}={value}' for key, value in (before | more).items())}"


def _variant(text: str, found: Mapping[str, str]) -> Variant:
    numbers: dict[str, int] = {}
    for key in ("layer", "seed"):
        if key in found:
            try:
                numbers[key] = int(found[key])
            except ValueError as error:
                raise InputError(f"{text}: {key} is {found[key]!r}; expected a whole number") from error
    if not 0 <= numbers.get("seed", 0) <= MOST_SEED:
        raise InputError(f"{text}: seed is {numbers['seed']}; expected a number of at least 0, at most {MOST_SEED}")
    pooling = next((known for known in POOLINGS if known == found.get("pooling")), None)
    if "pooling" in found and pooling is None:
        raise InputError(f"{text}: pooling is {found['pooling']!r}; expected one of {', '.join(get_args(Pooling))}")
    if found.get("weights", "random") != "random":
        raise InputError(f"{text}: weights is {found['weights']!r}; expected random, or none for the trained ones")
    if "seed" in found and "weights" not in found:
        raise InputError(f"{text}: a seed without weights=random; expected both")
    if found.get("vectors") == "":
        raise InputError(f"{text}: vectors is empty; expected their kind, such as content")
    return Variant(numbers.get("layer"), pooling, found.get("vectors"), found.get("weights"), numbers.get("seed"))
