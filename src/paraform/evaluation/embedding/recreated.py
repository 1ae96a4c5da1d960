"""Probing sets made from treebanks as SentEval's were from parsed text (Conneau et al. 2018): *re-created* ones.

BShift, TreeDepth and TopConst ask for form, SentLen for length, WordContent for content. They are smaller than
SentEval's and of other text, so that scores do not compare to published ones. A treebank's sentences come in three
parts that share no document and no sentence.
"""

from __future__ import annotations

import itertools
import logging
import random
import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from paraform.corpora.leaks import normalised
from paraform.corpora.lines import lines
from paraform.corpora.probing import PARTS, ProbingExample
from paraform.corpora.treebank import MAX_TREE, read_treebank
from paraform.evaluation.embedding.task import first_of_each
from paraform.records import InputError, Sentence, counted
from paraform.score import signature
from paraform.syntax.trees import Tree, depth, read_tree, stripped, top_constituents, without_root
from paraform.weights import PathLike
from paraform.words import detokenize

Item = TypeVar("Item")

CLAUSES = frozenset({"S", "SQ", "SBARQ", "SINV"})
OTHER = "OTHER"
LENGTHS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))  # words; SentEval's bins
LEAST_WORDS, MOST_WORDS = 4, 40  # of a sentence
LEAST_DEPTH, MOST_DEPTH = 5, 12  # of TreeDepth; SentEval's
MOST_OF_LENGTH = 40  # sentences of one depth and so many words: what is left tells the depth far less by its length
TOP_CLASSES = 20  # of TopConst, the last of which is every other sequence
LEAST_TOP = 100  # sentences that a sequence must have to be a class
MOST_TOP, MOST_LENGTH = 700, 1500  # sentences of one class of TopConst, and of SentLen
COMMON_WORDS = 100  # so many of the commonest words are no classes of WordContent
LEAST_WORD = 50  # sentences that must hold a word of WordContent and no other of them

_FREE = re.compile(r"(?!n['’]t$)[^\W_].*", re.IGNORECASE)  # a word that stands between spaces
_MARK = re.compile(r"[.?!]")


def recreated_signature(seed: int) -> str:
    """Every setting."""
    return signature(
        seed=seed,
        words=f"{LEAST_WORDS}-{MOST_WORDS}",
        depths=f"{LEAST_DEPTH}-{MOST_DEPTH}",
        most_of_length=MOST_OF_LENGTH,
        top=f"{TOP_CLASSES} of {LEAST_TOP}-{MOST_TOP}",
        most_length=MOST_LENGTH,
        word=f"{LEAST_WORD} behind {COMMON_WORDS}",
    )


def recreate(path: PathLike, *, seed: int = 0) -> dict[str, list[ProbingExample]]:
    """The probing sets of a treebank, of a folder of some or of a file, by their names: those that its size allows.

    Words are joined to text as a person would write them (`words.detokenize`); `treebank_parts` splits by document.
    A label that training does not have, or has one example of, is left out.

    Args:
        seed: of the split by document and of every draw.
    Raises: InputError as `treebank_parts` does, or if the sentences are too few for any set. A warning on the logger
        "paraform" names a set that they are too few for.
    """
    sentences = treebank_parts(path, seed=seed)
    drawn = {
        "BShift": bigram_shift(sentences, seed),
        "TreeDepth": tree_depth(sentences, seed),
        "TopConst": top_constituent_sequence(sentences, seed),
        "SentLen": sentence_length(sentences, seed),
        "WordContent": word_content(sentences),
    }
    made = {name: _usable(examples) for name, examples in drawn.items()}
    if lacking := [name for name, examples in made.items() if not examples]:
        came = f"{path}: {counted(len(sentences), 'sentence')}: too few for {', '.join(lacking)}"
        if len(lacking) == len(made):
            raise InputError(f"{came}; expected a larger treebank")
        logging.getLogger("paraform").warning("%s; left out", came)
    return {name: examples for name, examples in made.items() if examples}


def bigram_shift(sentences: Sequence[TreebankSentence], seed: int) -> list[ProbingExample]:
    """BShift: in half of each part's sentences (I, the others O) two neighbouring words have changed places.

    Neither is the first word, whose capital would tell, a punctuation mark or a clitic, which a text joins to what
    stands before it, and they are not the same word. A sentence without two such words is left out.
    """
    draw = random.Random(seed)
    examples = []
    for part in PARTS:
        places = [(one, starts) for one in sentences if one.part == part and (starts := _neighbours(one.words))]
        shifted = set(draw.sample(range(len(places)), len(places) // 2))
        for number, (one, where) in enumerate(places):
            if number in shifted:
                at = draw.choice(where)
                words = (*one.words[:at], one.words[at + 1], one.words[at], *one.words[at + 2 :])
                examples.append(ProbingExample(part, "I", detokenize(words)))
            else:
                examples.append(ProbingExample(part, "O", one.text))
    return examples


def tree_depth(sentences: Sequence[TreebankSentence], seed: int) -> list[ProbingExample]:
    """TreeDepth: nodes on the longest way from the sentence's node to a tag, both counted; the root is none."""
    cells = []
    for one in sentences:
        below = without_root(one.tree)
        deep = depth(below[0]) if len(below) == 1 else 0
        if LEAST_DEPTH <= deep <= MOST_DEPTH:
            cells.append((one, deep))
    kept = thinned(cells, lambda cell: (cell[1], len(cell[0].words)), MOST_OF_LENGTH, seed)
    return [ProbingExample(one.part, str(deep), one.text) for one, deep in kept]


def top_constituent_sequence(sentences: Sequence[TreebankSentence], seed: int) -> list[ProbingExample]:
    """TopConst: the labels right below a clause's node (S, SQ, SBARQ, SINV): the commonest sequences, and OTHER.

    A closing mark is `.` whatever it is; QuestionBank has a label of its own for `?`.
    """
    sequences = [
        (one, "_".join(_MARK.sub(".", label) for label in top_constituents(one.tree)))
        for one in sentences
        if len(below := without_root(one.tree)) == 1 and below[0].label in CLAUSES
    ]
    counts = Counter(sequence for _, sequence in sequences)
    common = {name for name, count in counts.most_common(TOP_CLASSES - 1) if count >= LEAST_TOP}
    named = [(one, name if name in common else OTHER) for one, name in sequences]
    kept = thinned(named, lambda pair: pair[1], MOST_TOP, seed)
    return [ProbingExample(one.part, name, one.text) for one, name in kept] if len(common) > 1 else []


def sentence_length(sentences: Sequence[TreebankSentence], seed: int) -> list[ProbingExample]:
    """SentLen: in which of six bins the number of words, punctuation marks counted, lies."""
    binned = [
        (one, f"{least}-{most}") for one in sentences for least, most in LENGTHS if least <= len(one.words) <= most
    ]
    kept = thinned(binned, lambda pair: pair[1], MOST_LENGTH, seed)
    return [ProbingExample(one.part, name, one.text) for one, name in kept]


def word_content(sentences: Sequence[TreebankSentence]) -> list[ProbingExample]:
    """WordContent: which one of some words of middle frequency stands in the sentence; none of the others does.

    The words are of three letters or more, behind the commonest ones. While one of them stands in fewer than
    `LEAST_WORD` sentences without another, the rarest so counted is struck off.
    """
    words_of = [frozenset(map(str.lower, one.words)) for one in sentences]
    counts = Counter(word for words in words_of for word in words if word.isalpha() and len(word) > 2)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[COMMON_WORDS:]
    classes = {word for word in ranked if counts[word] >= LEAST_WORD}
    here = [set(words & classes) for words in words_of]
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, words in enumerate(here):
        for word in words:
            rows[word].append(row)
    alone = {word: sum(len(here[row]) == 1 for row in rows[word]) for word in classes}
    while alone:
        rarest = min(alone, key=lambda word: (alone[word], word))
        if alone[rarest] >= LEAST_WORD:
            break
        del alone[rarest]
        for row in rows[rarest]:
            here[row].discard(rarest)
            if len(here[row]) == 1:
                alone[next(iter(here[row]))] += 1
    return [
        ProbingExample(one.part, next(iter(words)), one.text)
        for one, words in zip(sentences, here, strict=True)
        if len(words) == 1
    ]


def thinned(items: Sequence[Item], group: Callable[[Item], Hashable], most: int, seed: int) -> list[Item]:
    """So many items of each group at most, drawn by the seed, in their order."""
    order = list(range(len(items)))
    random.Random(seed).shuffle(order)
    return [items[at] for at in sorted(first_of_each(order, most, lambda at: group(items[at])))]


def _neighbours(words: Sequence[str]) -> list[int]:
    """Where two words behind the first one can change places."""
    free = [bool(_FREE.fullmatch(word)) for word in words]
    return [
        at
        for at in range(1, len(words) - 1)
        if free[at] and free[at + 1] and words[at].lower() != words[at + 1].lower()
    ]


def _usable(examples: Sequence[ProbingExample]) -> list[ProbingExample]:
    """Those whose label training has twice; none if a part or a second label is lacking then."""
    trained = Counter(example.label for example in examples if example.part == "tr")
    kept = [example for example in examples if trained[example.label] > 1]
    whole = {example.part for example in kept} == set(PARTS) and len({example.label for example in kept}) > 1
    return kept if whole else []


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


def treebank_parts(path: PathLike, *, seed: int) -> list[TreebankSentence]:
    """The sentences of a treebank, a folder of some or a file: training, then validation, then test.

    A file in a folder `train`, `dev` or `test` is of that part. The documents of any other folder are shuffled by the
    seed, and test and validation get whole ones until each has a tenth of the folder's sentences. Two blank lines end
    a document (as in NLTK's sample of the Penn Treebank); where a file has none, each `RUN` sentences in a row are one.

    A text that stands twice, but for case, punctuation and spacing, is taken where it stands first. Sentences with
    less than `LEAST_WORDS` words or more than `MOST_WORDS` are left out.

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
            if tree and LEAST_WORDS <= len(words := _as_written(tree)) <= MOST_WORDS:
                found[part].append(TreebankSentence(part, words, detokenize(words), tree))
    kept: dict[str, TreebankSentence] = {}
    for one in itertools.chain(*found.values()):
        kept.setdefault(normalised(one.text), one)
    if not kept:
        raise InputError(f"{path}: no sentence of {LEAST_WORDS} to {MOST_WORDS} words; expected some")
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
