r"""The training and development pairs of the embedded model `compact`: more than Quora's questions.

    python -m paraform_papers.shipped.rewording_data ../shared/data --out runs/rewording-data
    python -m paraform_papers.shipped.rewording_data ../shared/data --out runs/free \
        --only paranmt tatoeba squad banking77

Writes OUT/train.jsonl, OUT/dev.jsonl and OUT/counts.md. Every direction that is to be learned is a record of its own,
and pairs that change a fact or the meaning are left out already: train with `both_directions=False`. Pairs of people's
texts are labelled 1; a record without a label is a sentence without a partner, the target of a source that is made from
it (`sources_of`). What stays unreadable, stands in a test or changes a fact is counted in the table.

Sentences alone are what SynPG (Huang and Chang 2021) learns from. Its source is a bag of words; here only function
words go and phrases move (`rewording.thinning`), since CRL-EGPG's content encoder reads order, by which alone one
knows who does what to whom: every content word, negation, number and pronoun is left. SynPG's form is the sentence's
own parse, which has no words; CRL-EGPG's exemplar has, and a decoder that attends to the target itself would copy it.
So these get their exemplars as all pairs do: other sentences of nearly the same tags, mined by the trainer.
Running time: four minutes on one core; 217,202 training records.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from paraform import corpora, encoders
from paraform.capabilities import Embed
from paraform.corpora.leaks import normalised, without_overlap
from paraform.records import Pair, texts_of
from paraform.rewording import fluency
from paraform.trainers.held_out import hold_out_pairs
from paraform.weights import atomic_path
from paraform.words import tokenize
from paraform_papers.shipped.rewording_corpora import ALONE, FILES, ONE_WAY, measured_by, own_dev, pairs_of, sentences
from paraform_papers.shipped.rewording_counts import Counts, corpus_of
from paraform_papers.shipped.rewording_reader import MOST_WORDS, Reader
from paraform_papers.shipped.same_facts import pairs_of_same_facts
from paraform_papers.shipped.usual_case import usual_case

LEAST = 0.8
"""Cosine of a pair by `minilm`. Of 56 pairs read below it about half say something else ("How do I talk English
fluently?", "What should I do to improve my English?"), of 14 from 0.8 to 0.85 still half, but these reword most."""
FREE = {"tatoeba"}
"""People's translations of one sentence, short, which say the same in words far apart ("Are you all crazy?", "Have you
all gone mad?"): of any cosine."""
DEV = {"quora": 1_000, "paranmt": 300, "tatoeba": 200, "mrpc": 60, "pan": 150, "paws": 60, "banking77": 150}
"""Development pairs of each corpus, at most: of its own development part, else of clusters that are held out."""


def made(data: Path, *, seed: int, part: float = 1.0) -> tuple[list[Pair], list[Pair], Counts]:
    """Training and development records, with clusters, in an order drawn by the seed, and the counts."""
    counts, tests = Counts(), measured_by(data)
    read = {corpus: pairs_of(data, corpus) for corpus in FILES}
    texts = dict.fromkeys(texts_of(pair for some in read.values() for pair in some))
    more = [one.text for one in sentences(data, "squad", seed=seed)]
    reader = Reader(usual_case(map(tokenize, [*texts, *more]), least=3), fluency.load(), seed, part)
    pairs = [pair for corpus, some in read.items() for pair in reader.pairs(some, corpus, counts)]
    kept = without_overlap(pairs, tests)
    counts.add_all(kept.leaked, "in a test")
    counts.add_all(kept.related, "its cluster")
    clustered = corpora.clusters(kept.records)  # of all, so that what changes a fact still tells who is related
    usual = usual_case(map(tokenize, texts_of(clustered)))
    same = pairs_of_same_facts(clustered, max_tokens=MOST_WORDS, usual=usual)
    counts.add_lost(kept.records, same, "other facts")
    embed = encoders.load("minilm").encode
    near = of_one_meaning(same, embed)
    counts.add_lost(same, near, "another meaning")
    dev: list[Pair] = []
    for corpus, most in DEV.items():
        own = list(reader.pairs(own_dev(data, corpus), corpus, Counts()))
        if own:
            own = of_one_meaning(pairs_of_same_facts(own, max_tokens=MOST_WORDS, usual=usual), embed)
            own = own[: round(part * most)]
        else:
            held = [pair for pair in near if corpus_of(pair) == corpus]
            room = min(round(part * most), len(held) // 10)
            own = hold_out_pairs(held, seed=seed, most=room)[1] if room else []
        dev += own
    counts.add_all(dev, "dev")
    apart = without_overlap(near, texts_of(dev))
    counts.add_all([*apart.leaked, *apart.related], "held out")
    backward = [replace(pair, source=pair.target, target=pair.source) for pair in apart.records]
    forward = [pair for pair in apart.records if corpus_of(pair) not in ONE_WAY]
    counts.add_all(forward, "1 → 2")
    counts.add_all(backward, "2 → 1")
    kept_out = {normalised(side.text): "held out" for pair in dev for side in (pair.source, pair.target)}
    kept_out |= {normalised(text): "in a test" for text in tests}
    alone = [pair for corpus in ALONE for pair in reader.alone(data, corpus, kept_out, counts)]
    drawn, number = random.Random(seed), _numbers([*kept.records, *alone])
    train = [replace(pair, cluster=number[pair.source.text]) for pair in (*forward, *backward, *alone)]
    dev = [
        replace(pair, source=pair.target, target=pair.source) if corpus_of(pair) in ONE_WAY else pair for pair in dev
    ]
    drawn.shuffle(train)
    drawn.shuffle(dev)
    return train, corpora.clusters(replace(pair, cluster=None) for pair in dev), counts


def of_one_meaning(pairs: Sequence[Pair], embed: Embed) -> list[Pair]:
    """The pairs whose sides have a cosine of `LEAST` or more, and all of the corpora in `FREE`.

    Args:
        embed: texts to vectors of length 1.
    """
    texts = list(dict.fromkeys(texts_of(pairs)))
    places = {text: place for place, text in enumerate(texts)}
    vectors_ND = embed(texts)
    sources_ND = vectors_ND[[places[pair.source.text] for pair in pairs]]
    targets_ND = vectors_ND[[places[pair.target.text] for pair in pairs]]
    cosines_N = np.einsum("nd,nd->n", sources_ND, targets_ND)
    return [pair for pair, cosine in zip(pairs, cosines_N, strict=True) if cosine >= LEAST or corpus_of(pair) in FREE]


def _numbers(pairs: Sequence[Pair]) -> dict[str, int | None]:
    """The cluster of each text."""
    clustered = corpora.clusters(replace(pair, cluster=None) for pair in pairs)
    return {side.text: pair.cluster for pair in clustered for side in (pair.source, pair.target)}


def write_records(train: Sequence[Pair], dev: Sequence[Pair], counts: Counts, folder: Path) -> None:
    """Write FOLDER/train.jsonl, dev.jsonl and counts.md, and print the counts."""
    folder.mkdir(parents=True, exist_ok=True)
    corpora.write_jsonl(train, folder / "train.jsonl")
    corpora.write_jsonl(dev, folder / "dev.jsonl")
    with atomic_path(folder / "counts.md") as unfinished:
        unfinished.write_text(counts.markdown(), encoding="utf-8")
    print(f"{counts.markdown()}\n{len(train):,} training and {len(dev):,} development records")


def main() -> None:
    """Write both files and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with quora/, paranmt/ and the others")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=float, default=1.0, help="such a share of every corpus; 0.1 for trials")
    parser.add_argument("--only", nargs="+", metavar="CORPUS", help="write these alone; counts are of all")
    options = parser.parse_args()
    train, dev, counts = made(options.data, seed=options.seed, part=options.part)
    if options.only:
        train, dev = ([pair for pair in some if corpus_of(pair) in options.only] for some in (train, dev))
    write_records(train, dev, counts, options.out)


if __name__ == "__main__":
    main()
