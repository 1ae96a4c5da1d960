"""A reason and what follows from it, joined in another way: "A, so B", "because A, B".

Their order stays, so that what a pronoun stands for still comes before it. ("A, but B" is a frame's.)
"""

from __future__ import annotations

from collections.abc import Sequence

from paraform.rewording.adverbials import pointing
from paraform.rewording.clauses import main_clause, words_of
from paraform.rewording.rewritten import Rewritten
from paraform.syntax.trees import Tree

PURPOSE = {"can", "could", "may", "might", "would"}  # "so I could catch it" tells what for
NO_REASON = {"sorry", "thank", "thanks", "afraid", "guess", "hope", "would", "might"}
"""Of a first clause that only leads to what is said, or tells what did not happen."""
MOST = 14  # words of a clause


def joined_otherwise(tree: Tree) -> list[Rewritten]:
    """The statement with its two clauses joined in the other way; [] unless it is just two.

    Args:
        tree: with a word at each leaf.
    """
    label, parts, ending = main_clause(tree)
    if label != "S" or ending == ["?"]:
        return []
    found = _because(parts) or _so(parts)
    literals = frozenset({"so", "because"})
    return [Rewritten([*found, *ending], "because … , …", literals, parsed=True)] if found else []


def _because(parts: Sequence[Tree]) -> list[str]:
    """Of "A, so B" "because A, B"."""
    kept = [part for part in parts if part.word != ","]
    if [part.label for part in kept[::2]] != ["S", "S"] or len(kept) != 3 or words_of(kept[1:2]) != ["so"]:
        return []
    first, second = words_of(kept[:1]), words_of(kept[2:])
    if not (_plain(kept[0].children) and _plain(kept[2].children)) or PURPOSE & {*second}:
        return []
    return [] if NO_REASON & {word.lower() for word in first} else ["because", *first, ",", *second]


def _so(parts: Sequence[Tree]) -> list[str]:
    """Of "because A, B" "A, so B"."""
    clause, rest = parts[0], parts[2:]
    begins = [part.label for part in parts[:2]] == ["SBAR", ","] and words_of([clause])[0].lower() == "because"
    if not begins or [part.label for part in clause.children[1:]] != ["S"]:
        return []
    first = clause.children[1]
    told = rest[0].children if len(rest) == 1 and rest[0].label == "S" else rest
    fits = _plain(first.children) and _plain(told) and not pointing([first])
    return [*words_of([first]), ",", "so", *words_of(rest)] if fits else []


def _plain(parts: Sequence[Tree]) -> bool:
    """Whether they are a subject and what is told of it, and no more."""
    words = words_of(parts)
    told = [part.label for part in parts if part.label not in ("RB", "ADVP", "MD")]
    return told == ["NP", "VP"] and parts[0].label == "NP" and len(words) <= MOST and not {",", ":"} & {*words}
