"""A language model that paraphrases: answers against transformers' `generate`, training against a plain loop on peft.

    python benchmarks/language_model.py [--model RUN] [--texts 8] [--repeats 5] [--pairs 1024] [--steps 8] [--threads 1]

Answers, in turn: `say`, 8 a text, against `generate` of the same module with the same prompts, padded on the left, as
many rows at once, and the same temperature, top-p and pieces that are drawn from. Each draws its own, so that pieces
are counted, too. Without `--model` fresh adapters answer, and ramble. Greedily both must write the same texts.

Training, step by step in turns, from fresh adapters: what `train lm` does (rows of like length together, only what is
written through the vocabulary) against a loop as in peft's documentation: the same maps, rank, rate and rows, but
shuffled and padded to the longest, labels −100 on prompts, all positions through the vocabulary. In the first step,
not timed, both have the same batch and must have the same loss. Both are float32 and keep freed memory. What trains by
default, in bfloat16 where the processor multiplies it faster, stands beside them.

Bounds: 3 times the answers a second, all greedy texts the same; 1.5 times the pieces a second, padding not counted.
"""

from __future__ import annotations

import sys
import warnings
from operator import ne
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import peft
import torch
from _measure import Bound, Clock, Spread, arguments_of, clock_of, in_turn, report
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM

from paraform import checkpoint, corpora
from paraform.encoders import bfloat16_products
from paraform.encoders.locating import locate
from paraform.memory import keep_freed_memory
from paraform.models.adapters import SCALE
from paraform.models.lm import LMConfig, LMParaphraser, make_update
from paraform.models.lm.batches import LMBatch, lm_batches
from paraform.models.lm.decoding import ROWS
from paraform.models.lm.draws import NUCLEUS
from paraform.records import Pair
from paraform.threads import settle
from paraform.trainers.lm import table_of
from paraform.training import TrainingConfig, make_accelerator

NUM = 8  # answers of a text
DRAWN: dict[str, Any] = {"temperature": 0.8, "top_p": 0.95}
PAD = 0  # <|endoftext|>, which no text holds


def generated(model: LMParaphraser, texts: list[str], size: int, **how: Any) -> list[str]:
    """What `generate` writes for the texts, so many of them at once."""
    end, out = model.prompts.marks.end, []
    how |= {"eos_token_id": end, "pad_token_id": PAD, "max_new_tokens": model.config.max_written}
    prompts = model.prompts.prompts(texts, None, model.config)
    read = [torch.tensor([*one.numbers, model.prompts.begin]) for one in prompts]
    for at in range(0, len(read), size):
        ids_BT = pad_sequence(read[at : at + size], True, PAD, padding_side="left")
        found_NT = model.network.module.generate(input_ids=ids_BT, attention_mask=(ids_BT != PAD).long(), **how)
        rows = found_NT[:, ids_BT.shape[1] :].tolist()
        out += [model.prompts.text(row[: row.index(end)] if end in row else row) for row in rows]
    return out


def answer(model: LMParaphraser, texts: list[str], repeats: int, clock: Clock) -> dict[str, Any]:
    """Both in turn; the figures."""
    how = {**DRAWN, "do_sample": True, "top_k": NUCLEUS, "num_return_sequences": NUM}
    with patch.object(model.prompts, "text", wraps=model.prompts.text) as text:  # called once an answer, in both
        ours, theirs = lambda: model.say(texts, num=NUM, **DRAWN), lambda: generated(model, texts, ROWS // NUM, **how)
        seconds = in_turn(repeats, {"paraform": ours, "transformers": theirs}, clock=clock)
    lengths = [len(call.args[0]) for call in text.call_args_list]  # of what ours writes, then theirs, then ours …
    written = np.array(lengths).reshape(repeats + 1, 2, -1)[1:]
    spent = np.array(list(seconds.values()))
    figures: dict[str, Any] = {"texts": len(texts), "their numbers": str(next(model.network.parameters()).dtype)}
    for what, count in {"answers": np.full(spent.shape, written.shape[-1]), "pieces": written.sum(2).T}.items():
        rates = (count.sum(1) / spent.sum(1)).tolist()
        figures |= {f"{name}, {what} a second": rate for name, rate in zip(seconds, rates, strict=True)}
        figures[f"{what} × transformers"] = Spread.of(*(spent / count).tolist())
    differ = sum(map(ne, model.decode(texts, [""] * len(texts)), generated(model, texts, ROWS, do_sample=False)))
    return {**figures, "greedy texts that differ": differ}


def rows_of(batch: LMBatch) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Pieces and labels of each row."""
    words_BT, labels_BT = batch.rows.words_BT, batch.rows.words_BT.masked_fill(~batch.written(), -100)
    return [(words_BT[row, :length], labels_BT[row, :length]) for row, length in enumerate(batch.rows.lengths_B)]


def train(model: LMParaphraser, pairs: list[Pair], steps: int, clock: Clock) -> dict[str, Any]:
    """Both, step by step in turns; the figures."""
    batches, epoch = lm_batches(table_of(model, pairs, seed=0), batch_size=model.config.batch_size, seed=0)
    update, _ = make_update(model, model.config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=epoch)
    rank, maps = model.config.rank, list(model.adapters.shapes)
    lora = peft.LoraConfig(r=rank, lora_alpha=SCALE * rank, target_modules=maps, task_type="CAUSAL_LM")
    base = AutoModelForCausalLM.from_pretrained(str(locate(model.config.base)), dtype=torch.float32)
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # peft asks for what transformers renamed
        peer = peft.get_peft_model(base, lora).train()
    adamw = torch.optim.AdamW(peer.parameters(), lr=model.config.learning_rate, weight_decay=0.0)
    rows = [row for step in range(1, steps + 1) for row in rows_of(batches(step))]
    shuffled = np.random.default_rng(0).permutation(len(rows)).reshape(steps, -1)
    parts = iter([rows_of(batches(0)), *([rows[at] for at in some] for some in shuffled)])
    numbers, again, losses = iter(range(steps + 1)), iter(range(steps + 1)), []

    def ours() -> None:
        step = next(numbers)
        losses.append(update(batches(step), step)["loss"])

    def by_default() -> None:
        step = next(again)
        with bfloat16_products(torch.device("cpu")):
            update(batches(step), step)

    def theirs() -> None:
        words, labels = zip(*next(parts), strict=True)
        ids_BT, labels_BT = pad_sequence(words, True, PAD), pad_sequence(labels, True, -100)
        loss = peer(input_ids=ids_BT, attention_mask=(ids_BT != PAD).long(), labels=labels_BT).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(peer.parameters(), 1.0)
        adamw.step()
        adamw.zero_grad()
        losses.append(loss.item())

    taken = in_turn(steps, {"train lm": ours, "peft": theirs, "by default": by_default}, clock=clock)
    lengths = [len(words) for words, _ in rows]
    pieces = {"train lm": np.array(lengths).reshape(steps, -1).sum(1)}
    pieces["peft"] = np.array([sum(lengths[at] for at in some) for some in shuffled])
    each = {name: (np.array(taken[name]) / count).tolist() for name, count in pieces.items()}  # seconds a piece
    figures: dict[str, Any] = {"pieces of a step": sum(lengths) / steps}
    figures |= {f"{name}, pieces a second": sum(lengths) / sum(taken[name]) for name in pieces}
    figures["training × peft"] = Spread.of(each["train lm"], each["peft"])
    figures["training by default × in float32"] = Spread.of(taken["by default"], taken["train lm"])
    return {**figures, "first loss": losses[0], "first loss, difference": abs(losses[0] - losses[1])}


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs, one a line")
    parser.add_argument("--model", type=Path, help="a checkpoint that answers; not given: fresh adapters")
    parser.add_argument("--texts", type=int, default=8, help="that are answered")
    parser.add_argument("--repeats", type=int, default=5, help="times that each way of answering is run")
    parser.add_argument("--pairs", type=int, default=1024, help="that an epoch has")
    parser.add_argument("--batch-size", type=int, default=LMConfig().batch_size, help="pairs a step")
    parser.add_argument("--steps", type=int, default=8, help="timed, after one that is not")
    options = parser.parse_args()
    if options.threads:
        settle(options.threads)
    clock = clock_of(options.threads)
    keep_freed_memory()
    fresh = LMParaphraser.of(LMConfig(batch_size=options.batch_size))
    model = checkpoint.load(options.model, device="cpu") if options.model else fresh
    read = list(corpora.read_pairs(options.data))
    pairs = read[:: max(1, len(read) // options.pairs)][: options.pairs]
    texts = list(dict.fromkeys(pair.source.text for pair in pairs))[: options.texts]
    figures = {"adapters that answer": str(options.model or "fresh"), **answer(model, texts, options.repeats, clock)}
    bounds: dict[str, Bound] = {"answers × transformers": ("at least", 3.0), "greedy texts that differ": ("at most", 0)}
    bounds |= {"training × peft": ("at least", 1.5), "first loss, difference": ("at most", 1e-3)}
    return report(figures | train(fresh, pairs, options.steps, clock), bounds, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
