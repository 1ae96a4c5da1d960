"""How far a word's state moves when its sentence is reworded (PAR; Shi et al. 2019, Tables 1, 4 and 5).

A word that two sentences share has a state in each. In paraphrases the two should be near, in other pairs they may be
far. Beside them stand the distances of words that mean something else, "good" and "bad", "large" and "small", in
sentences that have nothing to do with each other (the paper's introduction).

Shape key: N pairs, W shared words of all pairs, M places of shared words, A, B sentences with a word, L layers,
D features.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paraform.capabilities import Embedder, MapsLinearly, ReadsWords
from paraform.checkpoint import signature_of
from paraform.encoders.types import WordStates
from paraform.evaluation.content import unit
from paraform.evaluation.embedding.shared_words import Fitting, SharedWordSet, WordPair, Words
from paraform.evaluation.on_pairs import precision_of
from paraform.records import InputError
from paraform.score import signature

WordsToStates: TypeAlias = Callable[[Sequence[Sequence[str]]], WordStates]
"""Sentences as words → a state of each word; several layers stand side by side."""
Layers: TypeAlias = Literal["own", "all", "mean"]

BLOCK = 256  # pairs whose states are held at once
MOST_CONTEXTS = 100  # sentences of each word of a reference
REFERENCES = (("good", "bad"), ("large", "small"))


class WordSystem(NamedTuple):
    """What is measured.

    Args:
        name: as tables print it.
        signature: every setting that changes its states.
        words: sentences' words to states.
        fitting: how many first words of each sentence it reads.
        matrix: M, [K, K], if one was trained to map its words.
    """

    name: str
    signature: str
    words: WordsToStates
    fitting: Fitting
    matrix: NDArray[np.float64] | None = None

    @property
    def shape(self) -> MatrixShape | None:
        """How far M is from an orthogonal one; None without M."""
        return None if self.matrix is None else matrix_shape(self.matrix)


class MatrixShape(NamedTuple):
    """How far a matrix M is from an orthogonal one: 0 and ones if it is.

    Args:
        penalty: ‖I − MᵀM‖_F (section 3.2, L_O).
        least, median, largest: singular values; a direction is shrunk or stretched by so much.
    """

    penalty: float
    least: float
    median: float
    largest: float


def matrix_shape(matrix_KK: NDArray[np.float64]) -> MatrixShape:
    """Of a square matrix, by its singular values σ: ‖I − MᵀM‖_F = √Σ (1 − σ²)²."""
    singular_K = np.linalg.svd(matrix_KK.astype(np.float64), compute_uv=False)
    penalty = float(np.sqrt(((1 - singular_K**2) ** 2).sum()))
    return MatrixShape(penalty, float(singular_K[-1]), float(np.median(singular_K)), float(singular_K[0]))


class Distances(NamedTuple):
    """Of the words that pairs share, pair by pair.

    Args:
        pair_W: each word's pair, its number.
        l2_W: ‖E(w, S₁) − E(w, S₂)‖₂ (section 3.2), in the states' own unit, the mean over every two places of the word.
        cosine_W: 1 − the cosine of the two, likewise.
    """

    pair_W: NDArray[np.int64]
    l2_W: NDArray[np.float64]
    cosine_W: NDArray[np.float64]


class Reference(NamedTuple):
    """How far two words of other meaning are from each other in unrelated sentences, on average.

    Args:
        words: the two.
        contexts: how many sentences of each there were.
        l2, cosine: the mean over two sentences, one of each; NaN where a word stands in none.
        settings: how many sentences there were, of which text, and the seed, for signatures.
    """

    words: tuple[str, str]
    contexts: tuple[int, int]
    l2: float
    cosine: float
    settings: str

    @property
    def name(self) -> str:
        """`good–bad`."""
        return "–".join(self.words)


class Measured(NamedTuple):
    """What one system makes of one set."""

    paraphrases: Distances
    others: Distances
    references: Sequence[Reference]


def word_system(
    name: str, model: ReadsWords, *, layers: Layers = "own", batch_tokens: int = 4096, progress: bool = False
) -> WordSystem:
    """A model as it is measured.

    Args:
        layers: "own", the model's own layer; "all", all of them side by side, the embeddings first, as the paper's
            "all layers"; "mean", their mean (ELMo's layer mix with equal weights).
        batch_tokens, progress: of `ReadsWords.word_states`.
    """
    wanted = [model.layer] if layers == "own" else list(range(model.num_layers + 1))

    def words(sentences: Sequence[Sequence[str]]) -> WordStates:
        found = model.word_states(sentences, layers=wanted, batch_tokens=batch_tokens, progress=progress)
        if layers != "mean":
            return found
        return WordStates(found.states_NLD.float().mean(1, keepdim=True), found.offsets)

    own = model.layer % (model.num_layers + 1)
    said = {"own": f"layer {own}", "all": f"layers 0 to {model.num_layers}, side by side"}
    settings = signature(states=said.get(layers, f"layers 0 to {model.num_layers}, mean"))
    about = signature_of(model, name) if isinstance(model, Embedder) else name
    about += f"|{precision_of(model.device, getattr(model, 'dtype', None))}"
    matrix_KK = model.matrix.double().cpu().numpy() if isinstance(model, MapsLinearly) else None
    return WordSystem(name, f"{settings}|{about}", words, model.fitting, matrix_KK)


def fitting_all(systems: Sequence[WordSystem]) -> Fitting:
    """How many first words of each sentence all systems read, so that all are measured on the same words."""

    def fitting(sentences: Sequence[Sequence[str]]) -> list[int]:
        return [min(most) for most in zip(*(system.fitting(sentences) for system in systems), strict=True)]

    return fitting


def shared_distances(pairs: Sequence[WordPair], words: WordsToStates) -> Distances:
    """Distances of the words that each pair shares; each different sentence of a block of pairs is encoded once.

    Raises: InputError if `words` does not give a finite state a word.
    """
    parts = [_of_block(pairs[start : start + BLOCK], start, words) for start in range(0, len(pairs), BLOCK)]
    return Distances(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def reference_distances(sentences: Sequence[Words], words: WordsToStates, *, seed: int = 0) -> list[Reference]:
    """The mean distance of two words in random contexts: every two sentences, one with each, that are not the same.

    Args:
        sentences: `REFERENCES` are looked for in these; where a word stands twice its first place counts.
        seed: of the draw where more than `MOST_CONTEXTS` have a word.
    """
    generator = np.random.default_rng(seed)
    lowered = [[word.lower() for word in sentence] for sentence in sentences]
    digest = hashlib.sha256("\n".join(map(" ".join, sentences)).encode()).hexdigest()[:8]
    found = []
    for pair in REFERENCES:
        rows = [[row for row, known in enumerate(lowered) if word in known] for word in pair]
        drawn = [
            sorted(generator.permutation(some)[:MOST_CONTEXTS].tolist()) if len(some) > MOST_CONTEXTS else some
            for some in rows
        ]
        l2, cosine = math.nan, math.nan
        if all(drawn) and len({*drawn[0], *drawn[1]}) > 1:
            states_RD, offsets = states_of(words, [sentences[row] for some in drawn for row in some])
            places = [[lowered[row].index(word) for row in some] for word, some in zip(pair, drawn, strict=True)]
            at_A, at_B = np.split(offsets[:-1] + np.concatenate(places), [len(drawn[0])])
            apart_AB = np.array(drawn[0])[:, None] != np.array(drawn[1])[None]
            pairs_2M = np.nonzero(apart_AB)
            l2_M, cosine_M = distances_between(states_RD[at_A[pairs_2M[0]]], states_RD[at_B[pairs_2M[1]]])
            l2, cosine = float(l2_M.mean()), float(cosine_M.mean())
        counts = (len(drawn[0]), len(drawn[1]))
        settings = signature(contexts=f"{counts[0]} and {counts[1]}", text=digest, draw=seed)
        found.append(Reference(pair, counts, l2, cosine, settings))
    return found


def measure_distances(
    one: SharedWordSet, system: WordSystem, *, contexts: Sequence[Words] | None = None, seed: int = 0
) -> Measured:
    """What a system makes of a set.

    Args:
        contexts: sentences for the reference distances; None: the set's own.
        seed: of their draw.
    Raises: InputError if the system's states are not finite.
    """
    try:
        return Measured(
            shared_distances(one.paraphrases, system.words),
            shared_distances(one.others, system.words),
            reference_distances(one.sentences if contexts is None else contexts, system.words, seed=seed),
        )
    except ValueError as error:
        raise InputError(f"{system.name}: {error}") from error


def _of_block(pairs: Sequence[WordPair], first: int, words: WordsToStates) -> Distances:
    different = list(dict.fromkeys(side for pair in pairs for side in (pair.left, pair.right)))
    states_RD, offsets = states_of(words, different)
    begins = dict(zip(different, offsets[:-1].tolist(), strict=True))
    pair_W: list[int] = []
    word_M: list[int] = []
    rows_M: tuple[list[int], list[int]] = ([], [])
    for number, pair in enumerate(pairs, start=first):
        for shared in pair.shared:
            for left, right in itertools.product(shared.left, shared.right):
                word_M.append(len(pair_W))
                rows_M[0].append(begins[pair.left] + left)
                rows_M[1].append(begins[pair.right] + right)
            pair_W.append(number)
    l2_M, cosine_M = distances_between(states_RD[rows_M[0]], states_RD[rows_M[1]])
    count_W = np.bincount(word_M, minlength=len(pair_W))
    l2_W, cosine_W = (np.bincount(word_M, values, minlength=len(pair_W)) / count_W for values in (l2_M, cosine_M))
    return Distances(np.array(pair_W, np.int64), l2_W, cosine_W)


def states_of(words: WordsToStates, sentences: Sequence[Words]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The states of all sentences end to end, layers side by side, and where each sentence begins; then the end."""
    found = words(sentences)
    states_RD = found.states_NLD.flatten(1).float().cpu().numpy()
    if len(states_RD) != sum(map(len, sentences)):
        raise InputError(f"{len(states_RD)} states of {sum(map(len, sentences))} words; expected one a word")
    if not np.isfinite(states_RD).all():
        raise InputError("NaN or infinity in a word's state; expected finite states")
    return states_RD, found.offsets


def distances_between(left_MD: NDArray[np.float32], right_MD: NDArray[np.float32]) -> Iterator[NDArray[np.float64]]:
    """L2 and cosine distance of each two rows."""
    apart_MD = left_MD - right_MD
    yield np.sqrt(np.einsum("md,md->m", apart_MD, apart_MD, dtype=np.float64))
    yield 1 - np.einsum("md,md->m", unit(left_MD), unit(right_MD), dtype=np.float64)
