"""At which heights an exemplar's tree is read, and which of the outputs is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from paraform.records import InputError, require_count
from paraform.syntax.trees import Tree, depth, template
from paraform.words import tokenize

Choice: TypeAlias = Literal["full", "best"]
"""The whole tree, or of several heights the one whose output is nearest the source."""

CHOICES = ("full", "best")
LOWEST = 2  # ROOT and what stands right below it; ROOT alone is no form
FEWEST, BELOW = 3, 4  # "best" tries max(3, H − 4) to H


def heights_of(tree: Tree, height: int | str, number: int = 1) -> list[int]:
    """The heights at which a tree is cut, in levels with the root's, the fullest first.

    Args:
        tree: below a ROOT.
        height: one of its own, "full" or "best".
        number: the tree's among those asked for, for messages.
    Raises: InputError for a height beyond the tree, or what is none.
    """
    full = depth(tree)
    if height == "full":
        return [full]
    if height == "best":
        return list(range(full, min(full, max(FEWEST, full - BELOW)) - 1, -1))
    if isinstance(height, str):
        raise InputError(f"height {height[:40]!r}; expected {', '.join(CHOICES)} or a number of levels")
    require_count(height, "height", LOWEST)
    if height > full:
        raise InputError(
            f"height {height} is beyond the tree of exemplar {number}, which has {full} levels; "
            f"expected {LOWEST} to {full}, 'full' or 'best'"
        )
    return [height]


def said_at(
    sources: Sequence[str],
    trees: Sequence[Tree],
    height: int | str,
    say: Callable[[list[int], list[Tree]], Sequence[str]],
) -> list[str]:
    """What is said of each source in the form of its tree, cut: of several heights the output nearest the source.

    Args:
        trees: below a ROOT, without words.
        height: as `heights_of` has it.
        say: rows of sources, and for each a cut tree → what is said.
    Raises: InputError as `heights_of`.
    """
    cuts = [
        [template(tree, levels) for levels in heights_of(tree, height, number)]
        for number, tree in enumerate(trees, start=1)
    ]
    rows = [row for row, some in enumerate(cuts) for _ in some]
    found = iter(say(rows, [form for some in cuts for form in some]))
    outputs = [[next(found) for _ in some] for some in cuts]
    return [some[nearest(source, some)] for source, some in zip(sources, outputs, strict=True)]


def nearest(source: str, outputs: Sequence[str]) -> int:
    """Which of the outputs shares most words with the source: ROUGE-1's F1, lower-cased, not stemmed; the first of
    those that are as near."""
    words = words_of(source)
    scores = [overlap_f1(words, words_of(output)) for output in outputs]
    return max(range(len(outputs)), key=lambda at: scores[at])


def words_of(text: str) -> Counter[str]:
    """The lower-cased words of a text that hold a letter or a digit, counted."""
    return Counter(word for word in map(str.lower, tokenize(text)) if any(map(str.isalnum, word)))


def overlap_f1(one: Counter[str], other: Counter[str]) -> float:
    """2 · words in both / (words of one + words of the other); 0 if both are empty (Lin 2004, ROUGE-1)."""
    return 2 * (one & other).total() / max(1, one.total() + other.total())
