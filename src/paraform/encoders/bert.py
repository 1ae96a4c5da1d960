"""BERT's forward pass without padding: sentences lie end to end, and only attention sees where each one ends.

Inference only. It is here for speed (no padding, queries, keys and values in one product, no import of a modelling
library, which alone takes longer than a short answer); a test holds it against transformers' BertModel.

Shape key: N tokens of all sentences, B sentences of one length, T their tokens, H heads, D features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.encoders.int8_linear import LEAST_GELU, Int8Linear
from paraform.encoders.tokenizer import require_pieces
from paraform.int8 import require_int8
from paraform.records import InputError


def can_run(config: Mapping[str, object]) -> bool:
    """Whether this forward pass is that of the `config.json`: a BERT with GELU and absolute positions."""
    return (config.get("model_type", "bert"), config.get("hidden_act")) == ("bert", "gelu") and config.get(
        "position_embedding_type", "absolute"
    ) == "absolute"


class _Norm(NamedTuple):
    weight: Tensor
    bias: Tensor


class _Linear(NamedTuple):
    weight: Tensor
    bias: Tensor

    def __call__(self, inputs: Tensor) -> Tensor:
        return F.linear(inputs, self.weight, self.bias)


@dataclass(frozen=True)
class _Layer:
    """One Transformer layer's weights."""

    qkv: _Linear | Int8Linear
    attended: _Linear | Int8Linear
    attended_norm: _Norm
    widen: _Linear | Int8Linear
    narrow: _Linear | Int8Linear
    out_norm: _Norm


class PackedBert:
    """A BERT encoder from the tensors and the `config.json` of its published checkpoint.

    Args:
        tensors: by their names in the checkpoint (`embeddings.word_embeddings.weight` …), with or without `bert.`.
        config: `num_attention_heads`, `num_hidden_layers`, `layer_norm_eps`, `hidden_act` are read.
    Raises: InputError if a tensor is missing or of another shape, or the activation is not GELU.
    """

    def __init__(self, tensors: Mapping[str, Tensor], config: Mapping[str, object]) -> None:
        tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
        if not can_run(config):
            raise InputError(f"BERT with activation {config.get('hidden_act')!r}; expected gelu, absolute positions")
        try:
            self.heads = int(str(config["num_attention_heads"]))
            self.num_layers = int(str(config["num_hidden_layers"]))
            self.eps = float(str(config["layer_norm_eps"]))
        except (KeyError, ValueError) as error:
            raise InputError(f"BERT's config.json: {error!r}; expected numbers of heads and layers") from error

        def tensor(name: str, *shape: int | None) -> Tensor:
            """The tensor of that shape; None: of any number there."""
            if name not in tensors:
                raise InputError(f"BERT weights lack {name!r}; is this a BERT checkpoint?")
            found = tensors[name]
            fits = len(found.shape) == len(shape) and all(
                size == wanted or (wanted is None and size > 0) for size, wanted in zip(found.shape, shape, strict=True)
            )
            if not fits or not found.is_floating_point():
                kind = str(found.dtype).removeprefix("torch.")
                expected = [size or "any" for size in shape]
                raise InputError(f"BERT weights: {name!r} is {kind} {list(found.shape)}; expected floats {expected}")
            return found

        def linear(name: str, rows: int | None, columns: int | None) -> _Linear:
            weight = tensor(f"{name}.weight", rows, columns)
            return _Linear(weight, tensor(f"{name}.bias", weight.shape[0]))

        def norm(name: str) -> _Norm:
            return _Norm(tensor(f"{name}.weight", width), tensor(f"{name}.bias", width))

        self.words = tensor("embeddings.word_embeddings.weight", None, None)
        width = self.dimension
        if self.heads < 1 or width % self.heads:
            raise InputError(f"BERT's config.json: {self.heads} heads of {width} features; expected a divisor of these")
        self.norm = norm("embeddings.LayerNorm")
        # A lone sentence is all of type 0, so its type embedding is a constant of every position.
        types = tensor("embeddings.token_type_embeddings.weight", None, width)
        self.positions = tensor("embeddings.position_embeddings.weight", None, width) + types[0]
        self.second = types[1] - types[0] if len(types) > 1 else torch.zeros_like(types[0])
        self.layers = []
        for number in range(self.num_layers):
            at = f"encoder.layer.{number}"
            parts = [linear(f"{at}.attention.self.{one}", width, width) for one in ("query", "key", "value")]
            widen = linear(f"{at}.intermediate.dense", None, width)
            self.layers.append(
                _Layer(
                    _Linear(torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])),
                    linear(f"{at}.attention.output.dense", width, width),
                    norm(f"{at}.attention.output.LayerNorm"),
                    widen,
                    linear(f"{at}.output.dense", width, len(widen.bias)),
                    norm(f"{at}.output.LayerNorm"),
                )
            )

    @property
    def dimension(self) -> int:
        return self.words.shape[1]

    @property
    def max_positions(self) -> int:
        return self.positions.shape[0]

    def to(self, device: torch.device, dtype: torch.dtype) -> PackedBert:
        """Move and cast the weights, in place."""
        self.words, self.positions, self.second = (
            one.to(device, dtype) for one in (self.words, self.positions, self.second)
        )
        self.norm = _Norm(*(one.to(device, dtype) for one in self.norm))
        self.layers = [
            _Layer(*(type(pair)(*(one.to(device, dtype) for one in pair)) for pair in vars(layer).values()))
            for layer in self.layers
        ]
        return self

    def to_int8(self) -> PackedBert:
        """Multiply by bytes from now on, in place; the weights are float32, on a CPU. Raises: as `require_int8`."""
        require_int8(self.words.device)

        def in_bytes(name: str, part: Any) -> Any:
            least = LEAST_GELU if name == "narrow" else None  # it reads what GELU gives
            return Int8Linear(*part, least=least) if isinstance(part, _Linear) else part

        self.layers = [
            replace(layer, **{name: in_bytes(name, part) for name, part in vars(layer).items()})
            for layer in self.layers
        ]
        return self

    @torch.inference_mode()
    def states(
        self, sentences: Sequence[Sequence[int]], wanted: Sequence[int], *, seconds: Sequence[int] = ()
    ) -> list[Tensor]:
        """Hidden states of some layers.

        Args:
            sentences: piece ids with [CLS] and [SEP]; those of one length stand together, so that they share a product.
            wanted: layers, 0 = embeddings, `num_layers` = last; only the layers up to the highest are computed.
            seconds: the place in each sentence where a second one begins, whose type is 1; (): none has any.
        Returns: for each wanted layer [N, D], the sentences' tokens end to end.
        """
        device, (width, heads) = self.words.device, (self.dimension, self.heads)
        runs = [(length, len(list(run))) for length, run in groupby(map(len, sentences))]
        ids_N = torch.tensor([piece for sentence in sentences for piece in sentence])
        require_pieces(ids_N, len(self.words))  # a GPU would be lost
        ids_N = ids_N.to(device)
        positions_N = torch.cat([torch.arange(length).repeat(count) for length, count in runs]).to(device)
        embedded_ND = self.words[ids_N] + self.positions[positions_N]
        if seconds:
            starts_N = torch.repeat_interleave(torch.tensor(seconds), torch.tensor([*map(len, sentences)])).to(device)
            embedded_ND = embedded_ND + self.second * (positions_N >= starts_N)[:, None]
        hidden_ND = F.layer_norm(embedded_ND, (width,), *self.norm, self.eps)
        kept = {0: hidden_ND}
        for number, layer in enumerate(self.layers[: max(wanted)], start=1):
            qkv_NE = layer.qkv(hidden_ND)
            attended_ND = torch.empty_like(hidden_ND)
            start = 0
            for length, count in runs:
                end = start + length * count
                block = qkv_NE[start:end].view(count, length, 3, heads, width // heads)
                query_BHTD, key_BHTD, value_BHTD = block.permute(2, 0, 3, 1, 4)
                out_BHTD = F.scaled_dot_product_attention(query_BHTD, key_BHTD, value_BHTD)
                attended_ND[start:end].view(count, length, heads, width // heads).copy_(out_BHTD.transpose(1, 2))
                start = end
            hidden_ND = layer.attended(attended_ND).add_(hidden_ND)
            hidden_ND = F.layer_norm(hidden_ND, (width,), *layer.attended_norm, self.eps)
            hidden_ND = layer.narrow(F.gelu(layer.widen(hidden_ND))).add_(hidden_ND)
            hidden_ND = F.layer_norm(hidden_ND, (width,), *layer.out_norm, self.eps)
            kept[number] = hidden_ND
        return [kept[number] for number in wanted]
