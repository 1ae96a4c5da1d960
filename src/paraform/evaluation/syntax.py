"""Are the trees right: labelled F1 as evalb counts it, and the accuracy of tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.metrics import RowMetric
from paraform.records import InputError, Sentence, require_kind, require_records, require_text
from paraform.score import Score, signature
from paraform.syntax.spans import Span, constituents
from paraform.syntax.trees import Tree

PUNCTUATION = frozenset({",", ":", "``", "''", "."})
"""Tags whose words COLLINS.prm leaves out. Brackets, hyphens and currency signs count as words there."""

EQUAL = {"PRT": "ADVP"}
"""COLLINS.prm's EQ_LABEL: a particle phrase and an adverb phrase are the same."""

LENGTHS = {"1-10 words": (1, 10), "11-20 words": (11, 20), "21-30 words": (21, 30), "31-40 words": (31, 40)}
LONGER = "over 40 words"

SETTINGS = signature(constituents="evalb-collins", punctuation="ignored", root="ignored", adverbs="ADVP=PRT")


def matched(gold: Tree, found: Tree) -> tuple[int, int, int]:
    """Constituents that both trees have, that the gold tree has, and that the other has (Sekine & Collins' evalb).

    A constituent is its label and its words; words that the gold tree tags as punctuation are taken out first, and
    constituents without any other word with them. Neither root counts. A label twice over the same words counts twice.
    Raises: InputError if the trees have different words.
    """
    words = gold.words()
    if words != found.words():
        raise InputError(f"trees of different words: {words[:3]} … and {found.words()[:3]} …")
    kept = np.concatenate([[0], np.cumsum([tag not in PUNCTUATION for tag in gold.tags()])])
    one, other = (_counted(constituents(tree), kept) for tree in (gold, found))
    return (one & other).total(), one.total(), other.total()


def _counted(spans: Iterable[Span], kept: NDArray[np.int64]) -> Counter[tuple[int, int, str]]:
    places = ((int(kept[start]), int(kept[end]), EQUAL.get(label, label)) for start, end, label in spans)
    return Counter(place for place in places if place[0] < place[1])


def by_genre(sentences: Iterable[Sentence]) -> dict[str, list[int]]:
    """The rows of each file of a treebank, as `groups` of `evaluate_syntax`; of a single file no group."""
    genres: dict[str, list[int]] = {}
    for row, sentence in enumerate(sentences):
        genres.setdefault(Path(sentence.origin.path if sentence.origin else "").stem, []).append(row)
    return genres if len(genres) > 1 else {}


def evaluate_syntax(
    gold: Sequence[Tree],
    found: Sequence[Tree | None],
    *,
    parser: str,
    data: str,
    groups: Mapping[str, Sequence[int]] | None = None,
) -> list[Score]:
    """Labelled F1, precision, recall, exact matches and tag accuracy, in percent, over all trees and over parts.

    Args:
        gold: N trees without traces and function tags (`stripped`).
        found: N trees of the same words; None (no parse) has no constituent and no right tag.
        parser, data: for the signature.
        groups: numbers of trees by name, such as genres; each length has a group of its own in any case.
    Raises: InputError if there is no tree, the numbers or the words differ, or a group holds what is no tree's number.
    """
    gold = require_records(gold, Tree)
    found = require_records(found, Tree, type(None))
    for name, text in (("parser", parser), ("data", data)):
        require_text(text, name)
    require_kind(groups, (Mapping, type(None)), "groups")
    if len(gold) != len(found):
        raise InputError(f"{len(gold)} gold trees, {len(found)} found ones; expected as many")
    if not gold:
        raise InputError(f"{data}: no tree to compare with")
    chosen_rows = {name: _rows(chosen, name, len(gold)) for name, chosen in (groups or {}).items()}
    brackets = np.zeros((len(gold), 4), np.int64)
    tags = np.zeros((len(gold), 2), np.int64)
    for row, (wanted, got) in enumerate(zip(gold, found, strict=True)):
        right, of_gold, of_found = matched(wanted, got) if got else (0, len(constituents(wanted)), 0)
        brackets[row] = right, of_gold, of_found, right == of_gold == of_found
        wanted_tags = wanted.tags()
        hits = sum(one == other for one, other in zip(wanted_tags, got.tags(), strict=True)) if got else 0
        tags[row] = hits, len(wanted_tags)
    settings = f"{SETTINGS}|parser:{parser}|data:{data}"
    rows = len(gold)
    exact = np.stack([brackets[:, 3], np.ones(rows, np.int64)], axis=1)
    metrics = [
        RowMetric("labelled F1", brackets, settings, lambda sums: _percent(2 * sums[0], sums[1] + sums[2])),
        RowMetric("precision", brackets, settings, lambda sums: _percent(sums[0], sums[2])),
        RowMetric("recall", brackets, settings, lambda sums: _percent(sums[0], sums[1])),
        RowMetric("exact match", exact, settings, lambda sums: _percent(sums[0], sums[1])),
        RowMetric("tag accuracy", tags, f"parser:{parser}|data:{data}", lambda sums: _percent(sums[0], sums[1])),
    ]
    words = tags[:, 1]
    parts = {"all": np.arange(rows)} | chosen_rows
    parts |= {name: np.flatnonzero((words >= least) & (words <= most)) for name, (least, most) in LENGTHS.items()}
    parts[LONGER] = np.flatnonzero(words > max(most for _, most in LENGTHS.values()))
    return [
        metric.score(chosen, system=parser, subset=name)
        for name, chosen in parts.items()
        if len(chosen)
        for metric in metrics
    ]


def _rows(chosen: object, name: object, count: int) -> NDArray[np.int64]:
    """A group's numbers of trees. Raises: InputError if the name or a number is none."""
    require_text(name, "the name of a group")
    try:
        rows = np.asarray(chosen)
    except ValueError:  # lists of several lengths
        rows = np.array(None)
    numbers = rows.ndim == 1 and (rows.dtype.kind in "iu" or not rows.size)
    if not numbers or ((rows < 0) | (rows >= count)).any():
        raise InputError(
            f"group {str(name)[:40]!r} is {str(chosen)[:60]}; expected numbers of trees from 0 to {count - 1}"
        )
    return rows.astype(np.int64)


def _percent(part: Any, whole: Any) -> float:
    return 100.0 * float(part) / float(whole) if whole else 0.0
