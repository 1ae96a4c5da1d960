"""A treebank's sentences in three parts that share no document and no sentence: what probing sets are made from."""

from __future__ import annotations

import itertools
import random
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraform.corpora.leaks import normalised
from paraform.corpora.lines import lines
from paraform.corpora.probing import PARTS
from paraform.corpora.treebank import MAX_TREE, read_treebank
from paraform.records import InputError, Sentence
from paraform.syntax.trees import Tree, read_tree, stripped
from paraform.weights import PathLike
from paraform.words import detokenize

OWN = {"train": "tr", "dev": "va", "test": "te"}
"""Folders that say which part of a treebank's own split a file belongs to, as GUM's are."""

RUN = 20  # sentences in a row that count as a document where a file does not tell
SHARE = 0.1  # of the sentences of such a treebank, for validation and for test each


@dataclass(frozen=True, slots=True)
class TreebankSentence:
    """A sentence with its words, its text and its tree.

    Args:
        part: one of `PARTS`.
        words: without traces, as they are in a text: `1/2` without the treebank's backslash, and what GUM cuts at a
            hyphen whole.
        text: the words as a person would write them; what an encoder reads.
        tree: without traces and function tags.
    """

    part: str
    words: tuple[str, ...]
    text: str
    tree: Tree


def treebank_parts(path: PathLike, *, seed: int, least: int = 4, most: int = 40) -> list[TreebankSentence]:
    """The sentences of a treebank, a folder of some or a file: training, then validation, then test.

    A file in a folder `train`, `dev` or `test` is of that part. The documents of any other folder are shuffled by the
    seed, and test and validation get whole ones until each has a tenth of the folder's sentences. Two blank lines end
    a document (as in NLTK's sample of the Penn Treebank); where a file has none, each `RUN` sentences in a row are one.

    A text that stands twice, but for case, punctuation and spacing, is taken where it stands first.

    Args:
        least, most: words of a sentence; shorter and longer ones are left out.
    Raises: InputError, naming file and line, for what is no tree, or if no sentence of that many words is left.
    """
    root = Path(path)
    files = sorted(root.rglob("*.mrg"), key=lambda file: (file.parent, file.name)) if root.is_dir() else [root]
    if not files:
        raise InputError(f"{path}: no .mrg file; expected bracketed trees")
    found: dict[str, list[TreebankSentence]] = {part: [] for part in PARTS}
    for folder, inside in itertools.groupby(files, lambda file: file.parent):
        below = folder.relative_to(root).parts if root.is_dir() else ()
        own = next((OWN[name] for name in below if name in OWN), None)
        documents = [document for file in inside for document in _documents(file)]
        for part, sentence in _dealt(documents, seed) if own is None else _all(own, documents):
            tree = stripped(read_tree(sentence))
            if tree and least <= len(words := _as_written(tree)) <= most:
                found[part].append(TreebankSentence(part, words, detokenize(words), tree))
    kept: dict[str, TreebankSentence] = {}
    for one in itertools.chain(*found.values()):
        kept.setdefault(normalised(one.text), one)
    if not kept:
        raise InputError(f"{path}: no sentence of {least} to {most} words; expected some")
    return list(kept.values())


def _all(part: str, documents: Iterable[Sequence[Sentence]]) -> Iterator[tuple[str, Sentence]]:
    return ((part, sentence) for document in documents for sentence in document)


def _dealt(documents: Sequence[Sequence[Sentence]], seed: int) -> Iterator[tuple[str, Sentence]]:
    share = SHARE * sum(map(len, documents))
    counts = dict.fromkeys(PARTS, 0)
    shuffled = list(documents)
    random.Random(seed).shuffle(shuffled)
    for document in shuffled:
        part = next((part for part in ("te", "va") if counts[part] < share), "tr")
        counts[part] += len(document)
        yield from _all(part, [document])


def _documents(file: Path) -> list[list[Sentence]]:
    sentences = list(read_treebank(file))
    ends, blank = [], 0
    for line in lines(file, MAX_TREE):
        blank = 0 if line.text.strip() else blank + 1
        if blank == 2:
            ends.append(line.origin.line)
    if not ends:
        return [sentences[start : start + RUN] for start in range(0, len(sentences), RUN)]
    grouped = itertools.groupby(sentences, lambda one: bisect(ends, one.origin.line if one.origin else 0))
    return [list(document) for _, document in grouped]


def _as_written(tree: Tree) -> tuple[str, ...]:
    words: list[str] = []
    glue = False
    for leaf in tree.leaves():
        word = (leaf.word or leaf.label).replace("\\/", "/").replace("\\*", "*")
        hyphen = leaf.label == "HYPH"
        if words and (glue or hyphen):
            words[-1] += word
        else:
            words.append(word)
        glue = hyphen
    return tuple(words)
