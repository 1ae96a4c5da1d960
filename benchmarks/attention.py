"""Attention over sentences in training on one CPU thread: two plain products against torch's fused attention.

    python benchmarks/attention.py [--sentences 64] [--heads 9] [--words 20] [--width 64] [--repeats 20]

Forward and backward of `F.scaled_dot_product_attention` over padded sentences, in float32 whose products may be rounded
(`encoders.bfloat16_products`, as trainings have them) and in plain float32; by default of the size of a batch of
`smollm2`'s. In turns in this process; the median of each is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F
from _measure import arguments_of, in_turn, middle, report
from torch.nn.attention import SDPBackend, sdpa_kernel

from paraform.encoders import bfloat16_products


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--sentences", type=int, default=64)
    parser.add_argument("--heads", type=int, default=9)
    parser.add_argument("--words", type=int, default=20, help="of each sentence")
    parser.add_argument("--width", type=int, default=64, help="of each head")
    parser.add_argument("--repeats", type=int, default=20, help="times that each is run")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads or 1)
    torch.manual_seed(0)
    shape = (arguments.sentences, arguments.heads, arguments.words, arguments.width)
    inputs = [torch.randn(shape, requires_grad=True) for _ in range(3)]
    mask = torch.ones(arguments.sentences, 1, arguments.words, arguments.words, dtype=torch.bool)

    def trained(kernel: SDPBackend) -> Callable[[], object]:
        def run() -> None:
            with sdpa_kernel(kernel):
                torch.autograd.grad(F.scaled_dot_product_attention(*inputs, attn_mask=mask).sum(), inputs)

        return run

    runs = {"products": trained(SDPBackend.MATH), "fused": trained(SDPBackend.FLASH_ATTENTION)}
    plain = {name: middle(times) for name, times in in_turn(arguments.repeats, runs).items()}
    with bfloat16_products(inputs[0].device):
        rounded = {name: middle(times) for name, times in in_turn(arguments.repeats, runs).items()}
    figures = {
        "fused over products, float32 rounded in products": rounded["fused"] / rounded["products"],
        "fused over products, float32": plain["fused"] / plain["products"],
        "products, ms": 1e3 * rounded["products"],
    }
    return report(figures, {}, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
