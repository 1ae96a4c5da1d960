"""Pairs and texts to train on, and a part of them, kept from training, that chooses the weights."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from paraform.corpora import clusters
from paraform.corpora.leaks import first_of_each, normalised, without_overlap
from paraform.records import InputError, Pair, require_records, require_texts
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
            require_texts([pair.source.text, pair.target.text])
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


def require_pairs(pairs: Sequence[Pair], validation: Sequence[Pair]) -> None:
    """Raises: InputError if there are none of one of the two."""
    if not (pairs and validation):
        raise InputError(f"{len(pairs):,} pairs to train on, {len(validation):,} to validate by; expected some of both")


def divided(
    pairs: list[Pair], validation: list[Pair] | None, evaluation: Sequence[str], *, seed: int
) -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on and to validate by, none of them seen in evaluation texts (`unseen_pairs`).

    Args:
        validation: None: `hold_out_pairs` of the others.
    Raises: InputError as `hold_out_pairs` and `require_pairs`.
    """
    pairs = unseen_pairs(pairs, evaluation)
    if validation is None:
        return hold_out_pairs(pairs, seed=seed)
    validation = unseen_pairs(validation, evaluation)
    require_pairs(pairs, validation)
    return pairs, validation


def digests_of(pairs: Iterable[Pair], validation: Iterable[Pair]) -> dict[str, str]:
    """What a run keeps of its pairs, so that it does not go on with others."""
    return {
        f"{split} pairs": text_digest(text for pair in some for text in (pair.source.text, pair.target.text))
        for split, some in (("training", pairs), ("validation", validation))
    }


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
