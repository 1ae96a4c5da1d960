"""Folders that sentence-transformers wrote, against that library; and folders that would have it run something."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from paraform import checkpoint, encoders
from paraform.encoders import Encoder
from paraform.encoders.folder import ELSEWHERE, SENTENCE_SETTINGS, ModelFolder, pooling_of
from paraform.encoders.sentence_transformer import ModulePipeline
from paraform.records import InputError
from paraform.weights import load_tensors, save_tensors

Written = Callable[..., tuple[Path, Any]]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT as a Hugging Face folder, with a tokenizer that has a padding token."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "runs", "home", "the", "cat", "Cat", "query", ":"]
    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    marks = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    torch.manual_seed(0)
    module = transformers.BertModel(transformers.BertConfig(vocab_size=13, max_position_embeddings=12, **sizes))
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    module.save_pretrained(folder)
    return folder


def write(bert: Path, folder: Path, *more: Any, **settings: Any) -> tuple[Path, Any]:
    """A folder by that library: a Transformer and further modules; and the library's model."""
    import sentence_transformers
    from sentence_transformers.sentence_transformer import modules

    torch.manual_seed(1)
    first = modules.Transformer(str(bert), **settings.pop("transformer", {}))
    made = [first, *(build(modules) for build in more)]
    model = sentence_transformers.SentenceTransformer(modules=made, device="cpu", **settings)
    model.save(str(folder), create_model_card=False)
    return folder, model


@pytest.fixture
def written(bert: Path, tmp_path: Path) -> Written:
    """`write`, for one test."""
    return lambda *more, **settings: write(bert, tmp_path / "model", *more, **settings)


@pytest.fixture(scope="module")
def whole(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Dense module, to be copied."""
    return write(bert, tmp_path_factory.mktemp("whole") / "model", pooling("mean"), dense)[0]


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "model"))


def pooling(*modes: str) -> Callable[[Any], Any]:
    return lambda modules: modules.Pooling(16, modes if len(modes) > 1 else modes[0])


def dense(modules: Any) -> Any:
    return modules.Dense(16, 8)


def test_all_modules_are_the_library_s_own(written: Written, texts: list[str]) -> None:
    folder, peer = written(pooling("mean"), dense, lambda modules: modules.Normalize())
    model = checkpoint.load(folder, device="cpu")
    assert isinstance(model, ModulePipeline) and model.device == torch.device("cpu")
    found = model.embed(texts)
    assert found.dtype == np.float32 and found.shape == (7, 8)
    np.testing.assert_allclose(found, peer.encode(texts), atol=1e-5)
    np.testing.assert_allclose(model.embed(texts, batch_size=1), found, atol=1e-5)
    assert model.embed([]).shape == (0, 8)
    assert checkpoint.signature_of(model, "x") == f"model:{folder}|modules:all|weights:{model.digest[:12]}"
    config = folder / "2_Dense" / "config.json"
    config.write_text(config.read_text().replace("activation.Tanh", "activation.ReLU"))
    assert checkpoint.load(folder, device="cpu").digest != model.digest  # another activation makes other vectors
    with pytest.raises(InputError, match="whose modules make one vector, has no choice of layer; expected its name"):
        checkpoint.load(f"{folder}@layer=1")


@pytest.mark.parametrize("mode", ["mean", "cls"])
def test_a_plain_folder_needs_no_library(mode: str, written: Written, texts: list[str]) -> None:
    folder, peer = written(pooling(mode), lambda modules: modules.Normalize())
    model = checkpoint.load(folder, device="cpu")
    assert isinstance(model, Encoder) and model.pooling == mode
    np.testing.assert_allclose(model.embed(texts), peer.encode(texts), atol=1e-5)
    assert f"|pooling:{mode}|length:1|tokens:12|" in model.signature
    last = checkpoint.load(f"{folder}@layer=1,pooling=max", device="cpu")
    assert last.embed(texts).shape == (7, 16)


@pytest.mark.parametrize("last", [True, False])
def test_a_linear_map_needs_no_library(last: bool, written: Written, texts: list[str]) -> None:
    """A Dense module without an activation; with one, or to another width, it is the library's business."""

    def linear(modules: Any) -> Any:
        return modules.Dense(16, 16, activation_function=torch.nn.Identity())

    folder, peer = written(pooling("mean"), linear, *([lambda modules: modules.Normalize()] if last else []))
    model = checkpoint.load(folder, device="cpu")
    assert isinstance(model, Encoder) and model.dense is not None
    np.testing.assert_allclose(model.embed(texts), peer.encode(texts), atol=1e-5)
    assert f"dense:{model.dense.digest[:12]}" in model.signature
    states = encoders.load(str(folder), device="cpu", layer=1)
    assert states.dense is None and states.encode(texts).shape == (7, 16)
    assert not np.allclose(model.encode(texts, layer=2), model.encode(texts))  # another layer's or pooling's are plain
    assert checkpoint.load(f"{folder}@weights=random", device="cpu").dense is None
    weights = folder / "2_Dense" / "model.safetensors"
    save_tensors({"linear.weight": torch.eye(8), "linear.bias": torch.zeros(8)}, weights)
    with pytest.raises(InputError, match=r"2_Dense.*\[8, 8\].*; expected linear.weight \[16, 16\] and"):
        checkpoint.load(folder, device="cpu")
    save_tensors({"linear.weight": torch.full((16, 16), torch.nan), "linear.bias": torch.zeros(16)}, weights)
    with pytest.raises(InputError, match="NaN or infinity"):
        checkpoint.load(folder, device="cpu")
    config = folder / "2_Dense" / "config.json"
    config.write_text(config.read_text().replace("linear.Identity", "activation.Tanh"))
    assert not ModelFolder(folder).is_plain


def test_lengths_are_the_library_s(written: Written, texts: list[str]) -> None:
    """Without a Normalize module they are what the states make them."""
    folder, peer = written(pooling("mean"))
    model = checkpoint.load(folder, device="cpu")
    assert isinstance(model, Encoder) and "|length:own|" in model.signature
    np.testing.assert_allclose(model.embed(texts), peer.encode(texts), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(model.encode(texts, normalize=True), axis=1), 1, atol=1e-6)


def test_a_transformer_below_its_folder_is_the_one_that_is_read(written: Written, texts: list[str]) -> None:
    """Above it lies another encoder, as an older version of the library left them."""
    folder, peer = written(pooling("mean"))
    inside = folder / "0_Transformer"
    inside.mkdir()
    for path in (*folder.glob("*token*"), *folder.glob("sentence_*"), folder / "config.json"):
        shutil.copy(path, inside)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = inside.name
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "model.safetensors").rename(inside / "model.safetensors")
    tensors = load_tensors(inside / "model.safetensors")
    save_tensors({name: 2 * tensor for name, tensor in tensors.items()}, folder / "model.safetensors")
    np.testing.assert_allclose(checkpoint.load(folder, device="cpu").embed(texts), peer.encode(texts), atol=1e-5)


@pytest.mark.parametrize(
    ("more", "settings", "plain"),
    [
        ([pooling("mean", "max")], {}, False),
        ([pooling("lasttoken")], {}, False),
        ([pooling("mean")], {"transformer": {"max_seq_length": 4}}, True),
        ([pooling("mean")], {"transformer": {"do_lower_case": True}}, None),
        ([pooling("mean")], {"prompts": {"query": "query : "}, "default_prompt_name": "query"}, False),
        ([pooling("mean")], {"prompts": {"query": "query : "}}, True),
        ([pooling("mean"), lambda modules: modules.Normalize()], {"truncate_dim": 5}, False),
    ],
)
def test_what_the_library_was_told_is_heeded(
    more: Sequence[Any], settings: dict[str, Any], plain: bool | None, written: Written, texts: list[str]
) -> None:
    folder, peer = written(*more, **settings)
    texts = [*texts, "the Cat runs"]
    expected = peer.encode(texts)
    model = checkpoint.load(folder, device="cpu")
    if plain is not None:  # newer versions keep the lower-casing in the tokenizer, where either finds it
        assert isinstance(model, Encoder) == plain == ModelFolder(folder).is_plain
    np.testing.assert_allclose(model.embed(texts), expected, atol=1e-5)


def test_arguments_of_the_library_s_are_its_own_business(written: Written, texts: list[str]) -> None:
    """Here a layer less, by an argument in the folder; whatever the key, ours would not know what it does."""
    import sentence_transformers

    folder, _ = written(pooling("mean"))
    (folder / "vocab.json").write_text('{"weights_only": 1}')  # a word is no setting
    settings = (folder / SETTINGS).read_text()
    for key in (*ARGUMENTS, "processing_kwargs", "tokenizer_name_or_path"):
        nested(SETTINGS, **{key: {"a": 1}})(folder)
        assert not ModelFolder(folder).is_plain
        (folder / SETTINGS).write_text(settings)
    before = checkpoint.load(folder, device="cpu").embed(texts)
    nested(SETTINGS, config_args={"num_hidden_layers": 1})(folder)
    found = checkpoint.load(folder, device="cpu").embed(texts)
    np.testing.assert_allclose(found, sentence_transformers.SentenceTransformer(str(folder)).encode(texts), atol=1e-5)
    assert not np.allclose(found, before, atol=1e-2)


def test_older_folders_say_their_pooling_in_other_words() -> None:
    said = {
        '{"pooling_mode": "cls"}': "cls",
        '{"pooling_mode": ["mean"]}': "mean",
        '{"pooling_mode": ["mean", "cls"]}': None,
        '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}': "cls",
        '{"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true}': None,
        '{"pooling_mode_max_tokens": true}': None,
        '{"pooling_mode": 3}': None,
        '{"pooling_mode": []}': None,
        "{}": "mean",
    }
    for config, expected in said.items():
        assert pooling_of(json.loads(config)) == expected, config


def test_a_static_embedding_has_no_transformer(tmp_path: Path, write_tokenizer: Callable[..., None]) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    write_tokenizer(tmp_path, ends=False)
    static = StaticEmbedding(Tokenizer.from_file(str(tmp_path / "tokenizer.json")), embedding_dim=6)
    peer = SentenceTransformer(modules=[static], device="cpu")
    peer.save(str(tmp_path / "static"), create_model_card=False)
    texts = ["a dog", "the cat sleeps", ""]
    found = checkpoint.load(tmp_path / "static", device="cpu").embed(texts)
    np.testing.assert_allclose(found, peer.encode(texts), atol=1e-6)
    assert found.shape == (3, 6) and not found[2].any()


def test_a_tokenizer_without_padding_pads_with_its_end(tmp_path: Path, write_tokenizer: Callable[..., None]) -> None:
    """GPT-2's last state is the same in a batch as alone; the library alone refuses such a tokenizer."""
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer

    write_tokenizer(tmp_path, ends=False)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    marks = {"unk_token": "[UNK]", "eos_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(tmp_path)
    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 12, "bos_token_id": 3, "eos_token_id": 3}
    module = transformers.GPT2Model(transformers.GPT2Config(vocab_size=11, **sizes)).eval()
    module.save_pretrained(tmp_path)
    peer = SentenceTransformer(modules=[Transformer(str(tmp_path)), Pooling(16, "lasttoken")], device="cpu")
    peer.save(str(tmp_path / "model"), create_model_card=False)
    texts = ["a dog runs home", "dog", "the cat"]
    with torch.inference_mode():
        rows = [module(torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0, -1] for text in texts]
    alone = torch.stack(rows).numpy()
    np.testing.assert_allclose(checkpoint.load(tmp_path / "model", device="cpu").embed(texts), alone, atol=1e-5)


SETTINGS = "sentence_bert_config.json"
ARGUMENTS = ("config_args", "config_kwargs", "model_args", "model_kwargs", "tokenizer_args", "processor_kwargs")


def nested(name: str, **values: Any) -> Callable[[Path], None]:
    """Settings deep inside a file of the folder, which may not be there yet."""

    def write(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps((json.loads(path.read_text()) if path.is_file() else {}) | values))

    return write


def first_type(name: object) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        modules = json.loads((folder / "modules.json").read_text())
        modules[2]["type"] = name
        (folder / "modules.json").write_text(json.dumps(modules))

    return write


def path_outside(folder: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text())
    modules[2]["path"] = "../elsewhere"
    (folder / "modules.json").write_text(json.dumps(modules))


def pickle_only(folder: Path) -> None:
    (folder / "2_Dense" / "model.safetensors").rename(folder / "2_Dense" / "pytorch_model.bin")


def decoy(folder: Path) -> None:
    """The library reads `model.safetensors`, or else the pickle."""
    pickle_only(folder)
    (folder / "2_Dense" / "other.safetensors").touch()


def sharded_pickle(folder: Path) -> None:
    """By the argument `variant` transformers would read this index."""
    weights = '{"weight_map": {"a": "evil.bin"}}'
    (folder / "model.safetensors.index.fp16.json").write_text(weights)


def route(folder: Path) -> None:
    first_type("sentence_transformers.base.modules.router.Router")(folder)
    (folder / "2_Dense" / "router_config.json").write_text('{"types": {"query_0": "evil.Dense"}}')


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (first_type("evil.Dense"), "names the class 'evil.Dense'; expected classes of sentence_transformers alone"),
        (first_type(None), "names the class 'None'"),
        (first_type("sentence_transformers.base.model.pickle"), "expected one of Asym, BoW, CLIPModel"),
        (path_outside, "a module at '../elsewhere'; expected a folder inside this one"),
        (pickle_only, "weights in pytorch_model.bin only; expected model.safetensors"),
        (decoy, "weights in pytorch_model.bin only; expected model.safetensors"),
        (lambda folder: (folder / "model.safetensors").rename(folder / "other.safetensors"), "no weights; expected"),
        (sharded_pickle, "index.fp16.json: names a file that is no safetensors"),
        (lambda folder: (folder / "2_Dense" / "evil.pkl").touch(), "evil.pkl: a pickle beside model.safetensors"),
        (lambda folder: (folder / "training_args.bin").touch(), "training_args.bin: a pickle beside"),
        (route, "names the class 'evil.Dense'"),
        (lambda folder: (folder / "modules.json").write_text("{}"), "a dict; expected a list of modules"),
        (lambda folder: (folder / "modules.json").write_text("[1]"), "expected a list of modules, each with its type"),
        (nested("config.json", attn_implementation="a/kernel"), "attention by 'a/kernel'"),
        *((nested(SETTINGS, **{key: {"attn_implementation": "a/kernel"}}), "attention by") for key in ARGUMENTS),
        (nested("config.json", text_config={"_attn_implementation": {"": "a/kernel"}}), "attention by 'a/kernel'"),
        (nested("other_config.json", list=[[{"attn_implementation": "a/kernel"}]]), "other_config.json: attention by"),
        (
            nested("sentence_xlnet_config.json", config_args={"auto_map": {"AutoModel": "m.M"}}),
            "has 'auto_map'; expected",
        ),
        *((nested(SETTINGS, model_args={key: True}), f"has '{key}'; expected") for key in sorted(ELSEWHERE)),
        (nested("config.json", transformers_weights="adapter_model.bin"), "has 'transformers_weights'"),
        (lambda folder: (folder / "adapter_config.json").write_text("{}"), "an adapter; merge it"),
    ],
)
def test_a_stranger_s_folder_is_refused_before_the_library_is_asked(
    damage: Callable[[Path], object], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "evil.py").write_text("raise SystemExit('it ran')")
    damage(folder)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # an import of it is an ImportError
    with pytest.raises(InputError) as caught:
        checkpoint.load(folder, device="cpu")
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_weights_of_word_embeddings_and_their_tokenizer(tmp_path: Path) -> None:
    folder = tmp_path / "0_WordEmbeddings"
    folder.mkdir()
    kind = "sentence_transformers.models.WordEmbeddings"
    (tmp_path / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": folder.name, "type": kind}]))
    (folder / "model.safetensors").touch()
    (folder / "wordembedding_config.json").write_text('{"tokenizer_class": "evil.Tokenizer"}')
    with pytest.raises(InputError, match=r"names the class 'evil\.Tokenizer'"):
        checkpoint.load(tmp_path, device="cpu")


def test_only_safetensors_are_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a folder has beside them, neither library is free to read a pickle, or to run code."""
    import sentence_transformers
    import transformers

    asked: list[dict[str, Any]] = []

    def spy(*_: Any, **options: Any) -> Any:
        asked.append(options)
        raise OSError("seen enough")

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", spy)
    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", spy)
    for load in (checkpoint.load, encoders.load_module):
        with pytest.raises(InputError, match="seen enough"):
            load(str(folder))
    assert [options["trust_remote_code"] for options in asked] == [False, False]
    assert asked[0]["model_kwargs"] == {"use_safetensors": True} and asked[1]["use_safetensors"] is True


def test_settings_are_those_that_the_library_reads(tmp_path: Path) -> None:
    """Each of its names, the first in its order that says anything."""
    from sentence_transformers.sentence_transformer.modules import Transformer

    (tmp_path / "sentence_gpt_config.json").write_text('{"max_seq_length": 99}')  # a name that it does not know
    assert ModelFolder(tmp_path).sentence_settings == {}
    for number, name in enumerate(reversed(SENTENCE_SETTINGS), start=1):
        for content, expected in ((f'{{"max_seq_length": {number}}}', number), ("{}", number - 1)):
            (tmp_path / name).write_text(content)
            theirs = Transformer.load_config(str(tmp_path)).get("max_seq_length")
            assert ModelFolder(tmp_path).sentence_settings.get("max_seq_length", 0) == expected == (theirs or 0)
        (tmp_path / name).write_text(f'{{"max_seq_length": {number}}}')
    assert number == 7


@pytest.mark.parametrize("plain", [True, False])
def test_signatures_tell_tokenizers_and_limits_apart(plain: bool, written: Written) -> None:
    """Kept vectors are found by them: the weights alone do not say what a vector is."""
    folder, _ = written(pooling("mean"), *([] if plain else [dense]))
    tokenizer = (folder / "tokenizer.json").read_text()
    signatures = [checkpoint.load(folder, device="cpu").signature]
    (folder / "tokenizer.json").write_text(tokenizer.replace('"dog": 5', '"dog": 6').replace('"runs": 6', '"runs": 5'))
    signatures.append(checkpoint.load(folder, device="cpu").signature)
    (folder / "tokenizer.json").write_text(tokenizer)
    change_limit = nested(SETTINGS, max_seq_length=4)
    change_limit(folder)
    signatures.append(checkpoint.load(folder, device="cpu").signature)
    if not plain:  # tokenizers that are no JSON
        for name in ("vocab.txt", "spiece.model"):
            (folder / name).touch()
            signatures.append(checkpoint.load(folder, device="cpu").signature)
    assert len(set(signatures)) == (3 if plain else 5)


def test_without_the_library_one_line_names_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"needs sentence-transformers; pip install 'paraform\[eval\]'"):
        checkpoint.load(folder, device="cpu")


def test_a_damaged_module_is_told_in_one_line(folder: Path) -> None:
    shutil.copy(folder / "model.safetensors", folder / "2_Dense" / "model.safetensors")
    with pytest.raises(InputError) as caught:
        checkpoint.load(folder, device="cpu")
    assert str(caught.value).startswith(f"{folder}: ") and "\n" not in str(caught.value)


def test_an_encoder_alone_is_still_to_be_had(folder: Path, texts: list[str]) -> None:
    """`encoders.load` gives the Transformer of a folder, for its tokens, whatever modules come after."""
    encoder = encoders.load(str(folder), device="cpu")
    assert (encoder.pooling, encoder.encode(texts).shape) == ("mean", (7, 16))


def test_a_module_without_its_settings_is_named(tmp_path: Path) -> None:
    """It was a mean, whatever had been meant."""
    listed = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in listed]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    save_tensors({"a": torch.zeros(1)}, tmp_path / "model.safetensors")
    expected = "config.json: no such file; expected each module that modules.json names"
    with pytest.raises(InputError, match=f"1_Pooling/{expected}"):
        _ = ModelFolder(tmp_path).pooling
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert ModelFolder(tmp_path).pooling == "cls"
