"""Small random seq2seq models as folders, a BART and a T5, with tokenizers of the ten parsed pairs of `tiny_scpn`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tiny_scpn import PAIRS, TEXTS, TREES, parsed
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

from paraform.encoders.folder import ModelFolder
from paraform.models.seq2seq import Seq2SeqConfig, Seq2SeqParaphraser, make_update
from paraform.models.seq2seq.batches import PairBatch, PairTable, pair_batches, pair_table
from paraform.models.update import Update
from paraform.records import Pair
from paraform.syntax.trees import Tree
from paraform.trainers.seq2seq import give_words, started

__all__ = ["PAIRS", "TEXTS", "TREES", "parsed"]

KINDS = ("bart", "t5")
PLAIN = ["(ROOT (S (NP) (VP) (.)))", "(ROOT (SQ (VBZ) (NP)))", "(ROOT (SBARQ (WHADVP (WRB)) (SQ (VBP) (NP (PRP)))))"]


def write_seq2seq(
    kind: str,
    folder: Path,
    *,
    texts: Sequence[str] = TEXTS,
    width: int = 32,
    seed: int = 0,
    own_output: bool = False,
    **more: Any,
) -> Path:
    """A folder with a random model of that kind and a tokenizer of the texts, which can say trees, too.

    Args:
        own_output: pieces are scored by weights of their own, as T5 1.1 does it.
    """
    made = _bart_tokenizer(texts) if kind == "bart" else _t5_tokenizer(texts)
    number, size = made.token_to_id, made.get_vocab_size()
    torch.manual_seed(seed)
    model: Any
    if kind == "bart":
        sizes = {f"{half}_{name}": n for half in ("encoder", "decoder") for name, n in
                 (("layers", 2), ("attention_heads", 2), ("ffn_dim", 2 * width))}  # fmt: skip
        ends = {"pad_token_id": number("<pad>"), "bos_token_id": number("<s>"), "eos_token_id": number("</s>")}
        ends |= {"decoder_start_token_id": number("</s>"), "forced_eos_token_id": number("</s>")}
        given = {"vocab_size": size, "d_model": width, "max_position_embeddings": 256, "init_std": 0.1, **sizes, **ends}
        model = BartForConditionalGeneration(BartConfig(**{**given, **more}))
    else:
        sizes = {"d_model": width, "d_kv": width // 2, "d_ff": 2 * width, "num_layers": 2, "num_heads": 2}
        ends = {"pad_token_id": 0, "eos_token_id": number("</s>"), "decoder_start_token_id": 0}
        # as of the published ones, there are more embeddings than pieces
        model = T5ForConditionalGeneration(T5Config(**{"vocab_size": size + 5, **sizes, **ends, **more}))
    # Not by save_pretrained, which writes nothing in the second of two processes.
    config, weights = model.config.to_dict(), {}
    for name, tensor in model.state_dict().items():  # what is tied once
        if not any(tensor.data_ptr() == other.data_ptr() for other in weights.values()):
            weights[name] = tensor
    if own_output:
        config |= {"tie_word_embeddings": False}
        config.pop("scale_decoder_outputs", None)  # a name that is younger than T5 1.1
        weights["lm_head.weight"] = torch.randn_like(weights["shared.weight"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    made.save(str(folder / "tokenizer.json"))
    return folder


def _bart_tokenizer(texts: Sequence[str]) -> Tokenizer:
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([*texts, *TREES.values(), *PLAIN], trainer)
    ends = [("<s>", 0), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    return tokenizer


def _t5_tokenizer(texts: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>", "<extra_id_0>"]
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False)
    letters = " ".join("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ()?.,-$:'`!")
    tokenizer.train_from_iterator([letters, *texts, *TREES.values(), *PLAIN], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return tokenizer


COMMON: dict[str, Any] = {
    "max_pieces": 200,
    "max_written": 48,
    "batch_size": 4,
    "epochs": 2,
    "warmup": 1,
    "learning_rate": 1e-2,
    "parser": "syntax",
}
TINY = Seq2SeqConfig(**COMMON, accumulation=1)
CONFIGS = {
    "paper": Seq2SeqConfig.paper(**COMMON, accumulation=2),
    "compact": Seq2SeqConfig.compact(**COMMON),
}


def new_model(
    pairs: Sequence[Pair], trees: Mapping[str, Tree], config: Seq2SeqConfig, folder: Path
) -> Seq2SeqParaphraser:
    """A model before its first step, as `train_seq2seq` makes it."""
    model = started(ModelFolder(folder), config)
    give_words(model, pairs, trees)
    return model


def paraphraser(config: Seq2SeqConfig = TINY, kind: str = "bart", *, fresh: bool = False) -> Seq2SeqParaphraser:
    """Weights drawn large, so that every part shows in the outputs, or, fresh, as training begins with them."""
    with tempfile.TemporaryDirectory() as place:
        model = new_model(PAIRS, parsed(), config, write_seq2seq(kind, Path(place) / kind))
    torch.manual_seed(0)
    if not fresh:
        for parameter in model.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.3)
    for part in model.modules():  # two processes draw other masks than one
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
        if hasattr(part, "dropout") and isinstance(part.dropout, float):
            part.dropout = 0.0
    return model.eval()


def table(model: Seq2SeqParaphraser) -> PairTable:
    return pair_table(PAIRS, parsed(), model.config, model.pieces)


def begin(config: Seq2SeqConfig, accelerator: Any) -> tuple[Seq2SeqParaphraser, Update, Callable[[int], PairBatch]]:
    model = paraphraser(config, fresh=True).train()
    ranks = {"rank": accelerator.process_index, "world": accelerator.num_processes}
    batches, steps = pair_batches(table(model), batch_size=config.batch_size, seed=0, **ranks)
    return model, make_update(model, config, accelerator, steps_per_epoch=steps)[0], batches
