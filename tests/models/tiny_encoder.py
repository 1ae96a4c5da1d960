"""A small random BERT of the words of a folder, as a model's folder."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel


def write_encoder(data: Path, place: Path, *, layers: int) -> None:
    """Its vocabulary is every word of the text files below `data`."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = sorted({word for file in data.rglob("*.t*") for word in file.read_text().split()})
    tokenizer = Tokenizer(models.WordLevel({w: row for row, w in enumerate([*special, *words])}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(special)
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_hidden_layers": layers}
    BertModel(BertConfig(vocab_size=len(special + words), **sizes)).save_pretrained(place)
    tokenizer.save(str(place / "tokenizer.json"))
