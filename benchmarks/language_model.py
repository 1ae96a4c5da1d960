"""A language model that paraphrases: answers against transformers' `generate`, training against a plain loop on peft.

    python benchmarks/language_model.py [--model RUN] [--texts 8] [--repeats 2] [--pairs 1024] [--steps 8] [--threads 1]

Answers, in turn: `say`, 8 a text, against `generate` of the same module with the same prompts, padded on the left, as
many rows at once, and the same temperature, top-p and pieces that are drawn from. Each draws answers of its own, so
that pieces are counted, too, ends among them. Without `--model` the adapters are fresh: the base answers, and rambles.
Written greedily, both must be the same, text for text.

Training, step by step in turns, always from fresh adapters: what `train lm` does (rows of like length together, only
what is written through the vocabulary) against a loop as in peft's documentation: the same maps, rank, rate and rows,
but shuffled and padded to the longest, labels −100 on prompts, all positions through the vocabulary. In the first step,
which is not timed, both have the same batch and must have the same loss. Both are float32 and keep freed memory.

Bounds: 3 times the answers a second, no greedy text that differs; 1.5 times the pieces a second, padding not counted,
first losses within 0.001 nats.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import peft
import torch
from _measure import arguments_of, in_turn, middle, report
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM

from paraform import checkpoint, corpora
from paraform.encoders.locating import locate
from paraform.memory import keep_freed_memory
from paraform.models.lm import LMConfig, LMParaphraser, make_update, paraphraser
from paraform.models.lm.adapters import SCALE
from paraform.models.lm.batches import LMBatch, lm_batches
from paraform.models.lm.decoding import ROWS, written
from paraform.models.lm.draws import NUCLEUS
from paraform.records import Pair
from paraform.trainers.lm import table_of
from paraform.training import TrainingConfig, make_accelerator

NUM = 8  # answers of a text
DRAWN: dict[str, Any] = {"temperature": 0.8, "top_p": 0.95}


def padded(rows: Sequence[Sequence[int]], value: int, side: str = "right") -> torch.Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], True, value, padding_side=side)


def generated(model: LMParaphraser, texts: Sequence[str], size: int, **how: Any) -> list[list[int]]:
    """What `generate` writes for the texts, so many of them at once, without the ends."""
    end, out = model.prompts.marks.end, []
    how |= {"eos_token_id": end, "pad_token_id": end, "max_new_tokens": model.config.max_written}
    read = [[*one.numbers, model.prompts.begin] for one in model.prompts.prompts(texts, None, model.config)]
    for part in (read[at : at + size] for at in range(0, len(read), size)):
        ids_BT, there_BT = padded(part, end, "left"), padded([[1] * len(row) for row in part], 0, "left")
        found_NT = model.network.module.generate(input_ids=ids_BT, attention_mask=there_BT, **how)
        rows = found_NT[:, ids_BT.shape[1] :].tolist()
        out += [row[: row.index(end)] if end in row else row for row in rows]
    return out


def answer(model: LMParaphraser, texts: Sequence[str], repeats: int) -> dict[str, Any]:
    """Both in turn; the figures."""
    pieces: dict[str, list[int]] = {"paraform": [], "transformers": []}

    def counted(name: str, rows: list[list[int]]) -> list[list[int]]:
        pieces[name].append(sum(min(len(row) + 1, model.config.max_written) for row in rows))
        return rows

    def theirs() -> list[str]:
        how = {**DRAWN, "do_sample": True, "top_k": NUCLEUS, "num_return_sequences": NUM}
        return [model.prompts.text(row) for row in counted("transformers", generated(model, texts, ROWS // NUM, **how))]

    with patch.object(paraphraser, "written", lambda *given: counted("paraform", written(*given))):
        runs = {"paraform": lambda: model.say(texts, num=NUM, **DRAWN), "transformers": theirs}
        seconds = in_turn(repeats, runs)
    figures: dict[str, Any] = {"texts": len(texts), "their numbers": str(next(model.network.parameters()).dtype)}
    for name, taken in seconds.items():
        figures[f"{name}, answers a second"] = NUM * len(texts) / middle(taken)
        figures[f"{name}, pieces a second"] = middle([n / s for n, s in zip(pieces[name][1:], taken, strict=True)])
    for what in ("answers", "pieces"):
        one, other = (figures[f"{name}, {what} a second"] for name in seconds)
        figures[f"answering, ratio of {what}"] = one / other
    greedy = [model.prompts.text(row) for row in generated(model, texts, ROWS, do_sample=False)]
    same = sum(one == other for one, other in zip(model.decode(texts, [""] * len(texts)), greedy, strict=True))
    return {**figures, "share of greedy texts that are the same": same / len(texts)}


def rows_of(batch: LMBatch) -> list[tuple[list[int], list[int]]]:
    """Pieces and labels of each row."""
    sides = batch.rows.words_BT.tolist(), batch.rows.lengths_B.tolist(), batch.prompts_B.tolist()
    return [(words[:end], [-100] * start + words[start:end]) for words, end, start in zip(*sides, strict=True)]


def train(model: LMParaphraser, pairs: Sequence[Pair], steps: int) -> dict[str, Any]:
    """Both, step by step in turns; the figures."""
    batches, epoch = lm_batches(table_of(model, pairs, seed=0), batch_size=model.config.batch_size, seed=0)
    update, _ = make_update(model, model.config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=epoch)
    model.network.train()

    rank, maps = model.config.rank, list(model.adapters.shapes)
    lora = peft.LoraConfig(r=rank, lora_alpha=SCALE * rank, target_modules=maps, task_type="CAUSAL_LM")
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # peft reads what transformers renamed
        base = AutoModelForCausalLM.from_pretrained(str(locate(model.config.base)), dtype=torch.float32)
        peer = peft.get_peft_model(base, lora).train()
    weights = [weight for weight in peer.parameters() if weight.requires_grad]
    adamw = torch.optim.AdamW(weights, lr=model.config.learning_rate, weight_decay=0.0)

    def peer_update(rows: Sequence[tuple[list[int], list[int]]]) -> float:
        ids_BT, labels_BT = padded([words for words, _ in rows], 0), padded([labels for _, labels in rows], -100)
        there_BT = padded([[1] * len(words) for words, _ in rows], 0)
        loss = peer(input_ids=ids_BT, attention_mask=there_BT, labels=labels_BT).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        adamw.step()
        adamw.zero_grad()
        return float(loss.item())

    loss, peer_loss = update(batches(0), 0)["loss"], peer_update(rows_of(batches(0)))
    timed = range(1, min(steps + 1, epoch))
    rows = [row for step in timed for row in rows_of(batches(step))]
    ours = theirs = 0.0
    for step, some in zip(timed, np.random.default_rng(0).permutation(len(rows)).reshape(len(timed), -1), strict=True):
        start = time.perf_counter()
        update(batches(step), step)
        between = time.perf_counter()
        peer_update([rows[row] for row in some])
        ours, theirs = ours + between - start, theirs + time.perf_counter() - between
    pieces = sum(len(words) for words, _ in rows)
    figures = {"steps": len(timed), "pieces of a step": pieces / len(timed)}
    figures |= {"paraform, pieces a second of training": pieces / ours, "peft, the same": pieces / theirs}
    figures |= {"training, ratio": theirs / ours, "first loss": loss, "first loss, difference": abs(loss - peer_loss)}
    return figures


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs, one a line")
    parser.add_argument("--model", type=Path, help="a checkpoint that answers; not given: fresh adapters")
    parser.add_argument("--texts", type=int, default=8, help="that are answered")
    parser.add_argument("--repeats", type=int, default=2, help="times that each way of answering is run")
    parser.add_argument("--pairs", type=int, default=1024, help="that an epoch has")
    parser.add_argument("--batch-size", type=int, default=LMConfig().batch_size, help="pairs a step")
    parser.add_argument("--steps", type=int, default=8, help="timed, after one that is not")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    keep_freed_memory()
    fresh = LMParaphraser.of(LMConfig(batch_size=options.batch_size))
    model = checkpoint.load(options.model, device="cpu") if options.model else fresh
    read = list(corpora.read_pairs(options.data))
    pairs = read[:: max(1, len(read) // options.pairs)][: options.pairs]
    texts = list(dict.fromkeys(pair.source.text for pair in pairs))[: options.texts]
    figures = {"adapters that answer": str(options.model or "fresh"), **answer(model, texts, options.repeats)}
    bounds = {
        "answering, ratio of answers": ("at least", 3.0),
        "share of greedy texts that are the same": ("at least", 1.0),
        "training, ratio": ("at least", 1.5),
        "first loss, difference": ("at most", 1e-3),
    }
    return report(figures | train(fresh, pairs, options.steps), bounds, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
