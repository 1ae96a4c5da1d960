r"""What a judge keeps and drops of the near pairs among 100,000 questions, drawn to be read blind.

    python -m paraform_papers.shipped.duplicates_verified ../shared/data --judge minilm-judge --out runs/verified
    python -m paraform_papers.shipped.duplicates_verified --read runs/verified READER.jsonl READER.jsonl
    python -m paraform_papers.shipped.duplicates_verified --read papers/results/duplicates-verified

The first finds the pairs of `minilm` at its usual threshold among all questions of test.tsv and others of train.tsv,
and has the judge read them, as `paraform duplicates --verify` does. OUT/sheet.jsonl has `KEPT` of the pairs that it
keeps and `DROPPED` of those that it drops, in an order drawn by the seed, and nothing of what the judge thinks;
OUT/key.jsonl that; OUT/figures.json the counts, shares of labelled pairs, and seconds. A reader's lines are {"id": 7,
"same": true}: whether both questions ask for the same. The second writes what both say beside the key, OUT/read.jsonl,
and prints what that comes to; lines of several draws may stand in one file. Running time: docs/meaning.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from paraform import checkpoint
from paraform.neighbours.duplicates import THRESHOLDS, VERIFIED
from paraform.weights import atomic_path
from paraform_papers.shipped.duplicates import found_by, questions
from paraform_papers.shipped.judge import SAME, judge_of
from paraform_papers.shipped.precision import known_pairs

KEPT, DROPPED, RESAMPLES = 200, 100, 2000
EDGES = (0.0, SAME, VERIFIED)  # of `same`: between two of them a pair that was read stands for as many


def verified(data: Path, judge: str, out: Path, *, among: int, seed: int, least: float = VERIFIED) -> dict[str, Any]:
    """Find, judge and draw; the figures. `least`: the `same` from which on a pair is kept."""
    asked, encoder, model = questions(data, "test", among, seed), checkpoint.load("minilm"), judge_of(judge)
    begun = time.perf_counter()
    found = found_by(encoder, asked.texts, THRESHOLDS["minilm"])
    between = time.perf_counter()
    pairs = [(asked.texts[one], asked.texts[other]) for one, other in found.rows.tolist()]
    same_P = model.judge(pairs, cosines=found.cosines, progress=True).same
    ended = time.perf_counter()
    kept_P, right_P = same_P >= least, known_pairs(found.rows, asked.clusters)
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
        "pairs": {f"{edge:g}": int((same_P >= edge).sum()) for edge in EDGES},
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


def told(folder: Path) -> dict[str, Any]:
    """By each reader what the pairs that were read say of all that were found, with 95 % by resampling them.

    "precision": of the pairs from each edge on the share that asks for the same. "by cosine": of as many pairs as
    `VERIFIED` keeps, those with the highest cosine, that share; "more": what the judge's is above it.
    """
    found = {float(edge): count for edge, count in json.loads((folder / "figures.json").read_text())["pairs"].items()}
    rows = _lines(folder / "read.jsonl")
    same_R, cosine_R = (np.array([row[name] for row in rows], np.float64) for name in ("same", "similarity"))
    part_R = np.digitize(same_R, EDGES) - 1
    counts = np.array([found[edge] for edge in EDGES])
    weight_R = ((counts - np.append(counts[1:], 0)) / np.bincount(part_R, minlength=len(EDGES)))[part_R]

    def figures(asks_R: NDArray[np.float64], drawn: NDArray[np.int64]) -> dict[str, float]:
        asks, same, cosine, weight = (some[drawn] for some in (asks_R, same_R, cosine_R, weight_R))
        nearest = np.argsort(-cosine, kind="stable")
        as_many = nearest[: np.searchsorted(np.cumsum(weight[nearest]), found[VERIFIED]) + 1]
        out = {f"precision from {edge:g}": _mean(asks, weight, same >= edge) for edge in EDGES}
        out["precision by cosine, as many"] = _mean(asks, weight, as_many)
        out["AUC"], out["AUC by cosine"] = (
            float(roc_auc_score(asks, by, sample_weight=weight)) for by in (same, cosine)
        )
        out["precision more"] = out[f"precision from {VERIFIED:g}"] - out["precision by cosine, as many"]
        out["AUC more"] = out["AUC"] - out["AUC by cosine"]
        return out

    says = np.array([row["says"] for row in rows], np.float64).T
    parts = [np.flatnonzero(part_R == part) for part in range(len(EDGES))]
    drawing = np.random.default_rng(0)
    draws = [np.concatenate([drawing.choice(some, len(some)) for some in parts]) for _ in range(RESAMPLES)]
    out: dict[str, Any] = {"pairs read": len(rows), "both say alike": round(float((says[0] == says[-1]).mean()), 3)}
    for reader, asks_R in enumerate(says):
        again = [figures(asks_R, drawn) for drawn in draws]
        out[f"reader {reader + 1}"] = {
            name: [round(value, 3), *np.percentile([one[name] for one in again], (2.5, 97.5)).round(3).tolist()]
            for name, value in figures(asks_R, np.arange(len(rows))).items()
        }
    return out


def joined(folder: Path, readers: Sequence[Path]) -> None:
    """FOLDER/read.jsonl: the key's lines with what each reader says."""
    says = [{row["id"]: row["same"] for row in _lines(path)} for path in readers]
    key = _lines(folder / "key.jsonl")
    _write(folder / "read.jsonl", ({**row, "says": [one[row["id"]] for one in says]} for row in key))


def main() -> None:
    """Find and draw, or tell what was read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--judge", default="minilm-judge")
    parser.add_argument("--among", type=int, default=100_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--least", type=float, default=VERIFIED, help="from this `same` on a pair is kept")
    parser.add_argument("--read", type=Path, nargs="+", metavar="PATH", help="the folder, and readers' files")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.read:
        folder, *readers = options.read
        if readers:
            joined(folder, readers)
        print(json.dumps(told(folder), indent=1))
        return
    if not (options.data and options.out):
        parser.error("expected the data's folder and --out, or --read")
    how = {"among": options.among, "seed": options.seed, "least": options.least}
    print(json.dumps(verified(options.data, options.judge, options.out, **how)))


def _share(right_P: NDArray[np.bool_]) -> float | None:
    return round(float(right_P.mean()), 4) if len(right_P) else None


def _mean(asks: NDArray[np.float64], weight: NDArray[np.float64], some: NDArray[np.bool_] | NDArray[np.int64]) -> float:
    return float(np.average(asks[some], weights=weight[some]))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with atomic_path(path) as unfinished:
        unfinished.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
