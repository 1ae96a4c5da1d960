"""A direct question inside another sentence: "Where does she live?", "Can you tell me where she lives?".

Its order becomes a statement's, and what "do" carried goes to the verb. The parse says where the subject ends.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from paraform.rewording.clauses import FINITE, main_clause, words_of
from paraform.rewording.frames import third_person
from paraform.rewording.inflection import past
from paraform.rewording.rewritten import Rewritten
from paraform.rewording.slots import ENDINGS
from paraform.syntax.trees import Tree

AUXILIARIES = {"do", "does", "did", "is", "are", "was", "were", "am", "can", "could", "will", "would", "should", "has"}
AUXILIARIES |= {"shall", "have", "had", "may", "might", "must", "ca", "wo", "'s", "'re"}
MODALS = {"can", "shall", "could", "will", "would", "should", "may", "might", "must", "ca", "wo"}
FULL = {"'s": "is", "'re": "are"}
DENIALS = {"n't", "not"}
OPENINGS, YOURS = (("can", "you", "tell", "me"), ("do", "you", "know")), ("i", "would", "like", "to", "know")
PERSONS = {"you", "your", "yours", "yourself"}  # nobody is asked to tell what they do themselves
BREAKS = ENDINGS | {",", ";", ":", '"', "``", "''", "--", "-"}
REQUESTS = {"can", "could", "will", "would", "you"}
TELLING = {"tell", "know", "explain", "say", "think", "wonder", "mind", "guess", "believe"}
MOST, LONGEST_SUBJECT = 20, 8  # words


def indirect(tree: Tree) -> list[Rewritten]:
    """A question as what somebody is asked to tell, or wants to know; none of what is no simple question.

    Args:
        tree: with a word at each leaf.
    """
    words = [word.lower() for word in tree.words()]
    while words and words[-1] in ENDINGS:
        words.pop()
    if not words or len(words) > MOST or BREAKS & {*words} or _tells(words) or {*words[:2]} <= REQUESTS:
        return []
    inside = _inside(tree)
    if inside is None or any(one == "or" and other in AUXILIARIES for one, other in itertools.pairwise(words)):
        return []
    if PERSONS & {*words}:
        return [_opened(YOURS, inside, ".")]
    return [_opened(opening, inside, "?") for opening in OPENINGS]


def _tells(words: Sequence[str]) -> bool:
    """Whether it asks somebody to tell already: "do you know", "please let me know", "tell me"."""
    asked = any(
        one in ("you", "anyone", "someone", "me") and other in TELLING for one, other in itertools.pairwise(words[:6])
    )
    return asked or words[0] in TELLING or "please" in words[:5]


def _opened(opening: Sequence[str], inside: Sequence[str], ending: str) -> Rewritten:
    literals, form = frozenset((*opening, "whether")), f"{' '.join(opening)} …"
    return Rewritten([*opening, *inside, ending], form, literals, wrapped=True, parsed=True)


def _inside(tree: Tree) -> list[str] | None:
    """The question in the order of a statement; None if it is none, or its parts are not plain."""
    label, parts, _ = main_clause(tree)
    if label == "SQ":
        return _turned(["whether"], parts)
    if label not in ("SBARQ", "SBAR") or len(parts) < 2:
        return None
    *before, body = parts
    asked = words_of(before)
    if not _asks(before) or body.label not in ("SQ", "VP", "S"):
        return None
    asked[0] = asked[0].lower()
    parts = list(body.children)
    while len(parts) == 1 and parts[0].children:
        (only,) = parts
        parts = list(only.children)
    if any(part.label == "CC" for part in parts):
        return None  # "what is it and tell me why"
    if body.label == "S" and parts[0].label == "NP":
        return [*asked, *body.words()]  # "how I get there?" has that order already
    if (parts[0].word or "").lower() in AUXILIARIES:
        return _turned(asked, parts)
    if {"why", "where", "when"} & {*asked} or asked == ["how"] or body.words()[0].lower() in ("do", "does", "did"):
        return None  # what is asked for is no subject: the parse has the subject elsewhere
    return [*asked, *body.words()] if body.tags()[0] in FINITE else None  # "who lives there?"


def _asks(parts: Sequence[Tree]) -> bool:
    """Whether parts are a question word and what belongs to it: "in what year"."""
    if any(part.label not in ("IN", "TO") for part in parts[:-1]) or parts[-1].label in ("SBAR", "S"):
        return False
    tags = [leaf.label for part in parts for leaf in part.leaves()]
    start = 1 if tags[0] in ("IN", "TO") else 0
    return tags[start : start + 1] in (["WP"], ["WDT"], ["WRB"], ["WP$"])


def _turned(asked: Sequence[str], parts: Sequence[Tree]) -> list[str] | None:
    """The subject before the auxiliary, which is left out if it is a "do" that nothing denies.

    Args:
        parts: the auxiliary, the subject, the rest.
    """
    first, *rest = parts
    auxiliary = (first.word or "").lower()
    if auxiliary not in AUXILIARIES or any(part.label == "CC" for part in parts):
        return None
    denied = [part.word or "" for part in itertools.takewhile(lambda part: part.word in DENIALS, rest)]
    rest = [part for some in rest[len(denied) :] for part in _split(some)]
    if not rest:
        return None
    subject, *predicate = rest
    if subject.label not in ("NP", "EX", "PRP"):
        # "who can help me?": the question word is the subject
        its = (
            asked[0] not in ("whether", "why", "how", "where", "when")
            and auxiliary != "do"
            and subject.label in ("VP", "VBN", "VBG", "ADJP", "PP")
            and "like" not in subject.words()  # "what is dating like": the parse is wrong
        )
        return [*asked, auxiliary, *denied, *words_of(rest)] if its else None
    whole, says = words_of([subject]), words_of(predicate)
    tags = [leaf.label for part in predicate for leaf in part.leaves()]
    two_nouns = predicate[:1] and predicate[0].label == subject.label == "NP" and next(subject.leaves()).label != "EX"
    two_nouns = two_nouns and asked[-1] != "whether"
    if not predicate or len(whole) > LONGEST_SUBJECT or two_nouns:
        return None  # "what is the best way", "is that a bird"
    verb = next((at for at, tag in enumerate(tags) if not tag.startswith("RB")), 0)
    not_behind = bool(DENIALS.intersection(word.lower() for word in says[:verb]))  # "did you not get it?"
    if (denied or not_behind) and asked in (["whether"], ["how"]):
        return None  # "isn't it dangerous?" expects a yes
    if [leaf.label for leaf in subject.leaves()][-1] in ("CC", "IN", "TO", "POS"):
        return None  # "what is your view and tell why": of a parse that cut it elsewhere
    if tags[0] == "TO":
        return None  # "what is learning to rank": a name
    if auxiliary in MODALS and tags[next((at for at, tag in enumerate(tags) if tag != "RB"), 0)] != "VB":
        return None  # of a parse that took the verb for a noun
    if auxiliary in ("do", "does", "did") and not denied:
        if tags[verb] not in ("VB", "VBP") or re.search(r"\b(CC|,) (RB )*VBP?\b", " ".join(tags)):
            return None  # "do you go home and eat"
        if not_behind:
            return [*asked, *whole, auxiliary, *says]
        if auxiliary == "does":
            says = third_person(says, tags)
        if auxiliary == "did":
            if says[verb].endswith("ed"):
                return None  # "did he supported"
            says = [*says[:verb], past(says[verb].lower()), *says[verb + 1 :]]
        if auxiliary == "do" and whole[-1].lower() in ("i", "we") and says[verb].lower() in ("do", "go"):
            whole = [*whole, "should"]  # no habit is asked for: "what do I do now?"
        return [*asked, *whole, *says]
    if auxiliary in ("ca", "wo") and not denied:
        return None
    return [*asked, *whole, FULL.get(auxiliary, auxiliary), *denied, *says]


def _split(part: Tree) -> Iterator[Tree]:
    """The subject and the predicate of what the parser took for one phrase; another part itself.

    So it is with "there", with a base verb, and where a preposition is left at the end: "are (candles made of)".
    """
    leaves = list(part.leaves())
    predicate = part.children[-1] if part.children else part
    joined = len(part.children) > 1 and predicate.label == "VP"
    if part.children and leaves[0].label == "EX" and len(leaves) > 1:
        for child in part.children:
            yield from _split(child)
    elif joined and (next(predicate.leaves()).label == "VB" or leaves[-1].label in ("IN", "TO")):
        yield Tree("NP", part.children[:-1])
        yield predicate
    else:
        yield part
