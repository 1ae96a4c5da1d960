"""What each part of CRL-EGPG is worth where the decoder knows English: guides of a language model, one row apart each.

    python -m paraform_papers.crl.lm_rows ../shared/data --out runs/lm-rows
    python -m paraform_papers.crl.lm_rows ../shared/data --out runs/lm-rows --row "style vector" --seed 1

    python -m paraform_papers.crl.lm_rows --table papers/results/lm-rows

Adapters on `smollm2`, one pass over 6,000 of Quora's training pairs; measured greedily by the honest protocol on 1,000
of quora/test and 500 of paranmt/test, each row by the same exemplars. OUT/PAIRS/SEED/ROW.json has a row's figures; a
row that has its file is not trained again, and one that was stopped goes on. `--table` prints those that are there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraform import checkpoint
from paraform.ending import status_of
from paraform.evaluation.on_pairs import evaluate_paraphraser, evaluation_set
from paraform.models.lm import LMConfig
from paraform.trainers.lm import BY_NLL, train_lm
from paraform.weights import atomic_path
from paraform_papers.crl.data import Corpus, load, part_of

PAIRS, HELD = 6_000, 200
MEASURED: Mapping[Corpus, int] = {"quora": 1_000, "paranmt": 500}
FIGURES, COPY = ("BLEU", "ED-E", "content kept"), "copy source"
HEADS: Mapping[str, tuple[Corpus, str, str]] = {
    "BLEU": ("quora", "BLEU", "all"),
    "least overlap": ("quora", "BLEU", "least overlap"),
    "ED-E": ("quora", "ED-E", "all"),
    "content kept": ("quora", "content kept", "all"),
    "ParaNMT": ("paranmt", "BLEU", "all"),
    "its ED-E": ("paranmt", "ED-E", "all"),
}
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
    place = out / str(size) / str(seed) / name.replace(" ", "-")
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
        figures[corpus] = brief(report.to_json())
    with atomic_path(found) as unfinished:
        unfinished.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def brief(report: Mapping[str, Any]) -> dict[str, Any]:
    """Of a report's JSON each of `FIGURES`: its settings, values by system and subset, and how far from copying."""
    figures: dict[str, Any] = {}
    for one in report["scores"]:
        if one["name"] in FIGURES:
            found = figures.setdefault(one["name"], {"signature": one["signature"], "values": {}})
            found["values"].setdefault(one["system"], {})[one["subset"]] = round(one["value"], 4)
    for one in report["comparisons"]:
        if one["name"] in FIGURES and one["second"] == COPY:
            figures[one["name"]]["more than copying"] = [round(one[end], 4) for end in ("difference", "low", "high")]
    return {"rows": report["rows"], **figures}


def table(results: Path) -> list[str]:
    """Lines of Markdown: a row for each file, and for copying."""
    lines = [f"| guide | pairs | seed | {' | '.join(HEADS)} |", f"| --- |{' ---: |' * (2 + len(HEADS))}"]
    copied: list[str] = []
    for file in sorted(results.glob("*/*/*.json"), key=lambda path: (int(path.parts[-3]), path.stem, path.parts[-2])):
        report = json.loads(file.read_text(encoding="utf-8"))
        for system in report["quora"]["BLEU"]["values"]:
            values = [report[corpus][name]["values"][system][subset] for corpus, name, subset in HEADS.values()]
            cells = [f"{value:.2f}" for value in values]
            if system == COPY:
                copied = [f"| {' | '.join([COPY, '', '', *cells])} |"]
            elif system in ROWS:
                lines.append(f"| {' | '.join([system, f'{int(file.parts[-3]):,}', file.parts[-2], *cells])} |")
    return [*lines, *copied]


def main() -> None:
    """The rows that are asked for, one after another, or the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, nargs="?", help="folder with quora/ and paranmt/")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="print the figures of this folder, and train nothing")
    parser.add_argument("--row", choices=tuple(ROWS), nargs="+", default=list(ROWS))
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(options.table)))
        return
    if not (options.data and options.out):
        parser.error("expected the data's folder and --out, or --table")
    try:
        for name in options.row:
            made(name, options.data, options.out, options.pairs, options.seed)
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
