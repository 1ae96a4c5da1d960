"""Rewording: from a cold start, one sentence, and many rows, each with all its checks.

    python benchmarks/rewording.py [--data ../shared/data/quora/dev.tsv] [--rows 2000]

Three peers. A cold start, a fresh process that rewords a sentence, against one that imports torch and transformers: in
turns, the median of each; bound 3.5 times. One sentence in a warm process, another one each time: 0.5 seconds. And many
rows, sources of the file, with what rules make of each, all of it checked, against the greedy decoding of the same rows
by `compact` with one exemplar each: in this process, in turns; bound 15 times, and 2 GiB for all but that peer. The
same in processor time too, which with `--threads 1` says what is computed, whatever else the machine does. Where there
is no such file, rows are made of a few questions.
Where `smollm2` was fetched, the same with the language model: a cold start, one sentence (bound 1.5 seconds), and three
rewordings each of `--asked` rows (bound 15 minutes for 1,000), with the shares of that time that models take.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from _measure import arguments_of, in_turn, middle, report

from paraform import checkpoint, corpora
from paraform.default_call import paraphraser_named
from paraform.encoders.smollm2 import smollm2_folder
from paraform.rewording.reworder import Reworder

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
    parser.add_argument("--bulk-repeats", type=int, default=1, help="times that all rows are reworded, and decoded")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    threads = {"OMP_NUM_THREADS": str(arguments.threads)} if arguments.threads else {}

    def start(program: str) -> None:
        subprocess.run([sys.executable, "-c", program], env=os.environ | threads, check=True)

    figures: dict[str, Any] = {}
    made: list[int] = []
    kept = arguments.asked and smollm2_folder() is not None
    if arguments.repeats:
        runs = {"paraform": lambda: start(COLD), "peer": lambda: start(PEER)}
        cold = in_turn(arguments.repeats, runs | ({"asked": lambda: start(ASKED)} if kept else {}))
        seconds_of = {name: middle(times) for name, times in cold.items()}
        figures = {
            "cold start, seconds": seconds_of["paraform"],
            f"{PEER}, seconds": seconds_of["peer"],
            "cold start, ratio": seconds_of["paraform"] / seconds_of["peer"],
        }
        if kept:
            figures["cold start with the language model, ratio"] = seconds_of["asked"] / seconds_of["peer"]

    sources, exemplars = rows_of(arguments.data, arguments.rows)
    reworder = Reworder.default("cpu")
    reworder.reword(sources[:1])
    one = [seconds(lambda text=text: reworder.reword([text])) for text in sources[-arguments.sentences :]]

    if kept:
        spent: dict[str, float] = dict.fromkeys(("trees of sources", "tags", "vectors", "likelihoods"), 0.0)
        asking = clocked(spent)
        asking.reword(sources[:1])
        one_asked = [seconds(lambda text=text: asking.reword([text])) for text in sources[-arguments.sentences :]]
        rows = sources[: arguments.asked]
        spent.update(dict.fromkeys(spent, 0.0))
        taken = seconds(lambda: made.append(sum(len(found.candidates) for found in asking.reword(rows, num=3))))
        figures |= {
            "one sentence with the language model, warm, seconds": middle([taken.wall for taken in one_asked]),
            "the slowest of these, seconds": max(taken.wall for taken in one_asked),
            "rows with the language model": len(rows),
            "rewordings of these, at most 3 each": made[-1],
            "1,000 rows with it, minutes": taken.wall / len(rows) * 1000 / 60,
            **{f"share of that, {name}": one / taken.wall for name, one in spent.items()},
        }

    reworder.reword(sources, num=3)
    unit = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss, in bytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30  # before the peer is there

    model = checkpoint.load("compact", device="cpu")
    model.decode(sources[:16], exemplars[:16])
    bulk: dict[str, list[Seconds]] = {"reword": [], "decode": []}
    for _ in range(arguments.bulk_repeats):
        bulk["decode"].append(seconds(lambda: model.decode(sources, exemplars)))
        bulk["reword"].append(
            seconds(lambda: made.append(sum(len(found.candidates) for found in reworder.reword(sources, num=3))))
        )
    wall, processor = (
        {name: min(getattr(taken, kind) for taken in runs) for name, runs in bulk.items()} for kind in Seconds._fields
    )

    figures |= {
        "one sentence, warm, seconds": middle([taken.wall for taken in one]),
        "the same, processor seconds": middle([taken.processor for taken in one]),
        "the slowest of them, seconds": max(taken.wall for taken in one),
        "rows": len(sources),
        "rewordings of them, at most 3 each": made[-1],
        "rows reworded, seconds": wall["reword"],
        "rows decoded, seconds": wall["decode"],
        "rows, ratio": wall["reword"] / wall["decode"],
        "rows, ratio of processor time": processor["reword"] / processor["decode"],
        "peak, GiB": peak,
    }
    bounds = {
        "cold start, ratio": ("at most", 3.5),
        "one sentence, warm, seconds": ("at most", 0.5),
        "cold start with the language model, ratio": ("at most", 3.5),
        "one sentence with the language model, warm, seconds": ("at most", 1.5),
        "1,000 rows with it, minutes": ("at most", 15.0),
        "rows, ratio": ("at most", 15.0),
        "peak, GiB": ("at most", 2.0),
    }
    return report(figures, {name: bound for name, bound in bounds.items() if name in figures}, as_json=arguments.json)


def rows_of(path: Path, number: int) -> tuple[list[str], list[str]]:
    """As many sources, and exemplars that say something else: targets half the rows further on."""
    if path.is_file():
        pairs = list(itertools.islice(corpora.read_pairs(path), number))
        half = len(pairs) // 2
        return [pair.source.text for pair in pairs], [pair.target.text for pair in (*pairs[half:], *pairs[:half])]
    frames, *words = MADE
    sources = [frame.format(*pair) for pair in itertools.product(*words) for frame in frames][:number]
    return sources, [*sources[len(sources) // 2 :], *sources[: len(sources) // 2]]


def clocked(spent: dict[str, float]) -> Reworder:
    """The default call's, with the language model; `spent` adds up the seconds of each kind of model."""

    def clock(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            out = run(*given, **named)
            spent[name] += time.perf_counter() - begun
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


class Seconds(NamedTuple):
    """Of a run: of the clock, and of the processor."""

    wall: float
    processor: float


def seconds(run: Callable[[], object]) -> Seconds:
    begun = time.perf_counter(), time.process_time()
    run()
    return Seconds(time.perf_counter() - begun[0], time.process_time() - begun[1])


if __name__ == "__main__":
    sys.exit(main())
