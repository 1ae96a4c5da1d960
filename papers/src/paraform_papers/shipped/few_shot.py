"""Do rewordings help where there are few examples, and does a classifier survive them? Banking77's untouched intents.

    python -m paraform_papers.shipped.few_shot ../shared/data
    python -m paraform_papers.shipped.few_shot ../shared/data --survive

Few examples: 5, 10 and 20 utterances of each of the 26 intents that no model was trained, mined or tuned on, drawn by
five seeds; logistic regression on `minilm`'s vectors; accuracy on a third of the utterances, which is drawn once and
never trained on. Rows differ in what is added to the examples: nothing, at most four texts of each by EDA, at most four
rewordings of each. The regression's strength is chosen without additions on the other intents. Running time: ten
minutes on one core. Figures: docs/results/augment.md.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from paraform import encoders
from paraform.capabilities import Embed
from paraform.rewording.reworder import Reworder
from paraform_papers.shipped.banking_intents import two_parts
from paraform_papers.shipped.eda import eda, wordnet

SHOTS, SEEDS, ADDED = (5, 10, 20), range(5), 4
STRENGTHS = (1.0, 10.0, 100.0)
Intents = Mapping[str, Sequence[str]]
Add = Callable[[Sequence[str]], list[list[str]]]
"""Texts to what is added to each."""


def split(intents: Intents) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Two thirds of each intent's texts to draw examples from, and a third to test on; drawn once."""
    drawn = random.Random(0)
    shuffled = {name: drawn.sample(list(texts), len(texts)) for name, texts in intents.items()}
    return (
        {name: texts[len(texts) // 3 :] for name, texts in shuffled.items()},
        {name: texts[: len(texts) // 3] for name, texts in shuffled.items()},
    )


def accuracy(train: Intents, test: Intents, embed: Embed, strength: float) -> float:
    """Of logistic regression on the vectors of the texts."""
    return float(right(train, test, embed, strength).mean())


def right(train: Intents, test: Intents, embed: Embed, strength: float) -> NDArray[np.bool_]:
    """Which test texts get their intent, in the order of `test`."""
    texts, names = _flat(train)
    classifier = LogisticRegression(C=strength, max_iter=1_000).fit(embed(texts), names)
    texts, names = _flat(test)
    return np.asarray(classifier.predict(embed(texts)) == np.array(names), np.bool_)


def _flat(intents: Intents) -> tuple[list[str], list[str]]:
    pairs = [(text, name) for name, texts in intents.items() for text in texts]
    return [text for text, _ in pairs], [name for _, name in pairs]


def drawn_from(pool: Intents, shots: int, seed: int) -> dict[str, list[str]]:
    """So many examples of each intent."""
    drawn = random.Random(seed)
    return {name: drawn.sample(list(texts), shots) for name, texts in pool.items()}


def added_to(train: Intents, add: Add) -> dict[str, list[str]]:
    """The examples, and behind them what is added to each."""
    return {name: [*texts, *(more for some in add(texts) for more in some)] for name, texts in train.items()}


def chosen_strength(used: Intents, embed: Embed) -> float:
    """The strength that is best on intents that are not measured, with ten examples of each and nothing added."""
    pool, test = split(used)
    means = {
        strength: statistics.mean(accuracy(drawn_from(pool, 10, seed), test, embed, strength) for seed in SEEDS)
        for strength in STRENGTHS
    }
    return max(means, key=lambda strength: means[strength])


def cached(embed: Embed) -> Embed:
    """Each text is encoded once."""
    known: dict[str, NDArray[np.float32]] = {}

    def find(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, embed(missing), strict=True))
        return np.stack([known[text] for text in texts])

    return find


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with banking77/")
    parser.add_argument("--survive", action="store_true", help="the second question")
    options = parser.parse_args()
    parts = two_parts(options.data / "banking77" / "train.csv")
    used, untouched = ({name: [one.text for one in some] for name, some in part.items()} for part in parts)
    embed = cached(encoders.load("minilm").encode)
    strength = chosen_strength(used, embed)
    pool, test = split(untouched)
    print(f"{len(untouched)} intents, {sum(map(len, test.values()))} test texts, strength {strength:g}")
    if options.survive:
        survival(pool, test, embed, strength)
        return
    ways: dict[str, Add] = {"nothing": lambda texts: [[] for _ in texts]}
    synonyms = wordnet()
    kinds = "swaps and deletions; no WordNet here" if synonyms is None else "with WordNet"
    ways[f"EDA ({kinds})"] = lambda texts: [eda(text, num=ADDED, seed=0, synonyms=synonyms) for text in texts]
    ways["rewordings"] = rewordings()
    print(f"| added | {' | '.join(f'{shots} a class' for shots in SHOTS)} | texts added to {SHOTS[-1]} a class |")
    print(f"| --- |{' ---: |' * (len(SHOTS) + 1)}")
    plain: dict[tuple[int, int], float] = {}
    for name, add in ways.items():
        cells = []
        for shots in SHOTS:
            found, gains = [], []
            for seed in SEEDS:
                train = added_to(drawn_from(pool, shots, seed), add)
                found.append(100 * accuracy(train, test, embed, strength))
                gains.append(found[-1] - plain.setdefault((shots, seed), found[-1]))
            gain = "" if name == "nothing" else f" ({_spread(gains)})"
            cells.append(f"{statistics.mean(found):.1f}{gain}")
        count = sum(map(len, train.values())) - len(train) * SHOTS[-1]
        print(f"| {name} | {' | '.join(cells)} | {count:,} |", flush=True)
    print("In brackets: the gain over nothing added, mean and least to most over five seeds.")


def _spread(gains: Sequence[float]) -> str:
    return f"{statistics.mean(gains):+.1f}, {min(gains):+.1f} to {max(gains):+.1f}"


def rewordings() -> Add:
    """What the default call says in the place of each text, each text reworded once."""
    reworder = Reworder.default("cpu")
    known: dict[str, list[str]] = {}

    def add(texts: Sequence[str]) -> list[list[str]]:
        missing = [text for text in texts if text not in known]
        for text, found in zip(missing, reworder.reword(missing, num=ADDED), strict=True):
            known[text] = [candidate.text for candidate in found.candidates]
        return [known[text] for text in texts]

    return add


def survival(pool: Intents, test: Intents, embed: Embed, strength: float) -> None:
    """Accuracy on the test texts that can be reworded, as they are and in other words."""
    add = rewordings()
    changed = {name: [(text, found[0]) for text, found in zip(texts, add(texts), strict=True) if found]
               for name, texts in test.items()}  # fmt: skip
    before, after = (
        right(pool, {name: [pair[side] for pair in pairs] for name, pairs in changed.items()}, embed, strength)
        for side in (0, 1)
    )
    resampled = np.random.default_rng(0).integers(0, len(before), (1_000, len(before)))
    low, high = np.quantile(100 * (after[resampled].mean(1) - before[resampled].mean(1)), [0.025, 0.975])
    print(
        f"{len(before):,} of {sum(map(len, test.values())):,} test texts reworded; accuracy"
        f" {100 * before.mean():.1f} as they are, {100 * after.mean():.1f} in other words"
        f" ({100 * (after.mean() - before.mean()):+.1f}, 95 %: {low:+.1f} to {high:+.1f})"
    )


if __name__ == "__main__":
    main()
