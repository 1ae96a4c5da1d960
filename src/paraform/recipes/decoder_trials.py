"""Trials of a stronger paraphraser on a tenth of Quora's pairs, measured on quora/dev.

    python -m paraform.recipes.decoder_trials transformer --data ../shared/data --out runs/decoder-trials

`transformer` changes all that it needs; every other trial changes one thing of it, or of `start`, as its name says.
Running time: `start` took 20 minutes on a core with other work beside it. Figures so far: docs/results/crl.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraform import checkpoint
from paraform.batching import prepare
from paraform.evaluation import GenerationReport
from paraform.evaluation.on_pairs import evaluate_paraphraser, evaluation_set
from paraform.models.exemplar import ExemplarConfig
from paraform.records import status_of
from paraform.rewording.checks import check
from paraform.rewording.tagged import Tagged
from paraform.syntax import load_tagger
from paraform.trainers.exemplar import BY_BLEU
from paraform_papers.crl.data import load
from paraform_papers.crl.rows import Setting
from paraform_papers.crl.table2 import train

PAIRS = 11_818  # a tenth
LEAST = "least overlap"
START: dict[str, Any] = {"pool_size": 4_000, "min_count": 5, "dropout": 0.1}
PIECES: dict[str, Any] = {"units": "pieces", "min_count": 1, "spell": True}
TRANSFORMER: dict[str, Any] = PIECES | {
    "decoder": "transformer",
    "decoder_layers": 3,
    "decoder_start": "encoder",
    "word_width": 384,
    "decoder_width": 384,
    "coverage": False,
    "content_input": "states",
    "style_pooling": "mean",
    "copy_onward": True,
    "learning_rate": 5e-4,
}
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "start": {
        "same facts": {"same_facts": True},
        "deals": {"exemplar_deals": 4},
        "states beside words": {"content_input": "both"},
        "tags of the exemplar": {"style_tags": True},
        "pieces": PIECES,
    },
    "transformer": {
        "words beside states": {"content_input": "both"},
        "style by GRU": {"style_pooling": "gru"},
        "random start": {"decoder_start": "random"},
        "plain copying": {"copy_onward": False},
        "no copying": {"copy": False, "copy_onward": False},
        "deals": {"exemplar_deals": 4},
        "same facts": {"same_facts": True},
    },
}
BASES: dict[str, dict[str, Any]] = {"start": {}, "transformer": TRANSFORMER}
TRIALS: dict[str, dict[str, Any]] = BASES | {
    f"{base}, {name}": BASES[base] | change for base, changes in CHANGES.items() for name, change in changes.items()
}


def main() -> None:
    """Train one trial (or go on with it) and print its figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("trial", choices=TRIALS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="training pairs, whole clusters drawn by a seed")
    parser.add_argument("--rows", type=int, default=0, help="pairs of quora/dev that are measured; 0: all")
    options = parser.parse_args()
    chosen = Setting(options.pairs, options.rows, replace(ExemplarConfig.compact(), **START | TRIALS[options.trial]))
    folder = options.out / options.trial.replace(", ", "-").replace(" ", "-")
    began = time.perf_counter()
    try:
        best = train(chosen, "quora", options.data, folder, replace(BY_BLEU, evaluate_every=185, device="cpu"))
    except KeyboardInterrupt as stop:  # saved
        sys.exit(status_of(stop))
    trained = time.perf_counter() - began  # of the last start alone, if it was stopped
    dev = load(options.data, "quora", "dev")[: options.rows or None]
    report = evaluate_paraphraser(checkpoint.load(best), evaluation_set(dev), protocols=("first",), resamples=0)
    report.write_outputs(folder / "outputs.jsonl")
    print(json.dumps({"trial": options.trial, **figures(report, "model"), "seconds": round(trained)}))


def figures(report: GenerationReport, system: str) -> dict[str, float]:
    """What a trial is judged by: BLEU of all rows and of the third of least overlap, form, content, checks passed."""
    found = {(one.name, one.subset): one.value for one in report.scores if one.system == system}
    outputs = next(one for one in report.outputs if one.system == system)
    return {
        "BLEU": round(found["BLEU", "all"], 2),
        f"BLEU, {LEAST}": round(found["BLEU", LEAST], 2),
        "ED-E": round(found["ED-E", "all"], 3),
        "content kept": round(found["content kept", "all"], 3),
        "checks passed": round(100 * passing(outputs.sources, outputs.texts), 1),
    }


def passing(sources: Sequence[str], outputs: Sequence[str]) -> float:
    """The share of outputs that pass every check of `rewording.checks` against their sources, copies not."""
    tag = load_tagger()
    texts = list(dict.fromkeys((*sources, *outputs)))
    words = [prepare(text, 30) for text in texts]
    tagged = dict(zip(texts, map(Tagged, words, tag(words)), strict=True))
    right = [
        all(check(tagged[source], tagged[output]).values()) for source, output in zip(sources, outputs, strict=True)
    ]
    return sum(right) / len(right)


if __name__ == "__main__":
    main()
