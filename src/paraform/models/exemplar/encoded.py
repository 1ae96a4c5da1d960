"""A sentence as an encoder gives it to a decoder.

Shape key: B sentences, T tokens, D features.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Encoded(NamedTuple):
    """A sentence as states [B, T, D], which of them are words [B, T], and one vector [B, D]."""

    states: Tensor
    mask: Tensor
    vector: Tensor
