"""How words are mostly written inside sentences, as text with capitals tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from paraform.words import STOP_WORDS, opens_sentence

MOSTLY = 2 / 3  # of its places inside sentences, where a word is written in one way, that way is usual


def usual_case(sentences: Iterable[Sequence[str]], least: int = 1) -> dict[str, str]:
    """Lower-cased word → how it is mostly written inside sentences, of the words that mostly have a capital there.

    Sentences without any capital, and titles, where most words have one, say nothing of case. Stop words (`us`, `it`,
    `may`) are left out: in lower-cased text they are nearly always the plain word.

    Args:
        least: how often a word's commonest form stands there, at least.
    """
    inside: dict[str, Counter[str]] = {}
    for words in sentences:
        if not shows_case(words):
            continue
        opens = True
        for word in words:
            if not opens and word[:1].isalpha():
                inside.setdefault(word.lower(), Counter())[word] += 1
            opens = opens_sentence(word, opens) or word.endswith(".")  # a full stop inside a text is not cut off
    usual = {low: forms.most_common(1)[0] for low, forms in inside.items() if low not in STOP_WORDS}
    often = {low: max(least, MOSTLY * inside[low].total()) for low in usual}
    return {low: form for low, (form, count) in usual.items() if form != low and count >= often[low]}


def shows_case(words: Sequence[str]) -> bool:
    """Whether capitals tell names from other words: there are some, and most words have none."""
    alphabetic = [word for word in words if word[:1].isalpha()]
    return 0 < sum(word != word.lower() for word in alphabetic) <= max(1, len(alphabetic) * 0.6)
