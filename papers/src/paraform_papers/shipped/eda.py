"""EDA, the augmentation that others compare with: four edits of words at random (Wei and Zou 2019).

Synonyms come from NLTK's WordNet where its data are installed; elsewhere the two edits that need none are left.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Synonyms = Callable[[str], Sequence[str]]
"""Of a lower-cased word; none for a stop word."""
Edit = Callable[[list[str], random.Random], list[str]]

ALPHA = 0.1  # the paper's share of words that an edit changes, at least one


def eda(text: str, *, num: int, seed: int, synonyms: Synonyms | None = None) -> list[str]:
    """At most `num` different texts, each the words of `text` after one edit; the kinds of edits take turns."""
    words = re.findall(r"\S+", text)
    drawn = random.Random(f"{seed} {text}")
    edits: list[Edit] = [swapped, deleted]
    if synonyms is not None:
        edits += [replaced_by(synonyms), inserted_by(synonyms)]
    found = (" ".join(edits[turn % len(edits)](list(words), drawn)) for turn in range(4 * num))
    return list(dict.fromkeys(one for one in found if one != text))[:num]


def swapped(words: list[str], drawn: random.Random) -> list[str]:
    """Two words change places, so often."""
    for _ in range(_count(words)):
        if len(words) > 1:
            one, other = drawn.sample(range(len(words)), 2)
            words[one], words[other] = words[other], words[one]
    return words


def deleted(words: list[str], drawn: random.Random) -> list[str]:
    """Each word is gone with probability `ALPHA`; one always stays."""
    kept = [word for word in words if drawn.random() >= ALPHA]
    return kept or [drawn.choice(words)]


def replaced_by(synonyms: Synonyms) -> Edit:
    """Words that have synonyms become one of them, so many."""

    def edit(words: list[str], drawn: random.Random) -> list[str]:
        having = [place for place, word in enumerate(words) if synonyms(word.lower())]
        for place in drawn.sample(having, min(_count(words), len(having))):
            words[place] = drawn.choice(synonyms(words[place].lower()))
        return words

    return edit


def inserted_by(synonyms: Synonyms) -> Edit:
    """A synonym of one of the words gets in anywhere, so often."""

    def edit(words: list[str], drawn: random.Random) -> list[str]:
        having = [word for word in words if synonyms(word.lower())]
        for word in drawn.sample(having, min(_count(words), len(having))):
            words.insert(drawn.randint(0, len(words)), drawn.choice(synonyms(word.lower())))
        return words

    return edit


def wordnet() -> Synonyms | None:
    """Synonyms by NLTK's WordNet; None where its data are not installed."""
    from nltk.corpus import wordnet as found

    try:
        found.ensure_loaded()
    except LookupError:
        return None

    def synonyms(word: str) -> list[str]:
        names = (lemma.name().replace("_", " ") for synset in found.synsets(word) for lemma in synset.lemmas())
        return sorted({name.lower() for name in names} - {word}) if len(word) > 3 else []

    return synonyms


def _count(words: Sequence[str]) -> int:
    return max(1, round(ALPHA * len(words)))
