"""Which paraphraser says a text in other words where none is named: a language model where its base is kept, else none.

The embedded adapters need `smollm2`, which is fetched once (`paraform fetch smollm2`). They are loaded when a sentence
has a synonym or frames leave too few rewordings of it; a call that does without does not wait for them.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Unpack, cast, final, overload

import numpy as np
import torch
from numpy.typing import NDArray

from paraform import checkpoint
from paraform.capabilities import Paraphraser, SaysOtherwise
from paraform.checkpoint.abilities import PARAPHRASER
from paraform.checkpoint.folder import checkpoint_digest
from paraform.decoding import Decoding
from paraform.encoders.smollm2 import HOW, smollm2_folder
from paraform.records import Rewording, Texts, listed, require_texts
from paraform.rewording.reworder import Reworder, made_again
from paraform.rewording.standards import Change
from paraform.threads import in_threads
from paraform.version import __version__
from paraform.weights import device_named

MODEL = PARAPHRASER
RULES = "rules"
MORE = f"a language model finds more: {HOW}"


def default_model() -> str:
    """What rewords where no model is named: `MODEL`, or `RULES` where its base is not kept.

    Raises: InputError if the base's files are not those that were kept.
    """
    return RULES if smollm2_folder() is None else MODEL


def paraphraser_named(name: str | None, device: str | None = None) -> Paraphraser | SaysOtherwise | None:
    """The paraphraser of that name; None, for `RULES`, for none.

    Args:
        name: an embedded one, a folder or a hub id; None: what `default_model` says.
    Raises: InputError if there is none, or it does not paraphrase.
    """
    chosen = default_model() if name is None else name
    if chosen == RULES:
        return None
    if name is None:
        return _Later(chosen, device_named(device))
    return cast("Paraphraser | SaysOtherwise", checkpoint.load(chosen, device=device))


@overload
def reword(
    texts: str,
    *,
    num: int = 1,
    force: bool = False,
    model: Paraphraser | SaysOtherwise | str | None = None,
    device: str | None = None,
    threads: int | None = None,
    change: Change | None = None,
    keep: Collection[str] = (),
    **how: Unpack[Decoding],
) -> Rewording: ...
@overload
def reword(
    texts: Texts,
    *,
    num: int = 1,
    force: bool = False,
    model: Paraphraser | SaysOtherwise | str | None = None,
    device: str | None = None,
    threads: int | None = None,
    change: Change | None = None,
    keep: Collection[str] = (),
    **how: Unpack[Decoding],
) -> list[Rewording]: ...
def reword(
    texts: str | Texts,
    *,
    num: int = 1,
    force: bool = False,
    model: Paraphraser | SaysOtherwise | str | None = None,
    device: str | None = None,
    threads: int | None = None,
    change: Change | None = None,
    keep: Collection[str] = (),
    **how: Unpack[Decoding],
) -> Rewording | list[Rewording]:
    """Each text in other words, every candidate checked; or why it is left alone.

    Args:
        texts: one or many, each of one or more sentences, cased and untokenised or not.
        num: rewordings of a text, at most, the best first; no two have the same content words in the same order.
        force: try texts too that look like another language, code, shouting or junk.
        model: gives candidates beside those of rules, such as `paraform.load(folder)`, or its name; "rules": rules
            alone; None: `smollm2-free` where `smollm2` was fetched, else rules alone.
        device: "cpu", "cuda", …, for tags, trees and vectors; None: the model's, else the GPU if there is one.
        threads: that compute on a CPU; None: as before (`paraform.threads`). A few texts are done in one: that is as
            fast.
        change, keep: as `Reworder.default` has them.
        how: for what the model decodes, as `Paraphraser.decode` has them.
    Returns: a list; of one text that is no list its rewording.
    Raises: InputError for a text that is none, a model that does not paraphrase or has no exemplars of its own, or if
        two ways of decoding are mixed.
    """
    with in_threads(threads):
        asked = reworder(model, device=device, change=change, keep=keep)
        found = asked.reword(require_texts(listed(texts)), num=num, force=force, **how)
    return found[0] if isinstance(texts, str) else found


def reworder(
    model: Paraphraser | SaysOtherwise | str | None = None,
    *,
    device: str | None = None,
    change: Change | None = None,
    keep: Collection[str] = (),
) -> Reworder:
    """What `reword` asks, for many calls or for a column of a dataset; arguments are `reword`'s.

    Sent to another process it is its settings, and loads its models there; a model that was given goes along.
    Raises: InputError as `reword`, of what are no texts' faults.
    """
    if not (model is None or isinstance(model, str)):
        return Reworder.default(device, paraphraser=model, change=change, keep=keep)
    found = Reworder.default(device, paraphraser=paraphraser_named(model, device), change=change, keep=keep)
    again = functools.partial(reworder, model, device=device, change=change, keep=tuple(keep))
    found.sent = lambda: (made_again, (f"{__version__} {_digest(model)}", again))
    return found


def _digest(model: str | None) -> str:
    name = default_model() if model is None else model
    return RULES if name == RULES else checkpoint_digest(name)


@final
class _Later:
    """A language model that is loaded when it is first asked."""

    kind: ClassVar[str] = "a language model"

    def __init__(self, name: str, device: torch.device) -> None:
        self._name, self.device = name, device

    @functools.cached_property
    def _model(self) -> SaysOtherwise:
        return cast(SaysOtherwise, checkpoint.load(self._name, device=str(self.device)))

    def say(self, sources: Sequence[str], **how: Any) -> list[list[str]]:
        """As `SaysOtherwise`."""
        return self._model.say(sources, **how)

    def likelihood(self, sources: Sequence[str], targets: Sequence[str]) -> list[NDArray[np.float32]]:
        """As `SaysOtherwise`."""
        return self._model.likelihood(sources, targets)
