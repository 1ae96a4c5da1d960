"""Training pairs of which both sides have the same numbers and names, so that what is learned is to keep them."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Mapping, Sequence

from paraform.batching import prepare
from paraform.records import Pair, texts_of
from paraform.words import STOP_WORDS
from paraform_papers.shipped.usual_case import shows_case, usual_case

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
NUMBERS |= {
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
}
NUMBERS |= {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
CAPITALS = {"US", "UN", "IT", "WHO"}  # names, whose lower-cased form is a stop word
SAME = {"us": "usa", "usa": "us"}
# India and Indian, Quora and Quorans, Japan and Japanese, an iPhone and iPhones, the South and the southern.
FORM = re.compile(r"(?:'s|s|i|n|an|ian|ese|ern)?s?")
DIGITS = re.compile(r"\d(?:[\d.,:]*\d)?[a-z]*")


def pairs_of_same_facts(
    pairs: Sequence[Pair], *, max_tokens: int, usual: Mapping[str, str] | None = None
) -> list[Pair]:
    """The pairs of which neither side has a number or a name that the other lacks; a warning counts the others.

    Numbers are words with digits and number words, `two` as 2 (`one` is mostly none). Names are words that the pairs'
    texts mostly write with a capital inside sentences, so that they are found in lower-cased text too; of a word that
    they never have there, the case is not known, and it is no name. Another form of a name (India, Indian) is that
    name; a part of it (Trump of Donald Trump, of Quora's pairs 1.6 %) is not: Google India is not Google, and what adds
    and leaves out first names does not keep them.

    Args:
        max_tokens: words that are read of each side; what stands behind them is lost, too.
        usual: lower-cased word → its form inside sentences, with a capital; None: the pairs' own `usual_case`.
    """
    texts = dict.fromkeys(texts_of(pairs))
    words = {text: prepare(text, max_tokens) for text in texts}
    usual = usual_case(words.values()) if usual is None else usual
    kept = [pair for pair in pairs if not different_facts(words[pair.source.text], words[pair.target.text], usual)]
    logging.getLogger("paraform").warning(
        "%s of %s pairs have a number or a name on one side only; left out",
        f"{len(pairs) - len(kept):,}",
        f"{len(pairs):,}",
    )
    return kept


def different_facts(one: Sequence[str], other: Sequence[str], usual: Mapping[str, str]) -> set[str]:
    """The numbers and names, lower-cased, that one of two sentences has and the other lacks.

    Args:
        one, other: their words, case kept.
        usual: lower-cased word → its form inside sentences, of words that mostly have a capital (`usual_case`).
    """
    ours, theirs = _numbers(one), _numbers(other)
    return (ours ^ theirs) | _lacking(one, other, usual) | _lacking(other, one, usual)


def _lacking(words: Sequence[str], other: Sequence[str], usual: Mapping[str, str]) -> set[str]:
    """The names among words that another sentence has in no form."""
    known = {part for word in other for part in _parts(word)}
    known |= {SAME[part] for part in known if part in SAME}
    cased = shows_case(words)
    names = {
        part
        for word in words
        for part in _parts(word)
        if (part in usual and part not in STOP_WORDS) or (cased and word.replace(".", "") in CAPITALS)
    }
    return {name for name in names - known if not any(_one_name(name, word) for word in known)}


@functools.lru_cache(maxsize=2**15)
def _parts(word: str) -> tuple[str, ...]:
    """`IIT-JAM` is two words, `U.S.` is `us`; case and what has digits or no letters goes."""
    parts = (part.replace(".", "") for part in re.split(r"[-/–&]", word.lower()))
    return tuple(part for part in parts if part and part[0].isalpha() and not re.search(r"\d", part))


def _one_name(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= 3 and long.startswith(short) and FORM.fullmatch(long, len(short)) is not None


def _numbers(words: Sequence[str]) -> set[str]:
    return {number for word in words for number in _numbers_in(word)}


@functools.lru_cache(maxsize=2**15)
def _numbers_in(word: str) -> tuple[str, ...]:
    """What has digits in a word, 1,000 as 1000, and 500/1000 as both; of a number word its value, two as 2."""
    low = word.lower()
    if low in NUMBERS:
        return (str(NUMBERS[low]),)
    return tuple(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", found) for found in DIGITS.findall(low))
