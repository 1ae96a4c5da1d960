"""Which exemplars each source gets."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from paraform.records import InputError, require_count, require_texts

TWO_WORDS = re.compile(r"\w\W+\w")


def require_one_each(sources: Sequence[str], exemplars: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both as lists. Raises: InputError for what are no texts, or other numbers of both."""
    texts, likes = require_texts(sources), require_texts(exemplars)
    if len(texts) != len(likes):
        raise InputError(f"{len(texts)} sources, {len(likes)} exemplars; expected an exemplar a source")
    return texts, likes


def select_exemplars(
    sources: Sequence[str],
    like: Sequence[str] | Sequence[Sequence[str]] | None,
    bank: Sequence[str],
    *,
    each: bool = False,
    num: int = 1,
    seed: int = 0,
    trees: bool = False,
) -> list[list[str]]:
    """The exemplars of each source.

    Args:
        like: exemplars, one a source; one for all; a list of them a source; None: `num` drawn from the bank.
        bank: exemplars that are drawn from.
        each: every source gets every exemplar of `like`.
        num: exemplars drawn for each source, if `like` is None.
        seed: the seed of the draws.
        trees: `like` are trees in brackets, which may be of one label.
    Raises: InputError if an exemplar is one word, or the numbers do not match. (An empty one is told by who reads it.)
    """
    sources = require_texts(sources)
    if like is None:
        require_count(num, "num", 1, len(bank))
        # Each source has its own draw, so that its exemplars do not depend on its neighbours.
        return [random.Random(f"{seed} {source}").sample(bank, num) for source in sources]
    if not isinstance(like, Iterable) or isinstance(like, str):
        raise InputError(f"like is of type {type(like).__name__}; expected exemplars, or a list of them a source")
    rows = [require_texts([item] if isinstance(item, str) or not isinstance(item, Iterable) else item) for item in like]
    for text in (text for row in rows for text in row):
        if not trees and text.strip() and not TWO_WORDS.search(text):
            raise InputError(f"exemplar {text[:40]!r} is one word; expected a sentence whose form to take")
    if each:
        return [[exemplar for row in rows for exemplar in row] for _ in sources]
    if len(rows) == 1:
        return [rows[0] for _ in sources]
    if len(rows) != len(sources):
        raise InputError(
            f"{len(rows)} exemplars for {len(sources)} sources; "
            "expected one for all, one a source, or each=True (--each)"
        )
    return rows
