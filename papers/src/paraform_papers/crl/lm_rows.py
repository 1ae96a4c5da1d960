"""What each part of CRL-EGPG is worth where the decoder knows English: guides of a language model, one row apart each.

    python -m paraform_papers.crl.lm_rows ../shared/data --out runs/lm-rows
    python -m paraform_papers.crl.lm_rows ../shared/data --out runs/lm-rows --row "style vector" --seed 1

Adapters on `smollm2`, one pass over 6,000 of Quora's training pairs; measured greedily by the honest protocol on 1,000
of quora/test and 500 of paranmt/test, each row by the same exemplars. OUT/SEED/ROW.json has a row's figures; a row that
has its file is not trained again, and one that was stopped goes on.
papers/results/lm-rows has what was run: "exemplar's text" with seed 0, and a trial of "style vector" on 2,000 pairs
(`--pairs 2000`), which was too short: 62 steps teach none (ED-E 5.35; of the source as it is 5.59). 6,000 pairs take
about 72 minutes of one core to train.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint
from paraform.evaluation.on_pairs import evaluate_paraphraser, evaluation_set
from paraform.models.lm import LMConfig
from paraform.records import status_of
from paraform.trainers.lm import BY_NLL, train_lm
from paraform.weights import atomic_path
from paraform_papers.crl.data import Corpus, load, part_of

PAIRS, HELD = 6_000, 200
MEASURED: Mapping[Corpus, int] = {"quora": 1_000, "paranmt": 500}
_STYLE = LMConfig(guide="style", unguided=0.0)
ROWS = {
    "no guide": replace(_STYLE, guide="none"),
    "exemplar's text": replace(_STYLE, guide="text"),
    "tags": replace(_STYLE, guide="tags"),
    "style vector": _STYLE,
    "style vector without SCL": replace(_STYLE, style_weight=0.0),
    "style vector without CCL": replace(_STYLE, content_weight=0.0),
    "style vector without both": replace(_STYLE, style_weight=0.0, content_weight=0.0),
}


def made(name: str, data: Path, out: Path, size: int, seed: int) -> None:
    """Train and measure a row, unless that was done.

    Args:
        size: training pairs.
    Raises: KeyboardInterrupt if interrupted, and saved.
    """
    place = out / str(seed) / name.replace(" ", "-")
    found = place.with_suffix(".json")
    if found.exists():
        return
    pairs = part_of(load(data, "quora", "train"), size, seed)
    held = part_of(load(data, "quora", "dev"), HELD, seed)
    loop = replace(
        BY_NLL, device="cpu", seed=seed, evaluate_every=size // ROWS[name].batch_size, checkpoint_every=30, log_every=10
    )
    train_lm(pairs, place, validation=held, config=ROWS[name], loop=loop, resume=True).require_over()
    model = checkpoint.load(str(place), device="cpu")
    figures = {}
    for corpus, rows in MEASURED.items():
        on = evaluation_set(part_of(load(data, corpus, "test"), rows, 0))
        report = evaluate_paraphraser(model, on, name=name, protocols=("first",))
        figures[corpus] = report.to_json()
    with atomic_path(found) as unfinished:
        unfinished.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """The rows that are asked for, one after another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with quora/ and paranmt/")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--row", choices=tuple(ROWS), nargs="+", default=list(ROWS))
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        for name in options.row:
            made(name, options.data, options.out, options.pairs, options.seed)
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
