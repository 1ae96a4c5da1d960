"""ParaBART from a causal language model: adapters beside its weights, its marks around a text, and its mask open."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_disentangled as tiny
import torch
from transformers import GPTNeoConfig, GPTNeoModel, LlamaConfig, LlamaModel, OPTConfig, OPTModel

import paraform
from paraform import checkpoint
from paraform.encoders.causal import BothWays
from paraform.models.disentangled import DisentangledConfig, DisentangledParaphraser, make_update
from paraform.models.disentangled.pairs import pair_batches
from paraform.models.disentangled.start import require_opens
from paraform.models.disentangled.table import pair_table
from paraform.records import InputError
from paraform.trainers.disentangled import new_model
from paraform.training import TrainingConfig, make_accelerator

START, END = 2, 3
SMALL: dict[str, Any] = {"vocab_size": 8, "hidden_size": 8, "num_heads": 2, "num_attention_heads": 2}
COMMON: dict[str, Any] = {**tiny.COMMON, "pool_special": False, "output_pieces": "seen", "learning_rate": 1e-2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """As a language model is published: its tokenizer puts nothing around a text."""
    path = tmp_path_factory.mktemp("llama")
    sizes: dict[str, Any] = {"vocab_size": len(tiny.WORDS), "hidden_size": tiny.WIDTH, "intermediate_size": 12}
    sizes |= {"num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 16, "eos_token_id": END}
    module = LlamaModel(LlamaConfig(**sizes, bos_token_id=START, architectures=["LlamaForCausalLM"]))
    tiny.shaken(module).save_pretrained(path)
    about = (path / "config.json").read_text().replace('"LlamaModel"', '"LlamaForCausalLM"')
    (path / "config.json").write_text(about)
    tiny.tokenizer(ends=False).save(str(path / "tokenizer.json"))
    return str(path)


def started(folder: str, **fields: Any) -> DisentangledParaphraser:
    config = replace(DisentangledConfig(**COMMON), encoder=folder, **fields)
    torch.manual_seed(0)
    return new_model(tiny.PAIRS, tiny.parsed(), config)


def stepped(model: DisentangledParaphraser, steps: int = 2) -> DisentangledParaphraser:
    table = pair_table(tiny.PAIRS, tiny.parsed(), model.config, model.tokenizer, model.symbols)
    batches, epoch = pair_batches(table, batch_size=4, seed=0)
    update = make_update(model, model.config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=epoch)[0]
    model.train()
    for step in range(steps):
        update(batches(step), step)
    return model.eval()


@pytest.mark.parametrize("both_ways", [False, True])
def test_vectors_are_means_of_words_between_the_marks(folder: str, both_ways: bool) -> None:
    """By the base's own weights with 2·B·A added, each text alone, and the mask by hand."""
    model = stepped(started(folder, adapters=3, both_ways=both_ways))
    adapters = model.network.adapters
    assert adapters is not None and all(float(up.detach().abs().max()) > 0 for up in adapters.up)
    module = LlamaModel.from_pretrained(folder).eval()
    with torch.no_grad():
        for name, up, down in zip(adapters.shapes, adapters.up, adapters.down, strict=True):
            module.get_submodule(name.removeprefix("module.")).weight.add_(2 * up @ down)
        rows = []
        for text in tiny.TEXTS:
            ids = torch.tensor([[START, *(tiny.WORDS.index(word) for word in text.split()), END]])
            open_ = torch.zeros(1, 1, ids.shape[1], ids.shape[1]) if both_ways else None
            rows.append(module(input_ids=ids, attention_mask=open_).last_hidden_state[0, 1:-1].mean(0))
    expected = torch.nn.functional.normalize(torch.stack(rows), dim=1).numpy()
    np.testing.assert_allclose(model.embed(tiny.TEXTS), expected, atol=1e-5)
    table = pair_table(tiny.PAIRS, tiny.parsed(), model.config, model.tokenizer, model.symbols)
    with torch.no_grad():
        every = table.sentences(np.arange(len(tiny.TEXTS)))
        trained = model.network.encode(every.pieces_BT, every.lengths_B)  # padded, beside each other
    np.testing.assert_allclose(torch.nn.functional.normalize(trained, dim=1).numpy(), expected, atol=1e-5)


def test_a_mask_that_is_open_sees_what_follows_and_nothing_that_is_hidden(folder: str) -> None:
    module = LlamaModel.from_pretrained(folder).eval()
    ids, other = torch.tensor([[2, 5, 6, 7]]), torch.tensor([[2, 5, 6, 8]])
    with torch.no_grad():
        for open_, moves in ((module, False), (BothWays(module), True)):
            first, second = (open_(input_ids=each).last_hidden_state[0, 1] for each in (ids, other))
            assert (float((first - second).abs().max()) > 1e-3) == moves
        hidden = torch.tensor([[1, 1, 1, 0]])
        one, two = (BothWays(module)(input_ids=each, attention_mask=hidden) for each in (ids, other))
    torch.testing.assert_close(one.last_hidden_state[:, :3], two.last_hidden_state[:, :3])


def test_a_checkpoint_has_the_adapters_alone(folder: str, tmp_path: Path) -> None:
    model = stepped(started(folder, adapters=3))
    checkpoint.save(model, tmp_path / "it", card="a test")
    again: Any = checkpoint.load(tmp_path / "it", device="cpu")
    np.testing.assert_allclose(again.embed(tiny.TEXTS), model.embed(tiny.TEXTS), atol=1e-6)
    trees = [tiny.parsed()[text] for text in tiny.TEXTS]
    assert again.decode_trees(tiny.TEXTS, trees) == model.decode_trees(tiny.TEXTS, trees)
    names = set(model.state_dict())
    assert not any(name.startswith("network.semantic") for name in names)
    assert any(name.startswith("network.adapters.up") for name in names)
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert all(name in trained for name in names if "adapters" in name)
    with pytest.raises(InputError, match="these adapters were trained on 0"):
        model.restore(vars(model.config), {**model.assets(), "base.json": '{"weights": "0", "tokenizer": "0"}'})


def test_without_adapters_all_its_weights_are_trained_and_saved(folder: str, tmp_path: Path) -> None:
    model = stepped(started(folder, both_ways=True))
    checkpoint.save(model, tmp_path / "it", card="a test")
    again: Any = checkpoint.load(tmp_path / "it", device="cpu")
    np.testing.assert_allclose(again.embed(tiny.TEXTS), model.embed(tiny.TEXTS), atol=1e-6)
    assert any(name.startswith("network.semantic") for name in model.state_dict())


def test_the_decoder_starts_from_its_words_at_a_usual_size(folder: str) -> None:
    network = started(folder).network
    own = LlamaModel.from_pretrained(folder).get_input_embeddings().weight.detach()[network.written_V]
    found = network.target_embedding.weight.detach()
    torch.testing.assert_close(found / found.norm(), own / own.norm())
    assert 0.01 < float(found.std()) < 0.04


def test_a_base_that_was_changed_is_refused(folder: str, tmp_path: Path) -> None:
    """Its weights when a run goes on, and its config when a checkpoint is read."""
    base = tmp_path / "base"
    shutil.copytree(folder, base)
    model = started(str(base), adapters=3)
    assert set(model.digests) == {"weights", "tokenizer"}
    checkpoint.save(model, tmp_path / "it", card="a test")
    about = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps({**about, "rms_norm_eps": 0.5}))
    with pytest.raises(InputError, match=r"its config has rms_norm_eps 0\.5; these adapters were trained by"):
        checkpoint.load(tmp_path / "it", device="cpu")


def test_the_base_follows_and_is_merged_in_memory(folder: str) -> None:
    model = started(folder, adapters=3, both_ways=True)
    before = model.embed(tiny.TEXTS)
    assert next(model.double().network.semantic.parameters()).dtype == torch.float64
    model.float().train()
    assert model.network.semantic.training
    with torch.no_grad():
        for up in model.network.adapters.up:  # type: ignore[union-attr]
            up.add_(0.3)
    assert np.abs(model.embed(tiny.TEXTS) - before).max() > 1e-3
    with pytest.raises(InputError, match="states without its start's, which sentence-transformers would count"):
        model.export("nowhere")


def test_an_encoder_with_adapters_is_exported_merged_and_starts_the_decoder(tmp_path: Path) -> None:
    encoder: Any = tiny.bert()
    encoder.save_pretrained(tmp_path / "bert")
    tiny.tokenizer().save(str(tmp_path / "bert" / "tokenizer.json"))
    model = started(str(tmp_path / "bert"), adapters=2, pool_special=True)
    own = encoder.encoder.layer[0].intermediate.dense.weight
    torch.testing.assert_close(model.network.decoder.linear1.weight.detach(), own.detach())
    with torch.no_grad():
        for up in model.network.adapters.up:  # type: ignore[union-attr]
            up.add_(0.3)
    model.eval()
    exported = model.export(tmp_path / "exported")
    np.testing.assert_allclose(
        paraform.load(str(exported), device="cpu").embed(tiny.TEXTS), model.embed(tiny.TEXTS), atol=1e-5
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"eos_token_id": None}, "its marks are 2 and None; expected pieces of its tokenizer"),
        ({"eos_token_id": 99}, "its marks are 2 and 99; expected pieces of its tokenizer"),
        ({"bos_token_id": None}, "expected one before and one after"),
    ],
)
def test_marks_that_are_not_there(fields: dict[str, Any], said: str, folder: str, tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(folder, base)
    about = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps({**about, **fields}))
    with pytest.raises(InputError, match=said):
        started(str(base), adapters=2)
    (base / "config.json").write_text(json.dumps({**about, "eos_token_id": [3, 2]}))
    assert started(str(base), adapters=2).tokenizer.encode("the dog").ids[-1] == END


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (
            GPTNeoModel(GPTNeoConfig(**SMALL, attention_types=[[["global"], 1]], num_layers=1)),
            "mask is not opened",
        ),
        (OPTModel(OPTConfig(**SMALL, num_hidden_layers=1, ffn_dim=8, word_embed_proj_dim=8)), "both_ways of it: "),
    ],
    ids=["GPT-Neo", "OPT"],
)
def test_a_model_whose_mask_cannot_be_opened(module: Any, said: str) -> None:
    """The one leaves such a mask out, the other cannot read it."""
    with pytest.raises(InputError, match=said):
        require_opens(BothWays(module), "it")


def test_what_cannot_be_started_from(folder: str, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="a causal language model, whose start is no word; expected pool_special False"
    ):
        started(folder, pool_special=True)
    encoder: Any = tiny.bert()
    encoder.save_pretrained(tmp_path)
    tiny.tokenizer().save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(InputError, match=r"both_ways of .*; expected a causal language model with a mark of a begin"):
        started(str(tmp_path), both_ways=True)
    plain = started(str(tmp_path), adapters=2)  # an encoder with adapters is one too
    assert plain.embed(tiny.TEXTS).shape == (len(tiny.TEXTS), tiny.WIDTH)
