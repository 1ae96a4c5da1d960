"""Saved without the encoder's weights, loaded with that encoder alone; embedded and exported with M folded in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_retrofit as tiny
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import paraform
from paraform import checkpoint, manifest
from paraform.capabilities import Embedder, Exports
from paraform.checkpoint.vectors import signature_of
from paraform.encoders.dense import Dense
from paraform.encoders.encoder_facts import EncoderFacts
from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder
from paraform.models.retrofit.encoder import facts_of
from paraform.models.retrofit.frozen import require_open
from paraform.models.retrofit.table import context_table
from paraform.records import InputError

TEXTS = ["The dog runs home .", "who sleeps at home ?", "homeworks"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny.folder_of(tmp_path_factory.mktemp("encoder"))


def trained(folder: str, config: RetrofitConfig = tiny.TINY, shaken: float = 0.3) -> RetrofittedEncoder:
    model = RetrofittedEncoder.start(replace(config, encoder=folder))
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.add_(shaken * torch.randn_like(parameter))
    return model.eval()


def plain_vectors(model: RetrofittedEncoder, m: torch.Tensor) -> np.ndarray:
    """Each text alone through transformers, M on the table or behind the mean, of length 1."""
    module, before = tiny.bert(), model.config.place == "before"
    if before:
        module.get_input_embeddings().register_forward_hook(lambda part, given, out: out @ m.T)  # type: ignore[operator]
    rows = []
    with torch.no_grad():
        for text in TEXTS:
            ids = torch.tensor([tiny.tokenizer().encode(text).ids])
            mean = module(input_ids=ids).last_hidden_state[0].mean(0)
            rows.append(torch.nn.functional.normalize(mean if before else m @ mean, dim=-1))
    return torch.stack(rows).numpy()


@pytest.mark.parametrize("place", ["before", "after"])
def test_vectors_with_m_and_a_checkpoint_of_m_alone(place: str, folder: str, tmp_path: Path) -> None:
    config = replace(tiny.TINY, place=place, orthogonality="free")
    model = trained(folder, config)
    assert isinstance(model, Embedder) and isinstance(model, Exports)
    np.testing.assert_allclose(model.embed(TEXTS), plain_vectors(model, model.matrix), atol=1e-5)
    saved = checkpoint.save(model, tmp_path / "saved", card="# A test\n")
    assert (saved / "model.safetensors").stat().st_size < 1000
    about = manifest.read(saved)
    assert about.config["encoder"] == folder
    facts = json.loads((saved / "encoder.json").read_text())
    assert facts["width"] == tiny.WIDTH and len(facts["weights"]) == 64
    loaded = paraform.load(str(saved), device="cpu")
    np.testing.assert_allclose(loaded.embed(TEXTS), model.embed(TEXTS), atol=1e-6)
    assert signature_of(loaded, "it") == signature_of(model, "it")
    assert float(loaded.network.margin) == float(model.network.margin)


@pytest.mark.parametrize(
    "fields", [{"orthogonality": "exact"}, {"states": "all", "train_mix": True, "push": "further"}]
)
def test_every_kind_of_m_is_saved_and_loaded(fields: dict[str, Any], folder: str, tmp_path: Path) -> None:
    model = trained(folder, replace(tiny.TINY, **fields))
    checkpoint.save(model, tmp_path / "saved", card="# A test\n")
    loaded = paraform.load(str(tmp_path / "saved"), device="cpu")
    assert loaded.state_dict().keys() == model.state_dict().keys()
    torch.testing.assert_close(loaded.matrix, model.matrix)
    assert not torch.equal(model.matrix, torch.eye(tiny.WIDTH))


@pytest.mark.parametrize("place", ["before", "after"])
def test_words_with_m(place: str, folder: str) -> None:
    model = trained(folder, replace(tiny.TINY, place=place, orthogonality="free"))
    words = ["the", "homeworks", "runs"]
    found = model.word_states([words], layers=[-1])
    module, m = tiny.bert(), model.matrix
    if place == "before":
        module.get_input_embeddings().register_forward_hook(lambda part, given, out: out @ m.T)  # type: ignore[operator]
    ids = torch.tensor(
        [tiny.tokenizer().encode(words, is_pretokenized=True).ids]
    )  # [CLS] the home ##work ##s runs [SEP]
    with torch.no_grad():
        states = module(input_ids=ids).last_hidden_state[0]
    expected = torch.stack([states[1], states[2:5].mean(0), states[5]])
    torch.testing.assert_close(
        found.states_NLD[:, 0].float(), expected if place == "before" else expected @ m.T, atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_language_model_reads_its_start_before_each_sentence(place: str, tmp_path: Path) -> None:
    """Whose state is in no word and in no sentence; an M before it maps that embedding as any other."""
    sizes: dict[str, Any] = {"vocab_size": len(tiny.PIECES), "hidden_size": tiny.WIDTH, "intermediate_size": 12}
    sizes |= {"num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 16, "bos_token_id": 2}
    torch.manual_seed(0)
    module = LlamaForCausalLM(LlamaConfig(**sizes)).eval().bfloat16()  # as smollm2 is kept
    module.save_pretrained(tmp_path)
    module.float()
    tiny.tokenizer(ends=False).save(str(tmp_path / "tokenizer.json"))
    config = replace(tiny.TINY, encoder=str(tmp_path), place=place, orthogonality="free")
    model = trained(str(tmp_path), config)
    table = model.network.known(context_table(tiny.PAIRS, model.tokenizer, skip_stopwords=False))
    row = table.source_W[0]
    ids = table.pieces.joined(table.sentence_R[[row]]).tolist()
    m, before = model.matrix, place == "before"
    if before:
        module.get_input_embeddings().register_forward_hook(lambda part, given, out: out @ m.T)
    with torch.no_grad():
        batch = table.batch(np.arange(1), table.source_W[:1], table.target_W[:1])
        found = model.network.vectors(batch, model.network.transform())[batch.source_W[0]]
        states = module.model(input_ids=torch.tensor([[2, *ids]])).last_hidden_state[0, 1:]
    states = states if before else states @ m.T
    assert table.count_R[row] == 1
    torch.testing.assert_close(found, states[table.start_R[row]], atol=1e-5, rtol=1e-5)
    vector = model.embed([table.texts[table.sentence_R[row]]])[0]
    np.testing.assert_allclose(vector, torch.nn.functional.normalize(states.mean(0), dim=-1).numpy(), atol=1e-5)
    with pytest.raises(InputError, match="states without its start's, which sentence-transformers would count"):
        model.export(tmp_path / "exported")


def test_the_mean_of_all_layers_with_m_behind_it(folder: str) -> None:
    """M of the mean is the mean of M's, so that it stands behind every layer."""
    model = trained(folder, replace(tiny.TINY, place="after", states="all", orthogonality="free"))
    words = [["the", "homeworks", "runs"]]
    plain = tiny.retrofitted(tiny.TINY, shaken=0.0)
    found, own = (each.word_states(words, layers=[-1, 0]).states_NLD.float() for each in (model, plain))
    torch.testing.assert_close(found, own @ model.matrix.T, atol=1e-5, rtol=1e-5)
    with torch.no_grad():
        ids = torch.tensor([tiny.tokenizer().encode(TEXTS[0]).ids])
        layers = tiny.bert()(input_ids=ids, output_hidden_states=True).hidden_states
        expected = model.matrix @ torch.stack([states_1TD[0].mean(0) for states_1TD in layers]).mean(0)
    expected = torch.nn.functional.normalize(expected, dim=-1)
    np.testing.assert_allclose(model.embed(TEXTS[:1])[0], expected.numpy(), atol=1e-5)
    with pytest.raises(InputError, match="the mean of all layers, which no exported encoder has"):
        model.export("nowhere")


@pytest.mark.parametrize("place", ["before", "after"])
def test_another_layer_than_the_last(place: str, folder: str, tmp_path: Path) -> None:
    config = replace(tiny.TINY, encoder=f"{folder}@layer=1", place=place, orthogonality="free")
    model = trained(config.encoder, config)
    assert model.layer == 1
    module, m = tiny.bert(), model.matrix
    if place == "before":
        module.get_input_embeddings().register_forward_hook(lambda part, given, out: out @ m.T)  # type: ignore[operator]
    ids = torch.tensor([tiny.tokenizer().encode(TEXTS[0]).ids])
    with torch.no_grad():
        mean = module(input_ids=ids, output_hidden_states=True).hidden_states[1][0].mean(0)
    expected = torch.nn.functional.normalize(mean if place == "before" else m @ mean, dim=-1)
    np.testing.assert_allclose(model.embed(TEXTS[:1])[0], expected.numpy(), atol=1e-5)
    table = model.network.known(tiny.table())
    batch = table.batch(*(np.arange(1), table.source_W[:1], table.target_W[:1]))
    with torch.no_grad():
        vectors = model.network.vectors(batch, model.network.transform())
    sentence = tiny.tokenizer().encode(table.texts[table.sentence_R[table.source_W[0]]])
    with torch.no_grad():
        states = module(input_ids=torch.tensor([sentence.ids]), output_hidden_states=True).hidden_states[1][0]
    at = int(table.start_R[table.source_W[0]])
    assert table.count_R[table.source_W[0]] == 1
    with pytest.raises(InputError, match="layer 1, and what stands above it; expected M of the last layer"):
        model.export(tmp_path / "exported")
    own = states[at] if place == "before" else m @ states[at]
    torch.testing.assert_close(vectors[batch.source_W[0]], own, atol=1e-5, rtol=1e-5)
    checkpoint.save(model, tmp_path / "saved", card="# A test\n")
    loaded = paraform.load(str(tmp_path / "saved"), device="cpu")
    np.testing.assert_allclose(loaded.embed(TEXTS), model.embed(TEXTS), atol=1e-6)


@pytest.mark.parametrize("place", ["before", "after"])
def test_exported_it_is_what_the_library_computes(place: str, folder: str, tmp_path: Path) -> None:
    """And a Hugging Face folder: with M before, transformers alone has its states."""
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModel

    model = trained(folder, replace(tiny.TINY, place=place, orthogonality="free"))
    made = model.export(tmp_path / "made", terms="Ours to give.")
    theirs = SentenceTransformer(str(made), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(model.embed(TEXTS), theirs, atol=1e-5)
    np.testing.assert_allclose(paraform.load(str(made), device="cpu").embed(TEXTS), theirs, atol=1e-5)
    card = (made / "README.md").read_text()
    assert "Ours to give." in card and ("word embeddings" in card) == (place == "before")
    table = AutoModel.from_pretrained(made).get_input_embeddings().weight.detach()
    own = tiny.bert().get_input_embeddings().weight.detach()  # type: ignore[operator]
    torch.testing.assert_close(table, own @ model.matrix.T if place == "before" else own, atol=1e-6, rtol=1e-6)
    with pytest.raises(InputError, match="is there already"):
        model.export(made)


def test_a_map_of_the_encoders_own_stands_behind_m(folder: str) -> None:
    """W (M mean) + b, of length 1."""
    torch.manual_seed(5)
    dense = Dense(torch.randn(tiny.WIDTH, tiny.WIDTH), torch.randn(tiny.WIDTH))
    config = replace(tiny.TINY, place="after", orthogonality="free")
    own = replace(tiny.frozen(), dense=dense)
    model = RetrofittedEncoder(config, facts_of(own, config), own).eval()
    with torch.no_grad():
        model.network.transform.weight.add_(0.3 * torch.randn(tiny.WIDTH, tiny.WIDTH))
    plain = tiny.retrofitted(config, shaken=0.0)
    from paraform.encoders.loading import encoder_of

    mean = encoder_of(plain.folded(), plain.tokenizer, name="x", max_tokens=16).encode(TEXTS, normalize=False)
    expected = torch.nn.functional.normalize(dense(torch.from_numpy(mean) @ model.matrix.T), dim=-1)
    np.testing.assert_allclose(model.embed(TEXTS), expected.numpy(), atol=1e-5)


def test_another_encoder_is_named(folder: str, tmp_path: Path) -> None:
    saved = checkpoint.save(trained(folder), tmp_path / "saved", card="# A test\n")
    other: Any = tiny.bert()
    with torch.no_grad():
        other.encoder.layer[0].output.dense.bias[0] += 1e-3
    elsewhere = tmp_path / "elsewhere"
    other.save_pretrained(elsewhere)
    tiny.tokenizer().save(str(elsewhere / "tokenizer.json"))
    model = trained(folder)
    config = vars(model.config) | {"encoder": str(elsewhere)}
    with pytest.raises(
        InputError, match=r"is not the one that M was trained with: SHA-256 of the weights [0-9a-f]{64}"
    ):
        RetrofittedEncoder.restore(config, model.assets())
    with pytest.raises(InputError, match=r"M belongs to encoder 'no such' \(SHA-256 [0-9a-f]{64}\): "):
        RetrofittedEncoder.restore(config | {"encoder": "no such"}, model.assets())
    for name, value, said in (
        ("width", 9, "width 8; expected 9"),
        ("layers", 3, "layers 2; expected 3"),
        ("tokenizer", "0" * 64, "SHA-256 of the tokenizer"),
    ):
        facts = replace(model.facts, **{name: value})
        with pytest.raises(InputError, match=said):
            facts.require(facts_of(tiny_frozen(folder), model.config), folder, trained="M")
    assert paraform.load(str(saved), device="cpu").matrix.shape == (8, 8)


def tiny_frozen(folder: str) -> Any:
    from paraform.models.retrofit.frozen import frozen_encoder

    return frozen_encoder(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "expected what is said of an encoder"),
        ("{", "expected what is said of an encoder"),
        ('{"width": 8}', "expected what is said of an encoder"),
        ('{"width": 1e9, "layers": 2, "weights": "a", "tokenizer": "b"}', "width 1000000000, 2 layers; expected 1 to"),
    ],
)
def test_damaged_facts(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        EncoderFacts.read(text)


def test_a_checkpoint_with_unknown_fields(folder: str) -> None:
    with pytest.raises(InputError, match=r"unknown fields \['speed'\]"):
        RetrofittedEncoder.restore({"speed": 3}, {})


def test_behind_an_encoder_m_may_be_a_projection(folder: str) -> None:
    model = trained(folder, replace(tiny.TINY, place="after", orthogonality="free"))
    with torch.no_grad():
        model.network.transform.weight[0] = 0
    np.testing.assert_allclose(model.train().embed(TEXTS), plain_vectors(model, model.matrix), atol=1e-5)
    with torch.no_grad():
        model.network.transform.weight[0] = torch.nan
    with pytest.raises(InputError, match="M holds NaN"):
        model.train().embed(TEXTS)


def test_an_m_that_was_spoiled_is_refused(folder: str, tmp_path: Path) -> None:
    model = trained(folder)
    with torch.no_grad():
        model.network.transform.weight[0] = 0
    model.train()
    with pytest.raises(InputError, match="M is singular"):
        model.embed(TEXTS)
    with torch.no_grad():
        model.network.transform.weight[0] = torch.nan
    with pytest.raises(InputError, match="M holds NaN"):
        model.export(tmp_path / "no")
    with pytest.raises(InputError, match="holds NaN or infinity"):
        checkpoint.save(model, tmp_path / "no", card="")
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("minilm@pooling=cls", "an encoder that is retrofitted, has no choice of pooling; expected layer=…"),
        ("minilm@weights=random", "has no choice of weights"),
    ],
)
def test_no_variant_is_retrofitted(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        RetrofittedEncoder.start(RetrofitConfig(encoder=name))


def test_an_encoder_of_another_pooling(folder: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    made = trained(folder).export(tmp_path / "made")
    settings = made / "1_Pooling" / "config.json"
    settings.write_text(json.dumps({"word_embedding_dimension": 8, "pooling_mode_cls_token": True}))
    with pytest.raises(InputError, match="expected a Hugging Face encoder whose states are averaged"):
        RetrofittedEncoder.start(RetrofitConfig(encoder=str(made)))


def test_an_encoder_that_is_not_open() -> None:
    own = tiny.frozen()
    module: Any = own.module
    plain = module.forward
    module.forward = lambda input_ids=None, inputs_embeds=None: plain(
        inputs_embeds=inputs_embeds if input_ids is None else module.get_input_embeddings()(input_ids) * 2
    )
    with pytest.raises(InputError, match="it: reads more of a word than its embedding; expected place 'after'"):
        require_open(own, "it")
    module.forward = lambda input_ids=None: plain(input_ids=input_ids)
    with pytest.raises(InputError, match=r"it: takes no word embeddings from outside: .*; place 'after' works"):
        require_open(own, "it")
