"""A model by what it can do: loaded, and looked at, so that who asks for a judge has one."""

from __future__ import annotations

from typing import Any

from paraform.capabilities import JudgesMeaning, Paraphraser, TextEncoder
from paraform.checkpoint.folder import load
from paraform.records import InputError
from paraform.weights import PathLike

PARAPHRASER, ENCODER, JUDGE = "smollm2-free", "minilm", "smollm2-judge"


def load_paraphraser(
    name: PathLike = PARAPHRASER, *, device: str | None = None, threads: int | None = None
) -> Paraphraser:
    """The model of that name, which says texts in other words: for `paraform.reword(texts, model=…)`, or its own calls.

    Args:
        name, device, threads: as `load` has them; the usual one's base comes by `paraform fetch smollm2`.
    Raises: InputError as `load`, and for a model that does not paraphrase.
    """
    model: Paraphraser = load_able(name, Paraphraser, "a model that paraphrases", device, threads)
    return model


def load_encoder(name: PathLike = ENCODER, *, device: str | None = None, threads: int | None = None) -> TextEncoder:
    """The model of that name, which gives vectors of texts at any layer, and states of their words.

    Args:
        name, device, threads: as `load` has them.
    Raises: InputError as `load`, and for a model that gives vectors and has no layers to ask for, such as `compact`, a
        static encoder or a file of word vectors: `load` has those.
    """
    model: TextEncoder = load_able(name, TextEncoder, "an encoder", device, threads)
    return model


def load_judge(name: PathLike = JUDGE, *, device: str | None = None, threads: int | None = None) -> JudgesMeaning:
    """The model of that name, which tells whether two texts say the same.

    Args:
        name, device, threads: as `load` has them; the usual one's base comes by `paraform fetch smollm2`.
    Raises: InputError as `load`, and for a model that is no judge.
    """
    model: JudgesMeaning = load_able(name, JudgesMeaning, "a judge of meaning", device, threads)
    return model


def load_able(
    name: PathLike,
    ability: Any,
    expected: str,
    device: str | None = None,
    threads: int | None = None,
    *,
    called: str = "",
) -> Any:
    """`load`, of a model that can do what a protocol asks.

    Args:
        ability, expected, called: as `require_able` has them; called "": by its name.
    Raises: InputError otherwise.
    """
    return require_able(load(name, device=device, threads=threads), ability, expected, called=called or str(name))


def require_able(model: object, ability: Any, expected: str, *, called: str = "") -> Any:
    """The model, if it can do what a protocol asks.

    Args:
        ability: one of `capabilities`.
        expected: such a model in words.
        called: what errors call it.
    Raises: InputError otherwise.
    """
    if isinstance(model, ability):
        return model
    kind = getattr(model, "kind", type(model).__name__)
    raise InputError(f"{called}: {kind}; expected {expected}" if called else f"{kind}; expected {expected}")
