"""Encoder halves, and encoders without a padding token, against transformers' own forward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from paraform import checkpoint, encoders
from paraform.encoders.types import POOLINGS, Pooling
from paraform.records import InputError


def seq2seq(kind: str) -> Any:
    import transformers

    if kind == "bart":
        sizes = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 1, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24}
        heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 12}
        return transformers.BartForConditionalGeneration(transformers.BartConfig(vocab_size=11, **sizes, **heads))
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_decoder_layers": 1, "num_heads": 2}
    return transformers.T5ForConditionalGeneration(transformers.T5Config(vocab_size=11, **sizes))


def padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(map(len, rows))
    ids_BT = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    return ids_BT, torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_the_encoder_half_is_transformers_own(
    kind: str, tmp_path: Path, texts: list[str], write_tokenizer: Callable[..., None], shake: Callable[[Any], None]
) -> None:
    """Padded and masked in one batch there, neither here; every layer, and all ways of pooling."""
    whole = seq2seq(kind).eval()
    shake(whole)
    whole.save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    encoder = encoders.load(str(tmp_path), device="cpu")
    assert (encoder.dimension, encoder.num_layers) == (16, 2)
    assert encoder.max_tokens == (12 if kind == "bart" else 512)
    rows = encoder.pieces(texts)
    ids_BT, mask_BT = padded(rows)
    with torch.inference_mode():
        hidden = whole.get_encoder()(ids_BT, attention_mask=mask_BT, output_hidden_states=True).hidden_states
    for layer, states_BTD in enumerate(hidden):
        weights_BT1 = mask_BT[:, :, None].float()
        mean_BD = (states_BTD * weights_BT1).sum(1) / weights_BT1.sum(1)
        expected: dict[Pooling, torch.Tensor] = {"mean": mean_BD, "cls": states_BTD[:, 0]}
        expected["max"] = states_BTD.masked_fill(mask_BT[:, :, None] == 0, -torch.inf).amax(1)
        expected["last"] = states_BTD[torch.arange(len(rows)), mask_BT.sum(1) - 1]
        for pooling, vectors_BD in expected.items():
            found = encoder.encode(texts, layer=layer, pooling=pooling, normalize=False)
            np.testing.assert_allclose(found, vectors_BD, atol=1e-5, rtol=1e-5)
    model = checkpoint.load(f"{tmp_path}@layer=2,pooling=last", device="cpu")
    units_BD = torch.nn.functional.normalize(expected["last"], dim=-1)
    np.testing.assert_allclose(model.embed(texts), units_BD, atol=1e-5)


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_no_decoder_is_fine_tuned(kind: str, tmp_path: Path, write_tokenizer: Callable[..., None]) -> None:
    whole = seq2seq(kind)
    whole.save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    module = encoders.load_module(str(tmp_path))
    own = sum(weight.numel() for weight in whole.get_encoder().parameters())
    assert sum(weight.numel() for weight in module.parameters()) == own
    frozen = {name for name, weight in module.named_parameters() if not weight.requires_grad}
    assert not frozen  # every weight of the encoder makes its last states
    lower = encoders.load_module(str(tmp_path), layer=1)
    frozen = {name for name, weight in lower.named_parameters() if not weight.requires_grad}
    own_layer = "layers.1." if kind == "bart" else "block.1."
    assert {name for name in frozen if own_layer not in name} <= {"final_layer_norm.weight"} and len(frozen) > 4
    assert encoders.width_of(module) == encoders.dimension_of(str(tmp_path)) == 16
    assert module(input_ids=torch.tensor([[4, 5]])).last_hidden_state.shape == (1, 2, 16)


def test_a_tokenizer_s_limit_where_positions_have_none(tmp_path: Path, write_tokenizer: Callable[..., None]) -> None:
    seq2seq("t5").save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    for limit, expected in (("7", 7), ("1e30", 512)):
        (tmp_path / "tokenizer_config.json").write_text(f'{{"model_max_length": {limit}}}')
        assert encoders.load(str(tmp_path), device="cpu").max_tokens == expected


def test_an_encoder_without_a_padding_token(
    tmp_path: Path, texts: list[str], write_tokenizer: Callable[..., None], shake: Callable[[Any], None]
) -> None:
    """GPT-2's tokenizer has neither that nor ends: an empty text has no tokens, and zeros for a vector."""
    import transformers

    module = transformers.GPT2Model(transformers.GPT2Config(vocab_size=11, n_embd=16, n_layer=2, n_head=2)).eval()
    shake(module)
    module.save_pretrained(tmp_path)
    write_tokenizer(tmp_path, ends=False)
    encoder = encoders.load(str(tmp_path), device="cpu")
    found = encoder.encode(texts, pooling="last", normalize=False)
    for text, ids, vector_D in zip(texts, encoder.pieces(texts), found, strict=True):
        if not text:
            assert ids == [] and not vector_D.any()
            continue
        with torch.inference_mode():
            states_1TD = module(torch.tensor([ids])).last_hidden_state
        np.testing.assert_allclose(vector_D, states_1TD[0, -1], atol=1e-5)
    for pooling in POOLINGS:
        assert not encoder.encode([""], pooling=pooling).any()


def test_weights_that_are_not_all_there_are_named(
    tmp_path: Path, write_tokenizer: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    """Without a complaint transformers would draw the rest at random; its own report and its bar are not shown."""
    from paraform.weights import load_tensors, save_tensors

    seq2seq("bart").save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    path = tmp_path / "model.safetensors"
    kept = {name: tensor for name, tensor in load_tensors(path).items() if ".encoder.layers.1." not in name}
    save_tensors(kept, path)
    capfd.readouterr()
    with pytest.raises(InputError, match=r"weights lack 'encoder\.layers\.1\.\S+' and \d+ more"):
        encoders.load(str(tmp_path), device="cpu")
    assert capfd.readouterr() == ("", "")


def test_what_has_no_layers_of_text_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "timm_wrapper"}')
    with pytest.raises(InputError, match=r"config\.json: "):
        encoders.dimension_of(str(tmp_path))


def test_weights_in_several_files_are_those_of_one(
    tmp_path: Path, texts: list[str], write_tokenizer: Callable[..., None]
) -> None:
    module = seq2seq("bart")
    folders = [tmp_path / "whole", tmp_path / "parts"]
    for folder, size in zip(folders, ("1GB", "3KB"), strict=True):
        module.save_pretrained(folder, max_shard_size=size)
        write_tokenizer(folder)
    parts = sorted(folders[1].glob("*.safetensors"))
    assert len(parts) > 2 and not (folders[1] / "model.safetensors").exists()
    whole, split = (encoders.load(str(folder), device="cpu") for folder in folders)
    np.testing.assert_array_equal(whole.encode(texts), split.encode(texts))
    assert whole.digest != split.digest
    parts[1].unlink()
    with pytest.raises(InputError, match=f"{parts[1].name}: no such file; expected each that model"):
        encoders.load(str(folders[1]), device="cpu")
