"""Duplicates among Quora's questions: thresholds from those held out, precision and recall on others.

    python -m paraform_papers.shipped.duplicates ../shared/data --split dev
    python -m paraform_papers.shipped.duplicates ../shared/data --split test --drawn runs/drawn.jsonl
    python -m paraform_papers.shipped.duplicates ../shared/data --split test --models minilm --among 100000

With --split dev: of each model the lowest threshold at which 95 % of the pairs found are of one labelled cluster, which
is its row of `neighbours.duplicates.THRESHOLDS`. With --split test: precision and recall at that threshold. --among N
adds questions of train.tsv until there are N. --drawn writes pairs to be read, drawn by the seed: 50 of all that were
found, and 50 of those that no label has, as JSON lines. Each model's clusters are Quora's: what no label joins counts
as wrong, though it may mean the same.
Running time: a minute or two a model on one core; --among 100000 takes ten and more. Figures: docs/duplicates.md.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform import checkpoint
from paraform.capabilities import Embedder
from paraform.corpora import read_pairs
from paraform.evaluation.bootstrap import with_interval
from paraform.evaluation.embedding.retrieval import cluster_of, clustered
from paraform.neighbours.duplicates import THRESHOLDS, vectors_of
from paraform.neighbours.near_pairs import NearPairs, near_pairs
from paraform.records import texts_of
from paraform.score import Score, signature, table
from paraform.weights import atomic_path
from paraform_papers.shipped.precision import known_pairs, least_threshold, precision_and_recall

LOWEST = 0.5  # cosine of the pairs among which a threshold is sought
PRECISION = 0.95
READ = 50


class Questions(NamedTuple):
    """Different questions and the number of the cluster of each."""

    texts: list[str]
    clusters: NDArray[np.int64]


def questions(data: Path, split: str, among: int, seed: int) -> Questions:
    """Those of a split and, until there are so many, others drawn from train.tsv."""
    own = list(read_pairs(data / "quora" / f"{split}.tsv"))
    more = list(read_pairs(data / "quora" / "train.tsv")) if among else []
    known = {side.text: cluster_of(pair) for pair in clustered([*own, *more]) for side in (pair.source, pair.target)}
    texts = list(dict.fromkeys(texts_of(own)))
    rest = list(dict.fromkeys(texts_of(more)))
    random.Random(seed).shuffle(rest)
    own_texts = set(texts)
    texts += [text for text in rest if text not in own_texts][: max(0, among - len(texts))]
    return Questions(texts, np.array([known[text] for text in texts], np.int64))


def found_by(model: Embedder, texts: Sequence[str], threshold: float) -> NearPairs:
    """All pairs by the model's first kind of vectors."""
    return near_pairs(vectors_of(texts, model.embed), threshold, search="exact", device=model.device)


def figures(name: str, given: Questions, found: NearPairs, threshold: float) -> list[Score]:
    """The threshold, and precision and recall with their intervals."""
    settings = signature(texts=len(given.texts), similarity="cosine", search=found.search)
    scores = [Score("threshold", threshold, "chosen on dev", name)]
    for figure in precision_and_recall(found.rows, given.clusters, settings):
        scores.append(with_interval(figure.score(system=name), figure))
    return scores


def drawn(name: str, given: Questions, found: NearPairs, seed: int) -> list[str]:
    """Lines of JSON: pairs of all that were found, and of those that no label has."""
    right_P = known_pairs(found.rows, given.clusters)
    lines = []
    for what, places in (("all", np.arange(len(right_P))), ("unlabelled", np.flatnonzero(~right_P))):
        for place in np.random.default_rng(seed).permutation(places)[:READ]:
            pair = [given.texts[row] for row in found.rows[place]]
            about = {"model": name, "of": what, "similarity": round(float(found.cosines[place]), 4)}
            lines.append(json.dumps(about | {"labelled": bool(right_P[place]), "texts": pair}, ensure_ascii=False))
    return lines


def main(given: Sequence[str] | None = None) -> None:
    """Print the thresholds, or the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", choices=("dev", "test"), required=True)
    parser.add_argument("--models", nargs="+", default=list(THRESHOLDS))
    parser.add_argument("--among", type=int, default=0)
    parser.add_argument("--drawn", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(given)
    asked = questions(options.data, options.split, options.among, options.seed)
    scores, lines = [], []
    for name in options.models:
        dev = options.split == "dev"
        found = found_by(checkpoint.load(name), asked.texts, LOWEST if dev else THRESHOLDS[name])
        if dev:
            right_P = known_pairs(found.rows, asked.clusters)
            print(f"{name}: {least_threshold(found.cosines, right_P, PRECISION)}", flush=True)
            continue
        scores += figures(name, asked, found, THRESHOLDS[name])
        lines += drawn(name, asked, found, options.seed)
    if scores:
        print(table(scores, "markdown"))
    if options.drawn:
        with atomic_path(options.drawn) as unfinished:
            unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
