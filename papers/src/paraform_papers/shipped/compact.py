r"""The embedded model `compact`: CRL-EGPG that reads the encoder's states too, on more than questions.

    python -m paraform_papers.shipped.rewording_data ../shared/data --out runs/rewording-data
    python -m paraform_papers.shipped.compact ../shared/data --made runs/rewording-data --out runs/compact
    python -m paraform_papers.shipped.compact ../shared/data --made runs/rewording-data --out runs/compact \
        --row "without both"

The rows are the paper's question asked again: full, without CCL, without SCL, without both. Interrupted, it goes on; a
run that is over is measured again, beside the models that --against names, and its best checkpoint stands in half
precision in OUT/seed-SEED/ROW/final.
Running time: about a second a step of 128 on one free core, 6,784 steps. Figures: docs/results/crl.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from paraform import checkpoint, corpora, manifest
from paraform.evaluation.on_pairs import evaluate_paraphraser, evaluation_set
from paraform.evaluation.subsets import THIRDS
from paraform.models.exemplar import ExemplarConfig
from paraform.records import Pair
from paraform.score import Score
from paraform.trainers.exemplar import BY_BLEU, train_exemplar
from paraform.weights import sha256
from paraform_papers.crl.data import load
from paraform_papers.crl.rows import ROWS

CONFIG = replace(ExemplarConfig.compact(), content_input="both", exemplar_deals=2, both_directions=False)
"""What the trials found to help (docs/results/crl.md); the data have both directions already."""
FIGURES = ("BLEU", "ED-E", "content kept")
LEAST = THIRDS[0]  # of overlap between source and reference
CARD = Path(__file__).parent / "cards" / "compact.md"
PAN = "pan/pan-test.labels"


def read_made(path: Path) -> list[Pair]:
    """The pairs of a file that `rewording_data` made, with the clusters that it gave them."""
    return [record for record in corpora.read(path, "jsonl") if isinstance(record, Pair)]


def test_sets(data: Path) -> dict[str, list[Pair]]:
    """What is measured, by name: questions, subtitles, and disguised news, of which only the paraphrases."""
    pan = corpora.clusters(pair for pair in corpora.read(data / PAN, "labelled-pairs") if isinstance(pair, Pair))
    return {
        "quora/test": load(data, "quora", "test"),
        "paranmt/test": load(data, "paranmt", "test"),
        "PAN's test": [pair for pair in pan if pair.label == 1],
    }


def main() -> None:
    """Train (or go on), then print figures on each test set beside the floor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--made", type=Path, required=True, help="what rewording_data wrote")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--row", choices=ROWS, default="full")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--against", nargs="*", default=[], metavar="MODEL", help="names or runs to measure beside")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    run = options.out / f"seed-{options.seed}" / options.row.replace(" ", "-")
    pairs = read_made(options.made / "train.jsonl")
    result = train_exemplar(
        pairs,
        run,
        validation=read_made(options.made / "dev.jsonl"),
        config=CONFIG.without(**ROWS[options.row]),
        loop=replace(
            BY_BLEU,
            average_last=0.25,
            evaluate_every=848,
            checkpoint_every=100,
            seed=options.seed,
            device=options.device,
        ),
        data_digests={name: sha256(options.made / name) for name in ("train.jsonl", "dev.jsonl")},
        validation_rows=2_000,
        resume=True,
    )
    if result.ended == "interrupted":
        sys.exit(result.status)
    measures = measured(run, options.data, options.against)
    write(run, measures, records=len(pairs), seed=options.seed)
    print(measures.table, *measures.differences, sep="\n")


class Measures(NamedTuple):
    """What was measured of a run: a table, the paired differences from each other model, and the run's own scores."""

    table: str
    differences: list[str]
    scores: list[Score]


def measured(run: Path, data: Path, against: Sequence[str]) -> Measures:
    """The best checkpoint, in half precision as it would ship, beside other models and the floor.

    By the honest protocol, greedy; differences are over all rows.

    Args:
        against: names of embedded models, or folders of runs, which are read in half precision too.
    """
    model, *others = (checkpoint.load(name) for name in [str(run), *against])
    for one in (model, *others):
        one.half().float()
    rivals = dict(zip(against, others, strict=True))
    rows: list[Sequence[str]] = [["test set", "rows", "system", *FIGURES]]
    differences: list[str] = []
    scores: list[Score] = []
    for name, pairs in test_sets(data).items():
        report = evaluate_paraphraser(model, evaluation_set(pairs), rivals=rivals, protocols=("first",))
        report.write_outputs(run / f"{name.replace('/', '-').replace(' ', '-')}.jsonl")
        for subset in ("all", LEAST):
            for system in ("model", *against, "copy source"):
                found = (report.score(one, system=system, protocol="first", subset=subset) for one in FIGURES)
                values = list(found)
                rows.append([name, subset, system, *(f"{score.value:.2f}" for score in values)])
                if system == "model":
                    scores += [replace(score, name=f"{name} {subset} {score.name}") for score in values]
        compared = (one for one in report.comparisons if one.second in rivals and one.name in FIGURES)
        differences += [f"{name}, {one}" for one in compared]
    rows.insert(1, ["---", "---", "---", *["---:"] * len(FIGURES)])
    return Measures("\n".join(f"| {' | '.join(row)} |" for row in rows), differences, scores)


def write(run: Path, measures: Measures, *, records: int, seed: int) -> None:
    """The best checkpoint with its card to `run/final`, in half precision.

    Args:
        records: that it was trained on.
    """
    model, about = checkpoint.load(run), manifest.read(run / "best")
    card = CARD.read_text(encoding="utf-8").format(
        records=records, epochs=model.config.epochs, seed=seed, table=measures.table
    )
    checkpoint.save(
        model, run / "final", card=card, scores=measures.scores, data_digests=about.data, seed=seed, dtype="float16"
    )


if __name__ == "__main__":
    main()
