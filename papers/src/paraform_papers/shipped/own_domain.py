"""What a model gains by 1,000 pairs of a user's own domain: as it comes, gone on with, and made from these alone.

    paraform train exemplar --data ../shared/data/quora/train.tsv --out runs/quora   # 100 minutes on one core
    python -m paraform_papers.shipped.own_domain ../shared/data --model runs/quora --out runs/own-domain

The domain is banking: near duplicates of Banking77's intents that may be used; those of a tenth of the intents, drawn
by the seed, are the test, those of another tenth choose the best checkpoint. Rows differ in what they start from. A
model of Quora's questions has not seen these intents; `compact`, which ships, was trained on them.
Running time: six minutes a seed on one core. Figures: docs/results/crl.md.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, encoders
from paraform.corpora import clusters
from paraform.evaluation.on_pairs import evaluate_paraphraser, evaluation_set
from paraform.models.exemplar import ExemplarConfig
from paraform.records import Pair, Sentence
from paraform.trainers.exemplar import BY_BLEU, train_exemplar
from paraform_papers.shipped.banking_intents import near_duplicates, two_parts

PAIRS = 1_000
TENTH = 5  # of the 51 intents that may be used
EPOCHS, EVERY = 12, 32  # steps between validations: two epochs
FIGURES = ("BLEU", "ED-E", "content kept")
FROM_SCRATCH = replace(ExemplarConfig.compact(), epochs=EPOCHS, min_count=4, pool_size=0)
SMALL_RATE = 3e-4


def parts(path: Path, *, seed: int, most: int = PAIRS) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Pairs to train on, to choose by and to test on, of intents that are drawn by the seed; none is in two parts."""
    used = two_parts(path).used
    names = sorted(used)
    drawn = random.Random(seed)
    drawn.shuffle(names)
    embed = encoders.load("minilm").encode

    def pairs_of(some: Sequence[str]) -> list[Pair]:
        intents: list[Sequence[Sentence]] = [used[name] for name in some]
        return clusters(near_duplicates(intents, embed))

    test, development, rest = names[:TENTH], names[TENTH : 2 * TENTH], names[2 * TENTH :]
    train = pairs_of(rest)
    return drawn.sample(train, min(most, len(train))), pairs_of(development), pairs_of(test)


def main() -> None:
    """Train both rows, or go on with them, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", required=True, help="to go on from; one that has not seen Banking77")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    options = parser.parse_args()
    train, development, test = parts(options.data / "banking77" / "train.csv", seed=options.seed, most=options.pairs)
    start = checkpoint.load(options.model, device="cpu")
    own = replace(
        start.config,
        epochs=EPOCHS,
        min_count=FROM_SCRATCH.min_count,
        learning_rate=SMALL_RATE,
        both_directions=True,
        pool_size=0,
        exemplar_deals=1,
    )
    loop = replace(BY_BLEU, evaluate_every=EVERY, seed=options.seed, device="cpu")
    systems = {options.model: start}
    for name, config, first in (("gone on with", own, start), ("from these alone", FROM_SCRATCH, None)):
        folder = options.out / f"seed-{options.seed}" / name.replace(" ", "-")
        train_exemplar(train, folder, validation=development, config=config, loop=loop, start=first, resume=True)
        systems[name] = checkpoint.load(folder, device="cpu")
    print(f"{len(train):,} pairs to train on, {len(development)} to choose by, {len(test)} to test on")
    print(f"| seed {options.seed} | {' | '.join(FIGURES)} |\n| --- |{' ---: |' * len(FIGURES)}")
    on = evaluation_set(test)
    for name, system in systems.items():
        report = evaluate_paraphraser(system, on, name=name, protocols=("first",), resamples=0)
        if system is start:
            floor = [report.score(figure, system="copy source", protocol="first").value for figure in FIGURES]
            print(f"| copy source | {' | '.join(f'{value:.2f}' for value in floor)} |")
        values = [report.score(figure, system=name, protocol="first").value for figure in FIGURES]
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in values)} |")
        report.write_outputs(options.out / f"seed-{options.seed}" / f"{name.replace(' ', '-')}.jsonl")


if __name__ == "__main__":
    main()
