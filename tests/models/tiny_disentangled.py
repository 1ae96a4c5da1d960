"""A tiny ParaBART on a few parsed sentences, its encoder a BERT or the encoder half of a BART with random weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import nn
from transformers import BartConfig, BartModel, BertConfig, BertModel

from paraform.models.disentangled import DisentangledConfig, DisentangledParaphraser, make_update
from paraform.models.disentangled.pairs import PairBatch, PairTable, pair_batches
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.disentangled.table import pair_table
from paraform.models.update import Update
from paraform.records import Pair, Sentence
from paraform.syntax.trees import Tree

TREES = {
    "the dog runs home": "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ runs) (ADVP (RB home)))))",
    "home runs the dog": "(ROOT (SINV (ADVP (RB home)) (VP (VBZ runs)) (NP (DT the) (NN dog))))",
    "the cat sleeps": "(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))",
    "sleeps the cat ?": "(ROOT (SQ (VBZ sleeps) (NP (DT the) (NN cat)) (. ?)))",
    "we like tea": "(ROOT (S (NP (PRP we)) (VP (VBP like) (NP (NN tea)))))",
    "tea we like": "(ROOT (S (NP (NN tea)) (NP (PRP we)) (VP (VBP like))))",
    "stop": "(ROOT (S (VP (VB stop))))",
    "do stop": "(ROOT (S (VP (VBP do) (VP (VB stop)))))",
}
TEXTS = list(TREES)
PAIRS = [Pair(Sentence(TEXTS[i]), Sentence(TEXTS[i + 1]), cluster=i // 2) for i in range(0, 8, 2)]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted({word for text in TREES for word in text.split()})]
WIDTH = 8
COMMON: dict[str, Any] = {"batch_size": 4, "epochs": 2, "word_dropout": 0.0, "max_tokens": 6, "max_symbols": 60}
TINY = DisentangledConfig(**COMMON, adversary_start=0)


def parsed() -> dict[str, Tree]:
    return {text: Tree.parse(tree) for text, tree in TREES.items()}


def tokenizer(*, ends: bool = True) -> Tokenizer:
    made = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.add_special_tokens(WORDS[:4])
    if ends:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    return made


def bert(layers: int = 2) -> nn.Module:
    sizes: dict[str, Any] = {"vocab_size": len(WORDS), "hidden_size": WIDTH, "intermediate_size": 12}
    config = BertConfig(
        **sizes, num_hidden_layers=layers, num_attention_heads=2, max_position_embeddings=16, attention_dropout=0.0
    )
    made: nn.Module = shaken(BertModel(config))
    for name, weight in made.named_parameters():
        weight.requires_grad_("pooler" not in name)  # as `encoders.load_module` has it
    return made


def bart() -> BartModel:
    config = BartConfig(
        vocab_size=len(WORDS), d_model=WIDTH, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=12, decoder_ffn_dim=12, max_position_embeddings=16, pad_token_id=0,
        bos_token_id=2, eos_token_id=3, decoder_start_token_id=3, forced_eos_token_id=3,
    )  # fmt: skip
    made: BartModel = shaken(BartModel(config))
    return made


def shaken(module: Any, std: float = 0.3) -> Any:
    """All weights drawn: fresh biases are 0 and fresh norms 1, which would hide a mistake."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=std)
    return module


def paraphraser(
    config: DisentangledConfig = TINY, module: nn.Module | None = None, *, fresh: bool = False
) -> DisentangledParaphraser:
    """Weights drawn large, or, fresh, as training begins with them."""
    torch.manual_seed(0)
    module = bert() if module is None else module
    symbols = TreeSymbols.of(parsed().values(), brackets=config.brackets)
    encoder: Any = module.config
    model = DisentangledParaphraser(config, tokenizer(), encoder.to_json_string(), symbols, module=module)
    return model.eval() if fresh else shaken(model).eval()


def table(config: DisentangledConfig = TINY) -> PairTable:
    symbols = TreeSymbols.of(parsed().values(), brackets=config.brackets)
    return pair_table(PAIRS, parsed(), config, tokenizer(), symbols)


CONFIGS = {
    "paper": replace(DisentangledConfig.paper(), **COMMON),
    "reference": replace(DisentangledConfig.reference(), **COMMON),
    "contrast": replace(
        DisentangledConfig.compact_paper(), **COMMON, contrast_weight=1.0, distance_weight=0.5, role_negatives=1
    ),
}


def begin(
    config: DisentangledConfig, accelerator: Any
) -> tuple[DisentangledParaphraser, Update, Callable[[int], PairBatch]]:
    """How a training begins; nothing is dropped, which two processes would do otherwise than one."""
    made = table(config)
    if config.distance_weight:
        made = replace(made, start=np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32))
    if config.role_negatives:
        made = replace(made, negatives=np.array([[3], [-1], [0], [-1]]))
    rank, world = accelerator.process_index, accelerator.num_processes
    batches, steps = pair_batches(made, batch_size=4, seed=0, rank=rank, world=world)
    model = paraphraser(config)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = 0.0
    return model, make_update(model, config, accelerator, steps_per_epoch=steps)[0], batches
