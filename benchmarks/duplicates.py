"""All pairs of vectors above a threshold, against what one would pick instead, the same pairs asked of each.

    python benchmarks/duplicates.py [--data ../shared/data/quora/train.tsv] [--rows 100000] [--repeats 5] [--threads 1]

Peers: sentence-transformers' `paraphrase_mining_embeddings` and faiss' flat index by `range_search`, the exact ones,
each with as many threads. The first has no threshold: it keeps the nearest half million. The vectors are `minilm`'s,
made before; the run that is not timed has the first thousand alone. Bounds: the same pairs but for those within a
millionth of the threshold, where float32 sums in different orders disagree; as fast as either.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import torch
from _measure import Bound, Spread, arguments_of, clock_of, in_turn, middle, report
from numpy.typing import NDArray
from sentence_transformers.util import paraphrase_mining_embeddings

from paraform import corpora, encoders
from paraform.int8 import has_int8
from paraform.neighbours.near_pairs import near_pairs
from paraform.threads import settle

EDGE = 1e-6
FEW = 1000
Pairs = set[tuple[int, int]]


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs of texts")
    parser.add_argument("--rows", type=int, default=100_000, help="different texts")
    parser.add_argument("--threshold", type=float, default=0.85, help="a cosine")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)
        faiss.omp_set_num_threads(arguments.threads)

    pairs = corpora.read(arguments.data)
    texts = list(dict.fromkeys(one.text for pair in pairs for one in (pair.source, pair.target)))[: arguments.rows]
    vectors = encoders.load(device="cpu").encode(texts)
    threshold = arguments.threshold
    found: dict[str, Pairs] = {}

    def ours(vectors: NDArray[np.float32]) -> None:
        found["paraform"] = {(a, b) for a, b in near_pairs(vectors, threshold, search="exact").rows.tolist()}

    def library(vectors: NDArray[np.float32]) -> None:
        given = torch.from_numpy(vectors)
        triples = paraphrase_mining_embeddings(given)
        found["sentence-transformers"] = {(min(a, b), max(a, b)) for cosine, a, b in triples if cosine >= threshold}

    def flat(vectors: NDArray[np.float32]) -> None:
        found["faiss"] = by_flat_index(vectors, threshold)

    runs = {"paraform": ours, "sentence-transformers": library, "faiss": flat}
    for run in runs.values():
        run(vectors[:FEW])
    whole = {name: partial(run, vectors) for name, run in runs.items()}
    seconds = in_turn(arguments.repeats, whole, untimed=0, clock=clock_of(arguments.threads))
    figures: dict[str, Any] = {
        "texts": len(texts),
        "threads": torch.get_num_threads(),
        "pairs": len(found["paraform"]),
        "first pass": "int8" if has_int8(torch.device("cpu")) else "float32",
    }
    bounds: dict[str, Bound] = {}
    for name in ("sentence-transformers", "faiss"):
        figures[f"paraform × {name}"] = Spread.of(seconds["paraform"], seconds[name])
        figures[f"pairs that {name} has otherwise"] = otherwise(found["paraform"] ^ found[name], vectors, threshold)
        bounds |= {f"paraform × {name}": ("at least", 1.0), f"pairs that {name} has otherwise": ("at most", 0)}
    return report(
        figures | {f"{name}, seconds": middle(taken) for name, taken in seconds.items()}, bounds, as_json=arguments.json
    )


def by_flat_index(vectors: NDArray[np.float32], threshold: float) -> Pairs:
    """Every vector's neighbours among all; each pair is found from both sides."""
    index: Any = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    ends, _, others = index.range_search(vectors, threshold)
    rows = np.repeat(np.arange(len(vectors)), np.diff(ends.astype(np.int64)))
    first = rows < others
    return set(zip(rows[first].tolist(), others[first].tolist(), strict=True))


def otherwise(pairs: Pairs, vectors: NDArray[np.float32], threshold: float) -> int:
    """How many of them lie further from the threshold than rounding reaches."""
    rows = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    cosines = (vectors[rows[:, 0]].astype(np.float64) * vectors[rows[:, 1]]).sum(1)
    return int((np.abs(cosines - threshold) > EDGE).sum())


if __name__ == "__main__":
    sys.exit(main())
