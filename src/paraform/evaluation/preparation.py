"""What every metric does first: texts to the words that are counted, and the extra's libraries when they are needed."""

from __future__ import annotations

import functools
from collections.abc import Sequence, Sized
from types import ModuleType

from paraform.extensions import needed
from paraform.records import InputError, require_count, require_kind
from paraform.score import signature
from paraform.words import tokenize


def metric_words(texts: Sequence[str], max_tokens: int | None = 15) -> list[list[str]]:
    """Penn Treebank words, lower-cased, at most `max_tokens` of them (paper, section 4.3: 15); None cuts nothing.

    Raises: InputError if `max_tokens` is below 1.
    """
    if max_tokens is not None:
        require_count(max_tokens, "max_tokens, where None cuts nothing,", 1)
    return [[word.lower() for word in tokenize(text)][:max_tokens] for text in texts]


def same_length(**lists: Sized) -> int:
    """The length that all have. Raises: InputError, naming them, if they differ."""
    for name, values in lists.items():
        require_kind(values, Sized, name)
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"{', '.join(f'{count} {name}' for name, count in lengths.items())}; expected as many of each")
    return next(iter(lengths.values()))


def words_signature(max_tokens: int | None, **own: str) -> str:
    """The settings that all other metrics of words share, then those of one."""
    return signature(words="penn-treebank", max_tokens=max_tokens, case="lc", **own)


def overlap_signature(max_tokens: int | None, **own: str | int | float | bool) -> str:
    """The settings that all metrics against one reference share, then those of one."""
    return signature(words="penn-treebank", max_tokens=max_tokens, nrefs=1, case="lc", **own)


def require(module: str, metric: str) -> ModuleType:
    """A module of the extra `eval`; NLTK alone takes seconds. Raises: InputError if it is not installed."""
    return needed(module, metric, "eval")


class Stemmer:
    """NLTK's Porter stemmer, which remembers: the same words return in every row, and stemming is most of the time."""

    def __init__(self, metric: str) -> None:
        self.stem = functools.cache(require("nltk.stem.porter", metric).PorterStemmer().stem)
