"""A language model as encoder and decoder: adapters of each beside one base (as Optimus, Li et al. 2020, in small).

The encoder's state is a map of the mean of its last states; z stands before the words as soft pieces, a map of it.

Shape key: B sentences, T words of the longest, K soft pieces, D features of the base, H of a state, Z latent.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple, Self, cast, final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from paraform.encoders import product_autocast, width_of
from paraform.encoders.causal import causal_of_json, load_causal
from paraform.encoders.folder import ModelFolder
from paraform.encoders.locating import locate
from paraform.json_text import parse_json
from paraform.models.adapters import Adapters, Holder, digests_of, maps_of, require_base, require_config
from paraform.models.latent.config import LatentConfig
from paraform.models.latent.texts import Pieces
from paraform.records import InputError

RANK = 16  # of each adapter
PIECES = 4  # soft ones, that say z


class Base(NamedTuple):
    """The language model that adapters stand beside.

    Args:
        module: with its output layer.
        pieces: what its texts are made of.
        digests: of its weights and its tokenizer.
    """

    module: nn.Module
    pieces: Pieces
    digests: Mapping[str, str]

    @classmethod
    def of(cls, name: str) -> Self:
        """A base by its name. Raises: InputError if it is not to be had, or names no marks of a begin and an end."""
        folder = ModelFolder(locate(name))
        module = load_causal(folder, torch.float32)
        return cls(module, _pieces(name, folder, module), digests_of(folder))

    @classmethod
    def restored(cls, name: str, asset: str, place: str) -> Self:
        """The base of a checkpoint; on torch's meta device its shapes alone.

        Args:
            asset: what `to_json` wrote, into `place`.
        Raises: InputError if that is damaged; as `of`; or if the base has other weights or another tokenizer.
        """
        about = parse_json(asset, place)
        found: dict[str, Any] = about if isinstance(about, dict) else {}
        config, digests = found.get("config"), found.get("digests")
        if not isinstance(config, dict) or not isinstance(digests, dict):
            raise InputError(f"{place}: {str(about)[:40]!r}; expected the base's config and digests")
        folder = ModelFolder(locate(name))
        if torch.empty(0).is_meta:
            module = causal_of_json(json.dumps(config), place)
        else:
            require_base(name, folder, digests)
            module = load_causal(folder, torch.float32)
            require_config(_config(module), json.dumps(config), name)
        return cls(module, _pieces(name, folder, module), digests)

    def to_json(self) -> str:
        """What a checkpoint keeps of it."""
        about = {"config": json.loads(_config(self.module)), "digests": dict(self.digests)}
        return json.dumps(about, indent=2, sort_keys=True) + "\n"


def _config(module: nn.Module) -> str:
    text: str = cast(Any, module).config.to_json_string()
    return text


def _pieces(name: str, folder: ModelFolder, module: nn.Module) -> Pieces:
    own = cast(Any, module).config
    start, stop = own.bos_token_id, own.eos_token_id
    stop = stop[0] if isinstance(stop, list) and stop else stop
    rows = len(cast(Any, module).get_output_embeddings().weight)
    if not all(type(mark) is int and 0 <= mark < rows for mark in (start, stop)):
        raise InputError(f"{name}: marks {start} and {stop}; expected those of a begin and an end, below {rows:,}")
    return Pieces(folder.tokenizer(), start, stop)


def twin(module: nn.Module) -> nn.Module:
    """A module of the same weights, not of copies, that other adapters may be injected into."""
    return copy.deepcopy(module, {id(one): one for one in chain(module.parameters(), module.buffers())})


@final
class CausalEncoder(Holder):
    """The mean of a sentence's last states, mapped to a state.

    Args:
        module: the base, without its output layer; adapters are injected into it.
        start: the number of its mark of a begin, which takes the attention that has nowhere to go and is left out.
    """

    def __init__(self, config: LatentConfig, module: nn.Module, start: int) -> None:
        super().__init__()
        self.dropout, self.state_dropout, self.start = config.dropout_of_encoder, config.dropout_of_state, start
        self.adapters = Adapters(maps_of(module, 0), RANK)
        self.adapters.inject(module)
        self.module: nn.Module
        self.hold("module", module)
        self.map = nn.Linear(width_of(module), config.hidden_width)

    def forward(self, words_BT: Tensor, lengths_B: Tensor) -> Tensor:
        """Pieces, anything behind a sentence's last, and lengths ≥ 1 → states [B, H], float32."""
        embedded_BTD = _embedded(self.module, F.pad(words_BT, (1, 0), value=self.start), self.dropout, self.training)
        states_BTD = _states(self.module, embedded_BTD)[:, 1:].float()
        there_BT = torch.arange(words_BT.shape[1], device=words_BT.device) < lengths_B.to(words_BT.device)[:, None]
        mean_BD = states_BTD.masked_fill(~there_BT[:, :, None], 0).sum(1) / there_BT.sum(1, keepdim=True)
        state_BH: Tensor = self.map(mean_BD).float()
        return F.dropout(state_BH, self.state_dropout, self.training)


@final
class CausalMemory(NamedTuple):
    """What decoding remembers of each sentence (`decoding.DecoderState`): transformers' cache of keys and values."""

    keys: Any

    def select(self, rows_N: Tensor) -> CausalMemory:
        """The memory of the given rows, which the memory of before is not any more."""
        self.keys.reorder_cache(rows_N)
        return self


@final
class CausalDecoder(Holder):
    """Reads z as soft pieces, the mark of a begin, and the words.

    So much is remembered of each piece that fewer sentences are decoded together than by an LSTM (`rows`).

    Args:
        module: as of `CausalEncoder`; a twin of its, with adapters of its own.
    """

    rows = 64

    def __init__(self, config: LatentConfig, module: nn.Module) -> None:
        super().__init__()
        self.dropout = config.decoder_dropout
        self.adapters = Adapters(maps_of(module, 0), RANK)
        self.adapters.inject(module)
        self.module: nn.Module
        self.hold("module", module)
        self.width = width_of(module)
        self.map = nn.Linear(config.latent_width, PIECES * self.width)
        usual = cast(Any, module).get_input_embeddings().weight.std().item() if not self.map.weight.is_meta else 0.0
        nn.init.normal_(self.map.weight, std=usual / config.latent_width**0.5)  # soft pieces are as large as others
        nn.init.zeros_(self.map.bias)

    def forward(self, words_BT: Tensor, z_BZ: Tensor) -> Tensor:
        """The words so far, the mark of a begin first, and z → states [B, T, D] that the next words are scored with."""
        embedded_BTD = _embedded(self.module, words_BT, self.dropout, self.training)
        states_BTD = _states(self.module, torch.cat([self._soft(z_BZ), embedded_BTD], 1))[:, PIECES:]
        return F.dropout(states_BTD, self.dropout, self.training)

    def start(self, z_BZ: Tensor) -> CausalMemory:
        """The memory before the mark of a begin."""
        soft_BKD = self._soft(z_BZ)  # in float32, as `forward` has them
        with product_autocast(z_BZ.device):
            out = cast(Any, self.module)(inputs_embeds=soft_BKD, use_cache=True)
        return CausalMemory(out.past_key_values)

    def step(self, memory: CausalMemory, tokens_B: Tensor) -> tuple[Tensor, CausalMemory]:
        """The state [B, D] after one more word, and the memory."""
        with product_autocast(tokens_B.device):
            out = cast(Any, self.module)(input_ids=tokens_B[:, None], past_key_values=memory.keys, use_cache=True)
        return out.last_hidden_state[:, 0], CausalMemory(out.past_key_values)

    def _soft(self, z_BZ: Tensor) -> Tensor:
        soft_BKD: Tensor = self.map(z_BZ).unflatten(1, (PIECES, self.width))
        return soft_BKD


def _embedded(module: nn.Module, words_BT: Tensor, share: float, training: bool) -> Tensor:
    return F.dropout(cast(Any, module).get_input_embeddings()(words_BT), share, training)


def _states(module: nn.Module, embedded_BTD: Tensor) -> Tensor:
    """Padding is behind all, where nothing that counts looks, so that no mask is needed."""
    with product_autocast(embedded_BTD.device):
        states_BTD: Tensor = cast(Any, module)(inputs_embeds=embedded_BTD, use_cache=False).last_hidden_state
    return states_BTD
