"""Rewording: from a cold start, one sentence, and many rows, each with all its checks.

    python benchmarks/rewording.py [--data ../shared/data/quora/dev.tsv] [--rows 2000]

Three peers. A cold start, a fresh process that rewords a sentence, against one that imports torch and transformers, in
turns; bound 3.5 times. One sentence in a warm process, another one each time: 0.5 seconds. And many rows, sources of
the file, with what rules make of each, all of it checked, against the greedy decoding of the same rows by `compact`
with one exemplar each: in this process, in turns; bound 15 times, and 2 GiB for all but that peer. Where there is no
such file, rows are made of a few questions.
Where `smollm2` was fetched, the same with the language model: a cold start, one sentence (bound 1.5 seconds), and three
rewordings each of `--asked` rows (bound 15 minutes for 1,000), with the shares of that time that models take.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from _measure import Bound, Clock, Spread, arguments_of, clock_of, in_turn, middle, report

from paraform import checkpoint, corpora
from paraform.default_call import paraphraser_named
from paraform.encoders.smollm2 import smollm2_folder
from paraform.rewording.reworder import Reworder
from paraform.threads import settle

COLD = "import paraform; paraform.reword(['Can I use my card abroad?'], model='rules')"
ASKED = "import paraform; paraform.reword(['The old ruins fell down in the storm.'])"
PEER = "import torch, transformers"
MADE = (
    ("can i use my {} in {} ?", "how do i use my {} in {} ?", "what is the best {} to buy in {} ?"),
    ("card", "phone", "car", "camera", "account", "ticket", "passport", "laptop", "key", "watch", "boat", "bicycle"),
    ("spain", "india", "france", "china", "canada", "japan", "school", "winter", "the city", "the rain", "a hotel"),
)


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/dev.tsv"), help="pairs, one a line")
    parser.add_argument("--rows", type=int, default=2000, help="sources that are reworded")
    parser.add_argument("--sentences", type=int, default=20, help="sentences that are reworded one at a time")
    parser.add_argument("--asked", type=int, default=1000, help="rows with the language model; 0: it is left out")
    parser.add_argument("--repeats", type=int, default=5, help="times that each cold start is run; 0: none is")
    parser.add_argument("--bulk-repeats", type=int, default=3, help="times that all rows are reworded, and decoded")
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)
    threads = {"OMP_NUM_THREADS": str(arguments.threads)} if arguments.threads else {}

    def start(program: str) -> None:
        subprocess.run([sys.executable, "-c", program], env=os.environ | threads, check=True)

    figures: dict[str, Any] = {}
    made: list[int] = []
    kept = arguments.asked and smollm2_folder() is not None
    if arguments.repeats:
        runs = {"paraform": lambda: start(COLD), "peer": lambda: start(PEER)}
        asked = {"asked": lambda: start(ASKED)} if kept else {}
        cold = in_turn(arguments.repeats, runs | asked, clock=clock_of(arguments.threads))
        seconds_of = {name: middle(times) for name, times in cold.items()}
        figures = {
            "cold start, seconds": seconds_of["paraform"],
            f"{PEER}, seconds": seconds_of["peer"],
            "cold start, times the imports": Spread.of(cold["peer"], cold["paraform"]),
        }
        if kept:
            figures["cold start with the language model, times the imports"] = Spread.of(cold["peer"], cold["asked"])

    sources, exemplars = rows_of(arguments.data, arguments.rows)
    reworder = Reworder.default("cpu")
    reworder.reword(sources[:1])
    clock = clock_of(arguments.threads)
    one = [seconds(lambda text=text: reworder.reword([text]), clock) for text in sources[-arguments.sentences :]]

    if kept:
        spent: dict[str, float] = dict.fromkeys(("trees of sources", "tags", "vectors", "likelihoods"), 0.0)
        asking = clocked(spent, clock)
        asking.reword(sources[:1])
        some = sources[-arguments.sentences :]
        one_asked = [seconds(lambda text=text: asking.reword([text]), clock) for text in some]
        rows = sources[: arguments.asked]
        spent.update(dict.fromkeys(spent, 0.0))
        taken = seconds(lambda: made.append(sum(len(found.candidates) for found in asking.reword(rows, num=3))), clock)
        figures |= {
            "one sentence with the language model, warm, seconds": middle(one_asked),
            "the slowest of these, seconds": max(one_asked),
            "rows with the language model": len(rows),
            "rewordings of these, at most 3 each": made[-1],
            "1,000 rows with it, minutes": taken / len(rows) * 1000 / 60,
            **{f"share of that, {name}": one / taken for name, one in spent.items()},
        }

    reworder.reword(sources, num=3)
    unit = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss, in bytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30  # before the peer is there

    model = checkpoint.load("compact", device="cpu")
    model.decode(sources[:16], exemplars[:16])
    runs = {
        "decode": lambda: model.decode(sources, exemplars),
        "reword": lambda: made.append(sum(len(found.candidates) for found in reworder.reword(sources, num=3))),
    }
    bulk = in_turn(arguments.bulk_repeats, runs, untimed=0, clock=clock)

    figures |= {
        "one sentence, warm, seconds": middle(one),
        "the slowest of them, seconds": max(one),
        "rows": len(sources),
        "rewordings of them, at most 3 each": made[-1],
        "rows reworded, seconds": middle(bulk["reword"]),
        "rows decoded, seconds": middle(bulk["decode"]),
        "rows reworded, times decoded": Spread.of(bulk["decode"], bulk["reword"]),
        "peak, GiB": peak,
    }
    bounds: dict[str, Bound] = {
        "cold start, times the imports": ("at most", 3.5),
        "one sentence, warm, seconds": ("at most", 0.5),
        "cold start with the language model, times the imports": ("at most", 3.5),
        "one sentence with the language model, warm, seconds": ("at most", 1.5),
        "1,000 rows with it, minutes": ("at most", 15.0),
        "rows reworded, times decoded": ("at most", 15.0),
        "peak, GiB": ("at most", 2.0),
    }
    floors = {name: "1" for name in bounds if name.endswith("imports") and name in figures}
    bounds = {name: bound for name, bound in bounds.items() if name in figures}
    return report(figures, bounds, floors=floors, as_json=arguments.json)


def rows_of(path: Path, number: int) -> tuple[list[str], list[str]]:
    """As many sources, and exemplars that say something else: targets half the rows further on."""
    if path.is_file():
        pairs = list(itertools.islice(corpora.read_pairs(path), number))
        half = len(pairs) // 2
        return [pair.source.text for pair in pairs], [pair.target.text for pair in (*pairs[half:], *pairs[:half])]
    frames, *words = MADE
    sources = [frame.format(*pair) for pair in itertools.product(*words) for frame in frames][:number]
    return sources, [*sources[len(sources) // 2 :], *sources[: len(sources) // 2]]


def clocked(spent: dict[str, float], now: Clock) -> Reworder:
    """The default call's, with the language model; `spent` adds up the seconds of each kind of model."""

    def clock(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            begun = now()
            out = run(*given, **named)
            spent[name] += now() - begun
            return out

        return timed

    model: Any = paraphraser_named(None, "cpu")
    model.likelihood = clock("likelihoods", model.likelihood)
    tools = Reworder.default("cpu").tools
    tools = replace(
        tools,
        tag=clock("tags", tools.tag),
        embed=clock("vectors", tools.embed),
        parse=clock("trees of sources", tools.parse) if tools.parse else None,
    )
    return Reworder(tools, paraphraser=model)


def seconds(run: Callable[[], object], clock: Clock) -> float:
    begun = clock()
    run()
    return clock() - begun


if __name__ == "__main__":
    sys.exit(main())
