r"""The training and development pairs of the embedded language models, *free* and *all*.

    python -m paraform_papers.shipped.lm_data ../shared/data --out runs/lm-data --terms free
    python -m paraform_papers.shipped.lm_data ../shared/data --out runs/lm-data-all --terms all --most 24000

Writes OUT/train.jsonl, OUT/dev.jsonl and OUT/counts.md. *free* has pairs that engineers at work may use: Tatoeba, PAWS,
STS-B's pairs of 4.5 and more, ParaNMT, and near duplicates of Banking77's used intents; what is English is told by
their own words and SQuAD's. *all* adds Quora, MRPC, PAN and SICK. Left out is what stands in a test, changes a number,
a name or a denial, says hardly anything, or is nearly a copy. Every direction that is to be learned is a record of its
own. A fifth of the pairs is written in small letters and mostly without an end mark, some have slots in the place of a
name or a number that both sides have, so that an answer has its source's manner.
Running time on one core: two to four minutes of free, six of all.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from paraform import corpora, encoders
from paraform.corpora.leaks import without_overlap
from paraform.corpora.scored import read_scored
from paraform.evaluation.embedding.development import PAWS, paws_halves
from paraform.records import Pair, Sentence, texts_of
from paraform.rewording.asking import AUXILIARIES, QUESTION_WORDS
from paraform.rewording.checks import changed_words
from paraform.trainers.held_out import hold_out_pairs
from paraform.words import STOP_WORDS, tokenize
from paraform_papers.shipped.rewording_corpora import ONE_WAY, measured_by, pairs_of, sentences
from paraform_papers.shipped.rewording_counts import Counts, corpus_of
from paraform_papers.shipped.rewording_data import of_one_meaning, write_records
from paraform_papers.shipped.rewording_reader import MOST_WORDS, Reader
from paraform_papers.shipped.same_facts import pairs_of_same_facts
from paraform_papers.shipped.usual_case import usual_case

CORPORA = {
    "free": ("tatoeba", "paws", "stsb", "paranmt", "banking77"),
    "all": ("tatoeba", "paws", "stsb", "paranmt", "banking77", "quora", "mrpc", "pan", "sick"),
}
SCORED = {"stsb": "stsb/stsb-en-train.csv", "sick": "sick/SICK_train.txt"}
SAME = 4.5  # of 5: the score of pairs that say the same
MOST_KEPT = 0.75  # share of the longer side's words that both have: above it a pair is nearly a copy, if its order is
LEAST_CONTENT = 1  # words of a side that are no function words
KNOWN = 3  # times that a word stands there
MOST_READ = 40_000  # pairs of a corpus, drawn: Quora has more than can be learned from here
QUESTIONS = 0.5  # share of all records, at most
SMALL, SLOTTED = 0.2, 0.06
NAMES = ("{name}", "{{ name }}", "[NAME]", "<name>", "$name", "%s", "{first_name}", "[PERSON]", "@name", "__NAME__")
NUMBERS = ("{number}", "{{ amount }}", "[NUMBER]", "<date>", "${AMOUNT}", "%d", "{date}", "[DATE]", "{0}", "__N__")
_FACT = re.compile(r"(?<![\w.,:])(?:\d+|[A-Z][a-z]{2,})(?![\w.,:]*\w)")


def pairs_of_terms(data: Path, terms: str) -> dict[str, list[Pair]]:
    """The paraphrases of each corpus, as they are distributed."""
    found: dict[str, list[Pair]] = {}
    for corpus in CORPORA[terms]:
        if corpus in SCORED:
            scored = read_scored(data / SCORED[corpus])
            found[corpus] = [pair for pair in scored if pair.score is not None and pair.score >= SAME]
        elif corpus == "paws":  # a fifth of the half that chooses chooses
            choosing = corpora.clusters([p for p in paws_halves(data / PAWS).choosing if p.label != 0])
            found[corpus] = [pair for pair in choosing if (pair.cluster or 0) % 5]
        else:
            pairs = pairs_of(data, corpus)
            found[corpus] = random.Random(0).sample(pairs, min(len(pairs), MOST_READ))
    return found


def made(data: Path, terms: str, *, seed: int, most: int = 0) -> tuple[list[Pair], list[Pair], Counts]:
    """Training and development records, with clusters, in an order drawn by the seed, and the counts.

    Args:
        most: training records; 0: all.
    """
    counts, tests = Counts(), measured_by(data)
    read = pairs_of_terms(data, terms)
    texts = dict.fromkeys(texts_of(pair for some in read.values() for pair in some))
    more = [one.text for one in sentences(data, "squad", seed=seed)]
    reader = Reader(usual_case(map(tokenize, texts), least=3), known_words([*texts, *more]), seed, 1.0)
    pairs = [pair for corpus, some in read.items() for pair in reader.pairs(some, corpus, counts)]
    kept = without_overlap(pairs, tests)
    counts.add_all([*kept.leaked, *kept.related], "in a test, or its cluster")
    clustered = corpora.clusters(kept.records)
    usual = usual_case(map(tokenize, texts_of(clustered)))
    same = pairs_of_same_facts(clustered, max_tokens=MOST_WORDS, usual=usual)
    counts.add_lost(kept.records, same, "other facts")
    near = of_one_meaning(same, encoders.load("minilm").encode)
    counts.add_lost(same, near, "another meaning")
    told = [pair for pair in near if tells(pair)]
    counts.add_lost(near, told, "hardly says anything")
    changed = [pair for pair in told if changes(pair)]
    counts.add_lost(told, changed, "nearly a copy")
    train, dev = hold_out_pairs(changed, seed=seed, most=min(400, len(changed) // 20))
    counts.add_all(dev, "dev")
    drawn = random.Random(seed)
    records = list(directed(train))
    drawn.shuffle(records)
    asked = [pair for pair in records if asks(pair.target.text)]
    others = [pair for pair in records if not asks(pair.target.text)]
    room = most or len(records)
    asked = asked[: min(round(QUESTIONS * room), len(others))]
    records = [*asked, *others[: room - len(asked)]]
    drawn.shuffle(records)
    counts.add_all(records, "records")
    return [in_manner(pair, drawn) for pair in records], [in_manner(pair, drawn) for pair in dev], counts


def known_words(texts: Iterable[str]) -> set[str]:
    """Words that stand there `KNOWN` times or more, lower-cased."""
    counts = Counter(word.lower() for text in texts for word in tokenize(text))
    return {word for word, count in counts.items() if count >= KNOWN}


def asks(text: str) -> bool:
    """Whether it is a question, by its mark or its first word: of Quora's a tenth have no mark."""
    return text.endswith("?") or text.split(" ")[0].lower() in QUESTION_WORDS | AUXILIARIES


def directed(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Each pair both ways, but for what no person wrote."""
    for pair in pairs:
        yield replace(pair, source=pair.target, target=pair.source)
        if corpus_of(pair) not in ONE_WAY:
            yield pair


def tells(pair: Pair) -> bool:
    """Whether both sides have some content, and neither twice as many words."""
    sides = [tokenize(side.text) for side in (pair.source, pair.target)]
    content = [sum(word.lower() not in STOP_WORDS and word.isalnum() for word in words) for words in sides]
    short, long = sorted(map(len, sides))
    return min(content) >= LEAST_CONTENT and long <= 1.6 * short + 2


def changes(pair: Pair) -> bool:
    """Whether a quarter of the words are others, or four or more stand elsewhere."""
    sides = [tokenize(side.text) for side in (pair.source, pair.target)]
    one, other = ({word.lower() for word in words if word.isalnum()} for words in sides)
    return len(one & other) <= MOST_KEPT * max(len(one), len(other)) or changed_words(*sides) >= 4


def in_manner(pair: Pair, drawn: random.Random) -> Pair:
    """The pair as messages and templates are written, or as it is."""
    one, other = pair.source.text, pair.target.text
    number = drawn.random()
    if number < SMALL:
        ends = drawn.random() < 0.7
        one, other = (text.lower().rstrip(".?!" if ends else "") for text in (one, other))
    elif number < SMALL + SLOTTED:
        one, other = slotted(one, other, drawn)
    return replace(pair, source=Sentence(one), target=Sentence(other))


def slotted(one: str, other: str, drawn: random.Random) -> tuple[str, str]:
    """Both with the same slot in the place of a name or a number that both have once, if there is one."""
    inside = {found[0] for found in _FACT.finditer(one) if found.start()}
    both = sorted(fact for fact in inside if one.count(fact) == other.count(fact) == 1 and other.index(fact))
    if not both:
        return one, other
    fact = drawn.choice(both)
    slot = drawn.choice(NUMBERS if fact[0].isdigit() else NAMES)
    return one.replace(fact, slot), other.replace(fact, slot)


def main() -> None:
    """Write both files and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with tatoeba/, paws/ and the others")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--terms", choices=tuple(CORPORA), required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=0, help="training records; 0: all")
    options = parser.parse_args()
    train, dev, counts = made(options.data, options.terms, seed=options.seed, most=options.most)
    write_records(train, dev, counts, options.out)


if __name__ == "__main__":
    main()
