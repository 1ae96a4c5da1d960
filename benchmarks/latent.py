"""Training clVAE+_MI: paraform's step against Algorithm 1 written plainly in float32, step by step in turns.

    python benchmarks/latent.py [--steps 60] [--warm-up 120] [--precision no]

Sizes of the paper on PTB (words 256, states 256, z 32, 10,000 words, 32 sentences a step). The peer, written here, has
the same weights, batches, noise, losses and optimisers, but encodes and decodes the two views one after the other (each
is encoded once a step, as in Algorithm 1 and the authors' scripts), and holds all scores [B · T, V] in float32. Dropout
is 0, so that the losses can be compared; paraform's products are rounded to bfloat16 where that is faster (AMX) or
asked for, which is what the tolerance is for (`--precision no`: float32, as the peer). It is of the mean, since the
training has steps where the gradient is many times its neighbours', and there no two roundings agree.

The steps of the warm-up are not timed: oneDNN compiles its kernels for every length of sentences that it has not seen.

The share of the machine's rate counts the multiply-adds that the equations need for the real tokens of a step, over
those of a product of two matrices of 2048 × 2048 in the same run: bfloat16 ones, or float32 where the processor has no
bfloat16 products (torch would compute them many times slower than float32).

Shape key: B sentences, T words, V vocabulary, Z latent.
"""

from __future__ import annotations

import contextlib
import copy
import sys
from dataclasses import replace
from pathlib import Path

import torch
import torch.nn.functional as F
from _measure import Bound, Spread, arguments_of, clock_of, matrix_rate, report
from torch import Tensor, nn

from paraform import corpora
from paraform.batching import BOS, EOS, Ragged, SentenceBatch, Vocabulary, sentence_batches
from paraform.encoders import bfloat16_products
from paraform.models.latent import LatentConfig, LatentLanguageModel, make_update
from paraform.models.latent.critic import LAYERS
from paraform.models.latent.texts import read_words
from paraform.models.latent.update import CLIP_NORM
from paraform.threads import settle
from paraform.training import TrainingConfig, make_accelerator

RATIO = "a step × Algorithm 1 written plainly"


class Peer:
    """clVAE+_MI as its Algorithm 1 reads; the weights are a copy."""

    def __init__(self, model: LatentLanguageModel, config: LatentConfig) -> None:
        self.config, self.network, self.critics = config, copy.deepcopy(model.network), copy.deepcopy(model.critics)
        assert self.critics is not None
        self.adam = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate)
        self.critic_adam = torch.optim.Adam(self.critics.parameters(), lr=config.critic_learning_rate)

    def encode(self, batch: SentenceBatch) -> Tensor:
        encoder = self.network.encoder
        states_BTH, _ = encoder.lstm(encoder.embedding(batch.words_BT))
        return states_BTH[torch.arange(len(states_BTH)), batch.lengths_B - 1]

    def reconstruction(self, batch: SentenceBatch, z_BZ: Tensor) -> Tensor:
        """−ln p(x|z), the mean over the sentences."""
        decoder = self.network.decoder
        words_BTD = decoder.embedding(F.pad(batch.words_BT, (1, 0), value=BOS))
        wide_BTZ = z_BZ[:, None].expand(-1, words_BTD.shape[1], -1)
        cell = decoder.begin(z_BZ)
        states_BTH, _ = decoder.lstm(torch.cat([words_BTD, wide_BTZ], -1), (cell.tanh()[None], cell[None]))
        gold_BT = F.pad(batch.words_BT, (0, 1)).scatter(1, batch.lengths_B[:, None], EOS)
        nll_N = F.cross_entropy(self.network.output(states_BTH).flatten(0, 1), gold_BT.flatten(), reduction="none")
        said_BT = torch.arange(gold_BT.shape[1]) <= batch.lengths_B[:, None]
        return (nll_N.view_as(gold_BT) * said_BT).sum() / len(gold_BT)

    def step(self, batch: SentenceBatch, beta: float) -> float:
        """One step; returns the loss."""
        config, critics, size = self.config, self.critics, len(batch.words_BT)
        assert critics is not None
        noise_RZ = torch.randn(2 * size, config.latent_width)
        states = [self.encode(batch) for _ in range(2)]
        z = [self.network.posterior(*view) for view in zip(states, noise_RZ.chunk(2), strict=True)]
        fixed = [state.detach() for state in states]
        loss = self.reconstruction(batch, z[0]) + self.reconstruction(batch, z[1])
        for _ in range(config.critic_steps):
            with torch.no_grad():
                drawn = torch.randn(2 * size, config.latent_width)
                posterior = [self.network.posterior(*view) for view in zip(fixed, drawn.chunk(2), strict=True)]
            prior = torch.randn(2 * size, config.latent_width).chunk(2)
            critic_loss = torch.zeros(())
            for view in (0, 1):
                on_posterior, on_prior = critics(fixed[view], posterior[view]), critics(fixed[view], prior[view])
                for f, p in zip(on_posterior, on_prior, strict=True):
                    critic_loss = critic_loss + torch.log(1 + torch.exp(-f.mean()))
                    critic_loss = critic_loss + torch.log(1 + torch.exp(p.exp().mean()))
            self.critic_adam.zero_grad()
            critic_loss.backward()
            self.critic_adam.step()
        for view in (0, 1):
            loss = loss + beta * critics(fixed[view], z[view])[1].mean()
        first, second = (F.normalize(one, dim=-1) for one in z)
        scores = first @ first.T
        scores = torch.where(torch.eye(size, dtype=torch.bool), (first * second).sum(-1), scores)
        loss = loss + config.contrast_weight * F.cross_entropy(scores / config.temperature, torch.arange(size))
        self.adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), CLIP_NORM)
        self.adam.step()
        return loss.item()


def multiply_adds(config: LatentConfig, tokens: int, rows: int, vocabulary: int) -> int:
    """What a step needs: both views, forwards and backwards (a product costs twice as much backwards).

    Args:
        tokens: of the batch, `</s>` counted; the encoder reads one less of each sentence.
        rows: sentences.
    """
    word, hidden, latent, units = config.word_width, config.hidden_width, config.latent_width, config.critic_width
    encoder = (tokens - rows) * 4 * hidden * (word + hidden)
    decoder = tokens * 4 * hidden * (word + latent + hidden) + rows * latent * hidden
    posterior = rows * latent * (hidden + latent)
    network = 3 * (encoder + decoder + posterior + tokens * hidden * vocabulary + rows * rows * latent)
    inner = (LAYERS - 1) * units * units + units
    both = (hidden + latent) * units + inner + latent * units + inner  # f and g, of one draw
    critics = config.critic_steps * 2 * rows * 3 * both + 3 * rows * (latent * units + inner)
    return 2 * (network + critics)


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/ptb/ptb.train.txt"), help="sentences")
    parser.add_argument("--steps", type=int, default=60, help="timed")
    parser.add_argument("--warm-up", type=int, default=120, help="steps before them")
    parser.add_argument("--precision", choices=("bf16", "no"), default="bf16", help="of paraform's products")
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)
    config = replace(LatentConfig(), encoder_dropout=0.0, decoder_dropout=0.0, beta_schedule="constant")
    texts = [record.text for record in corpora.read_text(arguments.data)]
    words = [read_words(text, "words") for text in texts]
    vocabulary = Vocabulary.build(words, min_count=1, size=config.vocabulary_size)
    table = Ragged.of([vocabulary.encode([word.lower() for word in row]) for row in words])
    batches, steps_per_epoch = sentence_batches(table, batch_size=config.batch_size, seed=0)
    accelerator = make_accelerator(TrainingConfig(device="cpu"))
    model = LatentLanguageModel(config, vocabulary).train()
    peer = Peer(model, config)
    update, _ = make_update(model, config, accelerator, steps_per_epoch=steps_per_epoch)
    ours: list[float] = []
    theirs: list[float] = []
    work = 0
    losses: list[tuple[float, float]] = []
    norms: list[float] = []
    clock = clock_of(arguments.threads)
    rates = [matrix_rate(clock)]
    for step in range(arguments.warm_up + arguments.steps):
        batch = batches(step)
        torch.manual_seed(step)
        start = clock()
        with bfloat16_products(accelerator.device) if arguments.precision == "bf16" else contextlib.nullcontext():
            found = update(batch, step)
        between = clock()
        torch.manual_seed(step)
        losses.append((found["loss"], peer.step(batch, config.beta)))
        norms.append(found["gradient_norm"])
        end = clock()
        if step >= arguments.warm_up:
            said = int(batch.lengths_B.sum()) + len(batch.words_BT)
            ours.append(between - start)
            theirs.append(end - between)
            work += multiply_adds(config, said, len(batch.words_BT), len(vocabulary))
    rates.append(matrix_rate(clock))
    rate = sum(rates) / 2
    differences = [abs(one - other) / abs(other) for one, other in losses]
    ratio, share = Spread.of(ours, theirs), work / sum(ours) / rate
    figures = {
        "vocabulary": len(vocabulary),
        "steps a second, paraform": arguments.steps / sum(ours),
        "steps a second, peer": arguments.steps / sum(theirs),
        RATIO: ratio,
        "loss of the first step": losses[0][0],
        "loss of the last step": losses[-1][0],
        "mean relative difference of a loss": sum(differences) / len(differences),
        "largest relative difference of a loss": max(differences),
        "gradient norm of that step": norms[differences.index(max(differences))],
        "gradient norm of the median step": sorted(norms)[len(norms) // 2],
        "relative difference of the median step": sorted(differences)[len(differences) // 2],
        "matrix rate, 10^9 multiply-adds a second": rate / 1e9,
        "paraform, 10^9 multiply-adds a second": work / sum(ours) / 1e9,
        "share of the matrix rate": share,
    }
    bounds: dict[str, Bound] = {
        "share of the matrix rate": ("at least", 0.35),
        "mean relative difference of a loss": ("at most", 0.01),
        RATIO: ("at least", 4.0),
    }
    floors = {RATIO: f"{ratio.middle / share:.2f}: all at the matrix rate"}
    return report(figures, bounds, floors=floors, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
