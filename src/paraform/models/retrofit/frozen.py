"""The encoder that is retrofitted: its own weights are never changed, nor saved beside M."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from tokenizers import Tokenizer
from torch import nn

from paraform import encoders
from paraform.encoders.dense import Dense
from paraform.encoders.tokenizing import tokenizer_of
from paraform.models.retrofit.folding import table_of
from paraform.records import InputError

SAME = 1e-5  # of the largest state


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
    """

    module: nn.Module
    tokenizer: Tokenizer
    max_tokens: int
    dense: Dense | None
    digest: str
    tokenizer_digest: str

    @property
    def width(self) -> int:
        """Features of a state."""
        return encoders.width_of(self.module)

    @property
    def layers(self) -> int:
        """How many layers it has; the embeddings are none."""
        ids = torch.tensor([[1]], device=table_of(self.module).weight.device)
        with torch.no_grad():
            return len(self.module(input_ids=ids, output_hidden_states=True).hidden_states) - 1


def frozen_encoder(name: str) -> FrozenEncoder:
    """The encoder of that name, on the CPU.

    Args:
        name: as `encoders.load` takes it: "minilm", a folder or a hub id.
    Raises: InputError as that, and if its sentence vectors are no means of its last states.
    """
    plain, variant = encoders.parse_name(name)
    variant.only(f"{plain}, an encoder that is retrofitted,")
    known = encoders.load_embedder(plain, device="cpu")
    if not isinstance(known, encoders.Encoder) or known.pooling != "mean":
        raise InputError(f"{name}: expected a Hugging Face encoder whose last states are averaged")
    module = encoders.load_module(plain).requires_grad_(False).eval()
    tokenizer = tokenizer_of(encoders.locate(plain))
    tokenizer.no_padding()
    tokenizer.enable_truncation(known.max_tokens)
    return FrozenEncoder(module, tokenizer, known.max_tokens, known.dense, known.digest, known.tokenizer_digest)


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
