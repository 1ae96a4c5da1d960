"""What outputs are by themselves: words that they take over from exemplars, and how little they repeat each other.

That an output follows its exemplar's form alone, and differs with it, CRL-EGPG claims without a number (sections 4.6
and appendix C): `words_taken` and `different_outputs` are ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from paraform.words import STOP_WORDS


def words_taken(output: Sequence[str], source: Sequence[str], exemplar: Sequence[str]) -> float:
    """The share of an output's content words that its exemplar has and its source has not; without any 0.

    Under an exemplar that has nothing to do with the source, every such word says something that was not said. Words
    are lower-cased, as they are written: "sleeps" is another word than "sleep".
    """
    content = [word for word in output if is_content(word)]
    known, lent = set(source), set(exemplar)
    return sum(word in lent and word not in known for word in content) / len(content) if content else 0.0


def is_content(word: str) -> bool:
    """Whether it has a letter or a digit, and is none of the words that a sentence of any content may have."""
    return word not in STOP_WORDS and any(character.isalnum() for character in word)


def different_outputs(outputs: Sequence[str]) -> float:
    """The share of a source's outputs, one for each of its exemplars, that are different but for case."""
    return len({text.casefold() for text in outputs}) / len(outputs)


def distinct_value(outputs: Sequence[Sequence[str]], n: int) -> float:
    """Distinct-n: different n-grams of all outputs, divided by all their n-grams (Li et al. 2016); 0 without one.

    It falls as rows are added, so that only equal numbers of rows compare.
    """
    grams = [tuple(words[at : at + n]) for words in outputs for at in range(len(words) - n + 1)]
    return len(set(grams)) / len(grams) if grams else 0.0
