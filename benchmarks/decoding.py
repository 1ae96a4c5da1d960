"""Sentences of latent vectors, decoded greedy, drawn and by beam, and a word drawn against transformers' way.

    python benchmarks/decoding.py [--sentences 256] [--vocabulary 10000] [--repeats 5]

A network of the paper's size on PTB (256/256/32), its weights drawn at random, so that nearly every sentence goes on to
the longest. Words a second of each way, and how many times as long a word takes as a greedy one; of a beam, whose
rows are W times as many, a word of the sentence that is kept.

A word drawn by top-p: `decoding`'s, which rejects, against transformers' `TopPLogitsWarper` and then
`torch.multinomial`, as its `generate` draws, on the same scores [sentences, vocabulary]. In turns in this process.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from _measure import Spread, arguments_of, clock_of, in_turn, middle, report
from transformers import TopPLogitsWarper

from paraform import decoding
from paraform.models.latent import LatentConfig
from paraform.models.latent.language_model import decode_vectors
from paraform.models.latent.network import LatentNetwork
from paraform.threads import settle

LONGEST = 60


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--sentences", type=int, default=256, help="decoded together")
    parser.add_argument("--vocabulary", type=int, default=10_000, help="words that can be said")
    parser.add_argument("--width", type=int, default=4, help="of the beam")
    parser.add_argument("--top-p", type=float, default=0.9, help="share of the probability that is drawn from")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()
    threads = arguments.threads or 1
    settle(threads)
    torch.manual_seed(0)
    network = LatentNetwork(LatentConfig(), arguments.vocabulary).eval()
    z = torch.randn(arguments.sentences, network.config.latent_width)
    words: dict[str, int] = {}

    def decode(name: str, **how: Any) -> None:
        said = decode_vectors(network, z, longest=LONGEST, never=[0, 2], batch_size=arguments.sentences, **how)
        words[name] = sum(len(row) + 1 for row in said)

    scores = 3 * torch.randn(arguments.sentences, arguments.vocabulary)
    generator = torch.Generator().manual_seed(0)
    warper = TopPLogitsWarper(arguments.top_p)

    def ours() -> None:
        decoding._drawn(torch.softmax(scores, -1), arguments.top_p, generator)

    def theirs() -> None:
        warped = warper(None, scores)
        torch.multinomial(torch.softmax(warped, -1), 1, generator=generator)

    alone = {"ours": ours, "theirs": theirs}
    ways = {
        "greedy": lambda: decode("greedy"),
        "drawn": lambda: decode("drawn", temperature=1.0),
        "drawn by top-p": lambda: decode("drawn by top-p", temperature=1.0, top_p=arguments.top_p),
        "beam": lambda: decode("beam", beam=arguments.width),
    }
    seconds = in_turn(arguments.repeats, ways | alone, clock=clock_of(threads))
    each = {name: [taken / words[name] for taken in seconds[name]] for name in ways}
    figures: dict[str, Any] = {f"{name}, words a second": 1 / middle(taken) for name, taken in each.items()}
    figures |= {f"{name}, times a greedy word": Spread.of(each["greedy"], each[name]) for name in list(ways)[1:]}
    figures["a word drawn by top-p × transformers"] = Spread.of(seconds["ours"], seconds["theirs"])
    return report(figures, {}, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
