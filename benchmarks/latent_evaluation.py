"""The importance-weighted bound: paraform's batches of sentences and samples against one sentence at a time.

    python benchmarks/latent_evaluation.py [--sentences 96] [--samples 128] [--repeats 5]

Sizes of the paper on PTB (words 256, states 256, z 32, 10,000 words), weights as they begin. The peer, written here,
takes a sentence, encodes it, draws from its Gaussian posterior, and scores the samples one after the other in float32;
it does so for every 8th sentence only, and its time is scaled by their words. A second peer scores all samples of a
sentence in one batch. All are run in turns, and must give the same bound for the same noise. Memory is bounded by
`paraform.evaluation.latent.protocol.TOKENS_AT_ONCE` words that are scored together.

The floor: the multiply-adds that the equations need, over the machine's rate of large matrices in the same run.

Shape key: N sentences, S samples, T words, Z latent, V vocabulary.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from _measure import Bound, Spread, arguments_of, clock_of, in_turn, matrix_rate, middle, report
from torch import Tensor

from paraform import corpora
from paraform.batching import BOS, EOS, Vocabulary
from paraform.encoders import bfloat16_products
from paraform.evaluation.latent import importance_bound, log_weights
from paraform.evaluation.latent.protocol import TOKENS_AT_ONCE, log_likelihood
from paraform.models.latent import LatentConfig, LatentLanguageModel
from paraform.models.latent.texts import read_words
from paraform.threads import settle


def one_by_one(model: LatentLanguageModel, text: str, noise_SZ: Tensor, *, together: bool) -> float:
    """The bound on ln p of one sentence, its samples one after the other or in one batch."""
    network = model.network
    words_1T = torch.tensor([model.vocabulary.encode(read_words(text.lower(), "words"))])
    inputs_1T, gold_T = F.pad(words_1T, (1, 0), value=BOS), F.pad(words_1T, (0, 1), value=EOS)[0]
    states_1TH, _ = network.encoder.lstm(network.encoder.embedding(words_1T))
    gaussian = network.posterior.gaussian(states_1TH[:, -1])
    weights = []
    for z_RZ in gaussian.draw(noise_SZ).split(len(noise_SZ) if together else 1):
        embedded = network.decoder.embedding(inputs_1T).expand(len(z_RZ), -1, -1)
        wide = z_RZ[:, None].expand(-1, inputs_1T.shape[1], -1)
        cell = network.decoder.begin(z_RZ)
        states_RTH, _ = network.decoder.lstm(torch.cat([embedded, wide], -1), (cell.tanh()[None], cell[None]))
        scores_RVT = network.output(states_RTH).transpose(1, 2)
        nll_R = F.cross_entropy(scores_RVT, gold_T.expand(len(z_RZ), -1), reduction="none").sum(1)
        prior_R = -0.5 * (z_RZ.square() + math.log(2 * math.pi)).sum(1)
        weights.append(prior_R - nll_R - gaussian.log_density(z_RZ[:, None])[:, 0])
    return float(torch.cat(weights).double().logsumexp(0)) - math.log(len(noise_SZ))


def multiply_adds(config: LatentConfig, tokens: int, samples: int, vocabulary: int) -> int:
    """What the bounds need: the decoder's states, which depend on each other, and the scores of all words.

    What is needed once a sentence, once a word or once a sample is left out: less than 1 % of it.

    Args:
        tokens: of all sentences, `</s>` counted.
    """
    return samples * tokens * config.hidden_width * (4 * config.hidden_width + vocabulary)


def seeded() -> torch.Generator:
    """What both draw by."""
    return torch.Generator().manual_seed(0)


@torch.no_grad()
def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/ptb/ptb.test.txt"), help="sentences")
    parser.add_argument("--words", type=Path, default=Path("../shared/data/ptb/ptb.train.txt"), help="whose vocabulary")
    parser.add_argument("--sentences", type=int, default=96)
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)
    texts = [record.text for record in corpora.read_text(arguments.data)][: arguments.sentences]
    known = [read_words(record.text, "words") for record in corpora.read_text(arguments.words)]
    vocabulary = Vocabulary.build(known, min_count=1, size=10_000)
    config = LatentConfig().with_objective("clvae_mi")
    torch.manual_seed(0)
    model = LatentLanguageModel(config, vocabulary).eval()
    noise_SNZ = torch.randn(arguments.samples, len(texts), config.latent_width, generator=seeded())

    def ours() -> Tensor:
        encoded = model.encode(texts)
        z_SNZ = model.sample_posterior(encoded, arguments.samples, seeded())
        log_q_SN = model.log_posterior(encoded, z_SNZ)
        return importance_bound(log_weights(log_likelihood(model, texts, z_SNZ), log_q_SN, z_SNZ))

    rows = list(range(0, len(texts), 8))
    lengths = model.lengths(texts)
    part = sum(lengths[row] for row in rows) / sum(lengths)
    found: dict[str, Any] = {}

    def mine() -> None:
        with bfloat16_products(model.device):
            found["paraform"] = ours()

    def theirs(name: str, *, together: bool) -> None:
        found[name] = [one_by_one(model, texts[row], noise_SNZ[:, row], together=together) for row in rows]

    clock = clock_of(arguments.threads)
    rates = [matrix_rate(clock)]
    taken = in_turn(
        arguments.repeats,
        {
            "paraform": mine,
            "one by one": lambda: theirs("one by one", together=False),
            "a sentence at a time": lambda: theirs("a sentence at a time", together=True),
        },
        clock=clock,
    )
    rates.append(matrix_rate(clock))
    rate = sum(rates) / 2
    work = multiply_adds(config, sum(lengths), arguments.samples, len(vocabulary))
    own = taken.pop("paraform")
    share = work / middle(own) / rate
    ratios = {f"paraform × {name}": Spread.of(own, [one / part for one in spent]) for name, spent in taken.items()}
    differences = [
        abs(float(found["paraform"][row]) - value) / abs(value)
        for name in taken
        for row, value in zip(rows, found[name], strict=True)
    ]
    figures = {
        "vocabulary": len(vocabulary),
        "words scored together": TOKENS_AT_ONCE,
        "words a second, paraform": sum(lengths) * arguments.samples / middle(own),
        **ratios,
        "largest relative difference of a bound": max(differences),
        "matrix rate, 10^9 multiply-adds a second": rate / 1e9,
        "share of the matrix rate": share,
    }
    bounds: dict[str, Bound] = {
        "paraform × one by one": ("at least", 20.0),
        "largest relative difference of a bound": ("at most", 0.01),
    }
    floors = {name: f"{ratio.middle / share:.1f}: all at the matrix rate" for name, ratio in ratios.items()}
    return report(figures, bounds, floors=floors, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
