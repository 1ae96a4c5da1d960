"""What encoders are made of: sentences as numbers of pieces, what makes these, and states of tokens and of words.

Shape key: N tokens or words of all sentences end to end, L layers, D features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from torch import Tensor

Pooling: TypeAlias = Literal["mean", "cls", "max", "last"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)
Forward = Callable[[Sequence[Sequence[int]], Sequence[int]], list[Tensor]]
"""(piece numbers of sentences, wanted layers) → states [N, D] of each wanted layer, the sentences end to end."""


class Encoded(Protocol):
    """A sentence as numbers of pieces; `tokenizers.Encoding` is one."""

    @property
    def ids(self) -> list[int]: ...
    @property
    def tokens(self) -> list[str]: ...
    @property
    def word_ids(self) -> Sequence[int | None]: ...
    @property
    def overflowing(self) -> Sequence[Encoded]: ...


class Splitter(Protocol):
    """What makes numbers of texts; `tokenizers.Tokenizer` is one."""

    def encode_batch_fast(self, input: list[str]) -> Sequence[Encoded]: ...
    def encode_batch(self, input: list[str] | list[list[str]], is_pretokenized: bool = False) -> Sequence[Encoded]: ...
    def token_to_id(self, token: str) -> int | None: ...
    def to_str(self) -> str: ...


class TokenStates(NamedTuple):
    """Token states of several sentences, end to end.

    `states_ND` in the order of the sentences; sentence i is rows offsets[i] to offsets[i + 1], its first and last rows
    are [CLS] and [SEP].
    """

    states_ND: Tensor
    offsets: npt.NDArray[np.int64]


class WordStates(NamedTuple):
    """States of the words of several sentences, end to end, at L layers: [N, L, D], in the encoder's own precision.

    Sentence i is rows offsets[i] to offsets[i + 1].
    """

    states_NLD: Tensor
    offsets: npt.NDArray[np.int64]
