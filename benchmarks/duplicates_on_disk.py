"""Duplicates of corpora beyond memory: what is found of the pairs that are there, in what memory and time.

    python benchmarks/duplicates_on_disk.py [--rows 1000000 5000000] [--workers 1] [--scratch FOLDER]
    python benchmarks/duplicates_on_disk.py --texts FILE --model MODEL --texts-threshold 0.9

Of drawn vectors, 384 features each, only the comparison runs. They are around one of a centre for 200 of them, at a
cosine of about 0.5 to each other; one of forty is drawn again half of all the rows further on, at a cosine of 0.75 to
1. Those of these pairs that reach the threshold are what is to be found; those that reach it by less than 0.03, which
an index finds last, are counted by themselves, too. Of texts it is the whole of `paraform duplicates --out FOLDER`, and
what is to be found is what is near to 500 drawn rows, each compared with all; its share has Wilson's interval. Both by
an index and local workers, in a process of its own, whose peak is its own resident set and as many times the largest
worker's as there are workers. Bounds: 3 GiB, and 99 % of the pairs.
"""

from __future__ import annotations

import json
import os
import resource  # not on Windows
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _measure import Bound, arguments_of, processor_seconds, report
from numpy.typing import NDArray

from paraform.checkpoint.shards import SHARD
from paraform.cli import main as main_of
from paraform.engines import Engine, Work, run, shards
from paraform.neighbours import near_on_disk, on_disk
from paraform.neighbours.pieces import Vectors
from paraform.weights import map_array

WIDTH = 384
GROUP = 200  # vectors around one centre
HARDLY = 0.03  # above the threshold
AGAIN = 20  # of a shard in the second half one of so many is near one in the first
SAMPLE = 500  # rows that are compared with all
Pairs = NDArray[np.int64]


def compare(options: dict[str, Any]) -> dict[str, Any]:
    """What the process that compares has found and taken."""
    seconds: dict[str, float] = {}

    def timed(work: Work, count: int, **how: Any) -> Iterator[bytes]:
        before = processor_seconds()
        yield from run(work, count, **how)  # its workers are gone at the end, and counted
        stage = type(getattr(work, "work", work)).__name__.lower()  # what is missing of it is done by a work around it
        seconds[stage] = processor_seconds() - before

    for module in (shards, near_on_disk, on_disk):
        module.run = timed  # type: ignore[attr-defined]
    folder, threshold, workers, start = options["folder"], options["threshold"], options["workers"], time.time()
    if options["texts"]:
        command = ["duplicates", options["texts"], "--model", options["model"], "--out", folder, "--search", "index"]
        if main_of([*command, "--threshold", str(threshold), "--workers", str(workers)]):
            raise SystemExit("paraform duplicates failed")
    else:
        engine = Engine("local", workers)
        near_on_disk.near_pairs_on_disk(Vectors(*options["vectors"]), folder, threshold, search="index", engine=engine)
    own, worker = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    unit = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss, in bytes
    return {
        "minutes": (time.time() - start) / 60,
        **{f"{stage}, processor seconds": taken for stage, taken in seconds.items()},
        "others, processor seconds": processor_seconds() - sum(seconds.values()),
        "peak, GiB": (own + workers * worker) * unit / 2**30,
        "peak of the driver, GiB": own * unit / 2**30,
    }


def draw(folder: Path, rows: int, threshold: float) -> tuple[Pairs, Pairs]:
    """Write vectors in shards; returns the pairs that are to be found, each as `one · rows + other`, and the last."""
    folder.mkdir()
    count = rows // SHARD
    centres_KD = np.random.default_rng(0).standard_normal((max(1, rows // GROUP), WIDTH), np.float32)
    centres_KD /= np.linalg.norm(centres_KD, axis=1, keepdims=True)
    found, last = [], []
    for number in range(count):
        vectors_ND = drawn_shard(number, centres_KD)
        if number >= count // 2:
            before = number - count // 2
            again, drawing = SHARD // AGAIN, np.random.default_rng([1, number])
            noise_ND = drawing.standard_normal((again, WIDTH), np.float32) / WIDTH**0.5
            cosine_N1 = drawing.uniform(0.75, 1, (again, 1)).astype(np.float32)
            first_ND = drawn_shard(before, centres_KD)[:again]
            near_ND = cosine_N1 * first_ND + np.sqrt(1 - cosine_N1**2) * noise_ND
            vectors_ND[:again] = near_ND / np.linalg.norm(near_ND, axis=1, keepdims=True)
            cosine_N = (vectors_ND[:again] * first_ND).sum(1)
            for some, below in ((found, 2.0), (last, threshold + HARDLY)):
                reached = np.flatnonzero((cosine_N >= threshold) & (cosine_N < below))
                some.append((before * SHARD + reached) * rows + number * SHARD + reached)
        np.save(folder / f"{number:06d}.npy", vectors_ND)
    return np.concatenate(found), np.concatenate(last)


def drawn_shard(number: int, centres_KD: NDArray[np.float32]) -> NDArray[np.float32]:
    drawing = np.random.default_rng([0, number])
    noise_ND = drawing.standard_normal((SHARD, WIDTH), np.float32) / WIDTH**0.5
    vectors_ND = centres_KD[drawing.integers(len(centres_KD), size=SHARD)] + noise_ND
    unit_ND: NDArray[np.float32] = vectors_ND / np.linalg.norm(vectors_ND, axis=1, keepdims=True)
    return unit_ND


def near_sample(vectors: Vectors, threshold: float) -> Pairs:
    """The pairs of drawn rows with all, each as `one · rows + other`."""
    rows = np.sort(np.random.default_rng(0).choice(vectors.rows, min(SAMPLE, vectors.rows), replace=False))
    units_SD, found = vectors.units(rows), []
    for first in range(0, vectors.rows, vectors.size):
        every = np.arange(first, min(first + vectors.size, vectors.rows))
        sampled, other = np.nonzero(units_SD @ vectors.units(every).T >= threshold)
        found.append(keys(rows[sampled], every[other], vectors.rows))
    return np.unique(np.concatenate(found))


def made_vectors(folder: Path) -> Vectors:
    """Those of a folder that `embed_corpus` has made."""
    job = json.loads((folder / "shards.json").read_text(encoding="utf-8"))
    width = map_array(folder / "000000.npy").shape[1]
    return Vectors(str(folder), job["rows"], job["size"], width, job["model"])


def keys(one: Pairs, other: Pairs, rows: int) -> Pairs:
    """A number for each pair of two rows."""
    apart = one != other
    low, high = np.minimum(one, other)[apart].astype(np.int64), np.maximum(one, other)[apart]
    return low * rows + high


def found_in(folder: Path, rows: int) -> Iterator[Pairs]:
    """The keys of the pairs of each piece."""
    for path in sorted(folder.glob("pairs-*/0*.npy")):
        piece = map_array(path)
        yield keys(piece["one"], piece["other"], rows)


def measure(options: dict[str, Any]) -> dict[str, Any]:
    """What one process finds and takes."""
    command = [sys.executable, __file__, "--options", json.dumps(options)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    figures: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return figures


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 5_000_000], help="drawn vectors")
    parser.add_argument("--texts", help="a file, besides drawn vectors")
    parser.add_argument("--model", default="minilm", help="of the texts")
    parser.add_argument("--threshold", type=float, default=0.8, help="a cosine, of drawn vectors")
    parser.add_argument("--texts-threshold", type=float, default=0.9, help="a cosine, of the texts")
    parser.add_argument("--workers", type=int, default=1, help="processes that compare")
    parser.add_argument("--scratch", type=Path, help="where all is written: 5 KB a row")
    parser.add_argument("--options", type=json.loads, help="used by the script itself")
    arguments = parser.parse_args()
    if arguments.options:
        print(json.dumps(compare(arguments.options)))
        return 0
    if arguments.threads:
        os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    figures: dict[str, Any] = {"workers": arguments.workers}
    bounds: dict[str, Bound] = {}
    for rows in [*([0] if arguments.texts else []), *sorted(arguments.rows)]:
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
            folder = Path(scratch) / "near"
            options = {name: getattr(arguments, name) for name in ("model", "threshold", "workers")}
            options |= {"folder": str(folder), "texts": None}
            if not rows:
                options |= {"texts": arguments.texts, "threshold": arguments.texts_threshold}
                found = measure(options)
                vectors = made_vectors(folder / "vectors")
                wanted = last = near_sample(vectors, arguments.texts_threshold)
            else:
                whole = rows // (2 * SHARD) * 2 * SHARD
                vectors = Vectors(str(Path(scratch) / "vectors"), whole, SHARD, WIDTH, "drawn")
                wanted, last = draw(Path(vectors.folder), whole, arguments.threshold)
                found = measure(options | {"vectors": vectors})
            pairs = np.concatenate(list(found_in(folder, vectors.rows)))
            if len(np.unique(pairs)) != len(pairs):
                raise SystemExit("a pair was found twice")
            there = int(np.isin(wanted, pairs).sum())
            found |= {"pairs": len(pairs), "to be found": len(wanted), "found": there / len(wanted)}
            if rows:
                found |= {f"found, within {HARDLY} of the threshold": float(np.isin(last, pairs).mean())}
            else:
                found["found, 95 % interval"] = wilson(there, len(wanted))
            found |= {"in cells, bytes a row": size_of(folder, vectors.rows)}
        name = f"{vectors.rows / 1e6:.3g} million" if vectors.rows > 1e5 else f"{vectors.rows}"
        name = f"{name} {'vectors' if rows else 'texts'}"
        print(name, found, file=sys.stderr, flush=True)  # the next may take hours
        figures |= {f"{key}, of {name}": value for key, value in found.items()}
        bounds |= {f"peak, GiB, of {name}": ("at most", 3.0), f"found, of {name}": ("at least", 0.99)}
    return report(figures, bounds, as_json=arguments.json)


def wilson(found: int, count: int) -> tuple[float, float]:
    """Between which shares that of all is, of which so many of a sample were found (Wilson 1927), at 95 %."""
    share, z2 = found / count, 1.96**2
    middle, half = share + z2 / (2 * count), (z2 * (share * (1 - share) + z2 / (4 * count)) / count) ** 0.5
    return (middle - half) / (1 + z2 / count), (middle + half) / (1 + z2 / count)


def size_of(folder: Path, rows: int) -> float:
    """Bytes of a row that an index has made."""
    return sum(path.stat().st_size for path in (folder / "cells").iterdir()) / rows


if __name__ == "__main__":
    sys.exit(main())
