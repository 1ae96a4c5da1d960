"""Which numbers this machine multiplies faster, bfloat16 or float32, task by task, and whether the default is those.

    python benchmarks/products.py [--data ../shared/data/quora/dev.tsv] [--rows 400] [--repeats 5] [--threads 1]

Each task (embed, tag, parse, paraphrase by an exemplar, reword) runs in processes of its own with `PARAFORM_PRODUCTS`
set to one and to the other, in turns; seconds are of processor time, so that other programs do not count, and the
models are loaded and warm before. Bound: in what it takes by default the whole takes at most 1.05 times the other's
time. The least cosine says what rounding does to a vector. Training: `benchmarks/latent.py` with the same variable.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _measure import Bound, Spread, arguments_of, report
from rewording import rows_of

TYPES = ("float32", "bfloat16")
TASK = "--one"  # how a process of its own is told what it is


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/dev.tsv"), help="pairs, one a line")
    parser.add_argument("--rows", type=int, default=400, help="sentences of each task; a fifth of them for rewording")
    parser.add_argument("--repeats", type=int, default=5, help="processes of each")
    parser.add_argument(TASK, action="store_true", help="be one of those processes")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(taken(*rows_of(arguments.data, arguments.rows))))
        return 0

    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TYPES}
    for _ in range(arguments.repeats):
        for name in TYPES:
            found[name].append(in_process(name, arguments.data, arguments.rows, arguments.threads))
    seconds = {name: [run["seconds"] for run in runs] for name, runs in found.items()}
    whole = {name: [sum(one.values()) for one in runs] for name, runs in seconds.items()}
    vectors = [np.array(found[name][0]["vectors"]) for name in TYPES]
    chosen = found[TYPES[0]][0]["default"]
    other = next(name for name in TYPES if name != chosen)
    ratios = {
        f"{task}, bfloat16 × float32": Spread.of(*([one[task] for one in seconds[name]] for name in reversed(TYPES)))
        for task in seconds[chosen][0]
    }
    figures = {
        "by default": chosen,
        **ratios,
        "default, times the other": Spread.of(whole[other], whole[chosen]),
        "least cosine": float((vectors[0] * vectors[1]).sum(1).min()),
    }
    bounds: dict[str, Bound] = {"default, times the other": ("at most", 1.05)}
    return report(figures, bounds, as_json=arguments.json)


def in_process(products: str, data: Path, rows: int, threads: int | None) -> dict[str, Any]:
    """What `taken` says in a process that multiplies these."""
    environment = os.environ | {"PARAFORM_PRODUCTS": products}
    environment |= {"OMP_NUM_THREADS": str(threads)} if threads else {}
    command = [sys.executable, __file__, TASK, "--data", str(data), "--rows", str(rows)]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def taken(sources: list[str], exemplars: list[str]) -> dict[str, Any]:
    """Seconds of each task, the vectors of the first, and what this machine would take unasked."""
    import torch

    import paraform

    encoder, tagger, parser = paraform.load("minilm"), paraform.load_tagger(), paraform.load_parser()
    model = paraform.load("compact")
    words = [paraform.tokenize(text) for text in sources]
    few = len(sources) // 5
    tasks: dict[str, Callable[[int], Any]] = {
        "embed": lambda rows: encoder.encode(sources[:rows]),
        "tag": lambda rows: tagger(words[:rows]),
        "parse": lambda rows: parser(words[:rows]),
        "paraphrase": lambda rows: model.decode(sources[:rows], exemplars[:rows]),
        "reword": lambda rows: paraform.reword(sources[: min(rows, few)]),
    }
    seconds = {}
    for name, task in tasks.items():
        task(8)
        begun = time.process_time()
        task(len(sources))
        seconds[name] = time.process_time() - begun
    vectors = encoder.encode(sources[:100]).tolist()
    del os.environ["PARAFORM_PRODUCTS"]
    default = str(paraform.encoders.best_dtype(torch.device("cpu"))).removeprefix("torch.")
    return {"seconds": seconds, "vectors": vectors, "default": default}


if __name__ == "__main__":
    sys.exit(main())
