"""How English a sentence is: a back-off model of words (Katz 1987; modified Kneser–Ney by lmplz, Heafield et al. 2013).

lmplz estimates it (`recipes/fluency.py`); here it is read from safetensors and asked for many sentences at once, which
needs neither kenlm nor a compiler. A test compares both.

Shape key: W words of the vocabulary, K n-grams of one order, T words of all sentences.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from paraform import manifest
from paraform.records import InputError
from paraform.weights import load_tensors, pretrained_folder, save_tensors

SYSTEM = "n-grams"
WORDS = "words.txt"
BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"


class Grams(NamedTuple):
    """All n-grams of one order.

    Args:
        keys_K: int64, ascending: the words' numbers as the digits of one number, to the base W.
        log_probs_K, backoffs_K: float32, log10 as in an ARPA file; no back-off (0) for the highest order.
    """

    keys_K: NDArray[np.int64]
    log_probs_K: NDArray[np.float32]
    backoffs_K: NDArray[np.float32]

    def find(self, keys_T: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where each key stands, and whether it does."""
        places_T = np.minimum(np.searchsorted(self.keys_K, keys_T), len(self.keys_K) - 1)
        return places_T, self.keys_K[places_T] == keys_T


class NGrams:
    """A back-off n-gram model.

    Args:
        words: the vocabulary, lower-cased, with <s>, </s> and <unk>.
        orders: the n-grams of 1, 2, … words.
    """

    def __init__(self, words: Sequence[str], orders: Sequence[Grams]) -> None:
        self.words = tuple(words)
        self.orders = tuple(orders)
        self._number = {word: number for number, word in enumerate(words)}

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word.lower() in self._number

    def log_probs(self, sentences: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
        """Of each sentence the log-probabilities of its words and of its end, nats, [words + 1]."""
        begin, end, unknown = (self._number[word] for word in (BEGIN, END, UNKNOWN))
        rows = [[begin, *(self._number.get(word.lower(), unknown) for word in words), end] for words in sentences]
        lengths = np.array([len(row) for row in rows], np.int64)
        flat = np.array([number for row in rows for number in row], np.int64)
        if not len(flat):
            return []
        place = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # in its own sentence
        found = self._log10(flat, place) * math.log(10)
        parts: list[NDArray[np.float64]] = np.split(found, np.cumsum(lengths)[:-1])
        return [part[1:] for part in parts]

    def _log10(self, words_T: NDArray[np.int64], place_T: NDArray[np.intp]) -> NDArray[np.float64]:
        """p(w | h) = p(h w) if that n-gram is known, else backoff(h) · p(w | h without its first word)."""
        base = len(self.words)
        keys_T = words_T.copy()
        out_T = np.zeros(len(words_T))
        context_T = np.zeros(len(words_T), np.int64)
        for order, grams in enumerate(self.orders, start=1):
            longer_T = place_T >= order - 1
            if order > 1:  # the keys of this order's n-grams, and of their contexts
                shifted_T = np.concatenate([np.zeros(order - 1, np.int64), words_T[: 1 - order]])[: len(words_T)]
                keys_T = keys_T + shifted_T * base ** (order - 1)
                context_T = np.concatenate([[0], keys_T[:-1]]) % base ** (order - 1)
                at_T, known_T = self.orders[order - 2].find(context_T)
                out_T += np.where(known_T & longer_T, self.orders[order - 2].backoffs_K[at_T], 0.0)
            at_T, known_T = grams.find(keys_T)
            out_T = np.where(known_T & longer_T, grams.log_probs_K[at_T], out_T)
        return out_T


def read_arpa(lines: Iterable[str]) -> NGrams:
    """The model of an ARPA file, as lmplz writes it. Raises: InputError if it is none."""
    order = 0
    rows: list[list[tuple[tuple[str, ...], float, float]]] = []
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\n")
        if line.startswith("\\") and line.endswith("-grams:"):
            order = len(rows) + 1
            rows.append([])
        elif order and line and not line.startswith("\\"):
            try:
                log_prob, words, *backoff = line.split("\t")
                rows[-1].append((tuple(words.split(" ")), float(log_prob), float(backoff[0]) if backoff else 0.0))
            except ValueError as error:
                raise InputError(f"line {number:,}: {line[:40]!r}; expected log10, words and back-off") from error
    if not rows:
        raise InputError("no n-grams; expected an ARPA file")
    vocabulary = [words[0] for words, _, _ in rows[0]]
    number_of = {word: number for number, word in enumerate(vocabulary)}
    orders = []
    for grams in rows:
        digits = np.array([[number_of[word] for word in words] for words, *_ in grams], np.int64)
        keys = functools.reduce(lambda key_K, digit_K: key_K * len(number_of) + digit_K, digits.T)
        order_K = np.argsort(keys)
        figures = np.array([figures for _, *figures in grams], np.float32)[order_K]
        orders.append(Grams(keys[order_K], figures[:, 0], figures[:, 1]))
    return NGrams(vocabulary, orders)


def save(model: NGrams, folder: Path, *, card: str, data_digests: dict[str, str]) -> None:
    """Write a folder that `load` reads; the figures as float16, which holds them to a thousandth."""
    tensors = {}
    for order, grams in enumerate(model.orders, start=1):
        tensors[f"{order}.keys"] = torch.from_numpy(grams.keys_K)
        tensors[f"{order}.log_probs"] = torch.from_numpy(grams.log_probs_K).half()
        tensors[f"{order}.backoffs"] = torch.from_numpy(grams.backoffs_K).half()
    about = manifest.Manifest(
        system=SYSTEM,
        config={"orders": len(model.orders)},
        assets=[WORDS],
        files={},
        dtype="float16",
        seed=None,
        data=data_digests,
        scores=[],
        versions=dict(manifest.versions()),
        git=manifest.revision(),
    )
    writers = {
        manifest.WEIGHTS: lambda path: save_tensors(tensors, path),
        manifest.CARD: manifest.write_text(card),
        WORDS: manifest.write_text("".join(f"{word}\n" for word in model.words)),
    }
    manifest.commit(folder, about, writers)


def classes(words: Sequence[str], tags: Sequence[str], known: Container[str]) -> list[str]:
    """What a model of grammar reads: words with their tags where it knows both, else tags alone: `the/dt nn is/vbz`."""
    both = [f"{word}/{tag}".lower() for word, tag in zip(words, tags, strict=True)]
    return [one if one in known else tag.lower() for one, tag in zip(both, tags, strict=True)]


@functools.cache
def load(name: str = "fluency") -> NGrams:
    """The model of an embedded folder, or of one on disk. Raises: InputError if it is damaged or another system."""
    folder = pretrained_folder(name) or Path(name)
    about = manifest.read(folder)
    if about.system != SYSTEM:
        raise InputError(f"{folder / manifest.NAME}: system {about.system!r}; expected {SYSTEM!r}")
    words = manifest.located(folder, about, WORDS).read_text(encoding="utf-8").split("\n")[:-1]
    tensors = load_tensors(manifest.located(folder, about, manifest.WEIGHTS))
    orders = []
    for order in range(1, about.config["orders"] + 1):
        parts = (tensors[f"{order}.{part}"].numpy() for part in ("keys", "log_probs", "backoffs"))
        keys_K, *figures = parts
        orders.append(Grams(keys_K, *(figure.astype(np.float32) for figure in figures)))
    return NGrams(words, orders)
