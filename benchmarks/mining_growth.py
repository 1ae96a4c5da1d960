"""How mining grows with the corpus: time and memory at 30,000 to a million sentences that a bigram model draws.

The model is of the tags of real sentences, end of sentence among them; a sentence of another length than 5 to 30 is
drawn again. Each tag's word is drawn from the words that have it, so that the shared-word rule has work to do. The real
sentences themselves are timed beside them, as far as there are any.

    python benchmarks/mining_growth.py --plot docs/results/mining-growth.png

Each size is mined in a process of its own, one after the other, so that the peak memory is its own. Where others use
the cores, too, seconds of a core say what it takes. "Told": every target's distance is known beforehand, which no order
of the search and no first guess can better; "without the search": sentences are read and sorted alone.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from _measure import Bound, arguments_of, report

from paraform import corpora
from paraform.records import Pair, Sentence
from paraform.syntax import MiningConfig, annotate, exemplars, mine
from paraform.syntax.candidates import FAR
from paraform.syntax.mining import Mined
from paraform.syntax.search import search

SIZES = (30_000, 118_183, 500_000, 1_000_000)
TOLD = 500_000  # sentences at most of which the floor is measured, which takes as long again
SHORTEST, LONGEST = 5, 30


def drawn_sentences(real: list[Sentence], count: int, seed: int = 0) -> list[Sentence]:
    """Sentences of a bigram model of the tags of real ones."""
    draw = np.random.default_rng(seed)
    tags = sorted({tag for sentence in real for tag in sentence.tags})
    number = {tag: place for place, tag in enumerate(tags)}
    edge = len(tags)  # begins and ends a sentence
    counts = np.zeros((edge + 1, edge + 1))
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in real:
        path = [edge, *(number[tag] for tag in sentence.tags), edge]
        np.add.at(counts, (path[:-1], path[1:]), 1)
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            words[tag][word] += 1
    below = np.cumsum(counts / counts.sum(1, keepdims=True), axis=1)
    sequences: list[list[int]] = []
    while len(sequences) < count:
        path = np.full((50_000, LONGEST + 2), edge)
        for place in range(LONGEST + 1):
            ended = (path[:, place] == edge) & (place > 0)
            following = (below[path[:, place]] < draw.random(len(path))[:, None]).sum(1).clip(max=edge)
            path[:, place + 1] = np.where(ended, edge, following)
        lengths = (path[:, 1:] != edge).sum(1)
        for row in np.flatnonzero((lengths >= SHORTEST) & (lengths <= LONGEST)):
            sequences.append(path[row, 1 : lengths[row] + 1].tolist())
    sequences = sequences[:count]
    flat = np.concatenate(sequences)
    drawn = np.empty(len(flat), object)
    for tag, place in number.items():
        at = np.flatnonzero(flat == place)
        shares = np.array(list(words[tag].values())) / words[tag].total()
        drawn[at] = np.array(list(words[tag]), object)[draw.choice(len(shares), len(at), p=shares)]
    out, start = [], 0
    for sequence in sequences:
        tokens = tuple(drawn[start : start + len(sequence)])
        out.append(Sentence(" ".join(tokens), tokens, tuple(tags[place] for place in sequence)))
        start += len(sequence)
    return out


def timed(pairs: list[Pair]) -> tuple[Mined, float, float]:
    """What is found, in how many seconds, and in how many of a core."""
    start, of_core = time.perf_counter(), time.process_time()
    mined = mine(pairs, MiningConfig())
    return mined, time.perf_counter() - start, time.process_time() - of_core


def measured(sentences: list[Sentence]) -> dict[str, float]:
    """Seconds (of small sizes the better of two runs), peak, mean distance and floors."""
    count = len(sentences)
    pairs = [Pair(Sentence(f"source {row}"), sentence, cluster=row) for row, sentence in enumerate(sentences)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    mine(pairs[:100], MiningConfig())
    runs = [timed(pairs) for _ in range(2 if count < 200_000 else 1)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    mined = runs[0][0]
    nearest = mined.distances[mined.exemplars[:, 0] >= 0, 0]
    found = {
        "seconds": min(seconds for _, seconds, _ in runs),
        "seconds of a core": min(seconds for _, _, seconds in runs),
        "peak GiB": peak,
        "of it sentences": before,
        "distance": float(nearest.mean()),
    }
    if count > TOLD:
        return found
    known = np.where(mined.exemplars[:, 0] >= 0, mined.distances[:, 0], FAR)

    def told(index: Any, pool: Any, queries: Any, groups: Any, asked: Any, first: int, last: int) -> None:
        own = groups.members[groups.starts[first] : groups.starts[last]]
        asked.reach[own] = known[own]
        search(index, pool, queries, groups, asked, first, last)

    with mock.patch.object(exemplars, "search", told):
        again, _, found["told, seconds of a core"] = timed(pairs)
    if not np.array_equal(again.exemplars, mined.exemplars):
        raise SystemExit("other exemplars are found where the distances are told")
    with mock.patch.object(exemplars, "search", lambda *_: None):
        found["without the search, seconds of a core"] = timed(pairs)[2]
    return found


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="real pairs")
    parser.add_argument("--plot", type=Path, help="write time against size there")
    parser.add_argument("--size", type=int, help="only this one, in this process")
    parser.add_argument("--real", action="store_true", help="with --size: so many real ones")
    arguments = parser.parse_args()
    if arguments.size:
        targets = [pair.target.text for pair in corpora.read_pairs(arguments.data)]
        real = annotate(targets, max_tokens=LONGEST, lower=True)
        sentences = real[: arguments.size] if arguments.real else drawn_sentences(real, arguments.size)
        print(json.dumps(measured(sentences)))
        return 0

    def of_size(size: int, *how: str) -> dict[str, float]:
        command = [sys.executable, __file__, "--data", str(arguments.data), "--size", str(size), *how]
        found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return found

    of_size(100)  # tags the real sentences, so that no other's peak is the encoder's
    found = {size: of_size(size) for size in SIZES}
    seconds = {size: figures["seconds of a core"] for size, figures in found.items()}
    real = {size: of_size(size, "--real") for size in SIZES[:2]}
    real_seconds = {size: figures["seconds of a core"] for size, figures in real.items()}
    exponent, scale = np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)
    figures = {f"{size:,}: {name}": value for size, one in found.items() for name, value in one.items()}
    figures |= {f"{size:,} real: {name}": value for size, one in real.items() for name, value in one.items()}
    ratio = seconds[500_000] / seconds[118_183]
    figures |= {"500,000 over 118,183": ratio, "exponent of the fit": float(exponent)}
    told = "told, seconds of a core"
    figures["the same, told"] = found[500_000][told] / found[118_183][told]
    bounds: dict[str, Bound] = {"1,000,000: seconds": ("at most", 60), "1,000,000: peak GiB": ("at most", 2.5)}
    if arguments.plot:
        plot(seconds, real_seconds, float(exponent), float(np.exp(scale)), arguments.plot)
    return report(figures, bounds, as_json=arguments.json)


def plot(seconds: dict[int, float], real: dict[int, float], exponent: float, scale: float, path: Path) -> None:
    """Both axes logarithmic; relative to the smallest size, since absolute seconds are this machine's."""
    import matplotlib.pyplot as plt

    sizes = np.array(list(seconds))
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    unit = seconds[SIZES[1]]
    axes.loglog(sizes, np.array(list(seconds.values())) / unit, "o", label="drawn sentences")
    axes.loglog(list(real), np.array(list(real.values())) / unit, "s", label="real sentences")
    axes.loglog(sizes, scale * sizes**exponent / unit, label=f"fit to the drawn: size to the power of {exponent:.2f}")
    axes.loglog(sizes, (sizes / SIZES[1]) ** 2, ":", color="gray", label="all with all: 2")
    axes.set(xlabel="sentences", ylabel=f"time of cores, {SIZES[1]:,} sentences = 1", title="Mining exemplars")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
