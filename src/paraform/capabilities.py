"""What a model can do: commands and evaluation ask for these, never for a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, Unpack, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.decoding import Decoding
from paraform.encoders.types import Pooling, WordStates
from paraform.records import Texts
from paraform.syntax.trees import Tree
from paraform.weights import PathLike

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to their vectors, float32 [N, D]."""


@runtime_checkable
class Embedder(Protocol):
    """A model that turns texts into vectors.

    Args:
        kind: the model in words, for messages: "an encoder".
        vector_names: names of the kinds of vectors that it has, the usual one first.
    """

    kind: ClassVar[str]
    vector_names: ClassVar[tuple[str, ...]]

    @property
    def device(self) -> torch.device: ...

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> NDArray[np.float32]:
        """One vector a text, float32 [N, D].

        Args:
            name: one of `vector_names`; "": the first.
            batch_size: texts computed at once; 0: the model's own number.
            seed: the seed of draws, if the model draws.
            progress: say on stderr how far it is, if the model can.
        """
        ...


@runtime_checkable
class TellsUnread(Protocol):
    """A model that tells which texts it cannot read."""

    def unread(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Of each text, whether it has no word, or as many that the model does not know as others, or more: bool [N].

        Such texts' vectors are near each other whatever they say.
        """
        ...


@runtime_checkable
class TellsLengths(Protocol):
    """A model that tells how long a text is for it."""

    @property
    def max_tokens(self) -> int:
        """As many of a text it reads, special tokens counted."""
        ...

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, those behind `max_tokens` too, special tokens counted."""
        ...


@runtime_checkable
class ReadsWords(Protocol):
    """A model that gives a state to each word of a sentence, at each of its layers."""

    kind: ClassVar[str]

    @property
    def device(self) -> torch.device: ...

    @property
    def num_layers(self) -> int:
        """Its layers; layer 0 is the embeddings, which do not count."""
        ...

    @property
    def layer(self) -> int:
        """The one that is used unless another is asked for; negative from the end."""
        ...

    def fitting(self, sentences: Sequence[Sequence[str]]) -> list[int]:
        """How many first words of each sentence it reads whole."""
        ...

    def word_states(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        layers: Sequence[int],
        batch_tokens: int = 4096,
        progress: bool = False,
    ) -> WordStates:
        """States of every word. Raises: ValueError if a sentence is longer than it reads."""
        ...


@runtime_checkable
class TextEncoder(Embedder, ReadsWords, Protocol):
    """An encoder: vectors of texts at any of its layers, and states of their words."""

    def encode(
        self,
        texts: str | Texts,
        *,
        layer: int | None = None,
        pooling: Pooling | None = None,
        normalize: bool | None = None,
        batch_tokens: int = 2048,
        progress: bool = False,
    ) -> NDArray[np.float32]:
        """One vector a text, float32 [N, D]; of one text that is no list [D]. Arguments are `Encoder.encode`'s."""
        ...


@runtime_checkable
class MapsLinearly(Protocol):
    """A model with one matrix that was trained to map its words."""

    @property
    def matrix(self) -> torch.Tensor:
        """M, [K, K] float32."""
        ...


@runtime_checkable
class Paraphraser(Protocol):
    """A model that rewords a source in the form of an exemplar."""

    kind: ClassVar[str]

    @property
    def device(self) -> torch.device: ...

    def exemplars(
        self,
        sources: Sequence[str],
        like: Sequence[str] | Sequence[Sequence[str]] | None = None,
        *,
        each: bool = False,
        num: int = 1,
        seed: int = 0,
    ) -> list[list[str]]:
        """The exemplars that each source gets."""
        ...

    def decode(self, sources: Sequence[str], exemplars: Sequence[str], **how: Unpack[Decoding]) -> list[str]:
        """Source i in the form of exemplar i."""
        ...

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of `decode` with these arguments."""
        ...


@runtime_checkable
class WritesByTree(Protocol):
    """A model that rewords a source in the form of a tree, whole or a template."""

    kind: ClassVar[str]

    def decode_trees(self, sources: Sequence[str], trees: Sequence[Tree], **how: Unpack[Decoding]) -> list[str]:
        """Source i in the form of tree i; words in it are not read."""
        ...


@runtime_checkable
class CutsExemplars(Protocol):
    """A model that reads an exemplar's tree down to a height."""

    kind: ClassVar[str]

    def decode_at(
        self,
        sources: Sequence[str],
        exemplars: Sequence[str],
        height: int | str,
        **how: Unpack[Decoding],
    ) -> list[str]:
        """Source i in the form of exemplar i, whose tree is cut at that many levels, or as the model names a choice."""
        ...


@runtime_checkable
class HasTemplates(WritesByTree, Protocol):
    """A model that writes by trees and has some of its own, for who names none."""

    @property
    def templates(self) -> Sequence[Tree]:
        """The commonest first."""
        ...


@runtime_checkable
class Exports(Protocol):
    """A model with an encoder that other tools can load."""

    kind: ClassVar[str]

    def export(self, folder: PathLike, *, onnx: bool = False, terms: str = "") -> Path:
        """Write a folder that `SentenceTransformer(folder)` loads, with the same vectors; returns it.

        Args:
            onnx: with an ONNX file, which `SentenceTransformer(folder, backend="onnx")` loads.
            terms: those of the training data, for the card.
        Raises: InputError if there is something of that name, the vectors cannot be had in that way, or what writes
            ONNX is not installed.
        """
        ...


@runtime_checkable
class ReadsBack(Protocol):
    """A model that tells how well what it said leads back to its source."""

    def source_given(self, sources: Sequence[str], outputs: Sequence[str]) -> NDArray[np.float32]:
        """How much likelier each source is given its output than given itself, nats a word: [N]."""
        ...


@runtime_checkable
class SaysOtherwise(Protocol):
    """A language model that says texts in other words, with no form given, and tells how likely any such answer is."""

    kind: ClassVar[str]

    @property
    def device(self) -> torch.device: ...

    def say(
        self, sources: Sequence[str], *, num: int = 8, onto: Sequence[str] | None = None, **how: Unpack[Decoding]
    ) -> list[list[str]]:
        """Each source in other words, at most so many times; answers that are equal stand once.

        Args:
            onto: an answer to each, which those that are given change further; None: the source itself.
        """
        ...

    def likelihood(self, sources: Sequence[str], targets: Sequence[str]) -> list[NDArray[np.float32]]:
        """ln p(target i | source i) as shares of the target's characters, nats; behind the last one that of the end."""
        ...


class Verdicts(NamedTuple):
    """What is thought of N pairs, each float32 [N], 0 to 1.

    Args:
        same: how likely it is that both say the same.
        forth: that the first says all of the second: what the second adds makes it low.
        back: that the second says all of the first: what the second lacks makes it low.
    """

    same: NDArray[np.float32]
    forth: NDArray[np.float32]
    back: NDArray[np.float32]


@runtime_checkable
class JudgesMeaning(Protocol):
    """A model that tells whether two texts say the same."""

    kind: ClassVar[str]

    def judge(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        cosines: NDArray[np.float32] | None = None,
        batch_size: int = 64,
        progress: bool = False,
    ) -> Verdicts:
        """What is thought of pairs of texts; of (a, b) and (b, a) the same, the other way round.

        Args:
            cosines: [N], of both texts' vectors by minilm, where they are known; None: they are made.
            batch_size: rows read at once; it changes answers by how sums are rounded alone.
            progress: say on stderr how far it is.
        """
        ...


@runtime_checkable
class LatentSpace(Protocol):
    """A model with a latent space that sentences are drawn from and lead into."""

    kind: ClassVar[str]

    @property
    def has_noise(self) -> bool:
        """Whether z is drawn; that of an autoencoder is not, and nothing keeps it near the prior."""
        ...

    @property
    def max_tokens(self) -> int:
        """The most words of a text that the model reads."""
        ...

    @property
    def lexicon(self) -> tuple[str, frozenset[str]]:
        """How texts are split, and the words known: likelihoods compare between models of one lexicon."""
        ...

    def words(self, text: str) -> list[str]:
        """A text's words, as the model reads them."""
        ...

    def unknown(self, texts: Sequence[str]) -> int:
        """How many words of all texts the model takes for one, `<unk>`."""
        ...

    def sample(self, num: int, **how: Any) -> list[str]: ...
    def interpolate(self, first: str, second: str, *, steps: int, **how: Any) -> list[str]: ...
    def reconstruct(self, texts: Sequence[str], **how: Any) -> list[str]: ...


def embed_by(model: Embedder, name: str) -> Embed:
    """The model's vectors of that name; of a model without any such, its usual ones."""
    chosen = name if name in model.vector_names else ""
    return lambda texts: model.embed(texts, chosen)


def unread_by(model: object, texts: Sequence[str]) -> NDArray[np.bool_]:
    """`TellsUnread.unread`; none, of a model that does not tell."""
    return model.unread(texts) if isinstance(model, TellsUnread) else np.zeros(len(texts), bool)
