"""Our forward pass without padding against transformers' BertModel, padded and masked."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from paraform import encoders
from paraform.encoders.bert import PackedBert, can_run
from paraform.records import InputError
from paraform.weights import load_tensors

SIZES = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 40, "max_position_embeddings": 12, "layer_norm_eps": 1e-6}


def theirs(module: Any, sentences: Sequence[Sequence[int]]) -> list[Tensor]:
    """States of every layer, the sentences' own tokens end to end."""
    width = max(map(len, sentences))
    ids_BT = torch.tensor([[*ids, *[0] * (width - len(ids))] for ids in sentences])
    mask_BT = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in sentences])
    with torch.inference_mode():
        hidden = module(ids_BT, attention_mask=mask_BT, output_hidden_states=True).hidden_states
    return [states_BTD[mask_BT.bool()] for states_BTD in hidden]


@pytest.fixture(scope="module")
def bert() -> Any:
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    module = BertModel(BertConfig(**SIZES)).eval()
    for parameter in module.parameters():  # fresh biases are 0 and fresh norms 1, which would hide a mistake
        torch.nn.init.normal_(parameter, std=0.3)
    return module


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_every_layer_of_a_random_bert(prefix: str, bert: Any) -> None:
    draw = random.Random(0)
    lengths = [1, 2, 2, 5, 5, 5, 9, 12]
    sentences = [[draw.randrange(SIZES["vocab_size"]) for _ in range(length)] for length in lengths]
    tensors = {prefix + name: tensor for name, tensor in bert.state_dict().items()}
    packed = PackedBert(tensors, bert.config.to_dict())
    assert (packed.dimension, packed.num_layers, packed.max_positions) == (24, 3, 12)
    expected = theirs(bert, sentences)
    wanted = [3, 0, 1, 2]
    for layer, found in zip(wanted, packed.states(sentences, wanted), strict=True):
        torch.testing.assert_close(found, expected[layer], rtol=0, atol=1e-4)
    mixed = [sentences[0], sentences[7], sentences[2]]  # not in order of length
    torch.testing.assert_close(packed.states(mixed, [3])[0], theirs(bert, mixed)[3], rtol=0, atol=1e-4)


def test_every_layer_of_the_offline_encoder() -> None:
    from transformers import BertModel

    folder = encoders.locate("minilm")
    module = BertModel.from_pretrained(folder, dtype=torch.float32).eval()
    packed = PackedBert(load_tensors(folder / "model.safetensors"), module.config.to_dict())
    draw = random.Random(1)
    sentences = [[101, *(draw.randrange(1000, 30_000) for _ in range(length)), 102] for length in (0, 1, 7, 7, 30)]
    for found, expected in zip(packed.states(sentences, range(7)), theirs(module, sentences), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)


def test_moved_weights(bert: Any) -> None:
    packed = PackedBert(bert.state_dict(), bert.config.to_dict())
    (single,) = packed.states([[1, 2, 3]], [3])
    (double,) = packed.to(torch.device("cpu"), torch.float64).states([[1, 2, 3]], [3])
    assert double.dtype == torch.float64
    torch.testing.assert_close(single.double(), double, rtol=0, atol=1e-4)


def test_what_is_no_bert(bert: Any, tmp_path: Path) -> None:
    config, tensors = bert.config.to_dict(), bert.state_dict()
    assert can_run(config) and not can_run(config | {"model_type": "roberta"})
    for wrong in ({"hidden_act": "relu"}, {"position_embedding_type": "relative_key"}):
        with pytest.raises(InputError, match="expected gelu, absolute positions"):
            PackedBert(tensors, config | wrong)
    for name in ("embeddings.word_embeddings.weight", "encoder.layer.2.output.dense.bias"):
        with pytest.raises(InputError, match=f"lack '{name}'"):
            PackedBert({key: tensor for key, tensor in tensors.items() if key != name}, config)
    with pytest.raises(InputError, match="expected numbers of heads and layers"):
        PackedBert(tensors, {"hidden_act": "gelu"})


@pytest.mark.parametrize(
    ("fields", "shapes", "said"),
    [
        (
            {"num_attention_heads": 10**30},
            {},
            "1000000000000000000000000000000 heads of 24 features; expected a divisor",
        ),
        ({"num_attention_heads": 5}, {}, "5 heads of 24 features; expected a divisor"),
        ({"num_attention_heads": 0}, {}, "0 heads of 24 features"),
        ({}, {"embeddings.word_embeddings.weight": (50,)}, r"float32 \[50\]; expected floats \['any', 'any'\]"),
        ({}, {"embeddings.token_type_embeddings.weight": (0, 24)}, r"\[0, 24\]; expected floats \['any', 24\]"),
        ({}, {"embeddings.position_embeddings.weight": (12, 1)}, r"\[12, 1\]; expected floats \['any', 24\]"),
        ({}, {"encoder.layer.1.attention.self.key.bias": (1,)}, r"key.bias' is float32 \[1\]; expected floats \[24\]"),
        ({}, {"encoder.layer.2.output.dense.weight": (24, 41)}, r"\[24, 41\]; expected floats \[24, 40\]"),
        ({"num_hidden_layers": 4}, {}, "lack 'encoder.layer.3.attention.self.query.weight'"),
    ],
)
def test_weights_that_do_not_fit(
    fields: dict[str, int], shapes: dict[str, tuple[int, ...]], said: str, bert: Any
) -> None:
    """Found when it is built: a bias of one number, say, would be added to all features in silence."""
    tensors = dict(bert.state_dict()) | {name: torch.zeros(shape) for name, shape in shapes.items()}
    with pytest.raises(InputError, match=said):
        PackedBert(tensors, bert.config.to_dict() | fields)


def test_weights_that_are_no_floats(bert: Any) -> None:
    name = "encoder.layer.0.intermediate.dense.weight"
    with pytest.raises(InputError, match=f"'{name}' is int8"):
        PackedBert(dict(bert.state_dict()) | {name: bert.state_dict()[name].to(torch.int8)}, bert.config.to_dict())
