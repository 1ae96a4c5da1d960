"""Text to words and back: the Penn Treebank's tokenisation, and text spaced and cased as a person would write it.

The rules are those of NLTK's word tokeniser (Penn Treebank conventions), which the systems' authors used, without
NLTK's import time; a test compares the two on real questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence


def _compile(rules: list[tuple[str, str]]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), replacement) for pattern, replacement in rules]


# In this order: a rule may count on the ones above it. Each puts spaces around what is a word of its own.
_PUNCTUATION = _compile(
    [
        (r"([«“‘„]|[`]+)", r" \1 "),
        (r'^"', r"`` "),
        (r'([ (\[{<])("|\'{2})', r"\1 `` "),
        (r"(?i)(?<!\S)'(?=\w)(?!(?:re|ve|ll|m|t|s|d|n|em|tis|twas|cause)\b)", r"' "),
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"([^.])(\.)([\])}>\"'»”’ ]*)\s*$", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"(\.{2,}|…)", r" \1 "),
        (r"([;@#$%&?!*])", r" \1 "),
        (r"([^'])' ", r"\1 ' "),
        (r"([\]\[(){}<>]|--|[—–])", r" \1 "),
    ]
)
_CONTRACTIONS = _compile(
    [
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(gon|wan)(na)\s", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\s", r" \1 \2 "),
        (r"(?i)\b(gim|lem)(me)\s", r" \1 \2 "),
    ]
)
# A typographer's apostrophe inside a word is an apostrophe; elsewhere it is a quotation mark.
_APOSTROPHE = re.compile(r"(?<=\w)’(?=\w)")

_CLOSING = {".", ",", ":", ";", "?", "!", "%", ")", "]", "}", "''", "”", "’", "»", "...", "…", "n't"}
_OPENING = {"(", "[", "{", "$", "#", "``", "“", "‘", "«"}
_HALVES = {("can", "not"), ("gon", "na"), ("wan", "na"), ("got", "ta"), ("gim", "me"), ("lem", "me")}
_WRITTEN = {"``": '"', "''": '"'}


def tokenize(text: str) -> list[str]:
    """The words of a text, case kept, in the Penn Treebank's tokenisation (`don't` → `do n't`); [] for white space."""
    spaced = " ".join(_APOSTROPHE.sub("'", text).split())
    for rule, replacement in _PUNCTUATION:
        spaced = rule.sub(replacement, spaced)
    spaced = f" {spaced} "  # a contraction ends at a space, the last one too
    for rule, replacement in _CONTRACTIONS:
        spaced = rule.sub(replacement, spaced)
    return spaced.split()


def detokenize(words: Sequence[str]) -> str:
    """The words as one text, spaced as a person would write it: `do n't you ?` → `don't you?`."""
    pieces: list[str] = []
    straight = 0  # how many straight double quotation marks are open
    glue = True  # nothing stands between this word and the one before
    for position, word in enumerate(words):
        previous = words[position - 1].lower() if position else ""
        opening = word in _OPENING
        closing = word in _CLOSING or word.lower() in _CLOSING or (word.startswith("'") and len(word) > 1)
        if word == '"':
            opening, closing = straight == 0, straight == 1
            straight = 1 - straight
        if not (glue or closing or (previous, word.lower()) in _HALVES):
            pieces.append(" ")
        pieces.append(_WRITTEN.get(word, word))
        glue = opening
    return "".join(pieces)


def recase(words: Sequence[str], usual: Mapping[str, str], models: Sequence[str] = ()) -> list[str]:
    """Lower-cased words as a person would case them.

    Args:
        words: lower-cased.
        usual: lower-cased word → how the training text writes it inside a sentence (`paris` → `Paris`).
        models: words of the source as its writer cased them; they come first, except for its sentence openings.
    Returns: the same words, the first of each sentence with a capital.
    """
    written = dict(usual)
    shouting = sum(word.isupper() for word in models) > len(models) / 2
    opens = True
    for word in models:
        # A capital after a full stop says nothing of the word; neither does text in capitals throughout.
        if word.lower() != word and not shouting and (not opens or not word.istitle()):
            written[word.lower()] = word
        opens = word in {".", "?", "!"}
    out: list[str] = []
    opens = True
    for word in words:
        cased = "I" if word == "i" else written.get(word, word)
        if opens and cased.islower():
            cased = cased[0].upper() + cased[1:]
        opens = word in {".", "?", "!"} or (opens and not any(letter.isalnum() for letter in word))
        out.append(cased)
    return out
