"""Reading texts by a distilled table of pieces' vectors against its teacher by sentence-transformers, and by us.

    python benchmarks/static.py [--rows 10000] [--repeats 5] [--threads 1]

The table is made of `minilm` and 2,000 of the captions, which is quick: what a table holds changes no speed. Then
captions that differ are read by it, by sentence-transformers from the same folder, by its tokenizer alone (the floor),
and, a tenth of them, by the teacher. Bounds: 50 times the teacher by sentence-transformers, the library's own vectors.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from _measure import Bound, Spread, arguments_of, clock_of, in_turn, middle, report
from embedding import captions
from sentence_transformers import SentenceTransformer

import paraform
from paraform import encoders
from paraform.threads import settle

LEARNT = 2000  # captions


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/multi30k/train.tsv"), help="captions")
    parser.add_argument("--rows", type=int, default=10_000, help="captions")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)

    texts = captions(arguments.data, arguments.rows)
    few = texts[::10]
    with tempfile.TemporaryDirectory() as scratch:
        folder = paraform.distil("minilm", texts[:LEARNT], Path(scratch) / "static", device="cpu")
        static = encoders.load_embedder(str(folder), device="cpu")
        library = SentenceTransformer(str(folder), device="cpu")
    teacher, slow = encoders.load(device="cpu"), SentenceTransformer(str(encoders.locate()), device="cpu")
    tokenizer = encoders.ModelFolder(encoders.locate()).tokenizer()
    tokenizer.no_padding()
    seconds = in_turn(
        arguments.repeats,
        {
            "static": lambda: static.embed(texts),
            "static by sentence-transformers": lambda: library.encode(texts, show_progress_bar=False),
            "its tokenizer alone": lambda: tokenizer.encode_batch_fast(texts, add_special_tokens=False),
            "minilm": lambda: teacher.encode(few),
            "minilm by sentence-transformers": lambda: slow.encode(few, show_progress_bar=False),
        },
        clock=clock_of(arguments.threads),
    )
    each = {name: [one / len(few if "minilm" in name else texts) for one in taken] for name, taken in seconds.items()}
    off = np.abs(static.embed(few) - np.asarray(library.encode(few, show_progress_bar=False)))
    figures: dict[str, Any] = {
        "captions": len(texts),
        **{f"{name}, captions a second": 1 / middle(taken) for name, taken in each.items()},
        **{f"static × {name}": Spread.of(each["static"], taken) for name, taken in each.items() if name != "static"},
        "largest difference of a coordinate": float(off.max()),
    }
    bounds: dict[str, Bound] = {
        "static × minilm by sentence-transformers": ("at least", 50),
        "largest difference of a coordinate": ("at most", 1e-5),
    }
    floors = {"static × its tokenizer alone": "1"}
    return report(figures, bounds, floors=floors, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
