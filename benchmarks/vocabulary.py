"""The output layer of a decoder on one CPU thread: its loss, and the likeliest word, against plain torch.

    python benchmarks/vocabulary.py [--words 1800] [--vocabulary 9746] [--features 256] [--repeats 10]

Likeliest word: numpy's argmax, which greedy decoding takes, against torch's, on [512, vocabulary]. `vocabulary_nll`,
without gradients (as evaluation of latent models calls it, on `--scored` words) and with them, against
`F.cross_entropy` of `F.linear` on the same features and weights, in bfloat16 where that is faster (AMX), else in
float32. The product of a part's features and the weights, into rows of all words and into rows filled up to whole
cache lines, as shares of the rate of products of 2048 × 2048. In turns in this process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F
from _measure import Spread, arguments_of, clock_of, in_turn, matrix_rate, middle, report
from torch import Tensor

from paraform.encoders import best_dtype, bfloat16_products
from paraform.losses.vocabulary import _size, filled_up, vocabulary_nll
from paraform.threads import settle


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--words", type=int, default=1800, help="gold words of a batch")
    parser.add_argument("--vocabulary", type=int, default=9746, help="words that can be said")
    parser.add_argument("--features", type=int, default=256, help="of the output layer's input")
    parser.add_argument("--scored", type=int, default=16384, help="words scored together in an evaluation")
    parser.add_argument("--repeats", type=int, default=10, help="times that each is run")
    arguments = parser.parse_args()
    threads = arguments.threads or 1
    settle(threads)
    clock = clock_of(threads)
    torch.manual_seed(0)
    features = torch.randn(arguments.words, arguments.features, requires_grad=True)
    weight = (0.05 * torch.randn(arguments.vocabulary, arguments.features)).requires_grad_()
    gold = torch.randint(arguments.vocabulary, (arguments.words,))
    scores = torch.randn(512, arguments.vocabulary)
    found: dict[str, tuple[Tensor, ...]] = {}

    dtype = best_dtype(features.device)
    few, many = features.detach().to(dtype).requires_grad_(), torch.randn(arguments.scored, arguments.features)
    many, said = many.to(dtype), torch.randint(arguments.vocabulary, (arguments.scored,))

    def peer_nll(some: Tensor, words: Tensor) -> Tensor:
        return F.cross_entropy(F.linear(some, weight.to(dtype)), words, reduction="none")

    def trained(nll: Callable[[Tensor, Tensor], Tensor]) -> None:
        torch.autograd.grad(nll(few, gold).mean(), (few, weight))

    @torch.no_grad()
    def evaluated(nll: Callable[[Tensor, Tensor], Tensor]) -> None:
        found[nll.__name__] = (nll(many, said),)

    def own_nll(some: Tensor, words: Tensor) -> Tensor:
        return vocabulary_nll(some, weight, words)

    part = many[: _size(arguments.vocabulary)]
    whole = weight.detach().to(dtype)
    filled = F.pad(whole, (0, 0, 0, filled_up(arguments.vocabulary) - arguments.vocabulary))
    rows, filled_rows = (part.new_empty(len(part), len(one)) for one in (whole, filled))

    runs = {"trained": lambda: trained(own_nll), "peer's trained": lambda: trained(peer_nll)}
    runs |= {"evaluated": lambda: evaluated(own_nll), "peer's evaluated": lambda: evaluated(peer_nll)}
    runs |= {"argmax": lambda: scores.numpy().argmax(-1), "peer's argmax": lambda: scores.argmax(-1)}
    runs |= {"rows": lambda: torch.mm(part, whole.t(), out=rows)}
    runs |= {"filled rows": lambda: torch.mm(part, filled.t(), out=filled_rows)}
    with bfloat16_products(features.device):
        seconds = in_turn(arguments.repeats, runs, clock=clock)
    rate = matrix_rate(clock)
    products = len(part) * arguments.features * arguments.vocabulary / rate
    figures = {
        "vocabulary_nll with gradients × torch": Spread.of(seconds["trained"], seconds["peer's trained"]),
        "vocabulary_nll without × torch": Spread.of(seconds["evaluated"], seconds["peer's evaluated"]),
        "mean difference of these, nats": float((found["own_nll"][0] - found["peer_nll"][0].float()).mean()),
        "rows of all words, share of the matrix rate": products / middle(seconds["rows"]),
        "filled rows, share of the matrix rate": products / middle(seconds["filled rows"]),
        "numpy's argmax, ms": 1e3 * middle(seconds["argmax"]),
        "numpy's argmax × torch's": Spread.of(seconds["argmax"], seconds["peer's argmax"]),
    }
    return report(figures, {}, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
