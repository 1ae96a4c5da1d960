"""Records to tensors: vocabulary, ragged tables of ids or states, and batches by length.

The last place that sees strings in training.

Shape key: B triples, T tokens, N rows of a table end to end, D features, K exemplars kept a target.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import track
from torch import Tensor

from paraform.encoders import STDERR, Encoder
from paraform.records import InputError
from paraform.weights import atomic_path, cache_folder
from paraform.words import tokenize

PAD, UNK, BOS, EOS = range(4)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")


@final
@dataclass(frozen=True)
class Vocabulary:
    """Lower-cased words by number, and how the training text cases them.

    Args:
        words: `SPECIAL` first.
        cased: word → its usual form inside a sentence, where that is not the word itself (`paris` → `Paris`).
    """

    words: tuple[str, ...]
    cased: Mapping[str, str]

    def __post_init__(self) -> None:
        if self.words[: len(SPECIAL)] != SPECIAL or len(set(self.words)) != len(self.words):
            raise InputError(f"a vocabulary that begins {self.words[:4]}; expected {SPECIAL} first and no word twice")
        object.__setattr__(self, "_numbers", {word: number for number, word in enumerate(self.words)})

    @classmethod
    def build(
        cls, sentences: Iterable[Sequence[str]], *, min_count: int, units: Iterable[Sequence[str]] | None = None
    ) -> Vocabulary:
        """Count words as they are cased; keep those seen `min_count` times, most frequent first.

        Args:
            units: what is counted in the words' place, such as their pieces; the casing is still that of words.
        """
        counts: Counter[str] = Counter()
        inside: dict[str, Counter[str]] = {}
        for words in sentences:
            opens = True
            for word in words:
                if units is None:
                    counts[word.lower()] += 1
                if not opens:  # the first word's capital says nothing
                    inside.setdefault(word.lower(), Counter())[word] += 1
                opens = word in {".", "?", "!"}
        for row in units or ():
            counts.update(row)
        kept = sorted((word for word, n in counts.items() if n >= min_count), key=lambda word: (-counts[word], word))
        known = set(kept)
        usual = {word: forms.most_common(1)[0][0] for word, forms in inside.items() if units or word in known}
        return cls((*SPECIAL, *kept), {word: form for word, form in usual.items() if form != word})

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, words: Sequence[str], beyond: dict[str, int] | None = None) -> list[int]:
        """Numbers of lower-cased words. An unknown one is `UNK`, or a number ≥ len(self) that `beyond` keeps for it."""
        numbers: dict[str, int] = self.__dict__["_numbers"]
        if beyond is None:
            return [numbers.get(word, UNK) for word in words]
        out = []
        for word in words:
            number = numbers.get(word)
            out.append(beyond.setdefault(word, len(self) + len(beyond)) if number is None else number)
        return out

    def to_json(self) -> str:
        """The content of `vocabulary.json`."""
        return json.dumps({"words": self.words[len(SPECIAL) :], "cased": self.cased}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """Raises: InputError if the text is not what `to_json` wrote."""
        try:
            value: Any = json.loads(text)
            words, cased = value["words"], value["cased"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"vocabulary.json: {error!r}; expected an object with 'words' and 'cased'") from error
        if not (isinstance(words, list) and isinstance(cased, dict)) or not all(
            isinstance(word, str) for word in (*words, *cased.values())
        ):
            raise InputError("vocabulary.json: expected a list of words and a table of their casing")
        return cls((*SPECIAL, *words), cased)


def prepare(text: str, max_tokens: int) -> tuple[str, ...]:
    """A text as the systems read it: tokenised, cut at `max_tokens` words, case kept."""
    return tuple(tokenize(text)[:max_tokens])


@final
@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths, end to end: row i is `values[offsets[i]:offsets[i + 1]]`; values [N] or [N, D]."""

    values: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        """From rows of numbers."""
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        return cls(np.array([number for row in rows for number in row], np.int32), offsets)

    def lengths(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """[B] lengths of the given rows."""
        return self.offsets[rows + 1] - self.offsets[rows]

    def padded(self, rows: npt.NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The given rows side by side, zeros behind the short ones: [B, T] int64 or [B, T, D] float32; lengths [B]."""
        lengths = self.lengths(rows)
        within_T = np.arange(int(lengths.max(initial=0)))
        there_BT = within_T < lengths[:, None]
        at_BT = np.where(there_BT, self.offsets[rows][:, None] + within_T, 0)
        values = np.asarray(self.values[at_BT.ravel()]).reshape(*at_BT.shape, *self.values.shape[1:])
        values[~there_BT] = 0
        wide = torch.from_numpy(values)
        return wide.float() if wide.is_floating_point() else wide.long(), torch.from_numpy(lengths)


class StyleInput(NamedTuple):
    """What the style encoder reads: [B, T] piece numbers (fine-tuned) or [B, T, D] states (frozen); lengths [B]."""

    values: Tensor
    lengths_B: Tensor


class TripleBatch(NamedTuple):
    """A step's triples. Word numbers ≥ the vocabulary's size are words it does not know, the same in both sides."""

    source_BT: Tensor
    source_lengths_B: Tensor
    target_BT: Tensor
    target_lengths_B: Tensor
    exemplar: StyleInput
    target_style: StyleInput
    clusters_B: Tensor

    def to(self, device: torch.device) -> TripleBatch:
        """On that device; lengths stay where packing reads them, on the CPU."""
        if device.type == "cpu":
            return self
        return self._replace(
            source_BT=self.source_BT.to(device),
            target_BT=self.target_BT.to(device),
            exemplar=self.exemplar._replace(values=self.exemplar.values.to(device)),
            target_style=self.target_style._replace(values=self.target_style.values.to(device)),
            clusters_B=self.clusters_B.to(device),
        )


@final
@dataclass(frozen=True)
class TripleTable:
    """All triples as numbers: sentence i of `words` and of `style` is the same sentence.

    Args:
        words: numbers of every sentence's words.
        style: every sentence's style input.
        source, target: [M] sentences of each triple.
        exemplars: [M, K] sentences; −1 = none. A triple without any is never drawn.
        clusters: [M].
    """

    words: Ragged
    style: Ragged
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    exemplars: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.source)


def by_length(
    table: TripleTable, *, batch_size: int, seed: int, rank: int = 0, world: int = 1, pool_batches: int = 64
) -> tuple[Callable[[int], TripleBatch], int]:
    """Batches of triples whose targets are about as long, so that little is padded.

    Within a shuffled pool of `pool_batches` batches the triples are sorted by length; then the batches are shuffled.

    Args:
        batch_size: over all processes; each of the `world` gets every `world`-th triple of it.
        seed: with the step it decides everything: `batches(step)` is a pure function of both.
    Returns: `batches(step)`, and the steps of an epoch.
    Raises: InputError if there are fewer triples with an exemplar than one batch holds, or a batch has no equal parts.
    """
    if batch_size % world:
        raise InputError(f"batch size {batch_size} on {world} processes; expected a multiple of {world}")
    usable = np.flatnonzero((table.exemplars >= 0).any(1))
    steps = len(usable) // batch_size
    if steps == 0:
        raise InputError(f"{len(usable)} triples with an exemplar; expected at least one batch of {batch_size}")
    target_lengths = table.words.lengths(table.target)
    source_lengths = table.words.lengths(table.source)
    order_of: dict[int, npt.NDArray[np.int64]] = {}

    def order(epoch: int) -> npt.NDArray[np.int64]:
        if epoch not in order_of:
            order_of.clear()
            random = np.random.default_rng([seed, epoch])
            shuffled = random.permutation(usable)[: steps * batch_size]
            pools = [
                shuffled[i : i + pool_batches * batch_size] for i in range(0, len(shuffled), pool_batches * batch_size)
            ]
            rows = np.concatenate([p[np.lexsort((source_lengths[p], target_lengths[p]))] for p in pools])
            order_of[epoch] = random.permutation(rows.reshape(steps, batch_size))
        return order_of[epoch]

    def batches(step: int) -> TripleBatch:
        rows = order(step // steps)[step % steps]
        random = np.random.default_rng([seed, step, 1])
        choices = table.exemplars[rows]
        # The kept exemplars stand first, so a draw below their number is a draw among them.
        drawn = (random.random(len(rows)) * (choices >= 0).sum(1)).astype(np.int64)
        exemplar = choices[np.arange(len(rows)), drawn]
        mine = slice(rank, None, world)
        rows, exemplar = rows[mine], exemplar[mine]
        return TripleBatch(
            *table.words.padded(table.source[rows]),
            *table.words.padded(table.target[rows]),
            StyleInput(*table.style.padded(exemplar)),
            StyleInput(*table.style.padded(table.target[rows])),
            torch.from_numpy(table.clusters[rows]),
        )

    return batches, steps


def cached_states(
    encoder: Encoder, texts: Sequence[str], *, layer: int, folder: Path | None = None, progress: bool = False
) -> Ragged:
    """States of every token of every text at one layer, float16, computed once and kept on disk by content.

    Returns: a table [N, D] that is mapped, not read: only the rows that a batch asks for come into memory.
    """
    key = hashlib.sha256(f"{encoder.digest} {layer}\0".encode())
    for text in texts:
        key.update(text.encode() + b"\0")
    place = (folder or cache_folder()) / "states" / key.hexdigest()[:32]
    values_path, offsets_path = place.with_suffix(".npy"), place.with_suffix(".offsets.npy")
    if not (values_path.is_file() and offsets_path.is_file()):
        offsets = np.concatenate([[0], np.cumsum(encoder.count_tokens(texts))]).astype(np.int64)
        values_path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(offsets_path) as unfinished, open(unfinished, "wb") as out:
            np.save(out, offsets)
        with atomic_path(values_path) as unfinished:
            shape = (int(offsets[-1]), encoder.dimension)
            values = np.lib.format.open_memmap(unfinished, "w+", np.float16, shape)
            chunk = 4096  # texts; bounds the memory of the float32 states
            for start in track(range(0, len(texts), chunk), "style states", console=STDERR, disable=not progress):
                (states,) = encoder.states(texts[start : start + chunk], layers=[layer])
                end = min(start + chunk, len(texts))
                values[offsets[start] : offsets[end]] = states.states_ND.cpu().half().numpy()
            values.flush()
    return Ragged(np.load(values_path, mmap_mode="r"), np.load(offsets_path))
