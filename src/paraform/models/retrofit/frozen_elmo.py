"""ELMo as the encoder that is retrofitted: M stands behind its characters, before its LSTMs.

Shape key: B sentences, T words with the marks at their ends, N words of all sentences, P features of a projected word,
D = 2 P of a state, L layers; V words that were met.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from paraform.batching import Ragged
from paraform.encoders.dense import Dense
from paraform.encoders.elmo import AT_ONCE, Elmo
from paraform.encoders.elmo_files import elmo_encoder, read_elmo, save_elmo
from paraform.encoders.elmo_words import NumberedWords, WordTokenizer
from paraform.encoders.encoder import Encoder
from paraform.encoders.folder import USUAL_LIMIT
from paraform.encoders.torch_settings import float32_products
from paraform.records import InputError
from paraform.weights import PathLike, tensors_digest


@final
class FrozenElmo:
    """As `frozen.Frozen` has it. A word's characters are read once: its projection is kept, without M.

    Args:
        module: in evaluation mode, without gradients.
        digest: SHA-256 of its files.
    """

    dense: None = None
    layer: int = -1

    def __init__(self, module: Elmo, digest: str) -> None:
        self.module, self.digest = module, digest
        self.tokenizer = NumberedWords(WordTokenizer(USUAL_LIMIT, module.config.max_characters))
        self._table_VP = torch.zeros(0, module.config.projection)

    @property
    def tokenizer_digest(self) -> str:
        """SHA-256 of the tokenizer with its limit."""
        return hashlib.sha256(self.tokenizer.to_str().encode()).hexdigest()

    @property
    def word_width(self) -> int:
        """P, of a projected word."""
        return self.module.config.projection

    @property
    def width(self) -> int:
        """D, of a state."""
        return 2 * self.module.config.projection

    @property
    def layers(self) -> int:
        """Its LSTMs of either direction; the characters are none."""
        return self.module.config.layers

    @property
    def signature(self) -> str:
        """As `frozen.Frozen` has it."""
        return f"{self.digest}|{self.tokenizer_digest}"

    def read(self, sentences: Sequence[Sequence[int]], device: torch.device, *, every: bool) -> Tensor:
        """As `frozen.Frozen` has it."""
        pieces_BT, lengths_B = Ragged.of(sentences).padded(np.arange(len(sentences)))
        states_LBTD = self.states(self.embedded(pieces_BT.to(device)), lengths_B.to(device), every=every)
        there_BT = torch.arange(pieces_BT.shape[1]) < lengths_B[:, None]
        return states_LBTD.mean(0)[there_BT.to(device)]

    @torch.no_grad()
    def embedded(self, pieces_BT: Tensor) -> Tensor:
        """What the characters' last projection gives of each word: [B, T, P]; where padded, of a mark."""
        device, words = pieces_BT.device, self.tokenizer.words
        self.module.to(device)
        table_VP = self._table_VP.to(device)
        with float32_products(device):
            for start in range(len(table_VP), len(words), AT_ONCE):
                table_VP = torch.cat([table_VP, self.module.words(words[start : start + AT_ONCE])])
        self._table_VP = table_VP
        return table_VP[pieces_BT]

    def states(self, embedded_BTK: Tensor, lengths_B: Tensor, *, every: bool) -> Tensor:
        """As `frozen.Frozen` has it; the marks have states too, and where a row is padded they are 0."""
        there_BT = torch.arange(embedded_BTK.shape[1], device=lengths_B.device) < lengths_B[:, None]
        with float32_products(embedded_BTK.device):
            layers = self.module.contextual(embedded_BTK[there_BT], lengths_B.tolist())
        at_N = there_BT.flatten().nonzero().squeeze(1)
        states_LND = torch.stack(layers if every else layers[-1:])
        flat_LXD = states_LND.new_zeros(len(states_LND), there_BT.numel(), self.width).index_copy(1, at_N, states_LND)
        return flat_LXD.reshape(len(flat_LXD), *there_BT.shape, self.width)

    def encoder(self, module: nn.Module, *, name: str, dense: Dense | None) -> Encoder:
        """The fast encoder of that module."""
        elmo = _elmo(module)
        return elmo_encoder(elmo, name=name, digest=tensors_digest(elmo.state_dict()), dense=dense)

    def save(self, module: nn.Module, folder: PathLike, *, card: str, dense: Dense | None, onnx: bool) -> Path:
        """A folder with ELMo's published files. Raises: InputError for what these do not hold."""
        if onnx:
            raise InputError("an ELMo as ONNX; expected its published files, --to sentence-transformers")
        if dense is not None:
            raise InputError("an ELMo with M behind its states, which its published files do not hold; expected M"
                             " before it: place 'before'")  # fmt: skip
        return save_elmo(_elmo(module), folder, card=card)


def frozen_elmo(folder: Path) -> FrozenElmo:
    """The ELMo of a folder, on the CPU. Raises: InputError as `load_elmo`."""
    return FrozenElmo(*read_elmo(folder))


def _elmo(module: nn.Module) -> Elmo:
    if not isinstance(module, Elmo):
        raise TypeError(f"a {type(module).__name__}; expected an Elmo")
    return module
