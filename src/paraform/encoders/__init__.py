"""Pretrained text encoders by name: hub id, folder, or the offline MiniLM."""

from paraform.encoders.encoder import STDERR, Encoder, TokenStates
from paraform.encoders.loading import (
    MINILM_SHA256,
    dimension_of,
    load,
    load_module,
    locate,
    width_of,
)
from paraform.encoders.precision import best_dtype, bfloat16_products, float32_products, product_dtype

__all__ = [
    "MINILM_SHA256",
    "STDERR",
    "Encoder",
    "TokenStates",
    "best_dtype",
    "bfloat16_products",
    "dimension_of",
    "float32_products",
    "load",
    "load_module",
    "locate",
    "product_dtype",
    "width_of",
]
