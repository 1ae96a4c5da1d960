"""What is chosen of a loaded model, and the signature that says which vectors a figure is of."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from paraform.capabilities import Embedder, unread_by
from paraform.encoders.names import Variant
from paraform.records import InputError
from paraform.score import signature
from paraform.weights import tensors_digest


@final
@dataclass(frozen=True, eq=False)
class OneKind:
    """A model with several kinds of vectors, of which one is chosen: whatever asks it for vectors gets these."""

    model: Embedder
    name: str
    vectors: str

    @property
    def kind(self) -> str:
        """The model in words, and which vectors."""
        return f"{self.model.kind}'s {self.vectors} vectors"

    @property
    def vector_names(self) -> tuple[str, ...]:
        """The one kind."""
        return (self.vectors,)

    @property
    def device(self) -> torch.device:
        """The model's."""
        return self.model.device

    @property
    def signature(self) -> str:
        """The model's, with this kind of vectors."""
        return signature_of(self.model, self.name, self.vectors)

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> NDArray[np.float32]:
        """The vectors of that kind."""
        return self.model.embed(texts, self.vectors, batch_size=batch_size, seed=seed, progress=progress)

    def unread(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """The model's; none, of one that does not tell."""
        return unread_by(self.model, texts)


def chosen_of(model: Any, name: str, variant: Variant) -> Any:
    """The model, or one kind of its vectors, if that is chosen.

    Raises: InputError if something is chosen that it does not have.
    """
    if variant == Variant():
        return model
    names = model.vector_names if isinstance(model, Embedder) else ()
    variant.only(f"{name}, {model.kind},", *(("vectors",) if names else ()), "weights", "seed")
    if variant.vectors is None:
        return model
    if variant.vectors not in names:
        raise InputError(f"vectors={variant.vectors}: {name} is {model.kind}; expected {' or '.join(names)}")
    return OneKind(model, name, variant.vectors) if len(names) > 1 else model


def signature_of(model: Embedder, name: str, vectors: str = "") -> str:
    """What of a model changes its vectors: name, layer, pooling or kind of vectors, 12 digits of the weights' digest.

    Args:
        name: the model's, as tables print it; an encoder carries its own.
        vectors: one of `vector_names`; "": the first.
    """
    own = getattr(model, "signature", None)
    if isinstance(own, str):
        return own
    return signature(model=name, vectors=vectors or model.vector_names[0], weights=model_digest(model)[:12])


def model_digest(model: Any) -> str:
    """SHA-256 of weights, config and assets: a vocabulary, too, decides what a vector is."""
    digest = hashlib.sha256(tensors_digest(model.state_dict()).encode())
    settings = [*sorted(dataclasses.asdict(model.config).items()), *sorted(model.assets().items())]
    for key, value in settings:
        digest.update(f"{key} {value!r}\n".encode(errors="surrogatepass"))
    return digest.hexdigest()
