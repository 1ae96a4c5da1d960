"""Pairs that are made of those that say the same: in another order, altered, and sentences that are merely near."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from paraform import corpora, encoders
from paraform.corpora.leaks import normalised
from paraform.progress import track
from paraform.records import Origin, Pair, Sentence
from paraform.rewording.negatives import HELD_OUT, KINDS, Altered, negatives
from paraform.syntax import load_parser
from paraform.syntax.trees import Parser
from paraform.words import tokenize
from paraform_papers.shipped.judge_reordered import reordered

TRAINED = tuple(kind for kind in KINDS if kind not in HELD_OUT)
NEAR = (0.5, 0.8)  # cosine of another sentence that is taken for one that says something else; above, many say the same
LEAST_WORDS, MOST_WORDS = 4, 40
PART = 1000  # pairs that are parsed at once
COPIED = 0.1  # share of the sentences that say the same as themselves


def fits(text: str) -> bool:
    """Whether it is neither too short to be altered nor too long to be read."""
    return LEAST_WORDS <= len(tokenize(text)) <= MOST_WORDS


def made_pairs(pairs: Sequence[Pair], *, seed: int, of_each: int = 2) -> Iterator[tuple[str, Pair]]:
    """What is made of pairs that say the same, and its kind.

    - "reordered": a side in another order, twice over too, or what `roles` made of it in another order: it says the
      same.
    - "copy": a sentence twice.
    - a kind of `TRAINED`: a side altered. The other sentence is any that says the same as the pair, so that neither
      many nor few words in common tell which it is; what `roles` exchanged is also put in another order.

    Args:
        of_each: how many negatives are made of each pair, rare kinds before common ones; `roles`, which are hardest to
            learn, are beside them.
    """
    same = [pair for pair in pairs if pair.label == 1 and fits(pair.target.text)]
    parse, counts, drawn = load_parser(device="cpu"), Counter[str](), random.Random(seed)
    for start in track(range(0, len(same), PART), "making pairs", show=True):
        some = same[start : start + PART]
        texts = [pair.target.text for pair in some]
        alike = _in_other_orders(texts, parse, drawn)
        found = negatives(texts, TRAINED, parse, part="training", seed=seed)
        exchanged = {at: drawn.choice(row["roles"]) for at, row in enumerate(found) if "roles" in row}
        orders = _in_other_orders([one.text for one in exchanged.values()], parse, drawn)
        again = dict(zip(exchanged, orders, strict=True))
        for at, (pair, row) in enumerate(zip(some, found, strict=True)):
            side = pair.target
            yield from (("reordered", _of(pair, side, other)) for other in alike[at])
            if drawn.random() < COPIED:
                yield "copy", _of(pair, side, side.text)
            sides = [pair.source, side, *map(Sentence, alike[at])]
            if (one := exchanged.get(at)) is not None:
                yield "roles", made_pair(drawn.choice(sides), one, pair)
                for other in again[at]:
                    yield "roles", made_pair(drawn.choice(sides), one._replace(text=other), pair)
                    yield "reordered", _of(pair, Sentence(one.text), other)
            for kind in sorted({*row} - {"roles"}, key=lambda name: (counts[name] + drawn.random(), name))[:of_each]:
                counts[kind] += 1
                turned = kind == "dropped" and drawn.random() < 0.5
                yield kind, made_pair(drawn.choice(sides), drawn.choice(row[kind]), pair, turned=turned)


def _in_other_orders(texts: Sequence[str], parse: Parser, drawn: random.Random) -> list[list[str]]:
    """Two other orders of each text at most, and one of the first of these."""
    once = reordered(texts, parse, drawn, most=2)
    first = [(at, some[0]) for at, some in enumerate(once) if some]
    again = reordered([other for _, other in first], parse, drawn, most=1)
    twice = {at: others for (at, _), others in zip(first, again, strict=True)}
    return [
        list(dict.fromkeys(other for other in (*some, *twice.get(at, ())) if other.lower() != text.lower()))
        for at, (text, some) in enumerate(zip(texts, once, strict=True))
    ]


def _of(pair: Pair, side: Sentence, other: str) -> Pair:
    """Two texts that say the same, of the pair's cluster."""
    return replace(pair, source=side, target=Sentence(other), label=1, forth=None, back=None)


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
                yield Pair(Sentence(texts[at]), Sentence(texts[int(other)]), label=0, origin=Origin("nearest/pairs", 1))
                break
