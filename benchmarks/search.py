"""The nearest of many vectors to a question, against what one would pick instead, the same questions asked of each.

    python benchmarks/search.py [--data ../shared/data/quora/train.tsv] [--rows 100000] [--repeats 25] [--threads 1]

Peers: sentence-transformers' `semantic_search` by dot products, as its authors advise for vectors of length 1, and
faiss' flat index, both exact, each with as many threads. The vectors are `minilm`'s, made before; the questions stand
behind the texts in the file. One question at a time, and a hundred at once. Bounds: as fast as `semantic_search`; the
same cosines but for a millionth, by which float32 sums in different orders disagree.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import torch
from _measure import Bound, Spread, arguments_of, clock_of, in_turn, middle, report
from numpy.typing import NDArray
from sentence_transformers.util import dot_score, semantic_search

from paraform import SearchIndex, corpora, encoders
from paraform.neighbours.nearest import nearest
from paraform.neighbours.search_folder import Kept
from paraform.neighbours.search_rows import rows_of

NUM = 10
SIZES = {"1 question": 1, "100 at once": 100}
ALONE = 10  # questions that are asked one after the other in a turn


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs of texts")
    parser.add_argument("--rows", type=int, default=100_000, help="different texts")
    parser.add_argument("--repeats", type=int, default=25, help="times that each is run")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
        faiss.omp_set_num_threads(arguments.threads)

    pairs = corpora.read(arguments.data)
    every = dict.fromkeys(one.text for pair in pairs for one in (pair.source, pair.target))
    texts = list(itertools.islice(every, arguments.rows + max(SIZES.values())))
    encoder = encoders.load(device="cpu")
    vectors = encoder.encode(texts)
    asked, given = texts[arguments.rows :], texts[: arguments.rows]
    questions, known = vectors[arguments.rows :], torch.from_numpy(vectors[: arguments.rows])
    flat: Any = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors[: arguments.rows])
    none = np.zeros(0, np.int64)
    found: dict[str, NDArray[np.float32]] = {}

    def ours(some: NDArray[np.float32]) -> None:
        found["paraform"] = np.stack([one.cosines for one in nearest(known, some, NUM, -1.0, none)])

    def library(some: NDArray[np.float32]) -> None:
        hits = semantic_search(torch.from_numpy(some), known, top_k=NUM, score_function=dot_score)
        found["semantic_search"] = np.array([[hit["score"] for hit in one] for one in hits], np.float32)

    def by_faiss(some: NDArray[np.float32]) -> None:
        found["faiss"] = flat.search(some, NUM)[0]

    runs = {"paraform": ours, "semantic_search": library, "faiss": by_faiss}
    figures: dict[str, Any] = {"texts": len(given), "threads": torch.get_num_threads()}
    bounds: dict[str, Bound] = {}
    for size, at_once in SIZES.items():
        turns = [questions[:at_once]] if at_once > 1 else np.split(questions[:ALONE], ALONE)
        whole = {name: partial(each, run, turns) for name, run in runs.items()}
        seconds = in_turn(arguments.repeats, whole, clock=clock_of(arguments.threads))
        for name in ("semantic_search", "faiss"):
            figures[f"{size}, paraform × {name}"] = Spread.of(seconds["paraform"], seconds[name])
            off = f"{size}, largest difference to {name}"
            figures[off] = float(np.abs(found["paraform"] - found[name]).max())
            bounds[off] = ("at most", 1e-6)
        bounds[f"{size}, paraform × semantic_search"] = ("at least", 1.0)
        for name, taken in seconds.items():
            figures[f"{size}, {name}, questions a second"] = sum(map(len, turns)) / middle(taken)
    kept = Kept(vectors[: arguments.rows], rows_of(given, None), encoder.name, encoder.signature, "")
    with tempfile.TemporaryDirectory() as folder:
        opened = partial(SearchIndex.load, SearchIndex(encoder, kept).save(folder), encoder)
        index = opened()
        taken = {"opened": opened, "asked": lambda: each(index.search, asked[:ALONE])}
        seconds = in_turn(arguments.repeats, taken, clock=clock_of(arguments.threads))
    figures["opening the index, its model apart, seconds"] = middle(seconds["opened"])
    figures["a question in words, seconds"] = middle(seconds["asked"]) / ALONE
    return report(figures, bounds, as_json=arguments.json)


def each(run: Callable[[Any], object], turns: Iterable[Any]) -> None:
    """One after the other."""
    for turn in turns:
        run(turn)


if __name__ == "__main__":
    sys.exit(main())
