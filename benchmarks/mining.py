"""Mining exemplars against rapidfuzz alone: the same distances, in how much time and memory.

    python benchmarks/mining.py [--limit 10000] [--data ../shared/data/quora/train.tsv] [--repeats 5]

The peer compares every target with every candidate whose length is within the gap, block by block with
`rapidfuzz.process.cdist` on all cores, which is timed alone too, and applies the rules to the nearest ones: no tag
sequence is looked up twice by us, none is spared by the peer. Both run in this process, in turn, ours first, so that
the peak after it is ours; the sentences are tagged by another process, whose tags the cache keeps.
"""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _measure import Bound, Spread, arguments_of, in_turn, middle, report
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from paraform import corpora
from paraform.records import Pair
from paraform.syntax import MiningConfig, annotate, mine
from paraform.syntax.running import DEFAULT

BLOCK_CELLS = 1 << 25  # distances that the peer holds at once: 32 MiB


def tagged_pairs(path: Path, limit: int | None, tagger: str) -> list[Pair]:
    pairs = corpora.clusters(itertools.islice(corpora.read_pairs(path), limit))
    targets = annotate([pair.target.text for pair in pairs], tagger=tagger)
    return [replace(pair, target=target) for pair, target in zip(pairs, targets, strict=True)]


def peer(pairs: list[Pair], config: MiningConfig) -> tuple[np.ndarray, float]:
    """The distance of each target's nearest exemplar, −1 without one; and how many seconds `cdist` alone took."""
    characters: dict[str, str] = {}
    sequences = [
        "".join(characters.setdefault(tag, chr(33 + len(characters))) for tag in pair.target.tags) for pair in pairs
    ]
    words = [{word.lower() for word in pair.target.tokens} for pair in pairs]
    target_texts = ["".join(pair.target.text.lower().split()) for pair in pairs]
    source_texts = ["".join(pair.source.text.lower().split()) for pair in pairs]
    lengths = np.array([len(sequence) for sequence in sequences])
    nearest, seconds = np.full(len(pairs), -1), 0.0

    def allowed(row: int, candidate: int) -> bool:
        return (
            pairs[candidate].cluster != pairs[row].cluster
            and target_texts[candidate] not in (target_texts[row], source_texts[row])
            and len(words[candidate] & words[row]) + config.min_new_words <= lengths[row]
        )

    for length in np.unique(lengths[lengths > 0]):
        block = np.flatnonzero((np.abs(lengths - length) <= config.length_gap) & (lengths > 0))
        choices = [sequences[candidate] for candidate in block]
        targets = np.flatnonzero(lengths == length)
        for rows in np.array_split(targets, -(-len(targets) * len(block) // BLOCK_CELLS)):
            dtype = np.min_scalar_type(length + config.length_gap)
            queries = [sequences[row] for row in rows]
            start = time.perf_counter()
            distances = cdist(queries, choices, scorer=Levenshtein.distance, dtype=dtype, workers=-1)
            seconds += time.perf_counter() - start
            for row, line in zip(rows, distances, strict=True):
                levels = range(int(line.min()), int(line.max()) + 1)
                found = (
                    level for level in levels if any(allowed(row, block[at]) for at in np.flatnonzero(line == level))
                )
                nearest[row] = next(found, -1)
    return nearest, seconds


def peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # ru_maxrss is in KiB on Linux


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs, one a line")
    parser.add_argument("--limit", type=int, help="only the first LIMIT pairs")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    parser.add_argument("--tagger", default=DEFAULT, help=f"as load_tagger takes it (default: {DEFAULT})")
    parser.add_argument("--tag", action="store_true", help="only tag, and keep the tags in the cache")
    arguments = parser.parse_args()

    if not arguments.tag:
        subprocess.run([sys.executable, *sys.argv, "--tag"], check=True)
    pairs = tagged_pairs(arguments.data, arguments.limit, arguments.tagger)
    if arguments.tag:
        return 0
    config = MiningConfig()
    mine(pairs[:100], config)  # compiled or read from the cache, once a machine
    figures: dict[str, Any] = {
        "targets": len(pairs),
        "different tag sequences": len({pair.target.tags for pair in pairs}),
        "peak before mining, GiB": peak_gib(),
    }
    mined = mine(pairs, config)
    figures["peak after it, GiB"] = peak_gib()
    found: list[tuple[np.ndarray, float]] = []

    def theirs() -> None:
        found.append(peer(pairs, config))

    seconds = in_turn(arguments.repeats, {"paraform": lambda: mine(pairs, config), "rapidfuzz": theirs})
    figures |= {f"{name}, seconds": middle(taken) for name, taken in seconds.items()}
    figures["paraform × rapidfuzz"] = Spread.of(seconds["paraform"], seconds["rapidfuzz"])
    alone = [spent for _, spent in found[1:]]
    figures |= {"cdist alone, seconds": middle(alone), "paraform × cdist alone": Spread.of(seconds["paraform"], alone)}
    figures["peak after both, GiB"] = peak_gib()
    figures["targets whose distance differs"] = int((mined.distances[:, 0] != found[0][0]).sum())
    bounds: dict[str, Bound] = {"targets whose distance differs": ("at most", 0)}
    if len(pairs) > 100_000:  # of few pairs, ours takes longest to begin
        bounds |= {"paraform × rapidfuzz": ("at least", 20), "peak after it, GiB": ("at most", 1)}
    return report(figures, bounds, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
