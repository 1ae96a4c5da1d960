"""`quora-compact`, the model before `compact`: CRL-EGPG's compact() on all of quora/train.

    python -m paraform.recipes.quora_compact ../shared/data/quora --out runs/quora-compact
    python -m paraform.recipes.quora_compact ../shared/data/quora --rebank runs/quora-compact/final

Running time: about 100 minutes on one core. Expected figures: docs/results/crl.md. Interrupted, it goes on. The second
draws the bank of a trained model anew and leaves its weights as they are.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, corpora, manifest
from paraform.evaluation.on_pairs import evaluate_paraphraser, evaluation_set
from paraform.records import Pair
from paraform.score import Score
from paraform.trainers.exemplar import BY_BLEU, both_ways, exemplar_bank, train_exemplar
from paraform.weights import sha256

CARD = Path(__file__).parent / "cards" / "quora-compact.md"


def pairs_of(path: Path) -> list[Pair]:
    """The pairs of a two-column file, with their clusters."""
    return corpora.clusters(record for record in corpora.read(path) if isinstance(record, Pair))


def main() -> None:
    """Train (or go on), then `finish`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("quora", type=Path, help="folder with train.tsv, dev.tsv, test.tsv")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", type=Path)
    where.add_argument("--rebank", type=Path, metavar="CHECKPOINT")
    options = parser.parse_args()
    if options.rebank:
        print(f"{rebank(options.quora, options.rebank)} exemplars")
        return
    loop = replace(
        BY_BLEU,
        mixed_precision="bf16",
        average_last=0.25,  # the last epoch
        evaluate_every=923,
        checkpoint_every=115,
        log_every=23,
        device="cpu",
    )
    result = train_exemplar(
        pairs_of(options.quora / "train.tsv"),
        options.out,
        validation=pairs_of(options.quora / "dev.tsv"),
        loop=loop,
        data_digests=digests(options.quora),
        validation_rows=3_000,  # of 500, the luck of a few rows decided
        resume=True,
    )
    if result.ended == "interrupted":
        sys.exit(result.status)
    print(finish(options.quora, options.out, seed=loop.seed))


def finish(quora: Path, run: Path, *, seed: int) -> str:
    """Score the best checkpoint on the test split and write it with its card to `run/final`, in half precision."""
    model = checkpoint.load(run / "best")
    model.half().float()  # as it is saved below: what is measured is what ships
    report = evaluate_paraphraser(model, evaluation_set(pairs_of(quora / "test.tsv"), seed=seed), name="quora-compact")
    scores = [
        Score(f"{score.system} {score.protocol} {score.name}".strip(), score.value, score.signature)
        for score in report.scores
        if score.subset == "all"
    ]
    card = CARD.read_text(encoding="utf-8").format(
        pairs=len(pairs_of(quora / "train.tsv")),
        epochs=model.config.epochs,
        seed=seed,
        table=report.table("markdown", subset="all"),
    )
    checkpoint.save(
        model, run / "final", card=card, scores=scores, data_digests=digests(quora), seed=seed, dtype="float16"
    )
    report.write_outputs(run / "outputs.jsonl")
    (run / "table.md").write_text(report.table("markdown"), encoding="utf-8")
    return report.table("plain")


def rebank(quora: Path, folder: Path) -> int:
    """Give a checkpoint the exemplars of today's code; returns how many."""
    model, about = checkpoint.load(folder), manifest.read(folder)
    model.bank = tuple(exemplar_bank(both_ways(pairs_of(quora / "train.tsv"))))  # as it was trained
    card = (folder / manifest.CARD).read_text(encoding="utf-8")
    scores = [Score(one["name"], one["value"], one["signature"]) for one in about.scores]
    checkpoint.save(model, folder, card=card, scores=scores, data_digests=about.data, seed=about.seed, dtype="float16")
    return len(model.bank)


def digests(quora: Path) -> dict[str, str]:
    """Of the files that are trained and selected on."""
    return {name: sha256(quora / name) for name in ("train.tsv", "dev.tsv")}


if __name__ == "__main__":
    main()
