"""Training a GRU on one CPU thread: `paraform.recurrent.run_gru` against `torch.nn.GRU`, forward and backward.

    python benchmarks/gru.py [--rows 128] [--tokens 14] [--repeats 10]

Both run in this process, in turns, on the same weights and inputs; the least time of each is taken. The bidirectional
one has rows of 4 tokens up to --tokens, packed for the peer. The greatest difference of a gradient, relative to that
gradient's greatest number, is printed too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import torch
from _measure import arguments_of, in_turn, report
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from paraform.recurrent import run_gru

SIZES = [(256, 256, True), (256, 512, False), (1280, 512, False)]  # features in, features out, both directions


def peer(module: nn.GRU, inputs: Tensor, initial: Tensor, lengths: Tensor | None) -> tuple[Tensor, Tensor]:
    if lengths is None:
        states, final = module(inputs, initial)
        return states, final
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    states, final = module(packed, initial)
    return pad_packed_sequence(states, batch_first=True, total_length=inputs.shape[1])[0], final


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--rows", type=int, default=128, help="of a batch")
    parser.add_argument("--tokens", type=int, default=14, help="of the longest row")
    parser.add_argument("--repeats", type=int, default=10, help="times that each is run")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads or 1)
    torch.manual_seed(0)
    figures: dict[str, float] = {}
    for features, width, both in SIZES:
        name = f"{features} to {2 * width if both else width}{', both directions' if both else ''}"
        figures |= {f"{name}: {what}": value for what, value in compared(features, width, both, arguments).items()}
    return report(figures, {}, as_json=arguments.json)


def compared(features: int, width: int, both: bool, sizes: argparse.Namespace) -> dict[str, float]:
    """Milliseconds of each, and how far their gradients are apart."""
    directions = 2 if both else 1
    module = nn.GRU(features, width, batch_first=True, bidirectional=both)
    inputs = torch.randn(sizes.rows, sizes.tokens, features, requires_grad=True)
    initial = torch.randn(directions, sizes.rows, width, requires_grad=True)
    lengths = torch.randint(min(4, sizes.tokens), sizes.tokens + 1, (sizes.rows,)) if both else None
    weight = torch.randn(sizes.rows, sizes.tokens, directions * width)
    leaves = [inputs, initial, *module.parameters()]
    gradients: dict[str, tuple[Tensor, ...]] = {}

    def train(name: str, run: Callable[..., tuple[Tensor, Tensor]]) -> None:
        states, final = run(module, inputs, initial, lengths)
        gradients[name] = torch.autograd.grad((states * weight).sum() + final.sum(), leaves)

    runs = {"paraform": lambda: train("paraform", run_gru), "nn.GRU": lambda: train("nn.GRU", peer)}
    seconds = {name: min(times) for name, times in in_turn(sizes.repeats, runs).items()}
    pairs = zip(gradients["paraform"], gradients["nn.GRU"], strict=True)
    return {
        "paraform, ms": 1e3 * seconds["paraform"],
        "nn.GRU, ms": 1e3 * seconds["nn.GRU"],
        "ratio": seconds["nn.GRU"] / seconds["paraform"],
        "greatest relative difference of a gradient": max(
            float((one - two).abs().max() / two.abs().max()) for one, two in pairs
        ),
    }


if __name__ == "__main__":
    sys.exit(main())
