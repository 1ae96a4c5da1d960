"""What was tried for compact(): CRL-EGPG on 16,000 Quora pairs, one change at a time, measured on quora/dev.

    python -m paraform.recipes.crl_trials coverage --data ../shared/data --out runs/trials

Running time: about six minutes a trial on one core. Expected figures: docs/results/crl.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraform import checkpoint
from paraform.evaluation.on_pairs import evaluate_embedder, evaluate_paraphraser, evaluation_set
from paraform.models.exemplar import ExemplarConfig
from paraform.records import status_of
from paraform.trainers.exemplar import BY_BLEU
from paraform_papers.crl.data import load
from paraform_papers.crl.rows import Setting
from paraform_papers.crl.table2 import train

START: dict[str, Any] = {
    "content_width": 192,
    "decoder_width": 384,
    "coverage": False,
    "both_directions": False,
    "pool_size": 0,
    "min_count": 5,
    "epochs": 4,
    "dropout": 0.1,
}
COVERAGE: dict[str, Any] = {"coverage": True}
TRIALS: dict[str, dict[str, Any]] = {
    "start": {},
    "coverage": COVERAGE,
    "coverage, tau 0.5, lambda 0.1": COVERAGE | {"temperature": 0.5, "content_weight": 0.1},
    "coverage, without CCL": COVERAGE | {"content_weight": 0.0},
    "coverage, without both": COVERAGE | {"content_weight": 0.0, "style_weight": 0.0},
    "coverage, dropout 0.2": COVERAGE | {"dropout": 0.2},
    "coverage, both directions": COVERAGE | {"both_directions": True, "epochs": 2},
    "coverage, wider": COVERAGE | {"content_width": 256, "decoder_width": 512},
    "coverage, small pools": COVERAGE | {"pool_size": 3_000},
}


def main() -> None:
    """Train one trial (or go on with it) and print its figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("trial", choices=TRIALS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    dev = load(options.data, "quora", "dev")
    chosen = Setting(16_000, 0, replace(ExemplarConfig.compact(), **START | TRIALS[options.trial]))
    folder = options.out / options.trial.replace(", ", "-").replace(" ", "-")
    try:
        model = checkpoint.load(train(chosen, "quora", options.data, folder, replace(BY_BLEU, evaluate_every=125)))
    except KeyboardInterrupt as stop:  # saved
        sys.exit(status_of(stop))
    report = evaluate_paraphraser(model, evaluation_set(dev), protocols=("first",), resamples=0)
    scores = [*report.scores, *evaluate_embedder(model, dev).scores]
    figures = {
        score.name: round(score.value, 3) for score in scores if score.system == "model" and score.subset == "all"
    }
    print(json.dumps({"trial": options.trial, **figures}))


if __name__ == "__main__":
    main()
