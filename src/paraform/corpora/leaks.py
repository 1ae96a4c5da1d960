"""Leaks: sentences of training data that stand in an evaluation set, by normalised text."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from paraform.corpora.components import components
from paraform.corpora.formats import read
from paraform.corpora.jsonl import MAX_CHARACTERS
from paraform.corpora.lines import lines
from paraform.corpora.quoted import quoted_rows
from paraform.records import (
    InputError,
    Pair,
    Record,
    Sentence,
    Triple,
    require_records,
    require_texts,
    several,
    sides_of,
)
from paraform.weights import PathLike, atomic_path
from paraform.words import unescape

Kind = TypeVar("Kind", bound=Record)

# What two ways of writing one sentence differ in: quotes, dashes, spaces, full stops. Signs that are words of their
# own stay (C is not C++), and so does the point of a number.
_DROPPED = re.compile(r"[^\w+#%&@$€£=<>.]|_|(?<!\d)\.|\.(?!\d)")


class Overlap(NamedTuple):
    """What training and evaluation have in common; sentences are counted once, as `normalised` tells them apart.

    Args:
        training, evaluation: how many sentences either has.
        shared: each sentence of both, as the training and as the evaluation first has it, in the latter's order.
    """

    training: int
    evaluation: int
    shared: tuple[tuple[str, str], ...]


class Overlaps(NamedTuple):
    """What training files and evaluation files have in common.

    Args:
        evaluation: each evaluation file with all training files.
        training: each training file with all evaluation files.
    """

    evaluation: dict[str, Overlap]
    training: dict[str, Overlap]


class Kept(NamedTuple, Generic[Kind]):
    """Training data, taken apart; each list in the data's order.

    Args:
        records: those that share nothing with the evaluation.
        leaked: those that hold a sentence of the evaluation.
        related: those that hold none, but are of one cluster with one that does.
    """

    records: list[Kind]
    leaked: list[Kind]
    related: list[Kind]


class Written(NamedTuple):
    """Rows of a training file, each a line unless fields are quoted.

    Args:
        kept: written.
        leaked: dropped, since they hold a sentence of the evaluation.
        related: dropped, since they are of one cluster with such.
    """

    kept: int
    leaked: int
    related: int


def normalised(text: str) -> str:
    """A sentence without case, spaces and punctuation: `Ca n't you ?` and `Can’t you` are `cantyou`.

    Letters, digits, the signs + # % & @ $ € £ = < > and the point inside a number stay; a treebank's brackets
    (`-LRB-`) go. A text that has nothing of these is what it was, without the white space around it.
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    if "-" in plain:
        plain = unescape(plain)
    return _DROPPED.sub("", plain.casefold()) or text.strip()


def overlap(training: Iterable[str], evaluation: Iterable[str]) -> Overlap:
    """The sentences of training texts that stand among evaluation texts, by `normalised` text.

    >>> overlap(["A man can't swim.", "Dogs bark."], ["a man ca n't swim .", "Cats sleep."]).shared
    (("A man can't swim.", 'a man ca n\\'t swim .'),)
    """
    return _overlap(first_of_each(training), first_of_each(evaluation))


def overlaps(training: Mapping[str, Iterable[str]], evaluation: Mapping[str, Iterable[str]]) -> Overlaps:
    """The same of several files, by their names; each text is normalised once."""
    trained = {name: first_of_each(texts) for name, texts in training.items()}
    evaluated = {name: first_of_each(texts) for name, texts in evaluation.items()}
    every_trained, every_evaluated = _union(trained.values()), _union(evaluated.values())
    return Overlaps(
        {name: _overlap(every_trained, texts) for name, texts in evaluated.items()},
        {name: _overlap(texts, every_evaluated) for name, texts in trained.items()},
    )


def first_of_each(texts: Iterable[str]) -> dict[str, str]:
    """`normalised` text → the first text that has it, in order. Raises: InputError for what are no texts."""
    found: dict[str, str] = {}
    for text in dict.fromkeys(require_texts(iter(several(texts, "texts")))):
        found.setdefault(normalised(text), text)
    return found


def _overlap(trained: Mapping[str, str], evaluated: Mapping[str, str]) -> Overlap:
    shared = tuple((trained[key], text) for key, text in evaluated.items() if key in trained)
    return Overlap(len(trained), len(evaluated), shared)


def _union(files: Iterable[Mapping[str, str]]) -> dict[str, str]:
    union: dict[str, str] = {}
    for texts in files:
        union |= {key: text for key, text in texts.items() if key not in union}
    return union


def without_overlap(records: Iterable[Kind], evaluation: Iterable[str]) -> Kept[Kind]:
    """The training records without those that share a sentence with evaluation texts, whole clusters at a time.

    A record goes if one of its sentences, or one of its cluster's, is an evaluation text: else its paraphrase would
    still teach it. A cluster is what the record's own `cluster` says (a captions file's image), else the connected
    component of all pairs, of sentences that differ as `normalised` tells them; a pair labelled 0 connects nothing.
    """
    known = first_of_each(evaluation)
    key_of = functools.cache(normalised)  # of captions, the first stands in all pairs of its image
    nodes: dict[str | int, int] = {}
    edges: list[tuple[int, int]] = []
    leaking: set[int] = set()
    rows: list[tuple[Kind, bool, list[int]]] = []
    for record in require_records(records, Sentence, Pair, Triple):
        found, leaked = [], False
        for name, side in sides_of(record).items():
            key = key_of(side.text)
            cluster = None if isinstance(record, Sentence) or not _of_cluster(record, name) else record.cluster
            node = nodes.setdefault(key if cluster is None else cluster, len(nodes))
            if key in known:
                leaking.add(node)
                leaked = True
            found.append(node)
        if not isinstance(record, Sentence) and _of_cluster(record, "target"):
            edges.append((found[0], found[-1]))
        rows.append((record, leaked, found))
    roots = components(len(nodes), edges)
    spoilt = {roots[node] for node in leaking}
    apart: Kept[Kind] = Kept([], [], [])
    for record, leaked, found in rows:
        clean = spoilt.isdisjoint(roots[node] for node in found)
        (apart.records if clean else apart.leaked if leaked else apart.related).append(record)
    return apart


def _of_cluster(record: Record, name: str) -> bool:
    """Whether that side belongs to the record's cluster: an exemplar and what is no paraphrase do not."""
    return name == "source" or (name == "target" and not (isinstance(record, Pair) and record.label == 0))


def drop_overlap(
    path: PathLike, out: PathLike, evaluation: Iterable[str], format: str = "pairs", *, skip_bad_lines: bool = False
) -> Written:
    """Write a training file without the records that `without_overlap` drops; every other line as it is.

    Args:
        format: a key of `FORMATS`; neither a folder ("qqp-pos") nor what has its labels in other files or below a
            header ("labelled-pairs") can be written.
        skip_bad_lines: leave bad lines out.
    Raises: InputError as the format's reader does, or if nothing would be left; then no file is written.
    """
    apart = without_overlap(read(path, format, skip_bad_lines=skip_bad_lines), evaluation)
    kept, leaked, related = map(_places, apart)
    if not kept:
        raise InputError(f"{path}: every record shares a sentence or a cluster with the evaluation; nothing is left")
    physical = lines(path, MAX_CHARACTERS, keep_ends=True)
    rows = quoted_rows(physical, "\t", MAX_CHARACTERS) if format == "quora" else physical
    header = format == "quora"
    with atomic_path(out) as unfinished, open(unfinished, "w", encoding="utf-8", newline="") as file:
        for row in rows:
            if header or row.origin.line in kept:
                file.write(row.text)
            header = False
    return Written(len(kept), len(leaked), len(related - leaked))


def _places(records: Iterable[Record]) -> set[int]:
    """The lines where they begin; of captions, several pairs begin in one."""
    return {record.origin.line for record in records if record.origin}
