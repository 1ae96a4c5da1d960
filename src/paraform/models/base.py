"""What every paraphraser shares: which exemplars a source gets, and what is looked at before anything is decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar, Unpack

import torch
from torch import nn

from paraform.decoding import Decoding, require_decoding
from paraform.models.selection import require_one_each, select_exemplars
from paraform.records import InputError

Row = TypeVar("Row", bound=Sequence[str])


class AbstractParaphraser(nn.Module, ABC):
    """A model that says a source in the form of an exemplar (`capabilities.Paraphraser`).

    Args:
        system: the name under which `load` finds the class.
        kind: the model in words, for messages: "an SCPN model".
        asks: how a caller gives a form; "": who gives none gets exemplars of `bank`.
        config: sizes and choices, a frozen dataclass.
        bank: exemplars to draw from.
        copies: whether words of a source can be copied, and repetition constrained.

    A checkpoint needs three things more (`checkpoint.folder.Restores`): `config_class`, the dataclass of `config`;
    `assets()`, the texts beside the weights by name; and `restore(config, assets)`, the model without its weights.
    """

    system: ClassVar[str]
    kind: ClassVar[str]
    asks: ClassVar[str]
    config: Any
    bank: Sequence[str] = ()
    copies: ClassVar[bool] = False

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def exemplars(
        self,
        sources: Sequence[str],
        like: Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        each: bool = False,
        num: int = 1,
        seed: int = 0,
    ) -> list[list[str]]:
        """The exemplars that each source gets, as `select_exemplars` has the arguments.

        Raises: InputError for none, of a model that has no sentences of its own.
        """
        if like is None and self.asks:
            raise InputError(f"{self.kind} needs a form: {self.asks}")
        return select_exemplars(sources, like, self.bank, each=each, num=num, seed=seed)

    def decode(self, sources: Sequence[str], exemplars: Sequence[str], **how: Unpack[Decoding]) -> list[str]:
        """Source i in the form of exemplar i.

        Args:
            how: as `decoding.Decoding` has them.
        Raises: InputError for an empty text, other numbers of both, or two ways of decoding that are mixed.
        """
        texts, likes = require_one_each(sources, exemplars)
        require_decoding(how, copies=self.copies)
        return self._like(texts, likes, how)

    def _constrains(self, how: Decoding) -> bool:
        """Whether repetition is constrained: as the caller says, else as the config does."""
        asked = how.get("constrain_repetition")
        return bool(getattr(self.config, "constrain_repetition", False)) if asked is None else asked

    @abstractmethod
    def _like(self, sources: list[str], exemplars: list[str], how: Decoding) -> list[str]:
        """What `decode` gives, of arguments that were looked at."""

    @abstractmethod
    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""


def require_words(rows: list[Row], what: str) -> list[Row]:
    """The words of texts. Raises: InputError that counts the first without any, by the name that `what` gives it."""
    for number, row in enumerate(rows, start=1):
        if not row:
            raise InputError(f"{what} {number} is empty; expected a sentence")
    return rows
