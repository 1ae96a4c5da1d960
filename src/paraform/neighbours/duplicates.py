"""Texts that say the same in other words, found among many: near pairs of their vectors, and clusters of these.

Shape key: N different texts, D features, P pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embed, Embedder, JudgesMeaning, unread_by
from paraform.checkpoint import load, signature_of
from paraform.checkpoint.abilities import require_able
from paraform.corpora.components import components
from paraform.evaluation.content import finite_vectors
from paraform.neighbours.apart import Kind, differs
from paraform.neighbours.near_pairs import Search, near_pairs, require_threshold
from paraform.records import InputError, require_texts
from paraform.threads import in_threads

THRESHOLDS = {"minilm": 0.79, "minilm-disentangled": 0.8, "minilm-par": 0.89, "compact": 0.75}
"""Of each embedded encoder the cosine from which on 95 % of the pairs found among held-out questions, Quora's dev.tsv,
are of one labelled cluster: `python -m paraform_papers.shipped.duplicates DATA --split dev` (docs/duplicates.md)."""

VERIFIED = 0.82
"""The `same` of `minilm-judge` from which on nine of ten near pairs that were held out ask for the same, as language
models read them; of `smollm2-judge` four of five do (docs/meaning.md)."""
JUDGED: Literal["meaning"] = "meaning"  # what pairs that a judge refuses differ in

CHUNK = 16_384  # texts whose vectors are made at once
ROWS = 64  # pairs that a judge reads at once


class Duplicates(NamedTuple):
    """What was found; numbers of texts count from 0, in the order in which they were given.

    Args:
        pairs: [P, 2], two texts that are near, nearest first; of texts that are there again, the first stands for all.
        cosines: [P], of each pair.
        clusters: texts that are joined by pairs, directly or not, and copies; each in order, by its first text.
        different: how many different texts there are.
        threshold: the cosine that a pair has at least.
        search: how pairs were found: "exact", or by an "index", which may miss some.
        unread: texts, in order, that the model cannot read (`capabilities.TellsUnread`): what is near them says
            nothing. They are in pairs with those alone that differ in case and white space.
        apart: how many near pairs were left out, by what they differ in.
        same: [P], how likely it is that both say the same, by the judge that verifies; None without one.
    """

    pairs: NDArray[np.int64]
    cosines: NDArray[np.float32]
    clusters: list[list[int]]
    different: int
    threshold: float
    search: Literal["exact", "index"]
    unread: list[int]
    apart: Counter[Kind | Literal["meaning"]]
    same: NDArray[np.float32] | None


def duplicates(
    texts: Sequence[str],
    encoder: Embedder | str = "minilm",
    *,
    threshold: float | None = None,
    vectors: str = "",
    search: Search = "auto",
    batch_size: int = 0,
    seed: int = 0,
    keep_apart: Collection[Kind] = (),
    verify: JudgesMeaning | None = None,
    verify_threshold: float = VERIFIED,
    threads: int | None = None,
    progress: bool = False,
) -> Duplicates:
    """Pairs of texts whose vectors' cosine reaches a threshold, and the clusters that they make.

    A cluster is a connected component: its ends may be further from each other than the threshold. Texts that are
    there again are joined before anything is encoded. What a model does not read of a text that is too long for it does
    not count; a warning says how many those are. Texts that it cannot read, such as a Thai one of an English encoder,
    are compared by their letters alone (`Duplicates.unread`).

    Args:
        encoder: a model that embeds, or a name that `load` takes.
        threshold: above 0, at most 1; None: `THRESHOLDS`, of an embedded encoder.
        vectors: one of the encoder's `vector_names`; "": the first.
        search: as in `near_pairs`; with "auto" an index is used for more than 200,000 different texts.
        batch_size, seed: as in `Embedder.embed`; the judge reads as many at once, the index draws by the seed, too.
        keep_apart: pairs that differ in one of these (`apart.differs`) are none, however near they are.
        verify: reads both texts of every pair that is left; None: all stay.
        verify_threshold: above 0, at most 1: the least `same` of a pair that stays.
        threads: that compute on a CPU; None: as before (`paraform.threads`).
        progress: say on stderr how far it is.
    Raises: InputError for what are no texts, a model that does not embed, a missing threshold; and as `near_pairs`.
    """
    given = require_texts(texts)
    with in_threads(threads):
        model = embedder_of(encoder)
        name = encoder if isinstance(encoder, str) else ""
        least = usual_threshold(model, name, vectors) if threshold is None else threshold
        require_threshold(least)
        if not 0 < verify_threshold <= 1:
            raise InputError(f"verify_threshold: {verify_threshold}; expected a number above 0, at most 1")
        copies: dict[str, list[int]] = {}
        for number, text in enumerate(given):
            copies.setdefault(text, []).append(number)
        different = list(copies)
        unread_N = unread_by(model, different)
        read_N = np.flatnonzero(~unread_N)
        how: dict[str, Any] = {"batch_size": batch_size, "seed": seed, "progress": progress}
        vectors_ND = vectors_of(
            [different[number] for number in read_N], lambda part: model.embed(part, vectors, **how)
        )
        found = near_pairs(vectors_ND, least, search=search, seed=seed, device=model.device, progress=progress)
        alike_Q2 = same_letters(different, np.flatnonzero(unread_N))
        rows_P2 = np.concatenate([alike_Q2, read_N[found.rows]])
        cosines_P = np.concatenate([np.ones(len(alike_Q2), np.float32), found.cosines])
        near = [(different[one], different[other]) for one, other in rows_P2.tolist()]
        by_minilm = verify is not None and is_embedded(model, "minilm", name, vectors)
        why: list[Kind | Literal["meaning"] | None] = [
            differs(*pair, keep_apart) if keep_apart else None for pair in near
        ]
        same_P = None
        if verify is not None:
            left = np.flatnonzero([kind is None for kind in why]).tolist()
            known = cosines_P[left] if by_minilm else None
            same_P = np.ones(len(near), np.float32)
            same_P[left] = judged([near[at] for at in left], verify, known, batch_size or ROWS, progress)
            for at in np.flatnonzero(same_P < verify_threshold):
                why[at] = JUDGED
    together_P = np.array([kind is None for kind in why], np.bool_)
    rows_P2, cosines_P = rows_P2[together_P], cosines_P[together_P]
    same_P = None if same_P is None else same_P[together_P]
    firsts_N = np.array([numbers[0] for numbers in copies.values()], np.int64)
    members: dict[int, list[int]] = {}
    for root, numbers in zip(components(len(different), rows_P2.tolist()), copies.values(), strict=True):
        members.setdefault(root, []).extend(numbers)
    clusters = sorted(sorted(numbers) for numbers in members.values() if len(numbers) > 1)
    unread = sorted(number for text in np.flatnonzero(unread_N) for number in copies[different[text]])
    return Duplicates(
        firsts_N[rows_P2],
        cosines_P,
        clusters,
        len(different),
        least,
        found.search,
        unread,
        Counter(filter(None, why)),
        same_P,
    )


def embedder_of(encoder: Embedder | str) -> Embedder:
    """The model itself, or that of a name that `load` takes. Raises: InputError if it does not embed."""
    found = load(encoder) if isinstance(encoder, str) else encoder
    model: Embedder = require_able(found, Embedder, "a model that embeds")
    return model


def judged(
    pairs: Sequence[tuple[str, str]],
    judge: JudgesMeaning,
    cosines_P: NDArray[np.float32] | None,
    batch_size: int,
    progress: bool,
) -> NDArray[np.float32]:
    """How likely it is that each pair says the same, [P]; 1 if one says nothing: no judge reads that."""
    read = np.flatnonzero([all(map(str.strip, pair)) for pair in pairs]).tolist()
    same_P = np.ones(len(pairs), np.float32)
    if read:
        known = None if cosines_P is None else cosines_P[read]
        how: dict[str, Any] = {"cosines": known, "batch_size": batch_size, "progress": progress}
        same_P[read] = judge.judge([pairs[at] for at in read], **how).same
    return same_P


def same_letters(texts: Sequence[str], chosen: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the chosen texts that differ in case and white space alone, each with the first such: [Q, 2]."""
    first: dict[str, int] = {}
    kept = [(first.setdefault(letters_of(texts[number]), number), number) for number in chosen]
    return np.array([pair for pair in kept if pair[0] != pair[1]], np.int64).reshape(-1, 2)


def letters_of(text: str) -> str:
    """The text without what differs in case and white space."""
    return " ".join(text.casefold().split())


def vectors_of(texts: Sequence[str], embed: Embed) -> NDArray[np.float32]:
    """Their vectors, [N, D], made `CHUNK` at a time: what is held beside them does not grow with their number.

    Raises: InputError if `embed` does not give one finite vector a text.
    """
    try:
        parts = [finite_vectors(embed, texts[start : start + CHUNK]) for start in range(0, len(texts), CHUNK)]
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
    return np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)


def usual_threshold(model: Embedder, name: str = "", vectors: str = "") -> float:
    """That of an embedded encoder, as it comes. Raises: InputError for any other: what is near differs among models.

    Args:
        name: by which the model was loaded; "": an encoder's own.
    """
    known = name or str(getattr(model, "name", ""))
    if known in THRESHOLDS and is_embedded(model, known, name, vectors):
        return THRESHOLDS[known]
    raise InputError(
        f"no threshold for {known or model.kind}; expected one, such as 0.8, chosen on pairs of your own;"
        f" there are some for {', '.join(THRESHOLDS)}"
    )


def is_embedded(model: Embedder, known: str, name: str = "", vectors: str = "") -> bool:
    """Whether it is the embedded encoder of that name, as it comes, and these are its own vectors.

    Args:
        name: by which the model was loaded; "": by none.
    """
    own = vectors in ("", model.vector_names[0]) and (name == known or getattr(model, "name", "") == known)
    return own and (name == known or signature_of(model, known) == signature_of(load(known), known))
