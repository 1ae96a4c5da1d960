"""The output layer of a GRU decoder on one CPU thread: its loss, and the likeliest word, against plain torch.

    python benchmarks/vocabulary.py [--words 1800] [--vocabulary 9746] [--features 256] [--repeats 10]

Loss: `paraform.losses.vocabulary.vocabulary_scores` against `F.cross_entropy` of `F.linear`, forward and backward, both
with products in bfloat16 where the processor has it, as in training. Likeliest word: numpy's argmax, which greedy
decoding takes, against torch's, on [512, vocabulary]. In turns in this process; the median of each is taken.
"""

from __future__ import annotations

import sys

import torch
import torch.nn.functional as F
from _measure import arguments_of, in_turn, middle, report
from torch import Tensor

from paraform.encoders import bfloat16_products
from paraform.losses.vocabulary import vocabulary_scores


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--words", type=int, default=1800, help="gold words of a batch")
    parser.add_argument("--vocabulary", type=int, default=9746, help="words that can be said")
    parser.add_argument("--features", type=int, default=256, help="of the output layer's input")
    parser.add_argument("--repeats", type=int, default=10, help="times that each is run")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads or 1)
    torch.manual_seed(0)
    features = torch.randn(arguments.words, arguments.features, requires_grad=True)
    weight = (0.05 * torch.randn(arguments.vocabulary, arguments.features)).requires_grad_()
    bias = torch.zeros(arguments.vocabulary, requires_grad=True)
    gold = torch.randint(arguments.vocabulary, (arguments.words,))
    scores = torch.randn(512, arguments.vocabulary)
    found: dict[str, tuple[Tensor, ...]] = {}

    def ours() -> None:
        score, normalizer = vocabulary_scores(features, weight, bias, gold)
        found["paraform"] = torch.autograd.grad((normalizer - score).mean(), (features, weight, bias))

    def theirs() -> None:
        loss = F.cross_entropy(F.linear(features, weight, bias), gold)
        found["peer"] = torch.autograd.grad(loss, (features, weight, bias))

    runs = {"loss": ours, "peer's loss": theirs}
    runs |= {"argmax": lambda: scores.numpy().argmax(-1), "peer's argmax": lambda: scores.argmax(-1)}
    with bfloat16_products(features.device):
        seconds = {name: middle(times) for name, times in in_turn(arguments.repeats, runs).items()}
    errors = [
        float((one - two).abs().max() / two.abs().max())
        for one, two in zip(found["paraform"], found["peer"], strict=True)
    ]
    figures = {
        "loss, ms": 1e3 * seconds["loss"],
        "F.cross_entropy, ms": 1e3 * seconds["peer's loss"],
        "ratio of the losses": seconds["peer's loss"] / seconds["loss"],
        "greatest relative difference of a gradient": max(errors),
        "numpy's argmax, ms": 1e3 * seconds["argmax"],
        "torch's argmax, ms": 1e3 * seconds["peer's argmax"],
        "ratio of argmax": seconds["peer's argmax"] / seconds["argmax"],
    }
    return report(figures, {}, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
