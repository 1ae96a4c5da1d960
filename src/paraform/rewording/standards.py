"""What a candidate must reach, and what ranks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from paraform.records import InputError
from paraform.rewording.rewritten import Suits

Change: TypeAlias = Literal["little", "much"]


@dataclass(frozen=True)
class Standards:
    """What a candidate must reach, and what ranks it. Set on development data: docs/rewording.md has what each adds.

    Args:
        content: least cosine of the encoder between a sentence and its rewording.
        content_decoded: the same, where a model decoded it.
        grammar: how much less likely than the source's the rewording's grammar may be, nats a word.
        grammar_decoded: the same, where a model decoded it.
        words_decoded: the same of its words, where a model decoded it.
        cycle: how much less likely the source may be given what was decoded than given itself, nats a word.
        edits: least words that are others, or stand elsewhere: fewer is a copy.
        edits_replaced: the same, where nothing but synonyms makes it another.
        share: least of them as a share of the source's words.
        beside: how much less likely than the source, given the source, what has synonyms may be, nats, by how many
            sentences they suit.
        own_words: ask a language model for sentences of its own, too, not for likelihoods alone.
        said: least figures of what a language model said, by name: `checks.Compared` has them.
        weights: of what a candidate's score adds up: content, beside (nats above the least), grammar, words (both in
            nats a word more than the source's), changed (words, 6 at most), framed (1 for a rule's), wrapped (1 for one
            that puts words around), replaced (1 for one that nothing but synonyms makes another), alone
            (1 for one with fewer words changed than `edits`).
    """

    content: float = 0.75
    content_decoded: float = 0.95
    grammar: float = 3.0
    grammar_decoded: float = 0.0
    words_decoded: float = 0.0
    cycle: float = 0.5
    edits: int = 2
    edits_replaced: int = 1
    share: float = 0.0
    beside: Mapping[Suits, float] = field(default_factory=lambda: {"nearly all": 6.0, "most": 5.0, "some": 3.5})
    own_words: bool = False
    said: Mapping[str, float] = field(
        default_factory=lambda: {
            "forth": -0.9,
            "back": -1.3,
            "added": -3.2,
            "dropped": -3.2,
            "small": -1.0,
            "more": 0.0,
            "fewer": 0.0,
        }
    )
    weights: Mapping[str, float] = field(
        default_factory=lambda: {
            "content": 4.0,
            "beside": 0.2,
            "grammar": 0.3,
            "words": 0.1,
            "changed": 0.05,
            "framed": 0.5,
            "wrapped": -2.5,
            "replaced": -1.3,
            "alone": -1.0,
        }
    )

    @classmethod
    def for_change(cls, change: Change | None) -> Standards:
        """Those of as much change as is wanted; None: the usual ones.

        "little": one changed word will do, and fewer are better. "much": at least four, and a third of the source's; a
        language model is asked for sentences of its own.
        Raises: InputError for another word.
        """
        if change not in (None, "little", "much"):
            raise InputError(f"change {str(change)[:40]!r}; expected 'little', 'much' or None")
        usual = cls()
        if change == "little":
            return replace(usual, edits=1, weights={**usual.weights, "changed": -usual.weights["changed"]})
        if change == "much":
            weights = {**usual.weights, "changed": 0.3}
            return replace(usual, edits=4, edits_replaced=4, share=1 / 3, own_words=True, weights=weights)
        return usual


STANDARDS = Standards()
