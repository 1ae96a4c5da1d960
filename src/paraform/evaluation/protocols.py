"""Which exemplar a system is given: `first` (honest), `oracle` (the authors') and `blind`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from paraform.evaluation.preparation import metric_words
from paraform.records import InputError, counted, several

Paraphrase: TypeAlias = Callable[[list[str], list[str]], list[str]]
Protocol: TypeAlias = Literal["first", "oracle", "blind"]
PROTOCOLS: tuple[Protocol, ...] = ("first", "oracle", "blind")


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """A source to reword and what the rewording is measured against.

    Args:
        reference: a paraphrase of the source that a person wrote.
        exemplars: sentences in the form of the reference, in an order fixed before decoding; the paper has up to 5.
        blind: an exemplar drawn without knowing the reference (`blind_exemplars`); None if the protocol is not used.
        cluster: the connected component of the pair file; None if not computed.
    """

    source: str
    reference: str
    exemplars: tuple[str, ...]
    blind: str | None = None
    cluster: int | None = None


class Decoded(NamedTuple):
    """One output a row, and the exemplar it was given.

    Args:
        all_texts: of `oracle` what each row's exemplars gave, among which the one was chosen; else ().
    """

    texts: tuple[str, ...]
    exemplars: tuple[str, ...]
    all_texts: tuple[tuple[str, ...], ...] = ()


def blind_exemplars(sources: Sequence[str], pool: Sequence[str], *, seed: int = 0) -> list[str]:
    """For each source a sentence of the pool, drawn at random (never the source itself), in ignorance of references.

    Draw from another split's sentences, so that no reference can come up.
    Raises: InputError if the pool holds nothing but the source.
    """
    generator = np.random.default_rng(seed)
    different = list(dict.fromkeys(pool))
    drawn = []
    for source in sources:
        if not set(different[:2]) - {source}:  # of two different sentences, one is not the source
            raise InputError(
                f"a pool of {counted(len(different), 'sentence')}; expected one that is not the source {source[:60]!r}"
            )
        while (exemplar := different[generator.integers(len(different))]) == source:
            pass
        drawn.append(exemplar)
    return drawn


def check_protocols(protocols: Sequence[Protocol]) -> None:
    """Raises: InputError if there is none, or one that is no protocol."""
    unknown = [name for name in several(protocols, "protocols") if name not in PROTOCOLS]
    if unknown or not protocols:
        raise InputError(f"protocols are {list(protocols)}; expected some of {', '.join(PROTOCOLS)}")


def check_rows(rows: Sequence[GenerationRow], protocols: Sequence[Protocol]) -> None:
    """Raises: InputError if there are no rows or one lacks the exemplars that a protocol needs."""
    if not rows:
        raise InputError("no rows to evaluate; expected at least one source with a reference")
    for number, row in enumerate(rows, 1):
        if not row.exemplars and ("first" in protocols or "oracle" in protocols):
            raise InputError(f"row {number} has no exemplar; expected at least one, chosen near its reference")
        if row.blind is None and "blind" in protocols:
            raise InputError(f"row {number} has no blind exemplar; call blind_exemplars(sources, pool) first")


def decode(
    paraphrase: Paraphrase, rows: Sequence[GenerationRow], protocols: Sequence[Protocol], *, max_tokens: int | None = 15
) -> dict[Protocol, Decoded]:
    """The outputs of a system under each protocol, decoded in one call.

    `first` takes the first exemplar. `oracle` decodes with every exemplar and keeps the output that shares most
    different words with the *reference*, the earlier one if equal: what the authors' code does, and no honest metric.
    `blind` takes the blind exemplar.

    Raises: InputError if the system does not give one text a source.
    """
    needed = None if "oracle" in protocols else int("first" in protocols)
    near = [row.exemplars[:needed] for row in rows]
    blind = [(row.blind,) if "blind" in protocols and row.blind is not None else () for row in rows]
    asked = [
        (row.source, like) for row, *groups in zip(rows, near, blind, strict=True) for group in groups for like in group
    ]
    texts = paraphrase([source for source, _ in asked], [like for _, like in asked])
    if len(texts) != len(asked):
        came = f"{counted(len(texts), 'text')} for {counted(len(asked), 'source')}"
        raise InputError(f"the system gave {came}; expected one each, in order")
    answers = iter(zip(texts, (like for _, like in asked), strict=True))
    picked: dict[Protocol, list[tuple[str, str]]] = {name: [] for name in protocols}
    written: list[tuple[str, ...]] = []
    for row, exemplars, extra in zip(rows, near, blind, strict=True):
        candidates = [next(answers) for _ in exemplars]
        if "first" in picked:
            picked["first"].append(candidates[0])
        if "oracle" in picked:
            best = most_shared([text for text, _ in candidates], row.reference, max_tokens=max_tokens)
            picked["oracle"].append(candidates[best])
            written.append(tuple(text for text, _ in candidates))
        if extra:
            picked["blind"].append(next(answers))
    return {
        name: Decoded(
            tuple(text for text, _ in chosen),
            tuple(like for _, like in chosen),
            tuple(written) if name == "oracle" else (),
        )
        for name, chosen in picked.items()
    }


def most_shared(outputs: Sequence[str], reference: str, *, max_tokens: int | None = 15) -> int:
    """The number of the output that shares most different words with the reference; the first of equals."""
    wanted, *found = (set(words) for words in metric_words([reference, *outputs], max_tokens))
    shared = [len(wanted & words) for words in found]
    return shared.index(max(shared))
