"""A command with its clause at the other end: "If it rains, shut the window.", "Shut the window if it rains."

Other adverbials stay where they are: a time may be told of what is ordered ("Book a table on Friday.").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraform.rewording.adverbials import BEFORE_IT, MOST, OPEN_ENDS, WHENS, embeds, moves, pointing
from paraform.rewording.clauses import main_clause, words_of
from paraform.rewording.rewritten import Rewritten
from paraform.syntax.trees import Tree

LEAST = 2  # words of a command without its clause
SHOWING = {"show", "test", "verify", "determine", "watch", "look", "note", "describe", "specify", "write", "read"}
SHOWING |= {"indicate", "predict", "calculate", "estimate", "choose", "pick", "report", "record", "list", "learn"}
"""Verbs that "when" and "if" may belong to as what is shown: "show me when it opens"."""
NO_ORDER = {"is", "are", "was", "were", "has", "had", "does", "did", "please", "thank", "thanks", "let", "love", "like"}
NO_ORDER |= {"hate", "enjoy", "need", "want", "hope", "wish", "guess", "think", "feel", "seem", "got", "went", "agree"}
"""What begins a verb phrase without a subject that is no command."""


def turned(tree: Tree) -> list[Rewritten]:
    """The command with its first clause at the end, or its last one in front; [] of what is none.

    Args:
        tree: with a word at each leaf.
    """
    label, parts, ending = main_clause(tree)
    if label == "VP":
        label, parts = "S", [Tree("VP", children=tuple(parts))]
    if label != "S" or not parts or parts[-1].label != "VP":
        return []
    before = [part.label for part in parts[:-1]]
    if before in (["SBAR", ","], ["S", ","]):
        found = _to_the_end(parts[0], parts[-1])
    else:
        found = iter(()) if before else _to_the_front(parts[-1])
    return [Rewritten([*one, *ending], "… …", frozenset(), parsed=True) for one in found]


def _to_the_end(clause: Tree, action: Tree) -> Iterator[list[str]]:
    words, left = words_of([clause]), words_of([action])
    first = next(action.leaves()).label
    fits = moves(clause, left) if clause.label == "SBAR" else _aims(words, left)
    # Behind a comma a verb is an order, even if it is tagged as one of the past: "split".
    if fits and first.startswith("VB") and _is_order(left, words) and not embeds([action]) and not pointing([action]):
        yield [*left, *words]


def _to_the_front(action: Tree) -> Iterator[list[str]]:
    clause, kept = action.children[-1], action.children[:-1]
    words, left = words_of([clause]), words_of(kept)
    if clause.label != "SBAR" or not left or not moves(clause, left):
        return
    tags = [leaf.label for part in kept for leaf in part.leaves()]
    whole = tags[0] in ("VB", "VBP") and tags[-1] not in OPEN_ENDS and left[-1].lower() not in BEFORE_IT
    if whole and _is_order(left, words) and not embeds(kept) and not pointing([clause]):
        yield [*words, ",", *left]


def _is_order(left: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words left are an order, and the clause tells when, and not what."""
    lowered = [word.lower() for word in left]
    what = words[0].lower() in ("if", "when", "whenever") and (SHOWING & {*lowered} or lowered[-1] in WHENS)
    return len(left) >= LEAST and lowered[0] not in NO_ORDER and "," not in left and not what


def _aims(words: Sequence[str], left: Sequence[str]) -> bool:
    """Whether "to …" tells what for, of all that is left."""
    fits = words[0].lower() == "to" and 3 <= len(words) <= MOST and "," not in words
    return fits and not {"and", "but", "or", "to"} & {word.lower() for word in left}
