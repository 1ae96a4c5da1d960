"""A sentence that a rule put into other words: a frame, a synonym, the parse."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Suits: TypeAlias = Literal["nearly all", "most", "some"]
"""In how many of the sentences that have a phrase another may stand for it."""

SUITS: tuple[Suits, ...] = ("nearly all", "most", "some")


class Rewritten(NamedTuple):
    """A sentence in other words.

    Args:
        words: its words, those that stay with their case.
        form: what was done, as a person reads it: the frame that it has now, each slot an "…" ("is it possible
            to … ?"), or what stands for what ("film → movie").
        literals: the words that the rule brings and takes, lower-cased.
        wrapped: as its frame.
        parsed: made from the sentence's tree, which says who does what to whom.
        suits: in how many sentences the least sure of its synonyms, or what was exchanged, does; None: neither.
    """

    words: list[str]
    form: str
    literals: frozenset[str]
    wrapped: bool = False
    parsed: bool = False
    suits: Suits | None = None
