"""What is tried for `RetrofitConfig()`: one change at a time, measured on held-out pairs and development sets alone.

    python -m paraform.recipes.par_trials mrpc "adam 3e-4" --data ../shared/data --out runs/par-trials

Prints one JSON object: of held-out pairs the paraphrase classifier's accuracy, mean distances of shared words in
paraphrases and in others, and their ratio; M's distance from an orthogonal matrix and its singular values; Pearson on
the development parts of the STS Benchmark and of SICK. The trial `start` is the encoder as it comes. No sentence of a
development or a test set is trained on. Of the last weights, since the best of a few validations is a matter of luck.
Running time: at most three minutes a trial on an idle core. Figures: docs/systems/par.md.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraform import checkpoint, corpora
from paraform.corpora.evaluation_sets import read_evaluation_sets
from paraform.evaluation.embedding.development import Development, read_development
from paraform.evaluation.embedding.distances import matrix_shape
from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder
from paraform.records import status_of
from paraform.trainers.held_out import unseen_pairs
from paraform.trainers.retrofit import BY_ACCURACY, drawn, held_out, train_retrofit
from paraform.trainers.retrofit_tables import table_of_pairs
from paraform.trainers.retrofit_validation import validator
from paraform_papers.par.configs import Corpus
from paraform_papers.par.rows import FILES, read_corpus

START = RetrofitConfig(
    optimiser="adam",
    learning_rate=1e-3,
    batch_size=32,
    epochs=1,
    margin=3.0,
    negatives="batch",
    orthogonality="penalty",
    orthogonality_weight=1.0,
    push="further",
    most_pairs=1600,
    classifier_pairs=600,
)
AFTER: dict[str, Any] = {"place": "after", "orthogonality": "free"}
PUSH: dict[str, Any] = {"push": "start"}  # all others push further, as the paper does
TRIALS: dict[str, dict[str, Any]] = {
    "start": {},
    "adam 1e-3": {},
    "adam 3e-4": {"learning_rate": 3e-4},
    "adam 1e-4": {"learning_rate": 1e-4},
    "sgd, sum": {"optimiser": "sgd", "learning_rate": 0.005, "hinge_reduction": "sum"},
    "exact": {"orthogonality": "exact"},
    "exact, adam 3e-4": {"orthogonality": "exact", "learning_rate": 3e-4},
    "lambda 0.1": {"orthogonality_weight": 0.1},
    "free": {"orthogonality": "free"},
    "margin 1": {"margin": 1.0},
    "push": PUSH,
    "push, adam 3e-4": {**PUSH, "learning_rate": 3e-4},
    "push, exact": {**PUSH, "orthogonality": "exact"},
    "push, margin 1": {**PUSH, "margin": 1.0},
    "push, three passes": {**PUSH, "epochs": 3},
    "push, after, free": {**PUSH, **AFTER},
    "margin 4": {"margin": 4.0},
    "substitute": {"negatives": "substitute"},
    "labelled": {"negatives": "labelled"},
    "rank 8": {"rank": 8},
    "after, free": AFTER,
    "after, whitening": {**AFTER, "fit": "whitening"},
}
PAIRS = 6_000  # of a corpus that are looked at
TESTS = (
    "sts",
    "stsb",
    "sick",
    "paws",
    "mrpc/msr_paraphrase_test.txt",
    "pan/pan-test_s1.txt",
    "pan/pan-test_s2.txt",
    "quora/dev.tsv",
    "quora/test.tsv",
)
DEV = ("STS-B dev", "SICK-R dev")


def tried(
    corpus: Corpus, trial: str, data: Path, out: Path, *, changes: Mapping[str, Any] | None = None, seed: int = 0
) -> dict[str, Any]:
    """Train one trial anew, and measure it.

    Args:
        changes: fields of all trials that differ from `START`, of a test.
    """
    begun = time.monotonic()
    config = replace(START, **{**(changes or {}), **TRIALS[trial]})
    sets = [data / name for name in TESTS if (data / name).exists()]
    against = [text for some in read_evaluation_sets(sets).values() for text in some]
    pairs = read_corpus(corpus, data)
    random.Random(seed).shuffle(pairs)
    kept, held = held_out(unseen_pairs(corpora.clusters(pairs[:PAIRS]), against), seed=seed)
    every = read_development(data)
    development = Development([one for one in every.sets if one[0].name in DEV])
    found: dict[str, Any] = {"corpus": corpus, "trial": trial}
    if trial == "start":
        model = RetrofittedEncoder.start(config)
        kept = drawn(kept, config, seed=seed)  # the classifier learns from the pairs that trials are trained on
        found |= validator(model, table_of_pairs(kept, model), kept, held, development, seed=seed)()
    else:
        folder = out / f"{corpus}-{trial}".replace(", ", "-").replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        loop = replace(BY_ACCURACY, seed=seed, evaluate_every=10**6, patience=0, tensorboard=False, device="cpu")
        result = train_retrofit(
            kept, folder, validation=held, config=config, loop=loop, development=development
        )  # one validation, at the end
        result.require_over()
        found |= {"step": result.step, **result.history[-1]["validation"]}
        model = checkpoint.load(str(folder), device="cpu")
        found |= matrix_shape(model.matrix.double().numpy())._asdict()
    rounded = {name: round(value, 4) if isinstance(value, float) else value for name, value in found.items()}
    return {**rounded, "seconds": round(time.monotonic() - begun)}


def main() -> None:
    """Train one trial and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("corpus", choices=FILES)
    parser.add_argument("trial", choices=TRIALS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("runs/par-trials"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        print(json.dumps(tried(options.corpus, options.trial, options.data, options.out, seed=options.seed)))
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
