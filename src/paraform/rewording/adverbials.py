"""A sentence with an adverbial moved from its end to its front, or back: "If it rains, who goes?", "Who goes if it
rains?".

Words stay the same, so what can go wrong is what belongs to what. The parse says where an adverbial begins; it is left
where it stands if it might be a part of something else, or if a pronoun would come before what it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from paraform.rewording.clauses import FINITE, main_clause, words_of
from paraform.rewording.frames import TIMES
from paraform.rewording.rewritten import Rewritten
from paraform.syntax.trees import Tree

CONJUNCTIONS = {"if", "because", "although", "though", "since", "after", "before", "while", "unless", "until", "once"}
CONJUNCTIONS |= {"when", "whenever"}
REASONS = {"because", "since", "until", "while", "after", "before"}  # "not … because" denies the one or the other
PREPOSITIONS = {"during", "after", "before", "since", "until", "within", "throughout", "despite"}
PLACES = {"in", "at", "on"}  # only before a time, "in" before a name too
MEASURED, _UNIT = {"before", "after", "since"}, re.compile(r"(?:second|minute|hour|day|week|month|year)s?")
BE = {"is", "are", "was", "were", "be", "been", "am", "'s", "'re", "'m"}
QUESTIONS = {"what", "which", "how", "whose", "who", "whom"}
ADVERBS = {"yesterday", "today", "recently", "lately", "currently", "nowadays", "sometimes", "usually", "tomorrow"}
POINTING = {"he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "this", "that", "these", "those"}
POINTING |= {"one", "ones", "so", "then", "there", "both", "either", "such", "himself", "herself", "itself"}
POINTING |= {"mine", "yours", "hers", "ours", "theirs"}
ASKING = {"know", "tell", "ask", "say", "see", "check", "confirm", "explain", "wonder", "wondering", "sure", "matter"}
ASKING |= {"remember", "understand", "guess", "certain", "find", "care", "mind", "decide", "doubt", "tells", "knows"}
WHENS = {"time", "day", "moment", "year", "age", "date", "times", "days", "moments", "years", "feeling"}
NEGATIONS = {"not", "n't", "never", "no", "nobody", "nothing", "hardly"}
DAYS = {"yesterday", "today", "tomorrow", "tonight"}
AHEAD = {"promise", "guarantee", "announce", "expect", "plan", "agree", "offer", "request", "predict", "propose"}
AHEAD |= {"suggest", "want", "hope", "schedule", "ask"}
AHEAD = {*AHEAD} | {f"{word}s" for word in AHEAD} | {f"{word.removesuffix('e')}ed" for word in AHEAD} | {"planned"}
BEFORE_IT = {"only", "just", "even", "mainly", "mostly", "especially", "particularly", "exactly", "right", "shortly"}
BEFORE_IT |= {
    "late",
    "early",
    "mid",
    "soon",
    "long",
    "immediately",
    "not",
    "n't",
}  # "only if it rains", "shortly after lunch"
MOST, LEAST_LEFT = 14, 3  # words of an adverbial; of what it leaves
OPEN_ENDS = ("CC", "IN", "TO", "DT", "PRP$")  # tags of a word behind which something is missing
OPENERS = ("NP", "SQ", "WHNP", "WHADVP", "WHPP", "MD", "VBZ", "VBP", "VBD")  # what begins a clause with a subject


def moved(tree: Tree) -> list[Rewritten]:
    """The sentence with its first or its last adverbial at the other end.

    Args:
        tree: with a word at each leaf.
    """
    label, parts, ending = main_clause(tree)
    if label not in ("S", "SQ", "SBARQ") or len(parts) < 2 or parts[0].label in ("S", "VP"):
        return []
    if label == "S" and parts[0].label.startswith(("NN", "VB")):
        return []  # a command that is not parsed as one: what belongs to what, nobody knows
    return [
        Rewritten([*found, *ending], "… , …" if "," in found else "… …", frozenset(), parsed=True)
        for found in (*_to_the_end(parts), *_to_the_front(parts, statement=label == "S"))
    ]


def _to_the_end(parts: Sequence[Tree]) -> Iterator[list[str]]:
    first, *rest = parts
    rest = [part for part in rest if part.word != ","]
    if len(rest) == 1 and rest[0].label == "S":
        rest = list(rest[0].children)
    if rest and rest[0].word == "then":
        rest = rest[1:]
    words, left = words_of([first]), words_of(rest)
    if "," in left or any(part.label in ("CC", "S", "SBAR") for part in rest) or embeds(rest[-1:]):
        return
    # Where a place is no news.
    placed = first.label == "PP" and words[0].lower() in PLACES | {"for"} and not QUESTIONS & {*words[1:2]}
    if rest and rest[0].label in OPENERS and (placed or moves(first, left)) and not pointing(rest):
        yield [*left, *words]


def pointing(parts: Sequence[Tree]) -> bool:
    """Whether a pronoun stands in parts that may stand for something elsewhere."""
    return any((leaf.word or "").lower() in POINTING and leaf.label != "EX" for p in parts for leaf in p.leaves())


def embeds(parts: Sequence[Tree]) -> bool:
    """Whether a clause stands within, to which an adverbial at the end would seem to belong."""
    return any(part.label in ("S", "SBAR") or embeds(part.children) for part in parts)


def _to_the_front(parts: Sequence[Tree], *, statement: bool) -> Iterator[list[str]]:
    path, node = [parts[-1]], parts[-1]
    while node.children and node.label in ("VP", "SQ", "ADJP", "NP", "S"):
        if node.label == "S" and len(path) > 1:
            return  # an infinitive or a clause of its own
        node = node.children[-1]
        path.append(node)
        above = path[-2].label
        in_noun = any(one.label == "NP" for one in path[:-1])
        words = words_of([node])
        left = words_of(parts)[: -len(words)]
        if node.label == "SBAR" or above in ("VP", "SQ"):
            if in_noun and (node.label != "SBAR" or left[-1].lower() in WHENS):
                continue
            if statement and _belongs_to_verb(node, parts, len(left)):
                return
            may = moves(node, left) and (statement or node.label != "NP") and not _two_clauses(parts, len(left))
            may = may and not _of_what_is_left(words, left)
            if len(left) >= LEAST_LEFT and _whole(left, parts) and may and not pointing([node]):
                if left[0].lower() not in ("and", "but", "so", "or", "if", "when", "please") and "," not in left:
                    yield [*words, ",", *left]
                return


def _of_what_is_left(words: Sequence[str], left: Sequence[str]) -> bool:
    """Whether a time at the end may be told of a noun or a number that stays, not of the verb.

    "Income rose to $5 million from $4 million in May", "They reported this week a fall of sales in May".
    """
    if not any(TIMES.fullmatch(word) for word in words):
        return False
    lowered = [word.lower() for word in left]
    compared = "from" in lowered and any(word[:1].isdigit() for word in lowered[lowered.index("from") :])
    return compared or any(TIMES.fullmatch(word) for word in left)


def _two_clauses(parts: Sequence[Tree], left: int) -> bool:
    """Whether the words left have two verbs that an adverbial may belong to: "refund what you paid on Monday"."""
    tags = [leaf.label for part in parts for leaf in part.leaves()][:left]
    finite = sum(tag in FINITE for tag in tags)
    return finite > 1 or (finite == 1 and tags[0] == "VB")


def _whole(left: Sequence[str], parts: Sequence[Tree]) -> bool:
    """Whether the words left are a clause that misses nothing, and end with nothing that is said of what goes.

    "How many are" and "today and" miss something; "only" of "only if it rains" would stand alone.
    """
    if left[-1].lower() in BEFORE_IT:
        return False
    tags = [leaf.label for part in parts for leaf in part.leaves()][: len(left)]
    return tags[-1] not in OPEN_ENDS and left[-1].lower() not in BE and bool(FINITE & {*tags})


def _belongs_to_verb(node: Tree, parts: Sequence[Tree], left: int) -> bool:
    """Whether a place stands right behind its verb, and so is what the sentence tells: "they live in Rome"."""
    tags = [leaf.label for part in parts for leaf in part.leaves()]
    words = [word.lower() for word in words_of([node])]
    timed = any(TIMES.fullmatch(word) for word in words)
    return node.label == "PP" and words[0] in PLACES and not timed and tags[left - 1].startswith("VB")


def moves(part: Tree, left: Sequence[str]) -> bool:
    """Whether a part is an adverbial of the clause that the words left make, and no more than that."""
    words = [word.lower() for word in words_of([part])]
    around = _lowered(left)
    if {"and", "but", "or"} & around and words[:1] != ["if"]:
        return False  # of the one or of both
    if len(words) > MOST or "," in words or not words:
        return False
    first = words[0]
    if first in MEASURED and _UNIT.fullmatch(left[-1]):
        return False  # "two days after it rains" measures from it
    if part.label == "SBAR":
        if first not in CONJUNCTIONS or len(words) < 3 or (NEGATIONS & around and first in REASONS):
            return False
        if {"how", "what"} & around and first in ("when", "if") and {"like"} & around:
            return False
        return not (first in ("if", "when", "whenever") and ASKING & around)
    timed = any(TIMES.fullmatch(word) for word in words)
    if AHEAD & around:
        return False  # what is promised, or its promise: "they promised a call within a day"
    if part.label == "PP":
        if embeds(part.children) and first not in ("after", "before", "since"):
            return False
        tags = [leaf.label for leaf in part.leaves()]
        named = first == "in" and all(leaf.label in ("NNP", "NNPS", "DT") for leaf in part.children[-1].leaves())
        if NEGATIONS & around and first in ("in", "within") and {"a", "an", "one", "CD"} & {*words[1:2], *tags[1:2]}:
            return False  # "it was not built in a day"
        if len(part.children) != 2 or part.children[1].label not in ("NP", "S") or QUESTIONS & {*words[1:2]}:
            return False
        return len(words) > 1 and (first in PREPOSITIONS or (first in PLACES and (timed or named)))
    if part.label == "NP" and len(words) == 1:
        return first in DAYS
    if part.label in ("NP", "ADVP") and len(words) > 1:
        return (timed and first in ("last", "this", "every", "right", "these")) or words[-1] == "ago"
    return part.label == "ADVP" and first in ADVERBS


def _lowered(words: Sequence[str]) -> set[str]:
    return {word.lower() for word in words}
