"""Text as a person would write it, of what a corpus has lower-cased or cut into words; and why some stays unusable."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

from paraform.rewording.readable import unreadable
from paraform.words import detokenize, recase, tokenize

CUT = re.compile(r"(?:^|\s)(?:[.,?!;:]|n't|'(?:s|m|re|ve|ll|d)|``|''|-[lr][rsc]b-)(?=\s|$)", re.IGNORECASE)
DOUBLE = re.compile(r"\"|``|''")
FIRST, LAST = re.compile(rf"(?:{DOUBLE.pattern})\s*(?=\S)"), re.compile(rf"(?<=\S)\s*(?:{DOUBLE.pattern})$")
TURN = re.compile(r"--?\s+(?=\S)")  # of a dialogue
# What a corpus put in the place of words: Yelp's _num_, Yahoo's _UNK, the Penn Treebank's <unk> and, below, its N.
MARKS = re.compile(r"<unk>|(?<!\w)_\w+")
NUMBER = re.compile(r"(?<!\S)N(?![^\s.,])")
LONE_QUOTE = re.compile(r"(?<!\w)['`](?!\d0s|em\b|til\b|cause\b)", re.IGNORECASE)
BRACKETS = re.compile(r"[()\[\]{}]")


def restored(text: str, usual: Mapping[str, str], ending: str = "") -> str:
    """The text with the spaces of writing and, if it has no capital at all, with capitals; other text as it is.

    Quotation marks around all of it go, and so does one without a partner at either end. What cannot be brought back:
    the case of names that `usual` does not know and of those that are common words too (`bill`, `us`, `may`); commas
    that a corpus took away.

    Args:
        usual: lower-cased word → how it is mostly written inside sentences (`usual_case`).
        ending: the full stop of a text that has none; "": none is added.
    """
    text = _unquoted(" ".join(text.split()))
    text = TURN.sub("", text, count=1) if TURN.match(text) else text
    if len(DOUBLE.findall(text)) % 2:
        text = FIRST.sub("", text) if FIRST.match(text) else LAST.sub("", text)
    lowered = text == text.lower()
    if lowered or CUT.search(text):
        words = tokenize(text)
        text = detokenize(recase([word.lower() for word in words], usual) if lowered else words)
    text = _unquoted(text)
    return text if not ending or text.endswith((".", "?", "!", '"')) else text + ending


def unusable(text: str, language: Container[str], *, most_words: int) -> str:
    """Why nothing is learned from a text, as restored, in a few words; "" if there is no reason.

    Args:
        language: knows English words.
        most_words: that a model reads, tokenised.
    """
    if MARKS.search(text) or (NUMBER.search(text) and NUMBER.sub("", text).islower()):
        return "a mark for a word"
    if text.count('"') % 2 or LONE_QUOTE.search(text):
        return "quotation marks"
    if _unbalanced(text):
        return "brackets"
    if len(tokenize(text)) > most_words:
        return "too long"
    return unreadable(text, language)


def _unquoted(text: str) -> str:
    """Without quotation marks around all of it, such as those of a field of CSV, which doubles those inside."""
    inside = text[1:-1].strip()
    whole = len(text) > 2 and text[0] == text[-1] == '"' and '"' not in inside.replace('""', "")
    return inside.replace('""', '"') if whole and inside else text


def _unbalanced(text: str) -> bool:
    found = "".join(BRACKETS.findall(text))
    while (fewer := found.replace("()", "").replace("[]", "").replace("{}", "")) != found:
        found = fewer
    return bool(found)
