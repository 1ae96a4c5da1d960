"""A frozen text encoder: texts to vectors, and to the states of their tokens and words at any layer.

Shape key: B sentences, T tokens, N tokens of all sentences end to end, W words of all sentences, D features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.progress import track
from tokenizers import Encoding, Tokenizer
from torch import Tensor

from paraform.records import InputError

STDERR = Console(stderr=True)  # progress never mixes with what a command prints

Pooling = Literal["mean", "cls"]
Forward = Callable[[Sequence[Sequence[int]], Sequence[int]], list[Tensor]]
"""(piece numbers of sentences, wanted layers) → states [N, D] of each wanted layer, the sentences end to end."""


class TokenStates(NamedTuple):
    """Token states of several sentences, end to end.

    `states_ND` in the order of the sentences; sentence i is rows offsets[i] to offsets[i + 1]. Its first and last rows
    are [CLS] and [SEP] in `Encoder.states`; in `Encoder.word_states` there is one row a word and no other.
    """

    states_ND: Tensor
    offsets: npt.NDArray[np.int64]


@final
@dataclass(frozen=True)
class Encoder:
    """A frozen text encoder; make one with `load`.

    Args:
        name: what `load` was given.
        dimension: of a vector, in features.
        num_layers: of the encoder; layer 0 is the embeddings.
        max_tokens: a longer text is cut there, special tokens counted.
        pooling: of `encode` unless it is told otherwise.
        digest: SHA-256 of the weights, for signatures and caches.
    """

    name: str
    dimension: int
    num_layers: int
    max_tokens: int
    pooling: Pooling
    digest: str
    device: torch.device
    _tokenizer: Tokenizer
    _forward: Forward

    def encode(
        self,
        texts: Sequence[str],
        *,
        layer: int = -1,
        pooling: Pooling | None = None,
        normalize: bool = True,
        batch_tokens: int = 2048,
        progress: bool = False,
    ) -> npt.NDArray[np.float32]:
        """One vector a text: float32 [B, D], of length 1 if `normalize`.

        Args:
            layer: 0 the embeddings … `num_layers`, negative from the end.
            pooling: "mean" over all tokens, [CLS] and [SEP] counted (as all-MiniLM-L6-v2 was trained), or "cls".
            batch_tokens: tokens computed at once; memory grows with it, results do not change.
            progress: a bar on stderr.
        Raises: InputError for a lone string, whose letters would be taken for texts.
        """
        if isinstance(texts, str):
            raise InputError("a string where a list is expected; write encoder.encode([text])")
        # Compute nothing twice: a text that stands there again costs nothing.
        unique = list(dict.fromkeys(texts))
        row = {text: number for number, text in enumerate(unique)}
        out_BD = np.empty((len(unique), self.dimension), np.float32)
        encodings = self._tokenizer.encode_batch_fast(unique)
        for chosen, (hidden_ND,) in self._batches(encodings, [layer], batch_tokens, progress, "embedding"):
            lengths = torch.tensor([len(encodings[i].ids) for i in chosen], device=self.device)
            starts = torch.cumsum(lengths, 0) - lengths
            if (pooling or self.pooling) == "cls":
                pooled_BD = hidden_ND[starts].float()
            else:
                pooled_BD = torch.segment_reduce(hidden_ND.float(), "mean", lengths=lengths, axis=0)
            if normalize:
                pooled_BD = torch.nn.functional.normalize(pooled_BD, dim=-1)
            out_BD[chosen] = pooled_BD.cpu().numpy()
        return out_BD[[row[text] for text in texts]] if len(unique) < len(texts) else out_BD

    def count_tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Tokens of each text, [CLS] and [SEP] among them: int64 [B]."""
        return np.array([len(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(list(texts))], np.int64)

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Piece numbers of each text, [CLS] and [SEP] among them."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def word_pieces(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The pieces of each sentence's words, `##` before all but a word's first; a word without any stays whole.

        So `words.join_pieces` gives the words again, `n't` too, which the tokenizer cuts at its apostrophe.

        Raises: InputError if this encoder's tokenizer is no WordPiece.
        """
        if self._tokenizer.token_to_id("##s") is None:
            raise InputError(f"encoder {self.name!r} has no WordPieces; use units='words' or a BERT-like encoder")
        encodings = self._tokenizer.encode_batch([list(w) for w in sentences], is_pretokenized=True)
        out = []
        for words, encoding in zip(sentences, encodings, strict=True):
            rows: list[list[str]] = [[] for _ in words]
            for piece, word in zip(encoding.tokens, encoding.word_ids, strict=True):
                if word is not None:
                    rows[word].append(f"##{piece.removeprefix('##')}" if rows[word] else piece)
            whole = [not pieces or any(piece.endswith("[UNK]") for piece in pieces) for pieces in rows]
            out.append(
                [p for word, row, keep in zip(words, rows, whole, strict=True) for p in ([word] if keep else row)]
            )
        return out

    def states(
        self, texts: Sequence[str], *, layers: Sequence[int], batch_tokens: int = 2048, progress: bool = False
    ) -> list[TokenStates]:
        """States of every token, one `TokenStates` a layer, [CLS] and [SEP] among them."""
        encodings = self._tokenizer.encode_batch_fast(list(texts))
        lengths = np.array([len(encoding.ids) for encoding in encodings], np.int64)
        return self._gather(encodings, lengths, None, layers, batch_tokens, progress)

    def word_states(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        layers: Sequence[int],
        batch_tokens: int = 2048,
        progress: bool = False,
    ) -> list[TokenStates]:
        """States of every word: the mean over its pieces, one row a word.

        Raises: ValueError if a sentence is longer than the encoder takes; cut it first.
        """
        encodings = self._tokenizer.encode_batch([list(words) for words in sentences], is_pretokenized=True)
        lengths = np.array([len(words) for words in sentences], np.int64)
        for words, encoding in zip(sentences, encodings, strict=True):
            if encoding.overflowing:
                raise ValueError(f"a sentence of {len(words)} words, over {self.max_tokens} pieces; cut it first")
        return self._gather(
            encodings, lengths, [encoding.word_ids for encoding in encodings], layers, batch_tokens, progress
        )

    def _gather(
        self,
        encodings: Sequence[Encoding],
        lengths: npt.NDArray[np.int64],
        word_ids: Sequence[Sequence[int | None]] | None,
        layers: Sequence[int],
        batch_tokens: int,
        progress: bool,
    ) -> list[TokenStates]:
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        outs = [torch.zeros(int(offsets[-1]), self.dimension, device=self.device) for _ in layers]
        for chosen, hidden in self._batches(encodings, layers, batch_tokens, progress, "encoding"):
            if word_ids is None:
                rows = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in chosen])
                for out, hidden_ND in zip(outs, hidden, strict=True):
                    out[torch.from_numpy(rows)] = hidden_ND.float()
                continue
            words = [word_ids[i] for i in chosen]
            kept_N = torch.tensor([word is not None for sentence in words for word in sentence], device=self.device)
            rows_N = torch.tensor(
                [offsets[i] + w for i, s in zip(chosen, words, strict=True) for w in s if w is not None],
                device=self.device,
                dtype=torch.long,
            )
            for out, hidden_ND in zip(outs, hidden, strict=True):
                out.index_add_(0, rows_N, hidden_ND.float()[kept_N])
        if word_ids is not None:
            counts = [max(1, n) for s, i in zip(word_ids, lengths, strict=True) for n in _pieces_per_word(s, int(i))]
            for out in outs:
                out /= torch.tensor(counts, device=self.device, dtype=out.dtype)[:, None]
        return [TokenStates(out, offsets) for out in outs]

    def _batches(
        self, encodings: Sequence[Encoding], layers: Sequence[int], batch_tokens: int, progress: bool, what: str
    ) -> Iterator[tuple[list[int], list[Tensor]]]:
        """Sentences in order of length, `batch_tokens` at once: (which sentences, their states for each layer)."""
        wanted = [layer if layer >= 0 else self.num_layers + 1 + layer for layer in layers]
        if not all(0 <= layer <= self.num_layers for layer in wanted):
            raise ValueError(f"layers {list(layers)}; {self.name} has layers 0 to {self.num_layers}")
        batches: list[list[int]] = [[]]
        room = batch_tokens
        for i in sorted(range(len(encodings)), key=lambda i: len(encodings[i].ids)):
            room -= len(encodings[i].ids)
            if room < 0 and batches[-1]:
                batches.append([])
                room = batch_tokens - len(encodings[i].ids)
            batches[-1].append(i)
        for chosen in track(batches, what, console=STDERR, disable=not progress, transient=True):
            if chosen:
                yield chosen, self._forward([encodings[i].ids for i in chosen], wanted)


def _pieces_per_word(word_ids: Sequence[int | None], length: int) -> list[int]:
    counts = [0] * length
    for word in word_ids:
        if word is not None:
            counts[word] += 1
    return counts
