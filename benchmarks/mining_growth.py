"""How mining grows with the corpus: time and memory at 10,000 to 500,000 sentences that a bigram model draws.

The model is of the tags of real sentences, end of sentence among them; a sentence of another length than 5 to 30 is
drawn again. Each tag's word is drawn from the words that have it, so that the shared-word rule has work to do.

    python benchmarks/mining_growth.py --plot docs/results/mining-growth.png

Each size is mined in a process of its own, one after the other, so that the peak memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from _measure import Bound, arguments_of, report

from paraform import corpora
from paraform.records import Pair, Sentence
from paraform.syntax import MiningConfig, annotate, mine

SIZES = (10_000, 30_000, 118_183, 250_000, 500_000)
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


def measured(real: list[Sentence], count: int) -> dict[str, float]:
    """Seconds, peak and mean distance of one size, the best of two runs."""
    sentences = drawn_sentences(real, count)
    pairs = [Pair(Sentence(f"source {row}"), sentence, cluster=row) for row, sentence in enumerate(sentences)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    mine(pairs[:100], MiningConfig())
    seconds = []
    for _ in range(2 if count < 200_000 else 1):
        start = time.perf_counter()
        mined = mine(pairs, MiningConfig())
        seconds.append(time.perf_counter() - start)
    nearest = mined.distances[mined.exemplars[:, 0] >= 0, 0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": min(seconds), "peak GiB": peak, "of it sentences": before, "distance": float(nearest.mean())}


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="real pairs")
    parser.add_argument("--plot", type=Path, help="write time against size there")
    parser.add_argument("--size", type=int, help="only this one, in this process")
    arguments = parser.parse_args()
    if arguments.size:
        targets = [pair.target.text for pair in corpora.read_pairs(arguments.data)]
        print(json.dumps(measured(annotate(targets, max_tokens=LONGEST, lower=True), arguments.size)))
        return 0
    command = [sys.executable, __file__, "--data", str(arguments.data), "--size"]
    found = {}
    for size in SIZES:
        out = subprocess.run([*command, str(size)], check=True, capture_output=True, text=True).stdout
        found[size] = json.loads(out)
    seconds = {size: figures["seconds"] for size, figures in found.items()}
    exponent, scale = np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)
    figures = {f"{size:,}: {name}": value for size, of_size in found.items() for name, value in of_size.items()}
    figures |= {"ratio": seconds[500_000] / seconds[118_183], "exponent of the fit": float(exponent)}
    bounds: dict[str, Bound] = {"ratio": ("at most", 6), "500,000: peak GiB": ("at most", 2)}
    if arguments.plot:
        plot(seconds, float(exponent), float(np.exp(scale)), arguments.plot)
    return report(figures, bounds, as_json=arguments.json)


def plot(seconds: dict[int, float], exponent: float, scale: float, path: Path) -> None:
    """Both axes logarithmic; relative to the smallest size, since absolute seconds are this machine's."""
    import matplotlib.pyplot as plt

    sizes = np.array(list(seconds))
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    unit = seconds[SIZES[2]]
    axes.loglog(sizes, np.array(list(seconds.values())) / unit, "o", label="measured")
    axes.loglog(sizes, scale * sizes**exponent / unit, label=f"fit: size to the power of {exponent:.2f}")
    axes.loglog(sizes, (sizes / SIZES[2]) ** 2, ":", color="gray", label="all with all: 2")
    axes.set(xlabel="sentences", ylabel=f"time, {SIZES[2]:,} sentences = 1", title="Mining exemplars, two cores")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
