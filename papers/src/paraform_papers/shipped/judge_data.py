r"""The training and development pairs of the embedded judges of meaning, *free* and *all*.

    python -m paraform_papers.shipped.judge_data ../shared/data --out runs/judge-data --terms free

Writes OUT/train.jsonl, OUT/dev.jsonl and OUT/counts.md.

- PAWS: four fifths of the half that chooses, by component; the last fifth is development data.
- Tatoeba's pairs, and STS-B's train part: `SAME` points and more say the same, `OTHER` and less do not.
- Rewordings that language models wrote (`written.jsonl`): they say the same.
- What language models wrote with nearly the words of 800 of SQuAD's sentences (`swapped.jsonl`), half of it the same.
- Answers of earlier models that were read (`read.jsonl`): usable ones say the same, wrong ones do not.
- Sentences of SQuAD's contexts and of Banking77's used intents, reworded by the default call's rules.
- Of all of these: negatives of `rewording.negatives`, every kind but `HELD_OUT`, of three quarters of the word lists;
  of a pair one side, or the same side twice; and the nearest sentence of another cluster.

*all* adds MRPC, PAN, SICK with its directions, and Quora's duplicates against the nearest of other clusters.
What stands in a test, or was rated, is left out with its cluster.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from paraform import corpora, encoders
from paraform.corpora.leaks import normalised, without_overlap
from paraform.progress import track
from paraform.records import InputError, Origin, Pair, Sentence, texts_of
from paraform.rewording.negatives import HELD_OUT, KINDS, Altered, negatives
from paraform.rewording.parts import parts_of
from paraform.rewording.reworder import Reworder
from paraform.syntax import load_parser
from paraform.trainers.held_out import hold_out_labelled
from paraform.words import tokenize
from paraform_papers.shipped.judge_pairs import labelled
from paraform_papers.shipped.rewording_corpora import measured_by, sentences
from paraform_papers.shipped.rewording_counts import Counts, corpus_of
from paraform_papers.shipped.rewording_data import write_records

TRAINED = tuple(kind for kind in KINDS if kind not in HELD_OUT)
ALONE = {"squad": 9_000, "banking77": 4_000}  # sentences of each that are reworded by rules
NEAR = (0.5, 0.9)  # cosine of another sentence that is taken for one that says something else
LEAST_WORDS, MOST_WORDS = 4, 40
NOT_NEAR = ("paws", "stsb", "read", "sick", "swapped", "rules, banking77")
"""Corpora whose pairs that differ are given, or whose nearest sentences mostly say the same, of one intent."""
REORDERED_TIMES = 4  # how often each pair of PAWS, and of those like it, stands there
RATED = Path(__file__).parents[4] / "docs" / "ratings"


def reworded(data: Path, corpus: str, *, seed: int) -> list[Pair]:
    """Sentences without a partner and what the default call's rules make of them, those that pass every check."""
    reworder, pairs, most = Reworder.default("cpu"), list[Pair](), ALONE[corpus]
    every = [one.text for one in sentences(data, corpus, seed=seed)]
    fit = [text for text in every if fits(text) and len(parts_of(text)) == 1]
    chosen = random.Random(seed).sample(fit, min(most, len(fit)))
    for start in track(range(0, len(chosen), 500), f"rewording {corpus}", show=True):
        some = chosen[start : start + 500]
        for text, row in zip(some, reworder.judge(some, num=3), strict=True):
            passed = [one.text for one in row if not one.failed and not one.wrapped][:2]
            # One of which there is none is still a sentence that negatives are made of.
            pairs += [Pair(Sentence(text), Sentence(other), label=1) for other in passed or [text]]
    return pairs


def fits(text: str) -> bool:
    """Whether it is neither too short to be altered nor too long to be read."""
    return LEAST_WORDS <= len(tokenize(text)) <= MOST_WORDS


def altered(pairs: Sequence[Pair], *, seed: int, of_each: int = 2) -> Iterator[tuple[str, Pair]]:
    """Negatives of pairs that say the same, and their kinds, rare kinds before common ones.

    Of half of them one side is the pair's other side, of half the same side.

    Args:
        of_each: how many are made of each pair.
    """
    same = [pair for pair in pairs if pair.label == 1 and fits(pair.target.text)]
    texts = [pair.target.text for pair in same]
    parse, counts, drawn = load_parser(device="cpu"), Counter[str](), random.Random(seed)
    for start in track(range(0, len(texts), 1000), "altering", show=True):
        found = negatives(texts[start : start + 1000], TRAINED, parse, part="training", seed=seed)
        for pair, row in zip(same[start : start + 1000], found, strict=True):
            for kind in sorted(row, key=lambda name: counts[name] + drawn.random())[:of_each]:
                counts[kind] += 1
                one = drawn.choice(row[kind])
                side = pair.source if drawn.random() < 0.5 else pair.target
                yield kind, made_pair(side, one, pair, turned=kind == "dropped" and drawn.random() < 0.5)


def made_pair(side: Sentence, one: Altered, pair: Pair, *, turned: bool = False) -> Pair:
    """A sentence and what was made of it or of its paraphrase, with what is known of both directions."""
    ways = [None if way is None else float(way) for way in (one.forth, one.back)]
    sides = side, Sentence(one.text)
    if turned:
        ways, sides = ways[::-1], sides[::-1]
    return replace(pair, source=sides[0], target=sides[1], label=0, forth=ways[0], back=ways[1])


def nearest_others(pairs: Sequence[Pair], *, seed: int, share: float = 0.25) -> Iterator[Pair]:
    """Sentences and the nearest one of another cluster, by minilm, of a share of the pairs."""
    clustered = corpora.clusters([pair for pair in pairs if pair.label == 1])
    texts = list(dict.fromkeys(pair.target.text for pair in clustered))
    cluster = {pair.target.text: pair.cluster for pair in clustered}
    known = {frozenset((normalised(p.source.text), normalised(p.target.text))) for p in clustered}
    vectors_ND = encoders.load("minilm", device="cpu").encode(texts, progress=True)
    drawn = random.Random(seed)
    for at in drawn.sample(range(len(texts)), round(share * len(texts))):
        cosines_N = vectors_ND @ vectors_ND[at]
        for other in np.argsort(-cosines_N)[1:6]:
            pair = frozenset((normalised(texts[at]), normalised(texts[other])))
            near = NEAR[0] <= cosines_N[other] <= NEAR[1]
            if near and cluster[texts[at]] != cluster[texts[other]] and pair not in known:
                yield Pair(Sentence(texts[at]), Sentence(texts[int(other)]), label=0, origin=Origin("nearest", 1))
                break


def rated(folder: Path = RATED) -> list[str]:
    """Every text of `docs/ratings`: none of them is learned from. Raises: InputError if it is not there."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected the ratings, whose texts are not to be learned from")
    texts: list[str] = []
    for file in sorted(folder.glob("*.json*")):
        text = file.read_text(encoding="utf-8")
        for row in map(json.loads, text.splitlines()) if file.suffix == ".jsonl" else [json.loads(text)]:
            texts += _strings(row)
    return texts


def _strings(value: Any) -> list[str]:
    """All sentences in a JSON value."""
    if isinstance(value, str):
        return [value] if value.count(" ") >= 2 else []
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inside for text in _strings(one)]


def made(data: Path, terms: str, out: Path, *, seed: int) -> tuple[list[Pair], list[Pair], Counts]:
    """Training and development pairs in an order drawn by the seed, and the counts.

    Args:
        out: keeps what the rules said, which takes longest.
    """
    counts, read = Counts(), labelled(data, terms)
    paws_dev = of_corpus(read.pop("paws dev"), "paws")
    for corpus in ALONE:
        if not (said := out / f"rules-{corpus}-{seed}.jsonl").exists():
            out.mkdir(parents=True, exist_ok=True)
            corpora.write_jsonl(reworded(data, corpus, seed=seed), said)
        read[f"rules, {corpus}"] = [one for one in corpora.read_jsonl(said) if isinstance(one, Pair)]
    every = [pair for name, some in read.items() for pair in of_corpus(some, name)]
    counts.add_all(every, "read")
    kept = without_overlap(every, [*measured_by(data), *rated(), *texts_of(paws_dev)]).records
    counts.add_lost(every, kept, "in a test or rated, or its cluster")
    train, dev = hold_out_labelled(kept, seed=seed)
    parts = [
        with_negatives(some, counts, part, seed=seed) for part, some in (("training", train), ("development", dev))
    ]
    drawn = random.Random(seed)
    learned, others = ([pair for pair in some if pair.source.text != pair.target.text] for some in parts)
    learned += [pair for pair in train if corpus_of(pair) in ("paws", "swapped")] * (REORDERED_TIMES - 1)
    drawn.shuffle(learned)
    drawn.shuffle(others)
    counts.add_all(learned, "training")
    chosen = [*paws_dev, *others[: len(paws_dev)]]
    counts.add_all(chosen, "development")
    return corpora.clusters(learned), corpora.clusters(chosen), counts


def of_corpus(pairs: Sequence[Pair], name: str) -> list[Pair]:
    """The pairs as of a corpus of that name."""
    return [replace(pair, cluster=None, origin=Origin(f"{name}/pairs", at)) for at, pair in enumerate(pairs, start=1)]


def with_negatives(pairs: Sequence[Pair], counts: Counts, part: str, *, seed: int) -> list[Pair]:
    """The pairs, what is made of them, and other sentences that are near."""
    known = {normalised(text) for text in texts_of(pairs)}
    every = altered(pairs, seed=seed)
    # What is a sentence of the data may say the same as another one of them.
    made_of = [(kind, one) for kind, one in every if not known.issuperset(map(normalised, texts_of([one])))]
    for kind, _ in made_of:
        counts.add(f"made: {kind}", part)
    near = [pair for pair in pairs if corpus_of(pair) not in NOT_NEAR]
    return [*pairs, *(one for _, one in made_of), *nearest_others(near, seed=seed)]


def main() -> None:
    """Write both files and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--terms", choices=("free", "all"), required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    train, dev, counts = made(options.data, options.terms, options.out, seed=options.seed)
    write_records(train, dev, counts, options.out)


if __name__ == "__main__":
    main()
