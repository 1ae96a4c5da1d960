"""Training pairs of which both sides have the same numbers and names, so that what is learned is to keep them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from paraform.records import Pair, Sentence
from paraform.rewording.checks import Tagged, lost
from paraform.syntax import annotate
from paraform.syntax.running import DEFAULT

FACTS = {"numbers", "names"}  # the checks of `rewording.checks`


def pairs_of_same_facts(
    pairs: Sequence[Pair], *, max_tokens: int, tagger: str = DEFAULT, progress: bool = False
) -> list[Pair]:
    """The pairs of which neither side, reworded as the other, would fail the checks of numbers and names.

    A warning counts the others.

    Args:
        max_tokens: words that are read of each side; what stands behind them is lost, too.
        tagger: a name that `load_tagger` knows; proper nouns are names.
        progress: a bar on stderr while sentences are tagged.
    """
    texts = list(dict.fromkeys(side.text for pair in pairs for side in (pair.source, pair.target)))
    found = annotate(texts, tagger=tagger, max_tokens=max_tokens, progress=progress)
    tagged = dict(zip(texts, found, strict=True))
    kept = [pair for pair in pairs if _same(tagged[pair.source.text], tagged[pair.target.text])]
    logging.getLogger("paraform").warning(
        "%s of %s pairs have a number or a name on one side only; left out",
        f"{len(pairs) - len(kept):,}",
        f"{len(pairs):,}",
    )
    return kept


def _same(one: Sentence, other: Sentence) -> bool:
    both = ((one, other), (other, one))
    return not any(FACTS.intersection(lost(Tagged(a.tokens, a.tags), b.tokens)) for a, b in both)
