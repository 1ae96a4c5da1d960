"""Two clauses of a statement, joined in another way: "A, but B" and "although A, B"; "A, so B" and "because A, B".

Their order stays, so that what a pronoun stands for still comes before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraform.rewording.adverbials import POINTING
from paraform.rewording.clauses import main_clause, words_of
from paraform.rewording.rewritten import Rewritten
from paraform.syntax.trees import Tree

IN_FRONT = {"but": "although", "so": "because"}
BETWEEN = {"although": "but", "though": "but", "because": "so"}
PURPOSE = {"can", "could", "may", "might"}  # "so I could catch it" tells what for
SAID_FIRST = {"sorry", "thank", "thanks", "know", "afraid", "guess", "hope", "wonder", "wondering", "mean", "hate"}
"""Of a first clause that only leads to what is said: "I'm sorry, but …", "I know it is late, but …"."""
MOST = 14  # words of a clause


def joined_otherwise(tree: Tree) -> list[Rewritten]:
    """The statement with its two clauses joined in the other way; [] unless it is just two.

    Args:
        tree: with a word at each leaf.
    """
    label, parts, ending = main_clause(tree)
    if label != "S" or ending == ["?"]:
        return []
    return [
        Rewritten([*found, *ending], "… , …", frozenset(), parsed=True)
        for found in (*_in_front(parts), *_between(parts))
    ]


def _in_front(parts: Sequence[Tree]) -> Iterator[list[str]]:
    """The conjunction of "A, but B" in front."""
    kept = [part for part in parts if part.word != ","]
    if len(kept) != 3 or [kept[0].label, kept[2].label] != ["S", "S"]:
        return
    first, joint, second = words_of(kept[:1]), (kept[1].word or "").lower(), words_of(kept[2:])
    if joint not in IN_FRONT or not (_plain(kept[0]) and _plain(kept[2])):
        return
    if (joint == "so" and PURPOSE & {*second}) or SAID_FIRST & {word.lower() for word in first}:
        return
    yield [IN_FRONT[joint], *first, ",", *second]


def _between(parts: Sequence[Tree]) -> Iterator[list[str]]:
    """The conjunction of "although A, B" between them."""
    if [part.label for part in parts[:2]] != ["SBAR", ","] or parts[2:3] == []:
        return
    clause, rest = parts[0], parts[2:]
    words, second = words_of([clause]), words_of(rest)
    opening = 2 if words[0].lower() == "even" else 1
    joint = BETWEEN.get(words[opening - 1].lower())
    if joint is None or clause.children[-1].label != "S" or len(clause.children) != opening + 1:
        return
    first = clause.children[-1]
    whole = len(rest) == 1 and rest[0].label == "S" and _plain(rest[0])
    if (whole or _of_two(rest)) and _plain(first) and not POINTING & {word.lower() for word in words_of([first])}:
        yield [*words_of([first]), ",", joint, *second]


def _plain(clause: Tree) -> bool:
    """Whether it is a subject and what is told of it, and no more."""
    return _of_two(clause.children)


def _of_two(parts: Sequence[Tree]) -> bool:
    words = words_of(parts)
    told = [part.label for part in parts if part.label not in ("RB", "ADVP", "MD")]
    return told == ["NP", "VP"] and parts[0].label == "NP" and len(words) <= MOST and not {",", ":"} & {*words}
