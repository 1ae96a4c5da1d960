"""The importance-weighted bound: paraform's batches of sentences and samples against one sentence at a time.

    python benchmarks/latent_evaluation.py [--sentences 96] [--samples 128]

Sizes of the paper on PTB (words 256, states 256, z 32, 10,000 words), weights as they begin. The peer, written here,
takes a sentence, encodes it, draws from its Gaussian posterior, and scores the samples one after the other in float32;
it does so for every 8th sentence only, and its time is scaled by their words. A second peer scores all samples of a
sentence in one batch. Both must give the same bound for the same noise. Memory is bounded by
`paraform.evaluation.latent.protocol.TOKENS_AT_ONCE` words that are scored together.

The floor: the multiply-adds that the equations need, over the machine's rate of large matrices in the same run. What
the ratio would be there is printed too; no code could show more.

Shape key: N sentences, S samples, T words, Z latent, V vocabulary.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from _measure import arguments_of, matrix_rate, report
from torch import Tensor

from paraform import corpora
from paraform.batching import BOS, EOS, Vocabulary
from paraform.encoders import bfloat16_products
from paraform.evaluation.latent import importance_bound, log_weights
from paraform.evaluation.latent.protocol import TOKENS_AT_ONCE, log_likelihood
from paraform.models.latent import LatentConfig, LatentLanguageModel
from paraform.models.latent.texts import read_words


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
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
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
    taken = {"paraform": 0.0, "one by one": 0.0, "a sentence at a time": 0.0}
    rates = [matrix_rate()]
    for turn in range(2):  # the first is not timed
        start = time.perf_counter()
        with bfloat16_products(model.device):
            bounds_N = ours()
        taken["paraform"] = time.perf_counter() - start
        found = {}
        for name, together in (("one by one", False), ("a sentence at a time", True)):
            start = time.perf_counter()
            some = rows if turn or together else rows[:1]
            found[name] = [one_by_one(model, texts[row], noise_SNZ[:, row], together=together) for row in some]
            taken[name] = (time.perf_counter() - start) / part
    rates.append(matrix_rate())
    rate = sum(rates) / 2
    work = multiply_adds(config, sum(lengths), arguments.samples, len(vocabulary))
    share = work / taken["paraform"] / rate
    differences = [
        abs(float(bounds_N[row]) - value) / abs(value)
        for values in found.values()
        for row, value in zip(rows, values, strict=True)
    ]
    figures = {
        "vocabulary": len(vocabulary),
        "words scored together": TOKENS_AT_ONCE,
        "words a second, paraform": sum(lengths) * arguments.samples / taken["paraform"],
        "ratio to one sentence and sample at a time": taken["one by one"] / taken["paraform"],
        "ratio to one sentence at a time": taken["a sentence at a time"] / taken["paraform"],
        "largest relative difference of a bound": max(differences),
        "matrix rate, 10^9 multiply-adds a second": rate / 1e9,
        "share of the matrix rate": share,
        "the first ratio at the whole matrix rate": taken["one by one"] / taken["paraform"] / share,
    }
    bounds = {
        "ratio to one sentence and sample at a time": ("at least", 20.0),
        "largest relative difference of a bound": ("at most", 0.01),
    }
    return report(figures, bounds, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
