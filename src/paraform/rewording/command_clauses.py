"""A command with its clause at the other end: "If it rains, shut the window.", "Shut the window if it rains."

Other adverbials stay where they are: a time may be told of what is ordered ("Book a table on Friday.").
"""

from __future__ import annotations

from collections.abc import Sequence

from paraform.rewording.adverbials import BEFORE_IT, MOST, OPEN_ENDS, WHENS, embeds, moves, pointing
from paraform.rewording.clauses import main_clause, words_of
from paraform.rewording.rewritten import Rewritten
from paraform.syntax.trees import Tree

LEAST = 2  # words of a command without its clause
BEGINNINGS = {"please", "just", "kindly", "always", "simply"}
TIMES = {"when", "whenever", "before", "after", "since", "until", "once"}
SHOWING = {"show", "test", "verify", "determine", "watch", "look", "note", "describe", "specify", "write", "read"}
SHOWING |= {"indicate", "predict", "calculate", "estimate", "choose", "pick", "report", "record", "list", "learn"}
"""Verbs that "when" and "if" may belong to as what is shown: "show me when it opens"."""
PLANNING = {"schedule", "book", "plan", "set", "arrange", "reserve", "add", "create", "show", "list", "find", "get"}
PLANNING |= {"move", "delay", "reschedule", "organise", "organize"}
"""Of what these order a time may be told: "book a flight before the holidays begin"."""
NO_ORDER = {"is", "are", "was", "were", "has", "had", "does", "did", "thank", "thanks", "let", "love", "like", "hate"}
NO_ORDER |= {"enjoy", "need", "want", "hope", "wish", "guess", "think", "feel", "seem", "got", "went", "agree"}
"""What begins a verb phrase without a subject that is no command."""
COMMENTS = {"be", "sum", "conclude", "recap", "summarize", "summarise", "begin", "start", "say", "put"}
"""Behind "to": "to be honest", "to sum up" tell nothing of what for."""
WORSE = {"worse", "matters", "things"}


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
    action, before, opening = parts[-1], parts[:-1], list[str]()
    if [word.lower() in BEGINNINGS for word in words_of(before[-1:])] == [True]:
        *before, first = before
        opening = words_of([first])
    if [part.label for part in before] in (["SBAR", ","], ["S", ","]):
        found = _to_the_end(before[0], opening, action)
    else:
        found = [] if before else _to_the_front(opening, action)
    return [Rewritten([*found, *ending], "… …", frozenset(), parsed=True)] if found else []


def _to_the_end(clause: Tree, opening: Sequence[str], action: Tree) -> list[str]:
    words, left = words_of([clause]), words_of([action])
    first = next(action.leaves()).label
    fits = moves(clause, left) if clause.label == "SBAR" else _aims(words, left)
    # Behind a comma a verb is an order, even if it is tagged as one of the past: "split".
    fits = fits and first.startswith("VB") and _is_order(left, words)
    return [*opening, *left, *words] if fits and not embeds([action]) and not pointing([action]) else []


def _to_the_front(opening: Sequence[str], action: Tree) -> list[str]:
    kept: list[Tree] = []
    while action.children and action.label == "VP":  # "do n't open it if …" is two of them
        kept += action.children[:-1]
        action = action.children[-1]
    words, left = words_of([action]), words_of(kept)
    if action.label != "SBAR" or not left or not moves(action, left):
        return []
    tags = [leaf.label for part in kept for leaf in part.leaves()]
    whole = tags[0] in ("VB", "VBP") and tags[-1] not in OPEN_ENDS and left[-1].lower() not in BEFORE_IT
    fits = whole and _is_order(left, words) and not embeds(kept) and not pointing([action])
    return [*words, ",", *opening, *left] if fits else []


def _is_order(left: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words left are an order, and the clause tells when it is to be done, and not what."""
    lowered, clause = [word.lower() for word in left], {word.lower() for word in words}
    when = words[0].lower()
    what = when in ("if", "when", "whenever") and bool(SHOWING & {*lowered} or lowered[-1] in WHENS)
    planned = when in TIMES and bool(PLANNING & {*lowered} or "should" in clause)
    told = bool({"here", "there"} & {*lowered} and {"i", "we"} & clause)  # "go there when I need a haircut": a review
    return len(left) >= LEAST and lowered[0] not in NO_ORDER and "," not in left and not (what or planned or told)


def _aims(words: Sequence[str], left: Sequence[str]) -> bool:
    """Whether "to …" tells what for, of all that is left."""
    lowered = [word.lower() for word in words]
    fits = lowered[0] == "to" and 3 <= len(words) <= MOST and "," not in words
    fits = fits and lowered[1] not in COMMENTS and not WORSE & {*lowered}
    return fits and not {"and", "but", "or", "to"} & {word.lower() for word in left}
