"""What a candidate must reach, and what ranks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
        said: least figures of what a language model said, by name: `checks.Compared` has them.
        weights: of what a candidate's score adds up: content, grammar, words (both in nats a word more than the
            source's), changed (words, 6 at most), framed (1 for a rule's), wrapped (1 for one that puts words around).
    """

    content: float = 0.75
    content_decoded: float = 0.95
    grammar: float = 3.0
    grammar_decoded: float = 0.0
    words_decoded: float = 0.0
    cycle: float = 0.5
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
            "grammar": 0.3,
            "words": 0.1,
            "changed": 0.05,
            "framed": 0.5,
            "wrapped": -0.5,
        }
    )


STANDARDS = Standards()
