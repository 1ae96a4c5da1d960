"""Pretrained text encoders by name: hub id, folder, or the offline MiniLM."""

from paraform.encoders.encoder import STDERR, Encoder, TokenStates
from paraform.encoders.loading import (
    MINILM_SHA256,
    best_dtype,
    dimension_of,
    load,
    load_module,
    locate,
    width_of,
)

__all__ = [
    "MINILM_SHA256",
    "STDERR",
    "Encoder",
    "TokenStates",
    "best_dtype",
    "dimension_of",
    "load",
    "load_module",
    "locate",
    "width_of",
]
