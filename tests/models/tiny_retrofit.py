"""A tiny retrofitted encoder on a few pairs: a BERT with random weights, and a tokenizer that cuts words in pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn
from transformers import BertConfig, BertModel

from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder, make_update
from paraform.models.retrofit.contexts import ContextBatch, ContextTable, context_batches
from paraform.models.retrofit.encoder import facts_of
from paraform.models.retrofit.frozen import FrozenEncoder
from paraform.models.retrofit.table import context_table
from paraform.models.update import Update
from paraform.records import Pair, Sentence

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "?", ".", "home", "##work", "##s", "dog", "cat", "the", "a", "runs", "is"]
PIECES += ["at", "sleep", "who", "what", "does", "big", "arm", "make", "my", "how", "i"]
PAIRS = [
    Pair(Sentence("The dog runs home ."), Sentence("Home runs the dog ."), cluster=0),
    Pair(Sentence("who sleeps at home ?"), Sentence("At home , who sleeps ?"), cluster=1),
    Pair(Sentence("homeworks does the cat"), Sentence("the cat does homeworks ."), cluster=2),
    Pair(Sentence("how big is my arm ?"), Sentence("is my arm big"), cluster=3),
    Pair(Sentence("The dog runs home ."), Sentence("the dog is home ."), label=0, cluster=0),
    Pair(Sentence("how does the dog make homeworks ?"), Sentence("make homeworks , dog"), cluster=4),
]
WIDTH = 8
COMMON: dict[str, Any] = {"batch_size": 4, "epochs": 2}
TINY = RetrofitConfig(**COMMON)


def tokenizer(*, ends: bool = True) -> Tokenizer:
    numbers = {piece: row for row, piece in enumerate(PIECES)}
    made = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    made.add_special_tokens(PIECES[:4])
    if ends:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    return made


def bert(layers: int = 2) -> nn.Module:
    sizes: dict[str, Any] = {"vocab_size": len(PIECES), "hidden_size": WIDTH, "intermediate_size": 12}
    torch.manual_seed(0)
    made = BertModel(BertConfig(**sizes, num_hidden_layers=layers, num_attention_heads=2, max_position_embeddings=16))
    with torch.no_grad():
        for parameter in made.parameters():  # fresh biases are 0 and fresh norms 1, which would hide a mistake
            parameter.normal_(std=0.3)
    module: nn.Module = made.requires_grad_(False).eval()
    return module


def folder_of(path: Path) -> str:
    """The same encoder as a folder of Hugging Face's."""
    module: Any = bert()
    module.save_pretrained(path)
    tokenizer().save(str(path / "tokenizer.json"))
    return str(path)


def frozen() -> FrozenEncoder:
    made = tokenizer()
    made.enable_truncation(16)
    return FrozenEncoder(bert(), made, 16, None, "0" * 64, "1" * 64)


def retrofitted(config: RetrofitConfig = TINY, *, shaken: float = 0.3) -> RetrofittedEncoder:
    """M near the identity, or, with 0, the identity."""
    own = frozen()
    model = RetrofittedEncoder(config, facts_of(own, config), own)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.add_(shaken * torch.randn_like(parameter))
    return model.eval()


def table(config: RetrofitConfig = TINY, pairs: list[Pair] = PAIRS) -> ContextTable:
    return context_table(
        pairs,
        frozen().tokenizer,
        skip_stopwords=config.skip_stopwords,
        min_tokens=config.min_tokens,
        max_tokens=config.max_tokens,
    )


CONFIGS = {
    "paper": replace(RetrofitConfig.paper(), **COMMON),
    "reference": replace(RetrofitConfig.reference(), **COMMON, min_tokens=0, skip_stopwords=False),
    "exact": replace(RetrofitConfig(), **COMMON, orthogonality="exact"),
}


def begin(config: RetrofitConfig, accelerator: Any) -> tuple[RetrofittedEncoder, Update, Callable[[int], ContextBatch]]:
    """How a training begins."""
    rank, world = accelerator.process_index, accelerator.num_processes
    model = retrofitted(config)
    batches, _ = context_batches(
        model.network.known(table(config)), batch_size=4, negatives=config.negatives, seed=0, rank=rank, world=world
    )
    return model, make_update(model, config, accelerator)[0], batches
