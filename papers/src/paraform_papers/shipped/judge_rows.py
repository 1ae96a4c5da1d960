r"""Rows of judges of meaning: they differ in the base and in what suits it (rank, layers, rate); by `judge_sets`.

    python -m paraform_papers.shipped.judge_rows ../shared/data --pairs runs/judge-free --out runs/judge-rows
    python -m paraform_papers.shipped.judge_rows ../shared/data --pairs runs/judge-free --out runs/judge-rows \
        --row small --seed 1
    python -m paraform_papers.shipped.judge_rows --table papers/results/judge-rows
    python -m paraform_papers.shipped.judge_rows ../shared/data --texts runs/judge-sets  # for `paraform overlap`

`--pairs` is what `judge_data` wrote. OUT/SEED/ROW.json has a row's figures; a row that has its file is not measured
again, and a training that was stopped goes on. `--table` prints those that are there.

- cosine of `minilm`, `minilm-disentangled`, `mpnet`: not trained for it.
- BLEU: of the second text against the first, and the other way round, the mean.
- likelihood both ways: of `smollm2-free`, the mean of ln p(second | first) and ln p(first | second), nats a character.
- states: cross-attention between the frozen states of `minilm`, each text read alone (`judge_states`).
- small: adapters on `minilm`, which reads both texts at once. lm: on `smollm2`, likewise.
- labels, taught: `minilm-judge` goes on for a pass over the pairs, by their labels; or by what `smollm2-judge` thinks
  of them.
- The embedded judges, by name (`judge`).
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraform import checkpoint, corpora, encoders
from paraform.ending import status_of
from paraform.evaluation.bleu import bleu_statistics, bleu_value
from paraform.evaluation.embedding.detection import best_threshold
from paraform.models.judge import MeaningJudge
from paraform.records import Pair, Sentence
from paraform.weights import atomic_path
from paraform.words import tokenize
from paraform_papers.shipped.judge import judge_of
from paraform_papers.shipped.judge_figures import figures, more_than, table
from paraform_papers.shipped.judge_sets import JudgedSet, counts_of, judged_sets, sides
from paraform_papers.shipped.judge_states import StatesJudge
from paraform_papers.shipped.judge_trained import CONFIGS, trained_judge

Judged: TypeAlias = Callable[[Sequence[tuple[str, str]], str], NDArray[np.float64]]
"""Pairs, and what is asked of them ("same", "forth": a symmetric judge says the same of both), to an answer each."""
COSINES = ("minilm", "minilm-disentangled", "mpnet")
EMBEDDED = ("smollm2-judge", "smollm2-judge-all", "minilm-judge")
ROWS = (*(f"cosine, {name}" for name in COSINES), "BLEU", "likelihood both ways", *CONFIGS, *EMBEDDED)


def by_cosine(name: str) -> Judged:
    """The cosine of an encoder's vectors."""
    encoder = encoders.load_embedder(name, device="cpu")

    def judge(pairs: Sequence[tuple[str, str]], asks: str) -> NDArray[np.float64]:
        one, other = (encoder.embed([pair[side] for pair in pairs]) for side in (0, 1))
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
        return np.asarray((one * other).sum(1) / np.maximum(lengths, 1e-12), np.float64)

    return judge


def by_bleu(pairs: Sequence[tuple[str, str]], asks: str) -> NDArray[np.float64]:
    """Sentence BLEU, each side against the other, the mean of both ways."""
    sides = [[tokenize(pair[side].lower()) for pair in pairs] for side in (0, 1)]
    ways = [[bleu_value(row) for row in bleu_statistics(*order)] for order in (sides, sides[::-1])]
    return np.asarray(np.mean(ways, 0), np.float64)


def by_likelihood(name: str) -> Judged:
    """How likely each side is given the other, nats a character, the mean of both ways."""
    model = checkpoint.load(name, device="cpu")

    def judge(pairs: Sequence[tuple[str, str]], asks: str) -> NDArray[np.float64]:
        ways = [model.likelihood([pair[side] for pair in pairs], [pair[1 - side] for pair in pairs]) for side in (0, 1)]
        return np.array([fmean_of(one) + fmean_of(other) for one, other in zip(*ways, strict=True)]) / 2

    return judge


def fmean_of(shares: NDArray[np.float32]) -> float:
    """Nats a character, the end's counted."""
    return float(shares.sum()) / len(shares)


def by_judge(model: MeaningJudge | StatesJudge) -> Judged:
    """How likely it is, calibrated."""
    return lambda pairs, asks: np.asarray(getattr(model.judge(pairs), asks), np.float64)


def measured(name: str, data: Path, pairs: Path, out: Path, seed: int, mpnet: str = "mpnet") -> None:
    """Make and measure a row, unless that was done.

    Args:
        mpnet: the folder of all-mpnet-base-v2.
    """
    place = saved_at(out, seed, name)
    if (found := place.with_suffix(".json")).exists():
        return
    kind, _, model = name.partition(", ")
    if kind == "cosine":
        judge = by_cosine(mpnet if model == "mpnet" else model)
    elif kind == "BLEU":
        judge = by_bleu
    elif kind.startswith("likelihood"):
        judge = by_likelihood("smollm2-free")
    elif name in EMBEDDED:
        judge = by_judge(judge_of(name))
    else:
        judge = by_judge(trained_judge(name, place, pairs, seed))
    dev = [one for one in corpora.read_jsonl(pairs / "dev.jsonl") if isinstance(one, Pair) and one.label is not None]
    threshold = best_threshold(judge([sides(one) for one in dev], "same"), np.array([one.label == 1 for one in dev]))
    report: dict[str, Any] = {"threshold": threshold}
    place.parent.mkdir(parents=True, exist_ok=True)
    for one in sets_of(data):
        found_N = judge(one.pairs, one.asks)
        np.save(saved_at(out, seed, name, one.name), found_N)
        report[one.name] = {
            "pairs": counts_of(one),
            **figures(found_N, one, threshold, calibrated=name in (*CONFIGS, *EMBEDDED)),
        }
        cosines = (
            {} if kind == "cosine" else {other: saved_at(out, 0, f"cosine, {other}", one.name) for other in COSINES}
        )
        above = {other: more_than(found_N, np.load(path), one) for other, path in cosines.items() if path.exists()}
        if above:
            report[one.name]["AUC above the cosine's of"] = above
        print(name, one.name, report[one.name], flush=True)
    with atomic_path(found) as unfinished:
        unfinished.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


@functools.cache
def sets_of(data: Path) -> list[JudgedSet]:
    """As `judged_sets`; made once for all rows."""
    return list(judged_sets(data))


def saved_at(out: Path, seed: int, name: str, of: str = "") -> Path:
    """Where a row's files are; `of`: what was thought of a set's pairs, [N]."""
    plain, of = (text.replace(", ", "-").replace(" ", "-") for text in (name, of))
    return out / str(seed) / (f"{plain}-{of}.npy" if of else plain)


def main() -> None:
    """The rows that are asked for, one after another, or the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="print the figures of this folder, and train nothing")
    parser.add_argument("--texts", type=Path, help="write the pairs of each set there, and measure nothing")
    parser.add_argument("--row", choices=ROWS, nargs="+", default=list(ROWS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mpnet", default="mpnet", help="the folder of all-mpnet-base-v2")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(options.table)))
        return
    if options.data and options.texts:
        options.texts.mkdir(parents=True, exist_ok=True)
        for one in sets_of(options.data):
            place = saved_at(options.texts, 0, one.name).name
            corpora.write_jsonl(
                [Pair(Sentence(first), Sentence(second)) for first, second in one.pairs],
                options.texts / f"{place}.jsonl",
            )
        return
    if not (options.data and options.pairs and options.out):
        parser.error("expected the data's folder, --pairs and --out, or --table or --texts")
    try:
        for name in options.row:
            measured(name, options.data, options.pairs, options.out, options.seed, options.mpnet)
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
