"""Training a GRU on one CPU thread: `paraform.recurrent.run_gru` against `torch.nn.GRU`, forward and backward.

    python benchmarks/gru.py [--rows 128] [--tokens 14] [--repeats 10]

Both run in this process, in turns, on the same weights and inputs; the least time of each is taken. The bidirectional
one has rows of 4 tokens up to --tokens, packed for the peer. The greatest difference of a gradient, relative to that
gradient's greatest number, is printed too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=128, help="of a batch")
    parser.add_argument("--tokens", type=int, default=14, help="of the longest row")
    parser.add_argument("--repeats", type=int, default=10, help="times that each is run")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)

    for features, width, both in SIZES:
        directions = 2 if both else 1
        module = nn.GRU(features, width, batch_first=True, bidirectional=both)
        inputs = torch.randn(arguments.rows, arguments.tokens, features, requires_grad=True)
        initial = torch.randn(directions, arguments.rows, width, requires_grad=True)
        lengths = torch.randint(min(4, arguments.tokens), arguments.tokens + 1, (arguments.rows,)) if both else None
        weight = torch.randn(arguments.rows, arguments.tokens, directions * width)
        leaves = [inputs, initial, *module.parameters()]

        def train(
            run: Callable[..., tuple[Tensor, Tensor]],
            made: tuple[nn.GRU, Tensor, Tensor, Tensor | None] = (module, inputs, initial, lengths),
            weight: Tensor = weight,
            leaves: list[Tensor] = leaves,
        ) -> tuple[float, tuple[Tensor, ...]]:
            start = time.perf_counter()
            states, final = run(*made)
            gradients = torch.autograd.grad((states * weight).sum() + final.sum(), leaves)
            return time.perf_counter() - start, gradients

        ours, theirs = [], []
        for _ in range(arguments.repeats):
            mine, gradients = train(run_gru)
            others, expected = train(peer)
            ours.append(mine)
            theirs.append(others)
        error = max(
            float((one - two).abs().max() / two.abs().max()) for one, two in zip(gradients, expected, strict=True)
        )
        print(
            f"{features:5} -> {directions} x {width}{', packed' if both else '        '}  "
            f"paraform {1e3 * min(ours):6.1f} ms  nn.GRU {1e3 * min(theirs):6.1f} ms  "
            f"ratio {min(theirs) / min(ours):5.2f}  gradients differ by {error:.0e}"
        )


if __name__ == "__main__":
    main()
