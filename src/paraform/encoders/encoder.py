"""A frozen text encoder: texts to vectors, and to the states of their tokens and words at any layer.

Shape key: B sentences, T tokens, N tokens of all sentences end to end, W words of all sentences, D features.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraform.encoders.dense import Dense
from paraform.encoders.export import require_new, require_whole, save_sentence_transformer
from paraform.encoders.folder import ModelFolder
from paraform.encoders.locating import locate
from paraform.encoders.pooling import mean_inside, pooled, put_means
from paraform.encoders.split_words import encode_words
from paraform.encoders.transformers_modules import config_of, first_layers, load_module
from paraform.encoders.types import POOLINGS, Encoded, Forward, Pooling, Splitter, TokenStates, WordStates
from paraform.encoders.unread import are_unread, unread_texts
from paraform.progress import track
from paraform.records import (
    InputError,
    Texts,
    listed,
    require_count,
    require_kind,
    require_text,
    require_texts,
    require_words,
    several,
)
from paraform.score import signature
from paraform.weights import PathLike
from paraform.words import tell_cut, tell_unread

USUAL_TOKENS = 16  # of a text: batches are counted in tokens
COUNTED = (
    "the mean of a causal language model's states without its start's, which sentence-transformers would count;"
    " expected an encoder"
)


@final
@dataclass(frozen=True)
class Encoder:
    """A frozen text encoder; make one with `load`.

    Args:
        name: the name that `load` was given.
        dimension: the width of a vector, in features.
        num_layers: the encoder's; layer 0 is the embeddings.
        max_tokens: a longer text is cut there, special tokens counted.
        layer, pooling, normalize: `encode`'s, unless it is told otherwise.
        digest: SHA-256 of the weights, for signatures and caches.
        seed: what random weights were drawn by; None: they are trained.
        dense: a linear map behind the encoder's own layer and pooling; None: none.
        dtype: of its products, whatever the machine is best at; None: `precision.best_dtype`.
        start: the piece that a causal language model reads before each text, and whose states are left out; None: none.
    """

    kind: ClassVar[str] = "an encoder"
    vector_names: ClassVar[tuple[str, ...]] = ("text",)

    name: str
    dimension: int
    num_layers: int
    max_tokens: int
    layer: int
    pooling: Pooling
    normalize: bool
    digest: str
    seed: int | None
    device: torch.device
    _tokenizer: Splitter
    _forward: Forward
    dense: Dense | None = None
    dtype: torch.dtype | None = None
    start: int | None = None

    @property
    def signature(self) -> str:
        """What of the encoder changes a vector; of the digests of its weights and its tokenizer the beginning.

        `length` is 1, or `own`: as the states have it.
        """
        weights = self.digest[:12] if self.seed is None else f"random-{self.seed}-{self.digest[:12]}"
        layer = self.layer if self.layer >= 0 else self.num_layers + 1 + self.layer
        length = 1 if self.normalize else "own"
        settings = {"layer": layer, "pooling": self.pooling, "length": length, "tokens": self.max_tokens}
        start = {} if self.start is None else {"start": self.start}
        dense = {} if self.dense is None else {"dense": self.dense.digest[:12]}
        tokenizer = self.tokenizer_digest[:12]
        return signature(model=self.name, **settings, **start, weights=weights, **dense, tokenizer=tokenizer)

    @cached_property
    def tokenizer_digest(self) -> str:
        """SHA-256 of the tokenizer with its limit of tokens, for signatures and caches."""
        return hashlib.sha256(self._tokenizer.to_str().encode()).hexdigest()

    def encode(
        self,
        texts: str | Texts,
        *,
        layer: int | None = None,
        pooling: Pooling | None = None,
        normalize: bool | None = None,
        batch_tokens: int = 2048,
        progress: bool = False,
    ) -> npt.NDArray[np.float32]:
        """One vector a text: float32 [B, D]; of one text that is no list [D].

        Args:
            layer: 0 the embeddings … `num_layers`, negative from the end; None: the encoder's own.
            pooling: "mean" over all tokens, [CLS] and [SEP] counted (as all-MiniLM-L6-v2 was trained), "max" over them,
                "cls", the first, or "last", the last of them; None: the encoder's own.
            normalize: whether each has length 1; None: the encoder's own.
            batch_tokens: tokens computed at once; memory grows with it, results do not change.
            progress: say on stderr how far it is.
        A text that is longer than the encoder reads is cut, and a warning counts such texts, and those that are
        `unread`.
        Raises: InputError for what are no texts, a layer that is not there, another pooling, or vectors that are not
            finite.
        """
        require_kind(pooling, (str, type(None)), "pooling")  # an array of one name is equal to it, and no name
        if pooling is not None and pooling not in POOLINGS:
            raise InputError(f"pooling {str(pooling)[:40]!r}; expected {', '.join(POOLINGS)}")
        dense = self.dense if layer is None and pooling is None else None  # it was made for these
        vectors = self._encode(
            listed(texts),
            [self.layer if layer is None else layer],
            pooling or self.pooling,
            dense,
            normalize=self.normalize if normalize is None else normalize,
            batch_tokens=batch_tokens,
            progress=progress,
        )
        return vectors[0] if isinstance(texts, str) else vectors

    def mean_of_layers(
        self, texts: Sequence[str], *, batch_tokens: int = 2048, progress: bool = False
    ) -> npt.NDArray[np.float32]:
        """The mean of all tokens' states at all layers, the embeddings first, not normalised: float32 [B, D].

        It is ELMo's mix, unweighted (Peters et al. 2018, eq. 1). Arguments and what is raised are `encode`'s.
        """
        layers = range(self.num_layers + 1)
        return self._encode(texts, layers, "mean", None, normalize=False, batch_tokens=batch_tokens, progress=progress)

    def mean_of_words(
        self, texts: Sequence[str], *, batch_size: int = 0, progress: bool = False
    ) -> npt.NDArray[np.float32]:
        """The mean of a text's states but its first and its last, which are no words: float32 [B, D].

        Of a text of nothing else they stand for it. The layer, the length and what stands behind are the encoder's own.
        Raises: InputError as `encode`.
        """
        how: dict[str, Any] = {"normalize": self.normalize, "progress": progress, "ends": False}
        return self._encode(texts, [self.layer], "mean", self.dense, batch_tokens=tokens_of(batch_size), **how)

    def _encode(
        self,
        texts: Texts,
        layers: Sequence[int],
        pooling: Pooling,
        dense: Dense | None,
        *,
        ends: bool = True,
        normalize: bool,
        batch_tokens: int,
        progress: bool,
    ) -> npt.NDArray[np.float32]:
        texts = require_texts(texts)
        # Compute nothing twice: a text that stands there again costs nothing.
        unique = list(dict.fromkeys(texts))
        row = {text: number for number, text in enumerate(unique)}
        out_BD = np.empty((len(unique), self.dimension), np.float32)
        encodings = self._tokenizer.encode_batch_fast(unique)
        cut = {text for text, encoding in zip(unique, encodings, strict=True) if encoding.overflowing}
        tell_cut(sum(text in cut for text in texts), len(texts), f"{self.max_tokens} tokens", self.name)
        unread = {unique[at] for at in unread_texts(self._tokenizer, unique, encodings)}
        tell_unread(sum(text in unread for text in texts), len(texts), self.name)
        for chosen, hidden in self._batches(encodings, layers, batch_tokens, progress, "embedding"):
            lengths = torch.tensor([len(encodings[i].ids) for i in chosen], device=self.device)
            hidden_ND = hidden[0] if len(hidden) == 1 else torch.stack(hidden).mean(0, dtype=torch.float32)
            pooled_BD = pooled(hidden_ND, lengths, pooling) if ends else mean_inside(hidden_ND, lengths)
            if dense is not None:
                pooled_BD = dense(pooled_BD)
            if normalize:
                pooled_BD = torch.nn.functional.normalize(pooled_BD, dim=-1)
            out_BD[chosen] = pooled_BD.cpu().numpy()
        if not np.isfinite(out_BD).all():  # weights may be finite and too large
            raise InputError(f"{self.name}: its vectors hold NaN or infinity; are the weights damaged?")
        return out_BD[[row[text] for text in texts]] if len(unique) < len(texts) else out_BD

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> npt.NDArray[np.float32]:
        """`encode`, as every model that embeds is asked (`capabilities.Embedder`)."""
        return self.encode(require_texts(texts), batch_tokens=tokens_of(batch_size), progress=progress)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, those behind `max_tokens` too, special tokens counted."""
        empty, *encodings = self._tokenizer.encode_batch_fast(["", *require_texts(texts)])
        further = [sum(len(part.ids) - len(empty.ids) for part in one.overflowing) for one in encodings]
        return [len(one.ids) + more for one, more in zip(encodings, further, strict=True)]

    def unread(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """As `capabilities.TellsUnread` has it; `encoders.unread` says which words count."""
        return are_unread(self._tokenizer, require_texts(texts))

    def export(
        self, folder: PathLike, *, onnx: bool = False, terms: str = "", card: str = "", dense: Dense | None = None
    ) -> Path:
        """A folder that `SentenceTransformer(folder)` loads, as `capabilities.Exports` has it.

        Of layers above the one that it takes nothing is written.

        Args:
            card: README.md; "": a line that says what it is.
            dense: the linear map behind the mean; None: its own, if it has one.
        Raises: InputError as `require_exported` and `save_sentence_transformer`.
        """
        require_text(terms, "terms")
        found = self.require_exported(folder)
        module: Any = load_module(self.name)
        if self.layer not in (-1, self.num_layers):
            first_layers(module, self.layer % (self.num_layers + 1))
        says = f"# {Path(folder).name}\n\n`{self.name}`, exported by paraform: for use under that encoder's terms.\n"
        return save_sentence_transformer(
            module,
            found.tokenizer(),
            folder,
            max_tokens=self.max_tokens,
            card=(card or says) + (f"\n**Terms of the training data.** {terms}\n" if terms else ""),
            dense=dense or (None if self.dense is None else self.dense.to(torch.device("cpu"))),
            onnx=onnx,
        )

    def require_exported(self, folder: PathLike) -> ModelFolder:
        """The encoder's own folder, if `export` can write it, as a trained one whose vectors are means, at length 1.

        Raises: InputError for another encoder, or a folder that is there already.
        """
        require_new(folder)
        found = ModelFolder(locate(self.name))
        if found.is_elmo:
            raise InputError(f"{self.name}: ELMo's published files already; expected an encoder of transformers'")
        require_whole(config_of(found))
        if self.start is not None:
            raise InputError(f"{self.name}: {COUNTED}")
        if self.layer in (0, -self.num_layers - 1):
            raise InputError(f"{self.name}: layer 0, the embeddings alone; expected a layer from 1 on")
        states = "trained" if self.seed is None else "random"
        if (self.pooling, states, self.normalize) != ("mean", "trained", True):
            length = "at length 1" if self.normalize else "at its own length"
            raise InputError(
                f"{self.name}: the {self.pooling} of {states} states, {length}; expected the mean of trained ones, at"
                " length 1"
            )
        return found

    def count_tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Tokens of each text, [CLS] and [SEP] among them: int64 [B]."""
        return np.array([len(numbers) for numbers in self.pieces(texts)], np.int64)

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Piece numbers of each text, [CLS] and [SEP] among them."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(require_texts(texts))]

    def word_pieces(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The pieces of each sentence's words, `##` before all but a word's first; a word without any stays whole.

        So `words.join_pieces` gives the words again, `n't` too, which the tokenizer cuts at its apostrophe.

        Raises: InputError if this encoder's tokenizer is no WordPiece.
        """
        return [[piece for word in words for piece, _ in word] for words in self.placed_pieces(sentences)]

    def placed_pieces(self, sentences: Sequence[Sequence[str]]) -> list[list[list[tuple[str, int]]]]:
        """The pieces of each word of each sentence, as `word_pieces` has them, and the place of each one's token.

        Places are those among the tokens, [CLS] first, of the sentence's words with spaces between. A word that stays
        whole has the place of its first token, or, where it has none or the sentence is cut before it, of [CLS].

        Raises: InputError if this encoder's tokenizer is no WordPiece.
        """
        if self._tokenizer.token_to_id("##s") is None:
            raise InputError(f"encoder {self.name!r} has no WordPieces; use units='words' or a BERT-like encoder")
        sentences = require_words(sentences)
        encodings = self._tokenizer.encode_batch(sentences, is_pretokenized=True)
        out = []
        for words, encoding in zip(sentences, encodings, strict=True):
            rows: list[list[tuple[str, int]]] = [[] for _ in words]
            for place, (piece, word) in enumerate(zip(encoding.tokens, encoding.word_ids, strict=True)):
                if word is not None:
                    rows[word].append((f"##{piece.removeprefix('##')}" if rows[word] else piece, place))
            whole = [not pieces or any(piece.endswith("[UNK]") for piece, _ in pieces) for pieces in rows]
            out.append(
                [
                    [(word, row[0][1] if row else 0)] if keep else row
                    for word, row, keep in zip(words, rows, whole, strict=True)
                ]
            )
        return out

    def states(
        self, texts: Sequence[str], *, layers: Sequence[int], batch_tokens: int = 2048, progress: bool = False
    ) -> list[TokenStates]:
        """States of every token, one `TokenStates` a layer, [CLS] and [SEP] among them; texts are cut as `encode` does.

        Raises: InputError for what are no texts, or a layer that is not there.
        """
        layers = list(several(layers, "layers"))
        encodings = self._tokenizer.encode_batch_fast(require_texts(texts))
        cut = sum(bool(encoding.overflowing) for encoding in encodings)
        tell_cut(cut, len(encodings), f"{self.max_tokens} tokens", self.name)
        offsets = np.concatenate([[0], np.cumsum([len(encoding.ids) for encoding in encodings], dtype=np.int64)])
        outs = [torch.zeros(int(offsets[-1]), self.dimension, device=self.device) for _ in layers]
        for chosen, hidden in self._batches(encodings, layers, batch_tokens, progress, "encoding"):
            rows = torch.from_numpy(np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in chosen]))
            for out, hidden_ND in zip(outs, hidden, strict=True):
                out[rows] = hidden_ND.float()
        return [TokenStates(out, offsets) for out in outs]

    def word_states(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        layers: Sequence[int],
        batch_tokens: int = 4096,
        progress: bool = False,
    ) -> WordStates:
        """States of every word: the mean over its pieces, of a word without any 0.

        Raises: InputError if a sentence is longer than the encoder takes (cut it first), or no words.
        """
        sentences = require_words(sentences)
        encodings = encode_words(self._tokenizer, sentences)
        lengths = np.array([len(words) for words in sentences], np.int64)
        for words, encoding in zip(sentences, encodings, strict=True):
            if encoding.overflowing:
                raise InputError(f"a sentence of {len(words)} words, over {self.max_tokens} pieces; cut it first")
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        states_NLD: Tensor | None = None
        for chosen, hidden in self._batches(encodings, layers, batch_tokens, progress, "encoding"):
            pieces_MLD = torch.stack(hidden, dim=1)
            if states_NLD is None:
                states_NLD = pieces_MLD.new_zeros(int(offsets[-1]), *pieces_MLD.shape[1:])
            put_means(states_NLD, pieces_MLD, [(encodings[i].word_ids, int(offsets[i])) for i in chosen])
        if states_NLD is None:
            states_NLD = torch.zeros(int(offsets[-1]), len(layers), self.dimension, device=self.device)
        return WordStates(states_NLD, offsets)

    def fitting(self, sentences: Sequence[Sequence[str]]) -> list[int]:
        """How many first words of each sentence the encoder reads whole: `word_states` takes as many."""
        sentences = require_words(sentences)
        encodings = encode_words(self._tokenizer, sentences)
        # Where a sentence is cut, the rest begins with the first word that is not read whole.
        return [
            next((word for rest in encoding.overflowing for word in rest.word_ids if word is not None), len(words))
            for words, encoding in zip(sentences, encodings, strict=True)
        ]

    def _batches(
        self, encodings: Sequence[Encoded], layers: Sequence[int], batch_tokens: int, progress: bool, what: str
    ) -> Iterator[tuple[list[int], list[Tensor]]]:
        """Sentences in order of length, `batch_tokens` at once: (which sentences, their states for each layer)."""
        require_count(batch_tokens, "batch_tokens", 1)
        if not (layers := list(several(layers, "layers"))):
            raise InputError("no layers; expected at least one")
        for layer in layers:
            require_count(layer, f"layer of {self.name}", -1 - self.num_layers, self.num_layers)
        wanted = [layer if layer >= 0 else self.num_layers + 1 + layer for layer in layers]
        batches: list[list[int]] = [[]]
        room = batch_tokens
        for i in sorted(range(len(encodings)), key=lambda i: len(encodings[i].ids)):
            room -= len(encodings[i].ids)
            if room < 0 and batches[-1]:
                batches.append([])
                room = batch_tokens - len(encodings[i].ids)
            batches[-1].append(i)
        for chosen in track(batches, what, show=progress):
            if chosen:
                yield chosen, self._forward([encodings[i].ids for i in chosen], wanted)


def tokens_of(batch_size: int) -> int:
    """Tokens at once, for so many texts; 0: as many as is usual. Raises: InputError for what is no count."""
    require_count(batch_size, "batch_size")
    return min(USUAL_TOKENS * (batch_size or 128), 10**9)
