"""Causal language models: their states behind a start token, and what is loaded of them whole; by transformers' own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_lm import write_lm
from tokenizers import Tokenizer, processors
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

from paraform import encoders
from paraform.encoders.causal import causal_of_json, described, load_causal, states_and_scores
from paraform.encoders.folder import ModelFolder
from paraform.encoders.loading import encoder_of
from paraform.encoders.types import Pooling
from paraform.records import InputError
from paraform.weights import load_tensors, save_tensors

START = 2  # [CLS], which none of the texts has
SIZES = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA = {**SIZES, "num_key_value_heads": 2, "vocab_size": 11, "max_position_embeddings": 12, "bos_token_id": START}


@pytest.fixture
def module(shake: Callable[[Any], None]) -> Any:
    made = LlamaForCausalLM(LlamaConfig(**LLAMA)).eval()
    shake(made)
    return made


@pytest.fixture
def folder(module: Any, tmp_path: Path, write_tokenizer: Callable[..., None]) -> Path:
    """As it is published: the module, and a tokenizer that puts nothing around a text."""
    module.save_pretrained(tmp_path / "llama")
    write_tokenizer(tmp_path / "llama", ends=False)
    return tmp_path / "llama"


def change(folder: Path, **values: Any) -> None:
    """Say something else in config.json."""
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_states_are_those_behind_the_start(folder: Path, module: Any, texts: list[str]) -> None:
    """Of each layer, and each way of pooling: nothing of the start's own state is in them."""
    encoder = encoders.load(str(folder), device="cpu")
    assert (encoder.start, encoder.max_tokens) == (START, 11)  # of 12 places one is the start's
    rows = encoder.pieces(texts)
    assert max(map(len, rows)) == 11 and [] in rows and not any(START in row for row in rows)
    found = encoder.states(texts, layers=range(3))
    for layer, states in enumerate(found):
        for at, (text, ids) in enumerate(zip(texts, rows, strict=True)):
            own_TD = states.states_ND[states.offsets[at] : states.offsets[at + 1]]
            if not ids:
                assert len(own_TD) == 0 and not encoder.encode([text], layer=layer).any()
                continue
            with torch.no_grad():
                out = module.model(input_ids=torch.tensor([[START, *ids]]), output_hidden_states=True)
            expected_TD = out.hidden_states[layer][0, 1:]
            torch.testing.assert_close(own_TD, expected_TD)
            pooled: dict[Pooling, torch.Tensor] = {"mean": expected_TD.mean(0), "cls": expected_TD[0]}
            pooled |= {"max": expected_TD.amax(0), "last": expected_TD[-1]}
            for pooling, vector_D in pooled.items():
                vector = encoder.encode([text], layer=layer, pooling=pooling, normalize=False)[0]
                np.testing.assert_allclose(vector, vector_D, atol=1e-5)


def test_a_start_of_the_tokenizer_s_own_is_none_of_the_text_s(folder: Path, texts: list[str]) -> None:
    """As Llama's has it: once is enough, and its state is not counted."""
    expected = encoders.load(str(folder), device="cpu").encode(texts)
    path = str(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(path)
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", START)])
    tokenizer.save(path)
    np.testing.assert_array_equal(encoders.load(str(folder), device="cpu").encode(texts), expected)


@pytest.mark.parametrize("reason", ["another architecture", "no such token", "modules"])
def test_others_have_no_start(reason: str, folder: Path, module: Any) -> None:
    """Of a folder with modules sentence-transformers says what stands before a text."""
    with_start = encoders.load(str(folder), device="cpu").signature
    if reason == "modules":
        kinds = {"": "Transformer", "1_Pooling": "Pooling"}
        listed = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()]
        (folder / "modules.json").write_text(json.dumps(listed))
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    elif reason == "no such token":
        change(folder, bos_token_id=None)
    else:
        change(folder, architectures=["LlamaModel"])
    encoder = encoders.load(str(folder), device="cpu")
    assert (encoder.start, encoder.max_tokens) == (None, 12)
    assert f"|start:{START}|" in with_start and "|start:" not in encoder.signature
    with torch.no_grad():
        expected_TD = module.model(input_ids=torch.tensor([[4, 5]])).last_hidden_state[0]
    np.testing.assert_allclose(encoder.encode(["a dog"], normalize=False)[0], expected_TD.mean(0), atol=1e-5)


def test_a_start_that_the_model_has_not_is_one_line(folder: Path) -> None:
    for start in (-1, 11, 10**30):
        change(folder, bos_token_id=start)
        with pytest.raises(InputError, match=rf"config\.json: bos_token_id {start}; expected null, or 0 to 10$"):
            encoders.load(str(folder), device="cpu")


def test_it_is_not_exported(folder: Path, tmp_path: Path) -> None:
    """Whoever reads that folder would count the start's state."""
    with pytest.raises(InputError, match="states without its start's, which sentence-transformers would count"):
        encoders.load(str(folder), device="cpu").export(tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


def test_a_model_is_loaded_whole_and_made_again_of_its_config(folder: Path, module: Any) -> None:
    loaded: Any = load_causal(ModelFolder(folder), torch.float32)
    ids_BT = torch.tensor([[START, 4, 5]])
    with torch.no_grad():
        torch.testing.assert_close(loaded(input_ids=ids_BT).logits, module(input_ids=ids_BT).logits)
    assert not loaded.training and str(folder) not in described(loaded)
    again = causal_of_json(described(loaded), "it")
    assert type(again) is LlamaForCausalLM
    assert {name: (weight.shape, weight.dtype) for name, weight in again.state_dict().items()} == {
        name: (weight.shape, weight.dtype) for name, weight in module.state_dict().items()
    }


def with_nan(folder: Path) -> None:
    tensors = load_tensors(folder / "model.safetensors")
    tensors["model.norm.weight"][3] = torch.nan
    save_tensors(tensors, folder / "model.safetensors")


def without_a_layer(folder: Path) -> None:
    tensors = load_tensors(folder / "model.safetensors")
    save_tensors({name: one for name, one in tensors.items() if ".1.mlp." not in name}, folder / "model.safetensors")


def with_an_encoder(folder: Path) -> None:
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    BartForConditionalGeneration(BartConfig(vocab_size=11, **sizes, **heads)).save_pretrained(folder)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (with_an_encoder, r"config\.json: a model with an encoder; expected a causal language model"),
        (lambda folder: (folder / "model.safetensors").unlink(), r"no weights; expected model\.safetensors"),
        (without_a_layer, r"weights lack 'model\.layers\.1\.mlp\.down_proj\.weight' and 2 more; expected the model's"),
        (with_nan, r"'model\.norm\.weight' holds NaN or infinity; expected finite weights"),
        (lambda folder: (folder / "adapter_config.json").write_text("{}"), r"adapter_config\.json: an adapter; merge"),
        (lambda folder: change(folder, vocab_size=12), r"config\.json: it makes weights of other shapes"),
        (lambda folder: change(folder, model_type="none"), r"config\.json: "),
    ],
)
def test_what_is_no_whole_causal_model_is_one_line(spoil: Callable[[Path], Any], message: str, folder: Path) -> None:
    spoil(folder)
    with pytest.raises(InputError, match=message) as caught:
        load_causal(ModelFolder(folder), torch.float32)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{}", '{"model_type": "none"}', '{"model_type": "t5"}'])
def test_a_config_of_none_is_one_line(text: str) -> None:
    with pytest.raises(InputError, match=r"^base\.json:"):
        causal_of_json(text, "base.json")


def test_states_and_their_scores_are_the_model(module: Any) -> None:
    """While it is trained, too, when dropout makes each pass another."""
    gpt2: Any = GPT2LMHeadModel(
        GPT2Config(vocab_size=11, n_embd=16, n_layer=2, n_head=2, bos_token_id=2, eos_token_id=2)
    )
    for model in (module, gpt2.train()):
        was = model.training
        inner, scores = states_and_scores(model)
        assert model.training is was
        model.eval()
        ids_BT = torch.tensor([[4, 9, 5, 2]])
        with torch.no_grad():
            expected = model(input_ids=ids_BT).logits
            torch.testing.assert_close(scores(inner(input_ids=ids_BT).last_hidden_state), expected)


def test_scores_that_are_bent_afterwards_are_told() -> None:
    """Gemma's c·tanh(scores / c), which of fresh weights, with scores near 0, is nearly the same."""
    config = Gemma2Config(**{**SIZES, "hidden_size": 64}, num_key_value_heads=2, vocab_size=200, pad_token_id=0)
    torch.manual_seed(0)
    module = Gemma2ForCausalLM(config)
    assert module.config.final_logit_softcapping == 30
    with pytest.raises(InputError, match="a gemma2, which does more behind its last states; expected such as Llama"):
        states_and_scores(module)
    module.config.final_logit_softcapping = None
    states_and_scores(module)


def test_an_encoder_of_a_module_computes_in_what_the_device_is_best_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Near what float32 gives and not the same; the caller's module stays as it was."""
    folder = ModelFolder(write_lm(tmp_path))
    module = load_causal(folder, torch.float32)
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    found = {}
    for asked in ("float32", "bfloat16"):
        monkeypatch.setenv("PARAFORM_PRODUCTS", asked)
        inner = module.get_submodule("model")
        made = encoder_of(inner, folder.tokenizer(), name="x", max_tokens=16)
        found[asked] = made.encode(["the cat sat", "how do i pay ?"])
    cosines = (found["float32"] * found["bfloat16"]).sum(1)
    assert bool((cosines > 0.99).all()) and not np.array_equal(*found.values())
    assert all(torch.equal(weight, before[name]) for name, weight in module.state_dict().items())
