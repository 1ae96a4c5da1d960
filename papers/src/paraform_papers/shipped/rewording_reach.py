"""How much of other people's text `paraphrase` rewords by default, corpus by corpus, and how much it never tries.

    python -m paraform_papers.shipped.rewording_reach ../shared/data
    python -m paraform_papers.shipped.rewording_reach ../shared/data --draws
    python -m paraform_papers.shipped.rewording_reach ../shared/data --without-parse

Texts that look like no English sentence are counted among all of a corpus, those that are reworded among 200 drawn by
seed 77. Frames were written with Banking77, quora/dev, TREC's training questions and Tatoeba before the eyes, none with
SQuAD and Yelp. Running time: two minutes on one core. The figures are in docs/rewording.md. --draws: of four
development draws, 150 messages of Banking77's used intents and 150 texts of quora/dev each, how many are answered.
--without-parse: frames and synonyms alone.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import replace
from pathlib import Path

from paraform.rewording import fluency
from paraform.rewording.readable import unreadable
from paraform.rewording.reworder import Reworder
from paraform_papers.shipped.banking_intents import two_parts
from paraform_papers.shipped.rewording_texts import questions, utterances

SEED, DRAWN = 77, 200
DRAWS, EACH = (81, 82, 83, 84), 150


def main() -> None:
    """Print a line of each corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with banking77/, quora/, squad/, senteval/, tatoeba/ and yelp/")
    parser.add_argument("--draws", action="store_true", help="development draws instead")
    parser.add_argument("--without-parse", action="store_true", help="nothing is made from trees")
    options = parser.parse_args()
    data = options.data
    reworder, language = Reworder.default(), fluency.load()
    if options.without_parse:
        reworder = Reworder(replace(reworder.tools, parse=None))
    if options.draws:
        draws(data, reworder)
        return
    print("| corpus | texts | not tried | reworded of 200 |\n| --- | ---: | ---: | ---: |")
    for name, texts in corpora_of(data).items():
        left = sum(bool(unreadable(text, language)) for text in texts)
        drawn = random.Random(SEED).sample(texts, DRAWN)
        answered = sum(bool(found.candidates) for found in reworder.reword(drawn))
        print(f"| {name} | {len(texts):,} | {left} | {answered} |", flush=True)


def draws(data: Path, reworder: Reworder) -> None:
    """Print a line of each draw."""
    used = two_parts(data / "banking77" / "train.csv").used
    banking = [one.text for some in used.values() for one in some]
    quora = [text for pair in questions(data) for text in pair]
    for seed in DRAWS:
        drawn = random.Random(seed)
        found = reworder.reword([*drawn.sample(banking, EACH), *drawn.sample(quora, EACH)])
        print(f"seed {seed}: {sum(bool(one.candidates) for one in found)} of {len(found)} answered", flush=True)


def corpora_of(data: Path) -> dict[str, list[str]]:
    """The different texts of each corpus, by its name."""

    def lines(path: str, encoding: str = "utf-8") -> list[str]:
        return (data / path).read_text(encoding=encoding).splitlines()

    articles = json.loads((data / "squad" / "dev-part.json").read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    found = {
        "Banking77": utterances(data),
        "quora/dev": [text for pair in questions(data) for text in pair],
        "SQuAD's questions": [one["question"].strip() for paragraph in paragraphs for one in paragraph["qas"]],
        "TREC's questions": [line.partition(" ")[2] for line in lines("senteval/TREC.test", "latin-1")],
        "Tatoeba": [line.split("\t")[0] for line in lines("tatoeba/pairs.tsv")],
        "Yelp": lines("yelp/test.txt"),
    }
    return {name: list(dict.fromkeys(texts)) for name, texts in found.items()}


if __name__ == "__main__":
    main()
