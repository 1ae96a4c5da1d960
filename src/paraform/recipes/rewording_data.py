"""The training and development pairs of the coming model `compact`: more than Quora's questions.

    python -m paraform.recipes.rewording_data ../shared/data --out runs/rewording-data

Writes OUT/train.jsonl, OUT/dev.jsonl and OUT/counts.md. Every direction that is to be learned is a record of its own,
and pairs that change a fact are left out already: train with `both_directions=False`, `same_facts=False`. Pairs of
people's texts are labelled 1; a record without a label is a sentence without a partner, the target of a source that is
made from it (`sources_of`). What stays unreadable, stands in a test or changes a fact is counted in the table.

Sentences alone are what SynPG (Huang and Chang 2021) learns from. Its source is a bag of words; here only function
words go and phrases move (`rewording.thinning`), since CRL-EGPG's content encoder reads order, by which alone one
knows who does what to whom: every content word, negation, number and pronoun is left. SynPG's form is the sentence's
own parse, which has no words; CRL-EGPG's exemplar has, and a decoder that attends to the target itself would copy it.
So these get their exemplars as all pairs do: other sentences of nearly the same tags, mined by the trainer.
Running time: RUNTIME. Counts: docs/results/rewording-data.md.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paraform import corpora
from paraform.corpora.leaks import normalised, without_overlap
from paraform.recipes.rewording_corpora import (
    ALONE,
    FILES,
    ONE_WAY,
    kind_of,
    measured_by,
    own_dev,
    pairs_of,
    sentences,
    sources_of,
)
from paraform.recipes.rewording_counts import Counts, corpus_of
from paraform.records import Pair, Sentence
from paraform.rewording import fluency
from paraform.rewording.checks import changed_words
from paraform.rewording.restored import restored, unusable
from paraform.rewording.reword import sentences_of
from paraform.trainers.held_out import hold_out_pairs
from paraform.trainers.same_facts import pairs_of_same_facts
from paraform.weights import atomic_path
from paraform.words import tokenize, usual_case

MOST_WORDS = 30  # as `ExemplarConfig.compact` has it, tokenised: what stands behind them would be cut
DEV = {"quora": 1_000, "paranmt": 300, "tatoeba": 200, "mrpc": 60, "pan": 150, "paws": 60, "banking77": 150}
"""Development pairs of each corpus, at most: of its own development part, else of clusters that are held out."""


@dataclass(frozen=True)
class Reader:
    """How texts are read.

    Args:
        usual: lower-cased word → how it is mostly written inside sentences.
        language: knows English words.
        seed: of all that is drawn.
        part: of every corpus such a share is taken, drawn.
    """

    usual: Mapping[str, str]
    language: fluency.NGrams
    seed: int
    part: float

    def pairs(self, pairs: Sequence[Pair], corpus: str, counts: Counts) -> Iterator[Pair]:
        """A share of the pairs, restored, each once, without what is unusable or has the same words on both sides."""
        seen: set[frozenset[str]] = set()
        for pair in random.Random(self.seed).sample(pairs, round(self.part * len(pairs))):
            counts.add(corpus, "read")
            one, other = (restored(side.text, self.usual) for side in (pair.source, pair.target))
            both = frozenset((normalised(one), normalised(other)))
            why = self.why_not(one) or self.why_not(other)
            if not why and not changed_words(tokenize(one), tokenize(other)):
                why = "same words"
            if why or both in seen:
                counts.add(corpus, why or "repeated")
                continue
            seen.add(both)
            yield Pair(Sentence(one), Sentence(other), label=1, origin=pair.origin)

    def alone(self, data: Path, corpus: str, tests: set[str], counts: Counts) -> list[Pair]:
        """Sentences without a partner as the targets of what is made from them.

        Args:
            tests: `normalised` texts that may be no target.
        """
        setting, row = ALONE[corpus], f"{corpus} alone"
        kept: dict[str, Sentence] = {}
        for one in sentences(data, corpus, seed=self.seed, part=self.part):
            if setting.most and len(kept) >= self.part * setting.most:
                break
            counts.add(row, "read")
            text = restored(one.text, self.usual, setting.ending)
            why = self.why_not(text)
            if not why and not setting.least_words <= len(tokenize(text)) <= setting.most_words:
                why = "too long" if len(tokenize(text)) > setting.most_words else "too short"
            if not why and len(sentences_of(text)) > 1:
                why = "several sentences"
            if why or normalised(text) in tests:
                counts.add(row, why or "in a test")
                continue
            kept[text] = one
        made = sources_of(list(kept), self.usual, seed=self.seed, framed=setting.framed)
        pairs = [
            Pair(Sentence(source), Sentence(text), origin=one.origin)
            for source, (text, one) in zip(made, kept.items(), strict=True)
        ]
        changed = [pair for pair in pairs if changed_words(tokenize(pair.source.text), tokenize(pair.target.text))]
        counts.add(row, "same words", len(pairs) - len(changed))
        counts.add(row, "→ sentence", len(changed))
        for pair in changed:
            counts.add(row, f"{kind_of(pair.target.text)}s")
        return changed

    def why_not(self, text: str) -> str:
        """Why nothing is learned from a restored text; "" if there is no reason."""
        found = unusable(text, self.language, most_words=MOST_WORDS)
        return found if found in ("", "too long", "a mark for a word") else "unreadable"


def made(data: Path, *, seed: int, part: float = 1.0) -> tuple[list[Pair], list[Pair], Counts]:
    """Training and development records, with clusters, in an order drawn by the seed, and the counts."""
    counts, tests = Counts(), measured_by(data)
    read = {corpus: pairs_of(data, corpus) for corpus in FILES}
    texts = dict.fromkeys(side.text for some in read.values() for pair in some for side in (pair.source, pair.target))
    reader = Reader(usual_case(map(tokenize, texts)), fluency.load(), seed, part)
    pairs = [pair for corpus, some in read.items() for pair in reader.pairs(some, corpus, counts)]
    kept = without_overlap(pairs, tests)
    counts.add_all(kept.leaked, "in a test")
    counts.add_all(kept.related, "its cluster")
    clustered = corpora.clusters(kept.records)  # of all, so that what changes a fact still tells who is related
    same = pairs_of_same_facts(clustered, max_tokens=MOST_WORDS, usual=reader.usual)
    for corpus, count in (Counter(map(corpus_of, kept.records)) - Counter(map(corpus_of, same))).items():
        counts.add(corpus, "other facts", count)
    dev: list[Pair] = []
    for corpus, most in DEV.items():
        own = list(reader.pairs(own_dev(data, corpus), corpus, Counts()))
        if own:
            own = pairs_of_same_facts(own, max_tokens=MOST_WORDS, usual=reader.usual)[: round(part * most)]
        else:
            held = [pair for pair in same if corpus_of(pair) == corpus]
            room = min(round(part * most), len(held) // 10)
            own = hold_out_pairs(held, seed=seed, most=room)[1] if room else []
        dev += own
    counts.add_all(dev, "dev")
    apart = without_overlap(same, [side.text for pair in dev for side in (pair.source, pair.target)])
    counts.add_all([*apart.leaked, *apart.related], "held out")
    backward = [replace(pair, source=pair.target, target=pair.source) for pair in apart.records]
    forward = [pair for pair in apart.records if corpus_of(pair) not in ONE_WAY]
    counts.add_all(forward, "1 → 2")
    counts.add_all(backward, "2 → 1")
    known = set(map(normalised, [*tests, *(side.text for pair in dev for side in (pair.source, pair.target))]))
    alone = [pair for corpus in ALONE for pair in reader.alone(data, corpus, known, counts)]
    drawn, number = random.Random(seed), _numbers([*kept.records, *alone])
    train = [replace(pair, cluster=number[pair.source.text]) for pair in (*forward, *backward, *alone)]
    dev = [
        replace(pair, source=pair.target, target=pair.source) if corpus_of(pair) in ONE_WAY else pair for pair in dev
    ]
    drawn.shuffle(train)
    drawn.shuffle(dev)
    return train, corpora.clusters(replace(pair, cluster=None) for pair in dev), counts


def _numbers(pairs: Sequence[Pair]) -> dict[str, int | None]:
    """The cluster of each text."""
    clustered = corpora.clusters(replace(pair, cluster=None) for pair in pairs)
    return {side.text: pair.cluster for pair in clustered for side in (pair.source, pair.target)}


def main() -> None:
    """Write both files and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with quora/, paranmt/ and the others")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=float, default=1.0, help="such a share of every corpus; 0.1 for trials")
    options = parser.parse_args()
    train, dev, counts = made(options.data, seed=options.seed, part=options.part)
    options.out.mkdir(parents=True, exist_ok=True)
    corpora.write_jsonl(train, options.out / "train.jsonl")
    corpora.write_jsonl(dev, options.out / "dev.jsonl")
    with atomic_path(options.out / "counts.md") as unfinished:
        unfinished.write_text(counts.markdown(), encoding="utf-8")
    print(f"{counts.markdown()}\n{len(train):,} training and {len(dev):,} development records")


if __name__ == "__main__":
    main()
