"""What a program can count of the default call's rewordings: six kinds of text, 300 of each, three asked for.

    python -m paraform_papers.shipped.kinds_counted ../shared/data --written docs/ratings/kinds-written-300.json \\
        --out papers/results/kinds-counted.json

The draw is `rewording_kinds`' with another seed. OUT has for each kind, of the best answers: how many there are,
copies, and those that only put words around; the share of the source's words that are gone, of answers whose shared
words stand in another order, and of those that keep capitals, end mark and literals. Of rows with three answers: how
alike these are (each one's BLEU against the others, the mean). Running time: ten minutes of two cores.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rapidfuzz.distance import LCSseq
from sacrebleu import sentence_bleu

from paraform.default_call import MODEL, reword
from paraform.literals import covered
from paraform.records import Rewording
from paraform.weights import atomic_path
from paraform.words import tokenize
from paraform_papers.shipped.rewording_kinds import inputs

SEED, EACH, ASKED = 59, 300, 3


def words_of(text: str) -> list[str]:
    """Lower-cased, without punctuation."""
    return [word.lower() for word in tokenize(text) if any(letter.isalnum() for letter in word)]


def gone(source: str, answer: str) -> float:
    """The share of the source's words that the answer has not, or less often."""
    own = Counter(words_of(source))
    return (own - Counter(words_of(answer))).total() / own.total()


def reordered(source: str, answer: str) -> bool:
    """Whether words that both have stand in another order."""
    own, said = words_of(source), words_of(answer)
    return LCSseq.similarity(own, said) < (Counter(own) & Counter(said)).total()


def in_its_manner(source: str, answer: str) -> bool:
    """Whether it begins with a capital and ends with a mark if the source does, with the same literals.

    And words of the source that stand within a sentence of the answer are written as they are there; "I" apart, and
    what begins a sentence of the source.
    """
    (own, own_literals), (said, said_literals) = covered(source), covered(answer)
    ends = [text.rstrip()[-1:] in tuple(".?!") for text in (own, said)]
    begins = [text.lstrip()[:1].islower() for text in (own, said)]
    words = tokenize(source)
    cased = {word.lower(): {each for each in words if each.lower() == word.lower()} for word in words}
    ends_one = tuple(".?!:")
    opening = {word.lower() for before, word in itertools.pairwise((".", *words)) if before in ends_one} | {"i"}
    within = [word for before, word in itertools.pairwise(tokenize(answer)) if before not in ends_one]
    kept = all(word in cased.get(word.lower(), {word}) or word.lower() in opening for word in within)
    same = sorted(own_literals) == sorted(said_literals)
    return ends[0] == ends[1] and begins[0] == begins[1] and kept and same


def alike(answers: Sequence[str]) -> float:
    """Self-BLEU (Zhu et al. 2018): each one's sentence BLEU against the others, the mean, of 100."""
    scores = [sentence_bleu(one, [*answers[:at], *answers[at + 1 :]]).score for at, one in enumerate(answers)]
    return sum(scores) / len(scores)


def counted(found: Sequence[Rewording]) -> dict[str, float]:
    """The figures of one kind."""
    best = [(one.source, one.candidates[0]) for one in found if one.candidates]
    pairs = [(source, candidate.text) for source, candidate in best]
    full = [[each.text for each in one.candidates] for one in found if len(one.candidates) == ASKED]

    def mean(values: Sequence[float]) -> float:
        return round(sum(values) / len(values), 4) if values else 0.0

    return {
        "texts": len(found),
        "answered": len(best),
        "copies": sum(source == answer for source, answer in pairs),
        "wrapped": sum(candidate.wrapped for _, candidate in best),
        "words gone": mean([gone(*pair) for pair in pairs]),
        "reordered": mean([reordered(*pair) for pair in pairs]),
        "in its manner": mean([in_its_manner(*pair) for pair in pairs]),
        "with three": len(full),
        "self-BLEU": mean([alike(answers) for answers in full]),
    }


def report(kinds: Mapping[str, Sequence[str]], found: Mapping[str, Rewording]) -> dict[str, dict[str, float]]:
    """The figures by kind, and of all."""
    of_kinds = {kind: [found[text] for text in texts] for kind, texts in kinds.items()}
    every = [one for some in of_kinds.values() for one in some]
    return {kind: counted(some) for kind, some in {**of_kinds, "all": every}.items()}


def main() -> None:
    """Write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with banking77/, quora/, squad/ and yelp/")
    parser.add_argument("--written", type=Path, required=True, help="JSON of tickets and commands")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    kinds = inputs(options.data, options.written, SEED, EACH)
    texts = list(dict.fromkeys(text for some in kinds.values() for text in some))
    found = dict(zip(texts, reword(texts, num=ASKED, model=MODEL), strict=True))
    with atomic_path(options.out) as unfinished:
        unfinished.write_text(json.dumps(report(kinds, found), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
