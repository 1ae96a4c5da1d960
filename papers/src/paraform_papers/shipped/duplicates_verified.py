r"""What a judge keeps and drops of the near pairs among 100,000 questions, drawn to be read blind.

    python -m paraform_papers.shipped.duplicates_verified ../shared/data --judge minilm-judge --out runs/verified
    python -m paraform_papers.shipped.duplicates_verified --read runs/verified READER.jsonl

The first finds the pairs of `minilm` at its usual threshold among all questions of test.tsv and others of train.tsv,
and has the judge read them, as `paraform duplicates --verify` does. OUT/sheet.jsonl has `KEPT` of the pairs that it
keeps and `DROPPED` of those that it drops, in an order drawn by the seed, and nothing of what the judge thinks;
OUT/key.jsonl that; OUT/figures.json the counts, shares of labelled pairs, and seconds. A reader's lines are {"id": 7,
"same": true}: whether both questions ask for the same. Running time: docs/duplicates.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraform import checkpoint
from paraform.neighbours.duplicates import THRESHOLDS, VERIFIED
from paraform.weights import atomic_path
from paraform_papers.shipped.duplicates import found_by, questions
from paraform_papers.shipped.judge import judge_of
from paraform_papers.shipped.precision import known_pairs

KEPT, DROPPED, RESAMPLES = 200, 100, 2000


def verified(data: Path, judge: str, out: Path, *, among: int, seed: int) -> dict[str, Any]:
    """Find, judge and draw; the figures."""
    asked, encoder, model = questions(data, "test", among, seed), checkpoint.load("minilm"), judge_of(judge)
    begun = time.perf_counter()
    found = found_by(encoder, asked.texts, THRESHOLDS["minilm"])
    between = time.perf_counter()
    pairs = [(asked.texts[one], asked.texts[other]) for one, other in found.rows.tolist()]
    same_P = model.judge(pairs, cosines=found.cosines, progress=True).same
    ended = time.perf_counter()
    kept_P, right_P = same_P >= VERIFIED, known_pairs(found.rows, asked.clusters)
    drawn = np.random.default_rng(seed)
    groups = [drawn.permutation(np.flatnonzero(some))[:most] for some, most in ((kept_P, KEPT), (~kept_P, DROPPED))]
    order = drawn.permutation(np.concatenate(groups)).tolist()
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "sheet.jsonl", ({"id": number, "texts": pairs[at]} for number, at in enumerate(order)))
    key = (
        {
            "id": number,
            "kept": bool(kept_P[at]),
            "same": round(float(same_P[at]), 3),
            "similarity": round(float(found.cosines[at]), 3),
            "labelled": bool(right_P[at]),
        }
        for number, at in enumerate(order)
    )
    _write(out / "key.jsonl", key)
    figures = {
        "pairs": len(pairs),
        "kept": int(kept_P.sum()),
        "labelled of all": _share(right_P),
        "labelled of kept": _share(right_P[kept_P]),
        "labelled of dropped": _share(right_P[~kept_P]),
        "seconds to find": round(between - begun, 1),
        "seconds to judge": round(ended - between, 1),
    }
    with atomic_path(out / "figures.json") as unfinished:
        unfinished.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return figures


def read(key: Path, reader: Path) -> dict[str, tuple[float, float, float]]:
    """Of kept and dropped pairs the share that asks for the same, by that reader, with 95 % by resampling pairs."""
    same = {row["id"]: row["same"] for row in _lines(reader)}
    found = {}
    for name, kept in (("kept", True), ("dropped", False)):
        hits = np.array([same[row["id"]] for row in _lines(key) if row["kept"] is kept], np.float64)
        if not len(hits):
            continue
        drawn = np.random.default_rng(0).integers(len(hits), size=(RESAMPLES, len(hits)))
        low, high = np.percentile(hits[drawn].mean(1), (2.5, 97.5))
        found[name] = (float(hits.mean()), float(low), float(high))
    return found


def main() -> None:
    """Find and draw, or tell what was read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--judge", default="minilm-judge")
    parser.add_argument("--among", type=int, default=100_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=Path, nargs=2, metavar=("FOLDER", "READER"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.read:
        folder, reader = options.read
        for name, (share, low, high) in read(folder / "key.jsonl", reader).items():
            print(f"{name}: {share:.3f} ({low:.3f} to {high:.3f}) ask for the same")
        return
    if not (options.data and options.out):
        parser.error("expected the data's folder and --out, or --read")
    print(json.dumps(verified(options.data, options.judge, options.out, among=options.among, seed=options.seed)))


def _share(right_P: NDArray[np.bool_]) -> float | None:
    return round(float(right_P.mean()), 4) if len(right_P) else None


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with atomic_path(path) as unfinished:
        unfinished.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
