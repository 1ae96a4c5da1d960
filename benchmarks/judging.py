"""Pairs that the embedded judges read a second, and one pair, against sentence-transformers' CrossEncoder on minilm.

    python benchmarks/judging.py [--pairs 256] [--threads 1] [--repeats 5]

Pairs of docs/ratings/judge-written.jsonl, the same for all. The peer's head is drawn at random, which changes no time:
it is what one would train in the place of `minilm-judge`. In turns in this process.
`smollm2-judge` is measured where `paraform fetch smollm2` was run. Bounds: a pair of `minilm-judge`, warm, 50 ms;
10,000 of its pairs 5 minutes; as fast as the peer.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch
from _measure import Bound, Spread, arguments_of, clock_of, in_turn, middle, report
from sentence_transformers import CrossEncoder

from paraform import InputError, encoders, load
from paraform.threads import settle

WRITTEN = Path(__file__).parents[1] / "docs" / "ratings" / "judge-written.jsonl"


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--pairs", type=int, default=256, help="read at once")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()
    settle(arguments.threads or torch.get_num_threads())
    rows = [json.loads(line) for line in WRITTEN.read_text(encoding="utf-8").splitlines()]
    pairs = [(row["a"], row["b"]) for row in rows][: arguments.pairs]
    peer = CrossEncoder(str(encoders.locate()), num_labels=2, device="cpu")
    runs = {"CrossEncoder": lambda some: peer.predict(some, batch_size=64, show_progress_bar=False)}
    for name in ("minilm-judge", "smollm2-judge"):
        judge = load(name, device="cpu")
        try:
            judge.judge(pairs[:1])
        except InputError as error:
            print(f"{name}: {error}", file=sys.stderr)
        else:
            runs[name] = judge.judge
    clock = clock_of(arguments.threads)
    many = in_turn(arguments.repeats, {name: partial(run, pairs) for name, run in runs.items()}, clock=clock)
    one = in_turn(arguments.repeats * 3, {name: partial(run, pairs[:1]) for name, run in runs.items()}, clock=clock)
    figures: dict[str, Any] = {"pairs": len(pairs), "threads": torch.get_num_threads()}
    figures |= {f"{name}, pairs a second": len(pairs) / middle(seconds) for name, seconds in many.items()}
    figures |= {f"{name}, one pair, ms": 1000 * middle(seconds) for name, seconds in one.items()}
    others = [name for name in many if name != "minilm-judge"]
    figures |= {f"minilm-judge × {name}": Spread.of(many["minilm-judge"], many[name]) for name in others}
    figures["10,000 pairs, seconds"] = 10_000 * middle(many["minilm-judge"]) / len(pairs)
    bounds: dict[str, Bound] = {
        "minilm-judge, one pair, ms": ("at most", 50.0),
        "10,000 pairs, seconds": ("at most", 300.0),
        "minilm-judge × CrossEncoder": ("at least", 1.0),
    }
    return report(figures, bounds, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
