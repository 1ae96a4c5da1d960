"""Encoders to train: cut, made from a config, and read fast, against transformers itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import BartConfig, BartModel, BertConfig, BertModel, T5Config, T5EncoderModel

from paraform.encoders.loading import encoder_of
from paraform.encoders.transformers_modules import first_layers, module_of_config
from paraform.records import InputError

SMALL = {"vocab_size": 11, "max_position_embeddings": 40}


def bert(layers: int = 3, act: str = "gelu") -> nn.Module:
    sizes = {"hidden_size": 8, "intermediate_size": 12, "num_attention_heads": 2, "num_hidden_layers": layers}
    return BertModel(BertConfig(**SMALL, **sizes, hidden_act=act)).eval()


def bart() -> nn.Module:
    sizes = {"encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = BartConfig(**SMALL, **sizes, d_model=8, encoder_ffn_dim=12, decoder_ffn_dim=12)
    made: nn.Module = BartModel(config).get_encoder().eval()
    return made


@pytest.mark.parametrize("make", [bert, bart])
def test_the_first_layers_give_what_they_gave(make: Callable[[], nn.Module], shake: Callable[..., None]) -> None:
    module = make()
    shake(module)
    ids = torch.tensor([[2, 5, 6, 3]])
    with torch.no_grad():
        expected = module(input_ids=ids, output_hidden_states=True).hidden_states[2]
        cut = first_layers(module, 2)
        torch.testing.assert_close(cut(input_ids=ids).last_hidden_state, expected)
    again = module_of_config(cut.config.to_json_string())  # type: ignore[operator, union-attr]  # transformers has it untyped
    assert {name: tuple(w.shape) for name, w in again.state_dict().items()} == {
        name: tuple(w.shape) for name, w in cut.state_dict().items()
    }


def test_what_is_not_cut() -> None:
    with pytest.raises(InputError, match="layers 4; expected 1 to 3, or 0 for all"):
        first_layers(bert(), 4)
    t5 = T5EncoderModel(T5Config(vocab_size=11, d_model=8, d_kv=4, d_ff=8, num_layers=2, num_heads=2)).eval()
    with pytest.raises(InputError, match=r"layers 1: a t5 .*; expected .*0, all"):
        first_layers(t5, 1)


@pytest.mark.parametrize("text", ["", "{}", '{"model_type": "none"}', '{"model_type": "bert", "hidden_size": "x"}'])
def test_what_is_no_config(text: str) -> None:
    with pytest.raises(InputError, match="encoder's config:"):
        module_of_config(text)


def test_a_config_names_no_code_of_its_own(tmp_path: Path) -> None:
    values = json.loads(bert().config.to_json_string())  # type: ignore[operator, union-attr]  # transformers has it untyped
    made = module_of_config(json.dumps({**values, "auto_map": {"AutoModel": "evil.Model"}}))
    assert type(made) is BertModel


@pytest.mark.parametrize("act", ["gelu", "relu"])  # the fast path, and transformers' own
def test_the_fast_encoder_gives_the_mean_of_its_states(
    act: str, tmp_path: Path, write_tokenizer: Callable[..., None], shake: Callable[..., None], texts: list[str]
) -> None:
    module = bert(act=act)
    shake(module)
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    encoder = encoder_of(module, tokenizer, name="mine", max_tokens=12)
    found = encoder.encode(texts)
    for text, vector in zip(texts, found, strict=True):
        ids = torch.tensor([tokenizer.encode(text).ids[:12]])
        ids[0, -1] = 3  # the end stays where a text is cut
        with torch.no_grad():
            mean = module(input_ids=ids).last_hidden_state[0].mean(0).numpy()
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)
    assert encoder.signature.startswith("model:mine|layer:3|pooling:mean|")
    with torch.no_grad():
        next(module.parameters()).add_(1)
    assert encoder_of(module, tokenizer, name="mine", max_tokens=12).digest != encoder.digest
