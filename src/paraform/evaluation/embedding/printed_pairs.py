"""The pairs of sentences that PAR prints (Shi et al. 2019, Tables 1 and 5), as any system has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paraform.evaluation.embedding.distances import WordSystem, distances_between, states_of
from paraform.evaluation.embedding.shared_words import shared_words
from paraform.records import InputError
from paraform.words import detokenize


class Example(NamedTuple):
    """Two printed sentences and a word of each (Tables 1 and 5).

    Args:
        left, right: their words, spaces between them.
        words: a word of each; "": each word that they share.
        before, after: L2 and cosine as the paper prints them, of ELMo and of ELMo-PAR.
    """

    left: str
    right: str
    words: tuple[str, str]
    before: tuple[float, float]
    after: tuple[float, float]


EXAMPLES = (
    Example(
        "How can I make bigger my arms ?",
        "How do I make my arms bigger ?",
        ("bigger", "bigger"),
        (6.42, 0.27),
        (2.75, 0.14),
    ),
    Example(
        "Some people believe earth is flat . Why ?",
        "Why do people still believe in flat earth ?",
        ("", ""),
        (7.59, 0.46),
        (3.29, 0.16),
    ),
    Example("It is a very small window .", "I have a large suitcase .", ("small", "large"), (5.44, 0.26), (5.84, 0.30)),
)
"""The paper's bold type says which word is meant; the text that we have lost it, and the second has several."""


class ExampleDistance(NamedTuple):
    """One word of an example, as a system has it."""

    example: Example
    words: tuple[str, str]
    l2: float
    cosine: float

    def to_json(self) -> dict[str, Any]:
        """A JSON object of sentences, words and distances, and of what the paper prints."""
        left, right, _, before, after = self.example
        published = {"elmo": before, "elmo_par": after}
        return {
            "sentences": [detokenize(left.split()), detokenize(right.split())],
            "words": self.words,
            "l2": self.l2,
            "cosine": self.cosine,
            "published": published,
        }


def example_distances(system: WordSystem) -> list[ExampleDistance]:
    """The printed pairs of Tables 1 and 5, by a system. Raises: InputError as `measure_distances`."""
    found = []
    for example in EXAMPLES:
        left, right = (tuple(text.split()) for text in (example.left, example.right))
        asked = [example.words] if example.words[0] else [(one.word, one.word) for one in shared_words(left, right)]
        try:
            states_RD, offsets = states_of(system.words, [left, right])
        except ValueError as error:
            raise InputError(f"{system.name}: {error}") from error
        lowered = [[word.lower() for word in side] for side in (left, right)]
        places = [(lowered[0].index(one), int(offsets[1]) + lowered[1].index(other)) for one, other in asked]
        l2_M, cosine_M = distances_between(states_RD[[at for at, _ in places]], states_RD[[at for _, at in places]])
        found += [
            ExampleDistance(example, words, float(l2), float(cosine))
            for words, l2, cosine in zip(asked, l2_M, cosine_M, strict=True)
        ]
    return found


def example_lines(found: Mapping[str, Sequence[ExampleDistance]]) -> list[list[str]]:
    """Rows of cells: the two sentences, the words, each system's L2 and cosine, and the paper's before and after."""
    header = ["sentences", "words", *(f"{name}: L2, cosine" for name in found), "ELMo, printed", "ELMo-PAR, printed"]
    rows = [header]
    for several in zip(*found.values(), strict=True):
        one = several[0]
        words = one.words[0] if one.words[0] == one.words[1] else "–".join(one.words)
        cells = [f"{each.l2:.2f} {each.cosine:.2f}" for each in several]
        printed = [f"{l2:.2f} {cosine:.2f}" for l2, cosine in (one.example.before, one.example.after)]
        sentences = " ".join(detokenize(side.split()) for side in (one.example.left, one.example.right))
        rows.append([sentences, words, *cells, *printed])
    return rows
