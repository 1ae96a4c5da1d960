r"""The training and development pairs of the embedded judges of meaning, *free* and *all*.

    python -m paraform_papers.shipped.judge_data ../shared/data --out runs/judge-data --terms free

Writes OUT/train.jsonl, OUT/dev.jsonl and OUT/counts.md.

- PAWS: four fifths of the half that chooses, by component; the last fifth is development data.
- Tatoeba's pairs, and STS-B's train part: `SAME` points and more say the same, `OTHER` and less do not.
- Rewordings that language models wrote (`written.jsonl`): they say the same.
- What language models wrote with nearly the words of 800 of SQuAD's sentences (`swapped.jsonl`), half of it the same.
- Answers of earlier models that were read (`read.jsonl`): usable ones say the same, wrong ones do not.
- Sentences of SQuAD's contexts and of Banking77's used intents, reworded by the default call's rules.
- What they wrote of 3,691 more sentences (`ways.jsonl`): also with a detail less, and with one more.
- Pairs of questions and sentences that are near by minilm, read by language models (`near.jsonl`).
- Of all of these what `judge_made` makes: other orders that say the same, negatives of every kind but `HELD_OUT`, of
  three quarters of the word lists, and the nearest sentence of another cluster.

Development pairs are PAWS's, as many others that are held out, and as many of Quora's dev.tsv: duplicates, and
questions of other clusters that share most words. They choose the checkpoint and calibrate it.
*all* adds MRPC, PAN, and Quora's duplicates against the nearest of other clusters.
What stands in a test, or was rated, is left out with its cluster.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraform import corpora
from paraform.corpora.leaks import normalised, without_overlap
from paraform.progress import track
from paraform.records import InputError, Origin, Pair, Sentence, texts_of
from paraform.rewording.parts import parts_of
from paraform.rewording.reworder import Reworder
from paraform_papers.shipped.judge_made import fits, made_pairs, nearest_others
from paraform_papers.shipped.judge_pairs import labelled
from paraform_papers.shipped.rewording_corpora import measured_by, sentences
from paraform_papers.shipped.rewording_counts import Counts, corpus_of
from paraform_papers.shipped.rewording_data import write_records
from paraform_papers.shipped.written import digest

ALONE = {"squad": 9_000, "banking77": 4_000}  # sentences of each that are reworded by rules
WHOLE = ("paws", "swapped", "ways", "near")  # taken whole: people or language models wrote or read what differs
OF_TERMS = ("mrpc", "pan", "quora")  # what *all* adds
NOT_NEAR = (*WHOLE, "stsb", "read", "rules, banking77")
"""Corpora whose pairs that differ are given, or whose nearest sentences mostly say the same, of one intent."""
MOST, ONE_IN = 1_000_000, 20  # pairs; clusters of which one is held out
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


def made(
    data: Path,
    terms: str,
    out: Path,
    *,
    seed: int,
    most: int = MOST,
    times: int = 1,
    each: int = MOST,
    of_ways: slice = slice(None),
) -> tuple[list[Pair], list[Pair], Counts]:
    """Training and development pairs in an order drawn by the seed, and the counts.

    Args:
        out: keeps what the rules said, which takes longest.
        most: pairs of training; of those that are not of `WHOLE` or `OF_TERMS` so many are drawn as fit.
        times: how often each pair of `WHOLE` stands there.
        each: the most pairs of each of `OF_TERMS`; as many of the nearest of other clusters.
        of_ways: which of `ways.jsonl`'s sentences.
    """
    counts, read = Counts(), labelled(data, terms, of_ways)
    paws_dev, quora_dev = (of_corpus(read.pop(f"{name} dev"), name) for name in ("paws", "quora"))
    for corpus in ALONE:
        if not (said := out / f"rules-{corpus}-{seed}.jsonl").exists():
            out.mkdir(parents=True, exist_ok=True)
            corpora.write_jsonl(reworded(data, corpus, seed=seed), said)
        read[f"rules, {corpus}"] = [one for one in corpora.read_jsonl(said) if isinstance(one, Pair)]
    every = [pair for name, some in read.items() for pair in of_corpus(some, name)]
    counts.add_all(every, "read")
    kept = without_overlap(every, [*measured_by(data), *rated(), *texts_of(paws_dev)]).records
    counts.add_lost(every, kept, "in a test or rated, or its cluster")
    train, dev = held_out(kept)
    known = {normalised(text) for text in texts_of(kept)}
    learned, others = (with_made(some, known, seed=seed) for some in (train, dev))
    drawn = random.Random(seed)
    drawn.shuffle(learned)
    drawn.shuffle(others)
    drawn.shuffle(quora_dev)
    whole = [pair for pair in train if corpus_of(pair) in WHOLE] * times
    rest = [pair for pair in learned if corpus_of(pair) not in WHOLE]
    if terms == "all":
        for corpus in (*OF_TERMS, "nearest"):
            whole += [pair for pair in rest if corpus_of(pair) == corpus][:each]
        rest = [pair for pair in rest if corpus_of(pair) not in (*OF_TERMS, "nearest")]
    learned = [*whole, *rest[: max(0, most - len(whole))]]
    drawn.shuffle(learned)
    counts.add_all(learned, "training")
    chosen = [pair for some in (paws_dev, others, quora_dev) for pair in some[: len(paws_dev)]]
    counts.add_all(chosen, "development")
    return corpora.clusters(learned), corpora.clusters(chosen), counts


def held_out(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Those to train on, and one in `ONE_IN` clusters, by a digest of its first text in the alphabet.

    What one pass holds out another one, of other sentences, holds out too.
    """
    joined = corpora.clusters([replace(pair, label=None) for pair in pairs])  # one that is labelled 0 ties, too
    least: dict[int | None, str] = {}
    for one in joined:
        for text in map(normalised, texts_of([one])):
            least[one.cluster] = min(text, least.get(one.cluster, text))
    chosen = {cluster for cluster, text in least.items() if int(digest(text), 16) % ONE_IN == 0}
    train, dev = (
        [pair for pair, one in zip(pairs, joined, strict=True) if (one.cluster in chosen) is held]
        for held in (False, True)
    )
    return train, dev


def of_corpus(pairs: Sequence[Pair], name: str) -> list[Pair]:
    """The pairs as of a corpus of that name."""
    return [replace(pair, cluster=None, origin=Origin(f"{name}/pairs", at)) for at, pair in enumerate(pairs, start=1)]


def with_made(pairs: Sequence[Pair], known: set[str], *, seed: int) -> list[Pair]:
    """The pairs, what is made of them, and other sentences that are near.

    Args:
        known: normalised, every text of the data.
    """
    # What is a sentence of the data may say the same as another one of them.
    made = [
        replace(one, origin=Origin(f"made, {kind}/pairs", at))
        for at, (kind, one) in enumerate(made_pairs(pairs, seed=seed), start=1)
        if one.label == 1 or not known.issuperset(map(normalised, texts_of([one])))
    ]
    near = [pair for pair in pairs if corpus_of(pair) not in NOT_NEAR]
    given = [pair for pair in pairs if pair.source.text != pair.target.text]
    return [*given, *made, *nearest_others(near, seed=seed)]


def main() -> None:
    """Write both files and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--terms", choices=("free", "all"), required=True)
    parser.add_argument("--most", type=int, default=MOST, help="pairs of training")
    parser.add_argument("--times", type=int, default=1, help="how often each pair of those taken whole stands there")
    parser.add_argument("--each", type=int, default=MOST, help="pairs of each corpus that all adds")
    parser.add_argument("--ways", type=int, nargs=2, metavar=("FROM", "TO"), help="which sentences of ways.jsonl")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    how = {
        "seed": options.seed,
        "most": options.most,
        "times": options.times,
        "each": options.each,
        "of_ways": slice(*options.ways or (None,)),
    }
    train, dev, counts = made(options.data, options.terms, options.out, **how)
    write_records(train, dev, counts, options.out)


if __name__ == "__main__":
    main()
