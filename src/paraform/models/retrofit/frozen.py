"""The encoder that is retrofitted: its own weights are never changed, nor saved beside M."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast, final

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from paraform import encoders
from paraform.encoders.dense import Dense
from paraform.encoders.encoder import COUNTED, Encoder
from paraform.encoders.export import save_sentence_transformer
from paraform.encoders.folder import ModelFolder
from paraform.encoders.loading import encoder_of, tokenizer_of
from paraform.encoders.transformers_modules import forward_of
from paraform.encoders.types import Splitter
from paraform.models.retrofit.folding import table_of
from paraform.models.retrofit.frozen_elmo import FrozenElmo, frozen_elmo
from paraform.records import InputError
from paraform.weights import PathLike

SAME = 1e-5  # of the largest state


class Frozen(Protocol):
    """What M is put before: words' own vectors, and the states that are made of them.

    Args:
        dense: a linear map behind the mean of its states; None: none.
        digest, tokenizer_digest: SHA-256 of its weights, and of its tokenizer.
    """

    @property
    def module(self) -> nn.Module: ...
    @property
    def tokenizer(self) -> Splitter: ...
    @property
    def dense(self) -> Dense | None: ...
    @property
    def digest(self) -> str: ...
    @property
    def tokenizer_digest(self) -> str: ...
    @property
    def word_width(self) -> int:
        """K, features of what depends on the word alone."""
        ...

    @property
    def width(self) -> int:
        """Features of a state."""
        ...

    @property
    def layers(self) -> int:
        """How many layers it has; what depends on the word alone is none."""
        ...

    @property
    def layer(self) -> int:
        """Whose states are read where not all layers' are; −1: the last."""
        ...

    @property
    def signature(self) -> str:
        """All that changes a state."""
        ...

    def read(self, sentences: Sequence[Sequence[int]], device: torch.device, *, every: bool) -> Tensor:
        """Of all pieces of sentences the states of a layer, or the mean of all layers': [N, D] float32, end to end."""
        ...

    def embedded(self, pieces_BT: Tensor) -> Tensor:
        """What depends on the word alone: [B, T, K]."""
        ...

    def states(self, embedded_BTK: Tensor, lengths_B: Tensor, *, every: bool) -> Tensor:
        """States of sentences of those lengths: one layer's, [1, B, T, D] float32, or with `every` all layers'."""
        ...

    def encoder(self, module: nn.Module, *, name: str, dense: Dense | None) -> Encoder:
        """The fast encoder of a module that M is folded into."""
        ...

    def save(self, module: nn.Module, folder: PathLike, *, card: str, dense: Dense | None, onnx: bool) -> Path:
        """Write such a module in the layout that it came in. Raises: InputError as what writes that."""
        ...


@final
@dataclass(frozen=True, eq=False)
class FrozenEncoder:
    """A Hugging Face encoder in evaluation mode, without gradients.

    Args:
        module: as transformers has it.
        tokenizer: its own, without padding, cut at its limit.
        max_tokens: that limit, special tokens counted.
        dense: a linear map behind the mean of its states; None: none.
        digest, tokenizer_digest: SHA-256 of its weights, and of that tokenizer.
        layer: whose states a word's are where not all layers' are wanted; −1: the last.
        start: as `Encoder` has it.
    """

    module: nn.Module
    tokenizer: Tokenizer
    max_tokens: int
    dense: Dense | None
    digest: str
    tokenizer_digest: str
    layer: int = -1
    start: int | None = None

    @property
    def width(self) -> int:
        """Features of a state."""
        return encoders.width_of(self.module)

    @property
    def word_width(self) -> int:
        """K, of its table of word embeddings."""
        return table_of(self.module).embedding_dim

    @cached_property
    def layers(self) -> int:
        """How many layers it has; the embeddings are none."""
        ids = torch.tensor([[1]], device=table_of(self.module).weight.device)
        with torch.no_grad():
            return len(self.module(input_ids=ids, output_hidden_states=True).hidden_states) - 1

    @property
    def signature(self) -> str:
        """As `Frozen` has it."""
        about = hashlib.sha256(cast(Any, self.module).config.to_json_string().encode()).hexdigest()
        return f"{self.digest}|{self.tokenizer_digest}|{about}|{self.start}|{self.layer}"

    def read(self, sentences: Sequence[Sequence[int]], device: torch.device, *, every: bool) -> Tensor:
        """As `Frozen` has it; nothing is padded."""
        forward = forward_of(self.module.to(device), device, self.width, self.start)
        layers = forward(sentences, range(self.layers + 1) if every else [self.layer])
        return torch.stack(layers).float().mean(0)

    def embedded(self, pieces_BT: Tensor) -> Tensor:
        """Word embeddings alone, before positions and norms: [B, T, K]; that of `start` before them: [B, 1 + T, K]."""
        if self.start is not None:
            pieces_BT = torch.nn.functional.pad(pieces_BT, (1, 0), value=self.start)
        embedded_BTK: Tensor = table_of(self.module.to(pieces_BT.device))(pieces_BT)
        return embedded_BTK

    def states(self, embedded_BTK: Tensor, lengths_B: Tensor, *, every: bool) -> Tensor:
        """As `Frozen` has it."""
        module: Any = self.module
        before = int(self.start is not None)
        there_BT = (torch.arange(embedded_BTK.shape[1], device=lengths_B.device) < lengths_B[:, None] + before).long()
        several = every or self.layer != -1
        out = module(inputs_embeds=embedded_BTK, attention_mask=there_BT, output_hidden_states=several)
        layers = out.hidden_states if every else [out.hidden_states[self.layer] if several else out.last_hidden_state]
        return torch.stack([states_BTD[:, before:].float() for states_BTD in layers])

    def encoder(self, module: nn.Module, *, name: str, dense: Dense | None) -> Encoder:
        """The fast encoder of that module."""
        return encoder_of(
            module,
            self.tokenizer,
            name=name,
            max_tokens=self.max_tokens,
            dense=dense,
            layer=self.layer,
            start=self.start,
        )

    def save(self, module: nn.Module, folder: PathLike, *, card: str, dense: Dense | None, onnx: bool) -> Path:
        """A folder of sentence-transformers. Raises: InputError as `save_sentence_transformer`, or of states that none
        has."""
        if self.start is not None:
            raise InputError(COUNTED)
        if self.layer != -1:
            raise InputError(f"layer {self.layer}, and what stands above it; expected M of the last layer")
        return save_sentence_transformer(
            module, self.tokenizer, folder, max_tokens=self.max_tokens, card=card, dense=dense, onnx=onnx
        )


def frozen_encoder(name: str) -> FrozenEncoder | FrozenElmo:
    """The encoder of that name, on the CPU.

    Args:
        name: as `encoders.load` takes it: "minilm", a folder or a hub id, or a folder with ELMo's published files;
            with `@layer=N`, whose states are then read.
    Raises: InputError as that, and if its sentence vectors are no means of states.
    """
    plain, variant = encoders.parse_name(name)
    variant.only(f"{plain}, an encoder that is retrofitted,", "layer")
    if Path(plain).is_dir() and ModelFolder(Path(plain)).is_elmo:
        variant.only(f"{plain}, an ELMo that is retrofitted,")
        return frozen_elmo(Path(plain))
    known = encoders.load_embedder(plain, device="cpu", variant=variant)
    if not isinstance(known, encoders.Encoder) or known.pooling != "mean":
        raise InputError(f"{name}: expected a Hugging Face encoder whose states are averaged")
    return FrozenEncoder(
        encoders.load_module(plain).float().requires_grad_(False).eval(),  # smollm2 lies in bfloat16
        tokenizer_of(ModelFolder(encoders.locate(plain)), known.max_tokens, known.start),
        known.max_tokens,
        known.dense,
        known.digest,
        known.tokenizer_digest,
        layer=-1 if known.layer == known.num_layers else known.layer,
        start=known.start,
    )


@torch.no_grad()
def require_open(frozen: FrozenEncoder, name: str) -> None:
    """Raises: InputError if something but M could not be put between the encoder's word embeddings and the rest."""
    ids = torch.tensor([frozen.tokenizer.encode("what stands here").ids or [1]])
    try:
        given = frozen.module(inputs_embeds=table_of(frozen.module)(ids)).last_hidden_state
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{name}: takes no word embeddings from outside: {reason}; place 'after' works") from error
    own = frozen.module(input_ids=ids).last_hidden_state
    if not torch.allclose(given, own, rtol=0, atol=SAME * max(1.0, float(own.abs().max()))):
        raise InputError(f"{name}: reads more of a word than its embedding; expected place 'after'")
