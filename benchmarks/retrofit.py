"""PAR on the offline encoder: an epoch's rate, and what M costs once it is folded in.

    python benchmarks/retrofit.py [--pairs 20000] [--steps 20] [--texts 20000] [--repeats 5] [--threads 1]

Training by the default, step by step in turns: what `train retrofit` does in a step (batches, negatives, distances,
the hinge, the penalty and its gradient, the optimiser) against the encoder's own forward and backward pass to its
inputs, over the same pairs' sentences, each once, in the same chunks of about one length; sentences that negatives
bring along, and all else, count as our time alone. What is read once before training is not timed.

Inference, in turn: `embed` of the encoder with M folded in, against that of the encoder as it comes.

Bounds: at least 0.5 of the rate; at most 1.03 times the seconds.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _measure import Bound, Spread, arguments_of, in_turn, middle, report

from paraform import corpora, encoders
from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder, make_update
from paraform.models.retrofit.contexts import ContextBatch, ContextTable, context_batches
from paraform.models.retrofit.folding import table_of
from paraform.records import Pair, texts_of
from paraform.threads import settle
from paraform.trainers.retrofit import BY_ACCURACY
from paraform.trainers.retrofit_tables import table_of_pairs
from paraform.training import make_accelerator


def pass_to_inputs(module: Any, batch: ContextBatch) -> None:
    """The encoder's forward and backward pass to the embeddings of the batch's sentences."""
    for pieces_BT, lengths_B in batch.words.chunks:
        embedded_BTK = table_of(module)(pieces_BT).requires_grad_()
        there_BT = (torch.arange(pieces_BT.shape[1]) < lengths_B[:, None]).long()
        states_BTD = module(inputs_embeds=embedded_BTK, attention_mask=there_BT).last_hidden_state
        torch.autograd.grad(states_BTD.sum(), embedded_BTK)


def sides(table: ContextTable, batch_words: int, pairs: np.ndarray) -> ContextBatch:
    """A batch of the sentences of those pairs alone."""
    starts, ends = table.shared.offsets[pairs], table.shared.offsets[pairs + 1]
    words_W = table.shared.values[np.concatenate([np.arange(*span) for span in zip(starts, ends, strict=True)])]
    assert len(words_W) == batch_words
    return table.batch(words_W, table.source_W[words_W], table.target_W[words_W])


def train(model: RetrofittedEncoder, table: ContextTable, steps: int) -> dict[str, Any]:
    """Both step by step in turns; the first of each is not timed."""
    config = model.config
    batches, steps_per_epoch = context_batches(table, batch_size=config.batch_size, negatives=config.negatives, seed=0)
    accelerator = make_accelerator(replace(BY_ACCURACY, device="cpu"))
    update, _ = make_update(model, config, accelerator)
    module = model.frozen.module
    order = np.random.default_rng([0, 0]).permutation(len(table))  # of the first epoch, as batches have it
    ours: list[float] = []
    theirs: list[float] = []
    counts = np.zeros(2, np.int64)
    for step in range(min(steps + 1, steps_per_epoch)):
        start = time.perf_counter()
        batch = batches(step)
        update(batch, step)
        between = time.perf_counter()
        pairs = order[step * config.batch_size :][: config.batch_size]
        alone = sides(table, len(batch.source_W), pairs)
        begin = time.perf_counter()
        pass_to_inputs(module, alone)
        end = time.perf_counter()
        if step:
            ours.append(between - start)
            theirs.append(end - begin)
            counts += [sum(len(lengths_B) for _, lengths_B in one.words.chunks) for one in (batch, alone)]
    done = min(steps, steps_per_epoch - 1)
    return {
        "pairs": len(table),
        "steps": done,
        "sentences a pair, with negatives": float(counts[0] / done / config.batch_size),
        "sentences a pair, without": float(counts[1] / done / config.batch_size),
        "train retrofit, pairs a second": done * config.batch_size / sum(ours),
        "forward and backward alone, pairs a second": done * config.batch_size / sum(theirs),
        "training × the encoder's pass": Spread.of(ours, theirs),
    }


def infer(model: RetrofittedEncoder, texts: list[str], repeats: int) -> dict[str, Any]:
    """Both in turn, with an M that is no identity."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.network.transform.parameters():
            parameter.add_(0.01 * torch.randn_like(parameter))
    model.eval()
    folded, plain = model.encoder, encoders.load(model.config.encoder, device="cpu")
    apart = float(np.abs(folded.embed(texts[:8]) - plain.embed(texts[:8])).max())
    runs = {"folded": lambda: folded.embed(texts), "plain": lambda: plain.embed(texts)}
    seconds = in_turn(repeats, runs)
    return {
        "texts": len(texts),
        "folded, texts a second": len(texts) / middle(seconds["folded"]),
        "plain, texts a second": len(texts) / middle(seconds["plain"]),
        "largest difference of a coordinate": apart,
        "folded, times the plain encoder": Spread.of(seconds["plain"], seconds["folded"]),
    }


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs, one a line")
    parser.add_argument("--encoder", default="minilm", help="what is retrofitted")
    parser.add_argument("--pairs", type=int, default=20000, help="that an epoch has")
    parser.add_argument("--batch-size", type=int, default=RetrofitConfig().batch_size, help="pairs a step")
    parser.add_argument("--steps", type=int, default=20, help="timed, after one that is not")
    parser.add_argument("--texts", type=int, default=20000, help="that are embedded")
    parser.add_argument("--repeats", type=int, default=5, help="times that each way of embedding is run")
    options = parser.parse_args()
    if options.threads:
        settle(options.threads)
    read = [pair for pair in corpora.read_pairs(options.data) if isinstance(pair, Pair)]
    pairs = corpora.clusters(read[:: max(1, len(read) // options.pairs)][: options.pairs])
    model = RetrofittedEncoder.start(RetrofitConfig(encoder=options.encoder, batch_size=options.batch_size))
    figures = train(model, table_of_pairs(pairs, model, training=True), options.steps)
    texts = list(dict.fromkeys(texts_of(pairs)))[: options.texts]
    figures |= infer(model, texts, options.repeats)
    bounds: dict[str, Bound] = {
        "training × the encoder's pass": ("at least", 0.5),
        "folded, times the plain encoder": ("at most", 1.03),
    }
    return report(figures, bounds, floors={"folded, times the plain encoder": "1"}, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
