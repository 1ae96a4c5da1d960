"""Tiny causal language models on disk, as Hugging Face writes them: a Llama of random weights, byte-level pieces."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM

from paraform.models.lm import LMConfig, LMParaphraser

SMALL = {"rank": 2, "layers": 2, "max_pieces": 120, "max_written": 20, "batch_size": 4, "warmup": 1, "epochs": 2}


def write_lm(folder: Path, *, seed: int = 0, tied: bool = True) -> Path:
    """The folder of a Llama with three layers and 300 pieces."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    marks = [AddedToken(mark, special=True) for mark in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=marks, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(["the cat sat on the mat", "how do i pay for it ?"], trainer)
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = LlamaConfig(
        **sizes, vocab_size=300, num_hidden_layers=3, bos_token_id=1, eos_token_id=2, pad_token_id=2,
        tie_word_embeddings=tied, max_position_embeddings=256, initializer_range=0.3,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def new_lm(folder: Path, *, trained: bool = True, **fields: object) -> LMParaphraser:
    """A model on it; `trained`: with adapters that change what it says."""
    model = LMParaphraser.of(LMConfig(base=str(folder), **{**SMALL, **fields}))  # type: ignore[arg-type]
    if trained and model.adapters is not None:
        torch.manual_seed(3)
        for weight in model.adapters.up:
            torch.nn.init.normal_(weight, std=0.3)
    return model.eval()
