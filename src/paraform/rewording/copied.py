"""Whether what is more than words came over as it was: slots and addresses, numbers, names with marks, quotation marks.

Texts are compared, not words: a blank too many is seen.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection

from paraform.literals import covered, literals, uncovered

_AROUND = ".,;:!?…\"'“”‘’«»`"
_QUOTE = re.compile(r"[\"“”«»„`]|(?<!\w)['‘’](?!(?:s|re|ve|ll|d|m|t)\b)|(?<=\w)['’](?!\w)", re.I)
_GENITIVE = re.compile("['’]s$", re.I)
_LETTERS = re.compile(r"(?:[^\W\d_]|['’])+")
_PLAIN = re.compile(r"[^\W\d_](?:[^\W\d_A-Z]|['’])*|[A-Z]{2,}['’][A-Z]+")  # "don't", "Paris", "DON'T"; no "iPhone"
KEPT = 2**15  # texts of which is remembered what they hold


def same_literals(source: str, output: str) -> bool:
    """The same slots, addresses and other literals, each as often and as it was."""
    return _literals(source) == _literals(output)


def keeps_runs(source: str, output: str, exempt: Collection[str] = ()) -> bool:
    """What stands between two blanks of the source is there as it was, if it is more than a word: "10%–20%", "iPhone".

    A sentence's first letter and the punctuation around it apart, but for quotation marks. Line breaks and TABs are
    there, too.

    Args:
        exempt: lower-cased words that need not be there.
    """
    if _quotes(source) > _quotes(output) or any(source.count(gap) != output.count(gap) for gap in "\n\r\t"):
        return False
    (opening, before), (opens, after) = _runs(source), _runs(output)
    missing, new = before - after, after - before
    if missing.total() == new.total() == 1:
        (lost,), (found,) = missing, new
        if lost.lower() == found.lower() and lost[1:] == found[1:] and (lost == opening or found == opens):
            return True
    return {run.lower() for run in missing} <= {*exempt}


def ends_as_often(source: str, output: str) -> bool:
    """As many points, exclamation and question marks before the end: none of an abbreviation becomes an end."""
    return _inner_marks(source) == _inner_marks(output)


@functools.lru_cache(maxsize=KEPT)
def _literals(text: str) -> Counter[str]:
    return Counter(text[start:end] for start, end in literals(text))


@functools.lru_cache(maxsize=KEPT)
def _runs(text: str) -> tuple[str, Counter[str]]:
    """What opens a text, and all that stands between two blanks and is more than a word, without punctuation around."""
    plain = _LETTERS if text.isupper() else _PLAIN  # in text of capitals alone they say nothing
    rest, found = covered(text)
    runs = uncovered([bare for run in rest.split() if (bare := _bare_run(run))], found)
    return "".join(runs[:1]), Counter(run for run in runs if not plain.fullmatch(run))


@functools.lru_cache(maxsize=KEPT)
def _quotes(text: str) -> int:
    """How many quotation marks; a treebank's are one each."""
    return len(_QUOTE.findall(covered(text.replace("``", '"').replace("''", '"'))[0]))


def _bare_run(run: str) -> str:
    """Without quotation marks, commas and ends around it, nor a bracket whose partner is elsewhere, nor a genitive."""
    before = None
    while run != before:
        before, run = run, _GENITIVE.sub("", run.strip(_AROUND))
        for opening, closing in ("()", "[]", "{}"):
            if run.endswith(closing) and run.count(opening) < run.count(closing):
                run = run[:-1]
            if run.startswith(opening) and run.count(opening) > run.count(closing):
                run = run[1:]
    return run


@functools.lru_cache(maxsize=KEPT)
def _inner_marks(text: str) -> int:
    return len(re.findall("[.!?…]", text.rstrip(_AROUND + ")]}")))
