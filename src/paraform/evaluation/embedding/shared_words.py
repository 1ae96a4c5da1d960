"""Pairs of sentences with the words that both have: paraphrases, and pairs that are none, labelled or mined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from paraform.corpora.labelled_pairs import read_labelled_pairs
from paraform.corpora.locating import highest
from paraform.corpora.text import read_text
from paraform.evaluation.embedding.retrieval import cluster_of, clustered
from paraform.evaluation.embedding.robustness import FILES, KNOWN, set_name
from paraform.records import InputError, Origin, Pair, counted, texts_of
from paraform.score import signature
from paraform.weights import PathLike
from paraform.words import STOP_WORDS, tokenize

Words: TypeAlias = tuple[str, ...]
Fitting: TypeAlias = Callable[[Sequence[Sequence[str]]], list[int]]
"""Sentences' words to how many first words of each are read."""


class Shared(NamedTuple):
    """A word that both sentences of a pair have.

    Args:
        word: lower-cased.
        left, right: the places where it stands in either sentence, from 0.
    """

    word: str
    left: Sequence[int]
    right: Sequence[int]


class WordPair(NamedTuple):
    """Two sentences as words, cased, and what they share."""

    left: Words
    right: Words
    shared: Sequence[Shared]


@dataclass(frozen=True, slots=True)
class SharedDraw:
    """Which words and pairs are measured.

    Args:
        skip_stopwords: leave out `words.STOP_WORDS` and what has no letter, as the authors' code leaves out stop words
            and digits. The paper's text takes every shared word.
        size: the most pairs of each kind, drawn; 0: all.
        seed: of the draw, and of mined pairs.
    """

    skip_stopwords: bool = False
    size: int = 0
    seed: int = 0


@final
@dataclass(frozen=True, eq=False, slots=True)
class SharedWordSet:
    """Paraphrases and other pairs of one file, those with a shared word.

    Args:
        paraphrases, others: each pair has a shared word.
        sentences: all sentences of the file, each once.
        mined: whether the others were mined, since the file has paraphrases alone.
        settings: what its metrics' signatures say of it.
    """

    name: str
    paraphrases: Sequence[WordPair]
    others: Sequence[WordPair]
    sentences: Sequence[Words]
    mined: bool
    settings: str


def shared_words(left: Sequence[str], right: Sequence[str], *, skip_stopwords: bool = False) -> list[Shared]:
    """The words of both sentences, lower-cased, in the left one's order; a word has a letter or a digit.

    Args:
        left, right: words, as `words.tokenize` gives them.
        skip_stopwords: as in `SharedDraw`.
    """
    places: tuple[dict[str, list[int]], dict[str, list[int]]] = ({}, {})
    for found, words in zip(places, (left, right), strict=True):
        for place, word in enumerate(words):
            found.setdefault(word.lower(), []).append(place)
    ours, theirs = places
    kept = [word for word in ours if word in theirs and _counts(word, skip_stopwords)]
    return [Shared(word, ours[word], theirs[word]) for word in kept]


def shared_word_sets(
    path: PathLike,
    draw: SharedDraw | None = None,
    *,
    columns: Sequence[str] | None = None,
    fitting: Fitting | None = None,
) -> list[SharedWordSet]:
    """The set of a labelled file, or those of PAN, MRPC, Quora and PAWS below a folder, their test parts.

    Of a file without labels, or with paraphrases alone, all pairs are paraphrases, and the others are mined.

    Args:
        draw: None: `SharedDraw()`.
        columns: those of a table, as `read_labelled_pairs` takes them.
        fitting: longer sentences are cut to as many words; None: none is cut.
    Raises: InputError if there is no such file, it has no paraphrases, no pair of either kind has a shared word, or no
        others can be mined.
    """
    draw = draw or SharedDraw()
    if not Path(path).is_dir():
        return [_set_of(Path(path), draw, columns, fitting)]
    if columns:
        raise InputError(f"{path}: a folder; expected a file, if columns are named")
    found = {name: file for name, folder, _, test in reversed(FILES) if (file := highest(path, test, folder))}
    if not found:
        raise InputError(f"{path}: no pairs; expected one of {KNOWN} in it, or a file")
    return [
        _set_of(found[name], draw, columns, fitting) for name in dict.fromkeys(row[0] for row in FILES) if name in found
    ]


def read_contexts(path: PathLike, fitting: Fitting) -> list[Words]:
    """The different sentences of a text file as words, cut to as many as are read. Raises: InputError as the reader."""
    words = [tuple(tokenize(text)) for text in dict.fromkeys(sentence.text for sentence in read_text(path))]
    return [some[:most] for some, most in zip(words, fitting(words), strict=True)]


def mined_pairs(
    pairs: Sequence[Pair],
    pool: Sequence[Pair],
    words: Mapping[str, Words],
    *,
    skip_stopwords: bool = False,
    seed: int = 0,
) -> list[WordPair]:
    """For each paraphrase a pair that is none, as far as is known: one of its sentences, and one of another cluster.

    As the paper draws negatives (section 3.2): a word that the two share is drawn, a side is drawn, and that side's
    place is taken by a sentence drawn from all those with the word; here of another cluster. A pair whose words stand
    in no other cluster has none.

    Args:
        pairs: paraphrases.
        pool: all pairs of the file, whose sentences are drawn; with their clusters, as these are.
        words: each sentence's words by its text.
    Raises: InputError if none can be mined.
    """
    cluster = {side.text: cluster_of(pair) for pair in pool for side in (pair.source, pair.target)}
    texts, clusters_S = list(cluster), np.array(list(cluster.values()))
    standing: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        for word in dict.fromkeys(word.lower() for word in words[text]):
            standing.setdefault(word, []).append(row)
    rows_of = {word: np.array(rows, np.int64) for word, rows in standing.items()}
    generator = np.random.default_rng(seed)
    mined = []
    for pair in pairs:
        sides = [words[pair.source.text], words[pair.target.text]]
        common = [one.word for one in shared_words(*sides, skip_stopwords=skip_stopwords)]
        kept = sides[int(generator.integers(2))]
        for at in generator.permutation(len(common)):
            drawn = _of_another(rows_of[common[at]], clusters_S, cluster_of(pair), generator)
            if drawn is not None:
                other = words[texts[drawn]]
                mined.append(WordPair(kept, other, shared_words(kept, other, skip_stopwords=skip_stopwords)))
                break
    if not mined:
        origin = next((f"{pair.origin}: " for pair in pairs if pair.origin), "")
        came = f"{counted(len(pairs), 'pair')} of paraphrases, no shared word of which stands in another cluster"
        raise InputError(f"{origin}{came}; expected some, to mine pairs that are no paraphrases")
    return mined


def _of_another(
    rows: NDArray[np.int64], clusters_S: NDArray[np.int64], own: int, generator: np.random.Generator
) -> int | None:
    """One of these rows, each as likely, whose cluster is another one."""
    row = int(rows[generator.integers(len(rows))])
    if clusters_S[row] != own:  # nearly always, and then the others need not be looked for
        return row
    others = rows[clusters_S[rows] != own]
    return int(others[generator.integers(len(others))]) if len(others) else None


def _set_of(path: Path, draw: SharedDraw, columns: Sequence[str] | None, fitting: Fitting | None) -> SharedWordSet:
    pairs = list(read_labelled_pairs(path, columns))
    first = next((pair.origin for pair in pairs if pair.origin), Origin(str(path), 1))
    if all(pair.label == 0 for pair in pairs):
        raise first.error(f"label 0, as of all {counted(len(pairs), 'pair')}; expected paraphrases among them")
    mined = all(pair.label != 0 for pair in pairs)
    pairs = clustered(pairs) if mined else pairs
    texts = list(dict.fromkeys(texts_of(pairs)))
    words = {text: tuple(tokenize(text)) for text in texts}
    cut = 0
    for text, most in zip(texts, fitting(list(words.values())) if fitting else (), strict=bool(fitting)):
        cut += most < len(words[text])
        words[text] = words[text][:most]
    rows = np.random.default_rng(draw.seed).permutation(len(pairs)) if draw.size else range(len(pairs))
    drawn = [
        [pairs[row] for row in rows if (pairs[row].label != 0) == same][: draw.size or None] for same in (True, False)
    ]
    paraphrases, others = ([_word_pair(pair, words, draw.skip_stopwords) for pair in kind] for kind in drawn)
    found = [_with_shared(paraphrases, "paraphrase", first)]
    if mined:
        found.append(mined_pairs(drawn[0], pairs, words, skip_stopwords=draw.skip_stopwords, seed=draw.seed))
    else:
        found.append(_with_shared(others, "non-paraphrase", first))
    without = [len(paraphrases) - len(found[0]), len(paraphrases if mined else others) - len(found[1])]
    settings = signature(
        words="penn-treebank, lower-cased",
        stopwords="left out" if draw.skip_stopwords else "kept",
        places="every two, averaged",
        paraphrases=len(found[0]),
        others=f"{len(found[1])} {'mined by a shared word' if mined else 'labelled'}",
        without_shared_word=f"{without[0]} and {without[1]}",
        cut=cut,
        seed=draw.seed,
    )
    return SharedWordSet(set_name(path), found[0], found[1], list(dict.fromkeys(words.values())), mined, settings)


def _with_shared(pairs: Sequence[WordPair], kind: str, first: Origin) -> list[WordPair]:
    found = [pair for pair in pairs if pair.shared]
    if not found:
        came = f"no shared word in any of {counted(len(pairs), kind)}"
        raise first.error(f"{came}; expected pairs of sentences that have a word in common")
    return found


def _word_pair(pair: Pair, words: Mapping[str, Words], skip_stopwords: bool) -> WordPair:
    left, right = words[pair.source.text], words[pair.target.text]
    return WordPair(left, right, shared_words(left, right, skip_stopwords=skip_stopwords))


def _counts(word: str, skip_stopwords: bool) -> bool:
    if skip_stopwords:
        return word not in STOP_WORDS and any(letter.isalpha() for letter in word)
    return any(letter.isalnum() for letter in word)
