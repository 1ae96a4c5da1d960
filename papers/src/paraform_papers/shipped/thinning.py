"""A sentence as a source that it is to be won back from: function words are gone, phrases have changed places."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

# What grammar puts back without a guess at what is meant: no tense but the present, no negation, no pronoun, no degree
# ("very", "just"), no preposition but "of".
LEFT_OUT = {"a", "an", "the", "of", "is", "are", "am", "'re", "'m"}
OPENING = {"in", "on", "at", "with", "for", "from", "into", "without", "against", "over", "under", "after", "before"}
OPENING |= {"during", "about", "because", "when", "while", "if", "although", "until", "since"}
BREAKS = {",", ";", ":", "--", "-"}
ENDINGS = {".", "?", "!"}


def thinned(words: Sequence[str], random: Random, *, left_out: float = 0.5, moved: float = 0.5) -> list[str]:
    """The words without some function words, their phrases in another order; every other word as often as before.

    A phrase begins with a preposition or conjunction of `OPENING`, or behind a comma, which goes if phrases move. Two
    neighbours change places, none of them twice (a local shuffle as that of Lample et al. 2018, of phrases in the place
    of words). Inside a phrase words keep their order, so that subject and object, a name of several words, and "not"
    with its verb, stay what they are; the mark at the end stays there.

    Args:
        words: tokenised.
        left_out: the share of words among `LEFT_OUT` that go.
        moved: how likely two neighbours change places.
    """
    size = len(words)
    while size and words[size - 1] in ENDINGS:
        size -= 1
    phrases: list[list[str]] = [[]]
    for word in words[:size]:
        if phrases[-1] and (word.lower() in OPENING or phrases[-1][-1] in BREAKS):
            phrases.append([])
        phrases[-1].append(word)
    order = list(range(len(phrases)))
    place = 0
    while place < len(order) - 1:
        if random.random() < moved:
            order[place], order[place + 1] = order[place + 1], order[place]
            place += 1
        place += 1
    apart = order != sorted(order)
    return [
        word
        for place in order
        for word in phrases[place]
        if not (apart and word in BREAKS) and not (word.lower() in LEFT_OUT and random.random() < left_out)
    ] + list(words[size:])
