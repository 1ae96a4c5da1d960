"""Leaks: sentences of training data that stand in an evaluation set, by normalised text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

from paraform.corpora.components import components
from paraform.records import Pair, Record, Sentence, sides_of
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


class Kept(NamedTuple, Generic[Kind]):
    """What is left of the training data.

    Args:
        records: those that share nothing with the evaluation, in order.
        dropped: how many others there were.
        leaked: how many of these hold a sentence of the evaluation; the rest are of one cluster with such.
    """

    records: list[Kind]
    dropped: int
    leaked: int


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
    trained, evaluated = first_of_each(training), first_of_each(evaluation)
    shared = tuple((trained[key], text) for key, text in evaluated.items() if key in trained)
    return Overlap(len(trained), len(evaluated), shared)


def first_of_each(texts: Iterable[str]) -> dict[str, str]:
    """`normalised` text → the first text that has it, in order."""
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(normalised(text), text)
    return found


def without_overlap(records: Iterable[Kind], evaluation: Iterable[str]) -> Kept[Kind]:
    """The training records without those that share a sentence with evaluation texts, whole clusters at a time.

    A record goes if one of its sentences, or one of its cluster's, is an evaluation text: else its paraphrase would
    still teach it. A cluster is what the record's own `cluster` says (a captions file's image), else the connected
    component of all pairs, of sentences that differ as `normalised` tells them; a pair labelled 0 connects nothing.
    """
    known = {normalised(text) for text in evaluation}
    every = list(records)
    nodes: dict[str | int, int] = {}
    edges: list[tuple[int, int]] = []
    leaking: set[int] = set()
    nodes_of: list[list[int]] = []
    leaked = 0
    for record in every:
        found, own = [], False
        for name, side in sides_of(record).items():
            key = normalised(side.text)
            group = None if isinstance(record, Sentence) or not _of_cluster(record, name) else record.cluster
            node = nodes.setdefault(key if group is None else group, len(nodes))
            if key in known:
                leaking.add(node)
                own = True
            found.append(node)
        if not isinstance(record, Sentence) and _of_cluster(record, "target"):
            edges.append((found[0], found[-1]))
        nodes_of.append(found)
        leaked += own
    roots = components(len(nodes), edges)
    spoilt = {roots[node] for node in leaking}
    kept = [
        record for record, found in zip(every, nodes_of, strict=True) if spoilt.isdisjoint(roots[node] for node in found)
    ]
    return Kept(kept, len(every) - len(kept), leaked)


def _of_cluster(record: Record, name: str) -> bool:
    """Whether that side belongs to the record's cluster: an exemplar and what is no paraphrase do not."""
    return name == "source" or (name == "target" and not (isinstance(record, Pair) and record.label == 0))
