"""Pairs and texts to train on, and a part of them, kept from training, that chooses the weights."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from paraform.corpora import clusters
from paraform.corpora.leaks import first_of_each, normalised, without_overlap
from paraform.records import InputError, Pair, require_records, require_texts, texts_of
from paraform.trainers.source_files import files_of, require_some_of_each
from paraform.training import text_digest

MOST = 1000  # texts or pairs that are held out


def room_of(count: int) -> int:
    """How many of so many texts or pairs are held out."""
    return min(MOST, max(1, count // 20))


def paraphrases(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs that are not labelled 0, with clusters. Raises: InputError for what is no pair of texts."""
    found = pairs_of_texts(pairs)
    kept = [pair for pair in found if pair.label != 0]
    if len(kept) < len(found):
        left = len(found) - len(kept)
        logging.getLogger("paraform").warning(
            "%d of %d pairs are labelled 0 (no paraphrases); left out", left, len(found)
        )
    return kept


def pairs_of_texts(pairs: Iterable[Pair]) -> list[Pair]:
    """All the pairs, with clusters. Raises: InputError for what is no pair of texts."""
    found = require_records(pairs, Pair)
    for number, pair in enumerate(found, start=1):
        try:
            require_texts(texts_of([pair]))
        except InputError as error:
            raise InputError(f"pair {number}: {error}") from None
        if not (pair.source.text.strip() and pair.target.text.strip()):
            raise InputError(f"pair {number} has an empty side; expected two texts")
    if any(pair.cluster is None for pair in found):
        found = clusters(found)
    return found


def unseen_pairs(pairs: list[Pair], evaluation: Iterable[str]) -> list[Pair]:
    """The pairs without those that share a sentence with evaluation texts, whole clusters at a time; a warning counts.

    What is trained on a test's sentences is not tested by it.
    """
    texts = list(evaluation)
    if not texts:
        return pairs
    kept = without_overlap(pairs, texts)
    logging.getLogger("paraform").warning(
        "%s of %s pairs have a sentence of the evaluation sets, and %s are of one cluster with these; left out",
        f"{len(kept.leaked):,}",
        f"{len(pairs):,}",
        f"{len(kept.related):,}",
    )
    return kept.records


class Divided(NamedTuple):
    """Pairs to train on, and others that choose the weights.

    Args:
        whole: both; of one list in its order, whatever is held out of it.
        files: those that the pairs were given from, numbered as they first came.
    """

    training: list[Pair]
    validation: list[Pair]
    whole: list[Pair]
    files: dict[str, int]

    @property
    def digests(self) -> dict[str, str]:
        """What a run keeps of both."""
        return digests_of(self.training, self.validation)


def divided(
    pairs: Iterable[Pair],
    others: Iterable[Pair] | None,
    evaluation: Sequence[str],
    *,
    seed: int,
    labelled: bool = False,
    shared: bool = False,
) -> Divided:
    """Pairs to train on and to validate by, none of them seen in evaluation texts (`unseen_pairs`).

    Args:
        others: to validate by; None: `hold_out_pairs` of the first.
        labelled: whether those labelled 0, no paraphrases, are among them.
        shared: whether each of the files that they are from is to have a share.
    Raises: InputError for what is no pair, too few of them, or a file of which none is left to have a share.
    """
    read, hold_out = (pairs_of_texts, hold_out_labelled) if labelled else (paraphrases, hold_out_pairs)
    given = read(pairs)
    training = whole = unseen_pairs(given, evaluation)
    if others is None:
        training, validation = hold_out(training, seed=seed)
    else:
        validation = unseen_pairs(read(others), evaluation)
        whole = [*training, *validation]
    if not (training and validation):
        came = f"{len(training):,} pairs to train on, {len(validation):,} to validate by"
        raise InputError(f"{came}; expected some of both")
    files = files_of(given)
    if shared:
        require_some_of_each(files, files_of(training))
    return Divided(training, validation, whole, files)


def digests_of(
    training: Iterable[Any],
    validation: Iterable[Any],
    what: str = "pairs",
    texts: Callable[[Any], Iterable[str]] = lambda pair: texts_of([pair]),
) -> dict[str, str]:
    """What a run keeps of its data, so that it does not go on with others.

    Args:
        texts: what is read of one.
    """
    both = {"training": training, "validation": validation}
    return {f"{split} {what}": text_digest(text for one in some for text in texts(one)) for split, some in both.items()}


def unseen_texts(texts: list[str], evaluation: Iterable[str]) -> list[str]:
    """The texts that are no evaluation texts, as `leaks.normalised` tells; a warning counts the others."""
    known = first_of_each(evaluation)
    if not known:
        return texts
    kept = [text for text in texts if normalised(text) not in known]
    logging.getLogger("paraform").warning(
        "%s of %s texts stand in the evaluation sets; left out", f"{len(texts) - len(kept):,}", f"{len(texts):,}"
    )
    return kept


def hold_out_texts(texts: Sequence[str], *, seed: int, key: Callable[[str], str] = str) -> tuple[list[str], list[str]]:
    """Texts to train on, and a twentieth of the different ones, at most 1,000, drawn by seed; repeats stay together.

    Args:
        key: the part of a text that is read: texts of one key are repeats.
    Raises: InputError for less than two different ones.
    """
    keys = [key(text) for text in texts]
    different = list(dict.fromkeys(keys))
    if len(different) < 2:
        raise InputError(
            f"{len(different)} different sentences; expected two or more, or others (validation=, --validation)"
        )
    held = set(random.Random(seed).sample(different, room_of(len(different))))
    rows = list(zip(keys, texts, strict=True))
    return [text for key, text in rows if key not in held], [text for key, text in rows if key in held]


def hold_out_pairs(pairs: Sequence[Pair], *, seed: int, most: int | None = None) -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on, and about a twentieth, at most 1,000, in whole clusters drawn by seed; both in their order.

    If every cluster is larger than that, it is the smallest one.

    Args:
        pairs: with clusters.
        most: how many pairs are held out, in place of a twentieth.
    Raises: InputError if there are fewer than two clusters.
    """
    sizes = Counter(pair.cluster for pair in pairs)
    if len(sizes) < 2:
        raise InputError(f"{len(sizes)} clusters of pairs; expected two or more, or others (validation=, --validation)")
    room = room_of(len(pairs)) if most is None else most
    order = list(sizes)
    random.Random(seed).shuffle(order)
    held = set()
    for cluster in order:
        if sizes[cluster] <= room:
            held.add(cluster)
            room -= sizes[cluster]
    if not held:  # every cluster is larger than the share
        held = {min(order, key=sizes.__getitem__)}
    return [pair for pair in pairs if pair.cluster not in held], [pair for pair in pairs if pair.cluster in held]


def hold_out_labelled(pairs: Sequence[Pair], *, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on, and others, as `hold_out_pairs`; no sentence is in both, those of pairs labelled 0 neither."""
    joined = clusters([replace(pair, label=None) for pair in pairs])  # a pair labelled 0 ties its sides together, too
    kept = {pair.cluster for pair in hold_out_pairs(joined, seed=seed)[1]}
    rows = list(zip(pairs, joined, strict=True))
    return [pair for pair, one in rows if one.cluster not in kept], [pair for pair, one in rows if one.cluster in kept]
