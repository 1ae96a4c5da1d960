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
_CLOSING |= {"'s", "'m", "'d", "'t", "'ll", "'re", "'ve"}
_OPENING = {"(", "[", "{", "$", "#", "`", "“", "‘", "«"}
_DOUBLE = {'"', "``", "''"}  # straight in writing; the tokeniser takes a closing one behind a space for an opening one
_HALVES = {("can", "not"), ("gon", "na"), ("wan", "na"), ("got", "ta"), ("gim", "me"), ("lem", "me")}
_HALVES |= {("c", "#"), ("f", "#")}  # programming languages; elsewhere # opens a number or a topic

_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def unescape(word: str) -> str:
    """A treebank's word as it is in the text: `-LRB-` is a bracket."""
    if "-" in word:
        for escape, character in _ESCAPES.items():
            word = word.replace(escape, character)
    return word


def escape(word: str) -> str:
    """A word as a treebank writes it: round brackets are the tree's own."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


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
    quoted = {'"': False, "'": False}  # which quotation marks are open
    glue = True  # nothing stands between this word and the one before
    for position, word in enumerate(words):
        previous = words[position - 1].lower() if position else ""
        half = (previous, word.lower()) in _HALVES
        opening = word in _OPENING and not half
        closing = word.lower() in _CLOSING
        if word in _DOUBLE:
            closing = quoted['"'] or word == "''"
            opening = quoted['"'] = not closing
        elif word == "'":
            opening = not quoted["'"] and _opens(words[position + 1 :], previous)
            closing = not opening
        if word in {"'", "`"}:
            quoted["'"] = opening
        if not (glue or closing or half):
            pieces.append(" ")
        pieces.append('"' if word in _DOUBLE else word)
        glue = opening
    return "".join(pieces)


def _opens(following: Sequence[str], previous: str) -> bool:
    """Whether a lone ' opens a quotation or a year (`the '90s`); otherwise it is a plural's (`the students' books`)."""
    more = following.count("'")
    plural = previous.endswith("s") and more % 2 == 0
    return (more > 0 and not plural) or (len(following) > 0 and following[0][0].isdigit())


def join_pieces(pieces: Sequence[str]) -> list[str]:
    """WordPieces as words: `["para", "##form"]` → `["paraform"]`; words pass as they are."""
    words: list[str] = []
    for piece in pieces:
        if piece.startswith("##") and len(piece) > 2 and words:
            words[-1] += piece[2:]
        else:
            words.append(piece)
    return words


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
