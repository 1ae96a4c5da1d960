"""A tiny SCPN on ten parsed pairs, and how its training begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from paraform.models.update import Update
from paraform.records import Pair, Sentence
from paraform.syntax.trees import Tree
from paraform_papers.rivals.scpn import ScpnConfig, ScpnParaphraser, make_update
from paraform_papers.rivals.scpn.batches import PairBatch, PairTable, pair_batches
from paraform_papers.rivals.scpn.network import PARSE_WIDTH
from paraform_papers.rivals.scpn.table import pair_table
from paraform_papers.rivals.scpn.trainer import new_model

TREES = {
    "the dog runs home": "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ runs) (ADVP (RB home)))))",
    "home runs the dog": "(ROOT (SINV (ADVP (RB home)) (VP (VBZ runs)) (NP (DT the) (NN dog))))",
    "the cat sleeps": "(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))",
    "sleeps the cat ?": "(ROOT (SQ (VBZ sleeps) (NP (DT the) (NN cat)) (. ?)))",
    "we like tea": "(ROOT (S (NP (PRP we)) (VP (VBP like) (NP (NN tea)))))",
    "tea we like": "(ROOT (S (NP (NN tea)) (NP (PRP we)) (VP (VBP like))))",
    "stop": "(ROOT (S (VP (VB stop))))",
    "do stop": "(ROOT (S (VP (VBP do) (VP (VB stop)))))",
    "prices rose again": "(ROOT (S (NP (NNS prices)) (VP (VBD rose) (ADVP (RB again)))))",
    "again prices rose": "(ROOT (S (ADVP (RB again)) (NP (NNS prices)) (VP (VBD rose))))",
    "no one came": "(ROOT (S (NP (DT no) (NN one)) (VP (VBD came))))",
    "came no one ?": "(ROOT (SQ (VBD came) (NP (DT no) (NN one)) (. ?)))",
    "a bird sang there": "(ROOT (S (NP (DT a) (NN bird)) (VP (VBD sang) (ADVP (RB there)))))",
    "there sang a bird": "(ROOT (SINV (ADVP (RB there)) (VP (VBD sang)) (NP (DT a) (NN bird))))",
    "they drink milk": "(ROOT (S (NP (PRP they)) (VP (VBP drink) (NP (NN milk)))))",
    "milk they drink": "(ROOT (S (NP (NN milk)) (NP (PRP they)) (VP (VBP drink))))",
    "go": "(ROOT (S (VP (VB go))))",
    "do go": "(ROOT (S (VP (VBP do) (VP (VB go)))))",
    "it snowed then": "(ROOT (S (NP (PRP it)) (VP (VBD snowed) (ADVP (RB then)))))",
    "then it snowed": "(ROOT (S (ADVP (RB then)) (NP (PRP it)) (VP (VBD snowed))))",
}
TEXTS = list(TREES)
PAIRS = [Pair(Sentence(TEXTS[i]), Sentence(TEXTS[i + 1]), cluster=i // 2) for i in range(0, len(TEXTS), 2)]
WIDTHS: dict[str, int] = {
    "word_width": 8, "label_width": 6, "encoder_width": 7, "decoder_width": 9, "generator_label_width": 6,
    "generator_width": 8,
}  # fmt: skip
COMMON: dict[str, Any] = {
    **WIDTHS,
    "units": "words",
    "max_tokens": 8,
    "batch_size": 4,
    "epochs": 2,
    "parser": "syntax",
}
TINY = ScpnConfig(**COMMON)
CONFIGS = {
    "paper": ScpnConfig.paper(**COMMON),
    "compact": ScpnConfig.compact(**COMMON, min_count=1, dropout=0.0),
}


def parsed() -> dict[str, Tree]:
    return {text: Tree.parse(tree) for text, tree in TREES.items()}


def paraphraser(config: ScpnConfig = TINY, *, fresh: bool = False) -> ScpnParaphraser:
    """Weights drawn large, so that every part shows in the outputs, those of the wide LSTM over a parse less so, lest
    its states be ±1; or, fresh, as training begins with them."""
    torch.manual_seed(0)
    model = new_model(PAIRS, parsed(), config)
    if not fresh:
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.1 if PARSE_WIDTH in parameter.shape else 0.5)
    return model.eval()


def table(model: ScpnParaphraser) -> PairTable:
    return pair_table(PAIRS, parsed(), model.config, model.vocabulary, model.symbols)


def begin(config: ScpnConfig, accelerator: Any) -> tuple[ScpnParaphraser, Update, Callable[[int], PairBatch]]:
    model = paraphraser(config)
    rank, world = accelerator.process_index, accelerator.num_processes
    batches, steps = pair_batches(table(model), batch_size=config.batch_size, seed=0, rank=rank, world=world)
    return model, make_update(model, config, accelerator, steps_per_epoch=steps)[0], batches
