"""What kind of sentence one is, and what it asks, told by its words and tags."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

from paraform.rewording.roles import OTHERS, PREPOSITIONS
from paraform.rewording.tagged import Tagged

QUESTION_WORDS = {"what", "which", "who", "whom", "whose", "where", "when", "why", "how"}
AUXILIARIES = {
    "do",
    "does",
    "did",
    "is",
    "are",
    "was",
    "were",
    "am",
    "can",
    "could",
    "will",
    "would",
    "should",
    "shall",
}
AUXILIARIES |= {"may", "might", "must", "have", "has", "had", "ca", "wo", "ai"}
GREETINGS = {"hi", "hello", "hey", "so", "ok", "okay", "well", "but", "and", "please", "also", "then", "now", ","}
MODALS = {"can": "can", "ca": "can", "could": "can", "able": "can", "possible": "can", "should": "should"}
MODALS |= {"must": "must", "need": "must", "required": "must", "necessary": "must", "will": "will", "wo": "will"}
AMOUNTS = {"some", "any", "all", "both", "each", "every", "most", "and", "or"}
SUPPORT = {"do": {"do", "does", "did"}, "there": {"there"}}
SUBJECTS = {"i", "you", "he", "she", "it", "we", "they"}

Kind = Literal["question", "command", "statement"]


def kind(sentence: Tagged) -> Kind:
    """What a sentence does."""
    words = sentence.lowered
    start = next((place for place, word in enumerate(words) if word not in GREETINGS), 0)
    first, after = words[start : start + 1], sentence.tags[start + 1 : start + 2]
    by_what = first[0] in PREPOSITIONS | OTHERS and words[start + 1] in QUESTION_WORDS if after else False
    inverted = bool(first) and first[0] in AUXILIARIES and after not in (["VBG"], ["VBN"])
    if words[-1:] == ["?"] or (first and first[0] in QUESTION_WORDS) or by_what or inverted:
        return "question"
    return "command" if list(sentence.tags[start : start + 1]) in (["VB"], ["VBP"]) else "statement"


def asking(words: Sequence[str]) -> list[str]:
    """Question words, which as what, and "howmany" and the like."""
    out = []
    for place, word in enumerate(words):
        following = words[place + 1] if word == "how" and place + 1 < len(words) else ""
        degree = following if following in {"many", "much", "long", "often", "far", "old", "big"} else ""
        if word in QUESTION_WORDS:
            out.append({"which": "what", "whom": "who"}.get(word, word) + degree)
    return out


def asked(sentence: Tagged) -> list[str]:
    """What a question asks, as words and marks that another form of it has, too."""
    words = sentence.lowered
    out = asking(words)
    out += {MODALS[word] for word in words if word in MODALS}
    out += ["must"] * any(pair in (("have", "to"), ("has", "to"), ("had", "to")) for pair in itertools.pairwise(words))
    out += [name for name, some in SUPPORT.items() if some.intersection(words)]
    behind = itertools.pairwise(word for word in words if word not in {"n't", "not"})
    out += ["or inverted"] * any(one == "or" and other in AUXILIARIES for one, other in itertools.pairwise(words))
    out += [f"inverted {sum(verb in AUXILIARIES and subject in SUBJECTS for verb, subject in behind)}"]
    # "The longest payment will show pending" has lost one.
    out += [word for word, tag in zip(words, sentence.tags, strict=True) if (word, tag) == ("that", "WDT")]
    out += ["past"] * any(tag == "VBD" for tag in sentence.tags)
    present = {word for word, tag in zip(words, sentence.tags, strict=True) if tag in ("VBZ", "VBP")}
    out += ["present be"] * bool({"is", "are", "am", "'s", "'re", "'m"} & present)
    counted = [word for word in words if word == "?" or word in AMOUNTS]
    return sorted([*set(out), *counted, f"{sum(word in QUESTION_WORDS for word in words)} asking"])
