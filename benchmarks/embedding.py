"""Embedding with the offline encoder against sentence-transformers, on the same captions.

    python benchmarks/embedding.py [--rows 4000] [--repeats 5]

Both have the same weights and run in this process, in turns, each at its own defaults; the median of each is taken.
Captions are different from each other: paraform embeds a text that stands there again only once. Bounds: twice as fast,
and the cosine of the two vectors at least 0.9995 for every caption.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import torch
from _measure import arguments_of, in_turn, middle, report
from sentence_transformers import SentenceTransformer

from paraform import corpora, encoders


def captions(path: Path, rows: int) -> list[str]:
    """The first captions of the file, each once."""
    pairs = corpora.read_captions(path)
    texts = (sentence.text for pair in pairs for sentence in (pair.source, pair.target))
    return list(itertools.islice(dict.fromkeys(itertools.islice(texts, 4 * rows)), rows))


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/multi30k/train.tsv"), help="captions")
    parser.add_argument("--rows", type=int, default=4000, help="captions")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)

    texts = captions(arguments.data, arguments.rows)
    encoder = encoders.load(device="cpu")
    peer = SentenceTransformer(str(encoders.locate()), device="cpu")
    vectors: dict[str, np.ndarray] = {}

    def ours() -> None:
        vectors["paraform"] = encoder.encode(texts)

    def theirs() -> None:
        vectors["peer"] = peer.encode(texts, show_progress_bar=False)

    seconds = in_turn(arguments.repeats, {"paraform": ours, "peer": theirs})
    peer_lengths = np.linalg.norm(vectors["peer"], axis=1)
    cosines = (vectors["paraform"] * vectors["peer"]).sum(1) / peer_lengths
    mine, others = middle(seconds["paraform"]), middle(seconds["peer"])
    figures = {
        "captions": len(texts),
        "paraform's numbers": str(encoders.best_dtype(encoder.device)).removeprefix("torch."),
        "paraform, captions a second": len(texts) / mine,
        "sentence-transformers, captions a second": len(texts) / others,
        "ratio": others / mine,
        "least cosine": round(float(cosines.min()), 6),
    }
    bounds = {"ratio": ("at least", 2.0), "least cosine": ("at least", 0.9995)}
    return report(figures, bounds, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
