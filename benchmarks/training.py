"""Training `compact()`: paraform's own path against the same model trained as the authors' code does it.

    python benchmarks/training.py [--steps 20] [--pairs 8192]

The peer, written here, has the same weights, batches, losses and optimiser, but pads every batch to `max_tokens`, has
the encoder (transformers', float32) make the style features in each step, and loops over the decoder's steps in Python.
A GRU of the peer skips padding by torch's packing, and its encoder has no layer above the one that is read: what the
authors' code does not spare is not held against it. Dropout is 0, so that the losses can be compared; paraform's
features are rounded to 16 bits, and its products where bfloat16 is faster, with AMX (`--precision no`: not), which
is what the tolerance is for.

Both train in this process, step by step in turns. Bounds: 3 times the peer's real target tokens a second (`</s>`
counts, padding does not), and losses that differ by at most 1 % at every step. The share of the machine's matrix rate
counts the multiply-adds that the real tokens of a step need, over that of a product of two 2048 × 2048 matrices.

Shape key: B triples, S words of the source, E pieces of the exemplar, T words of the target, H decoder, V vocabulary.
"""

from __future__ import annotations

import copy
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from _measure import PRODUCT, Bound, Spread, arguments_of, product_seconds, report
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from paraform import corpora, encoders
from paraform.batching import BOS, EOS, UNK, Vocabulary, prepare
from paraform.encoders import bfloat16_products
from paraform.losses.nt_xent import nt_xent
from paraform.losses.sequence_nll import copy_log_probs, sequence_nll
from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser, make_update
from paraform.models.exemplar.batches import TripleBatch, TripleTable, by_length
from paraform.models.exemplar.network import MOST_COVERED, ExemplarNetwork
from paraform.models.exemplar.triples import triple_table
from paraform.schedules import warmup_linear
from paraform.threads import settle
from paraform.training import TrainingConfig, make_accelerator

Update = Callable[[TripleBatch, int], float]
RATIO = "a step × the same padded, step by step"


def padded(rows_BT: Tensor, width: int) -> Tensor:
    """The rows with zeros behind them, [B, width] or wider."""
    return F.pad(rows_BT, (0, max(0, width - rows_BT.shape[1])))


def bidirectional(gru: nn.GRU, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """States over padded rows and the two final states side by side."""
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    states, final = gru(packed)
    return pad_packed_sequence(states, batch_first=True, total_length=inputs.shape[1])[0], torch.cat([*final], -1)


class Peer:
    """CRL-EGPG in `compact()`'s form, trained step by step over padded batches; the weights are a copy."""

    def __init__(self, network: ExemplarNetwork, config: ExemplarConfig, steps: int) -> None:
        self.config = config
        self.network = copy.deepcopy(network)
        self.encoder = encoders.load_module(config.style_encoder).eval().requires_grad_(False)
        layers = self.encoder.encoder.layer
        self.encoder.encoder.layer = layers[: config.style_layer % (len(layers) + 1)]
        self.parameters = list(self.network.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=config.learning_rate)
        self.rate = warmup_linear(total=steps, warmup=min(500, steps // 20))

    def content(self, words_BS: Tensor, lengths_B: Tensor) -> tuple[Tensor, Tensor]:
        known = words_BS.where(words_BS < self.network.vocabulary, UNK)
        return bidirectional(self.network.content_encoder.gru, self.network.embedding(known), lengths_B)

    def style(self, pieces_BE: Tensor, lengths_B: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            mask_BE = (torch.arange(pieces_BE.shape[1]) < lengths_B[:, None]).long()
            states = self.encoder(input_ids=pieces_BE, attention_mask=mask_BE).last_hidden_state
        return bidirectional(self.network.style_encoder.gru, states, lengths_B)

    def step(self, batch: TripleBatch, number: int) -> float:
        """One Adam step; returns the loss."""
        network, config = self.network, self.config
        width = config.max_tokens
        source_BS, target_BT = padded(batch.source_BT, width), padded(batch.target_BT, width)
        exemplar_BE = padded(batch.exemplar.values, width + 2)  # [CLS] and [SEP] are pieces too
        content, content_vector = self.content(source_BS, batch.source_lengths_B)
        style, style_vector = self.style(exemplar_BE, batch.exemplar.lengths_B)
        beyond_source = torch.arange(width) >= batch.source_lengths_B[:, None]
        beyond_exemplar = torch.arange(exemplar_BE.shape[1]) >= batch.exemplar.lengths_B[:, None]

        def attend(
            attention: nn.Module, query_BH: Tensor, keys: Tensor, beyond: Tensor, bias: Tensor | float
        ) -> Tensor:
            scores = (keys @ attention.project(query_BH)[:, :, None]).squeeze(-1) + bias
            return torch.softmax(scores.masked_fill(beyond, float("-inf")), -1)

        first_BH = torch.tanh(network.initial(torch.cat([content_vector, style_vector], -1)))
        lower, upper = first_BH[None], first_BH[None]
        previous_B = torch.full((len(source_BS),), BOS)
        said_BS = torch.zeros_like(source_BS)
        logits, gates, copies = [], [], []
        for time_step in range(width + 1):
            word_BD = network.embedding(previous_B.where(previous_B < network.vocabulary, UNK))
            _, lower = network.decoder(word_BD[:, None], lower)
            said_BS = said_BS + (previous_B[:, None] == source_BS)
            attend_bias, point_bias = network.repeated[:, said_BS.clamp_max(MOST_COVERED)]
            unsaid = ((said_BS == 0) & ~beyond_source).float()
            unsaid = unsaid / unsaid.sum(-1, keepdim=True).clamp_min(1)
            from_source = attend(network.attend_content, lower[0], content, beyond_source, attend_bias)
            from_exemplar = attend(network.attend_style, lower[0], style, beyond_exemplar, 0.0)
            contexts = [
                (unsaid[:, None] @ content).squeeze(1),
                (from_source[:, None] @ content).squeeze(1),
                (from_exemplar[:, None] @ style).squeeze(1),
            ]
            _, upper = network.second(torch.cat([lower[0], *contexts], -1)[:, None], upper)
            hidden_BH = lower[0] + upper[0]
            read = torch.cat([hidden_BH, *contexts], -1)
            logits.append(network.output(torch.tanh(network.combine(read))))
            gates.append(network.gate(torch.cat([read, word_BD], -1)).squeeze(-1))
            copies.append(attend(network.point, hidden_BH, content, beyond_source, point_bias))
            if time_step < width:
                previous_B = target_BT[:, time_step]
        gold_BT = padded(target_BT, width + 1)
        lengths_B = batch.target_lengths_B + 1
        gold_BT[torch.arange(len(gold_BT)), batch.target_lengths_B] = EOS
        log_probs_N = self.log_probs(
            torch.stack(logits, 1), torch.stack(gates, 1), torch.stack(copies, 1), gold_BT, source_BS
        )
        said_BT = torch.arange(width + 1) < lengths_B[:, None]
        loss = sequence_nll(log_probs_N.view_as(gold_BT)[said_BT], lengths_B, reduction=config.nll_reduction)
        target_vector = self.content(target_BT, batch.target_lengths_B)[1]
        target_style = self.style(padded(batch.target_style.values, width + 2), batch.target_style.lengths_B)[1]
        for weight, one, other in (
            (config.content_weight, content_vector, target_vector),
            (config.style_weight, style_vector, target_style),
        ):
            contrast = nt_xent(
                one,
                other,
                temperature=config.temperature,
                similarity=config.similarity,
                reduction=config.contrastive_reduction,
                clusters=batch.clusters_B,
            )
            loss = loss + config.contrastive_scale * weight * contrast
        self.optimizer.param_groups[0]["lr"] = config.learning_rate * self.rate(number)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, config.clip_norm)
        self.optimizer.step()
        return loss.item()

    def log_probs(self, logits: Tensor, gates: Tensor, copies: Tensor, gold_BT: Tensor, source_BS: Tensor) -> Tensor:
        """Of every gold word, those behind the end too, [B · T]."""
        known = gold_BT < self.network.vocabulary
        same_BTS = gold_BT[:, :, None] == source_BS[:, None, :]
        gold_logits = logits.gather(-1, gold_BT.where(known, UNK)[:, :, None]).squeeze(-1)
        return copy_log_probs(
            (gold_logits - logits.logsumexp(-1)).flatten(),
            gates.flatten(),
            (copies * same_BTS).sum(-1).flatten(),
            (known | ~same_BTS.any(-1)).flatten(),
        )


def multiply_adds(config: ExemplarConfig, batch: TripleBatch, vocabulary: int, features: int) -> int:
    """What the real tokens of a step need, forwards and backwards, without the style encoder.

    Backwards, a product costs twice what it costs forwards: once for its weights, once for its inputs (the style
    features, which are given, need none).
    """
    word, hidden = config.word_width, config.decoder_width
    content, style = 2 * config.content_width, 2 * config.style_width
    contexts = 2 * content + style  # the words not said yet, attention, the exemplar's
    rows = len(batch.source_BT)
    sources, exemplars = int(batch.source_lengths_B.sum()), int(batch.exemplar.lengths_B.sum())
    targets, target_pieces = int(batch.target_lengths_B.sum()), int(batch.target_style.lengths_B.sum())
    said_B = batch.target_lengths_B + 1
    said = int(said_B.sum())
    looks = int((said_B * batch.source_lengths_B).sum())  # pairs of a word said and a word attended
    style_looks = int((said_B * batch.exemplar.lengths_B).sum())

    def gru(inputs: int, width: int) -> int:
        return 3 * width * (inputs + width)

    style_inputs = (exemplars + target_pieces) * 3 * style * features
    forward = (
        (sources + targets) * 2 * gru(word, config.content_width)
        + style_inputs
        + (exemplars + target_pieces) * 3 * style * config.style_width
        + rows * (content + style) * hidden
        + said * (gru(word, hidden) + gru(hidden + contexts, hidden))
        + said * hidden * (content + style + content)  # the queries of both attentions and of the pointer
        + looks * 4 * content
        + style_looks * 2 * style
        + said * ((hidden + contexts) * word + hidden + contexts + word + word * vocabulary)
        + (2 * rows) ** 2 * (content + style)  # both contrasts
    )
    return 3 * forward - style_inputs


def matrix_rate() -> float:
    """Multiply-adds a second of a large float32 product, the fastest: what the machine can at its best."""
    return PRODUCT**3 / min(product_seconds(torch.float32))


def tables(path: Path, count: int, config: ExemplarConfig, cache: Path) -> tuple[TripleTable, TripleTable, Vocabulary]:
    """The first pairs of the file as paraform trains on them, and with pieces in the features' place."""
    pairs = corpora.clusters(corpora.read_pairs(path))
    seen = (prepare(s.text, config.max_tokens) for pair in pairs for s in (pair.source, pair.target))
    vocabulary = Vocabulary.build(seen, min_count=config.min_count)  # of all pairs: the output layer is as it really is
    with_pieces = replace(config, style_trainable=True)
    made = [triple_table(pairs[:count], each, vocabulary, cache=cache)[0] for each in (config, with_pieces)]
    return made[0], made[1], vocabulary


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs, one a line")
    parser.add_argument("--pairs", type=int, default=8192, help="of the file that are trained on")
    parser.add_argument("--batch-size", type=int, default=128, help="pairs a step")
    parser.add_argument("--steps", type=int, default=20, help="timed, after one that is not")
    parser.add_argument(
        "--precision", choices=("bf16", "no"), default="bf16", help="of our products; the peer's: float32"
    )
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)
    with tempfile.TemporaryDirectory() as cache:
        figures = train(arguments, Path(cache))
    bounds: dict[str, Bound] = {
        RATIO: ("at least", 3.0),
        "largest relative difference of a loss": ("at most", 0.01),
    }
    floor = f"{figures[RATIO].middle / figures['share of the matrix rate']:.2f}: all at the matrix rate"
    return report(figures, bounds, floors={RATIO: floor}, as_json=arguments.json)


def train(options: Namespace, cache: Path) -> dict[str, Any]:
    """Both, step by step in turns; the figures."""
    steps, precision = options.steps, options.precision
    config = replace(ExemplarConfig.compact(), dropout=0.0, word_vectors="random", batch_size=options.batch_size)
    cached, pieces, vocabulary = tables(options.data, options.pairs, config, cache)
    batches, steps_per_epoch = by_length(cached, batch_size=config.batch_size, seed=0)
    piece_batches, _ = by_length(pieces, batch_size=config.batch_size, seed=0)
    accelerator = make_accelerator(TrainingConfig(device="cpu"))
    model = ExemplarParaphraser(config, vocabulary)
    peer = Peer(model.network, config, config.epochs * steps_per_epoch)
    update, _ = make_update(model, config, accelerator, steps_per_epoch=steps_per_epoch)
    model.train()

    ours: list[float] = []
    theirs: list[float] = []
    tokens = work = 0
    losses: list[tuple[float, float]] = []
    for step in range(steps + 1):
        start = time.perf_counter()
        batch = batches(step)
        with bfloat16_products(accelerator.device) if precision == "bf16" else nullcontext():  # as `training.fit` does
            loss = update(batch, step)["loss"]
        middle = time.perf_counter()
        losses.append((loss, peer.step(piece_batches(step), step)))
        end = time.perf_counter()
        if step:
            ours.append(middle - start)
            theirs.append(end - middle)
            tokens += int(batch.target_lengths_B.sum()) + len(batch.target_lengths_B)
            work += multiply_adds(config, batch, len(vocabulary), model.style_features)
    rate = matrix_rate()
    return {
        "vocabulary": len(vocabulary),
        "steps": steps,
        "paraform, target tokens a second": tokens / sum(ours),
        "peer, target tokens a second": tokens / sum(theirs),
        RATIO: Spread.of(ours, theirs),
        "loss of the first step": losses[0][0],
        "loss of the last step": losses[-1][0],
        "largest relative difference of a loss": max(abs(one - other) / other for one, other in losses),
        "matrix rate, 10^9 multiply-adds a second": rate / 1e9,
        "paraform, 10^9 multiply-adds a second": work / sum(ours) / 1e9,
        "share of the matrix rate": work / sum(ours) / rate,
    }


if __name__ == "__main__":
    sys.exit(main())
