"""A table of pieces' vectors and their mean, against sentence-transformers; and what is left to that library."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from paraform import checkpoint
from paraform.encoders.export import write_settings
from paraform.encoders.sentence_transformer import ModulePipeline
from paraform.encoders.static import TABLE, StaticEncoder, part_ends, save_static
from paraform.records import InputError
from paraform.weights import save_tensors

TABLE_VD = torch.randn(11, 6, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def tokenizer(tmp_path: Path, write_tokenizer: Callable[..., None]) -> Tokenizer:
    """Of a few words, with [CLS] and [SEP] around a text, padding and a limit of four."""
    write_tokenizer(tmp_path)
    made = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    made.enable_padding(length=8)
    made.enable_truncation(6)
    return made


@pytest.fixture
def folder(tokenizer: Tokenizer, tmp_path: Path) -> Path:
    return save_static(TABLE_VD, tokenizer, tmp_path / "static", card="# Ours\n")


def test_what_is_written_is_the_library_s(folder: Path, tokenizer: Tokenizer, texts: list[str]) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    peer = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    assert [type(module).__name__ for module in peer] == ["StaticEmbedding", "Normalize"]
    assert peer.similarity_fn_name == "cosine" and (folder / "README.md").read_text() == "# Ours\n"
    written = json.loads((folder / "tokenizer.json").read_text())
    assert written["padding"] is None and written["truncation"] is None
    assert tokenizer.truncation is not None and tokenizer.padding is not None  # the caller's own stays as it is
    model = checkpoint.load(folder, device="cpu")
    assert isinstance(model, StaticEncoder) and model.device == torch.device("cpu")
    found = model.embed(texts)
    assert found.dtype == np.float32 and found.shape == (7, 6)
    np.testing.assert_allclose(found, peer.encode(texts), atol=1e-5)
    np.testing.assert_allclose(found[0], torch.nn.functional.normalize(TABLE_VD[4:8].mean(0), dim=0), atol=1e-6)
    np.testing.assert_array_equal(model.embed(texts, batch_size=2), found)
    assert not found[3].any() and model.embed([]).shape == (0, 6)
    assert checkpoint.signature_of(model, "x") == f"model:{folder}|pooling:mean|length:1|weights:{model.digest[:12]}"


@pytest.mark.parametrize("last", [True, False])
def test_what_the_library_writes_is_read(
    last: bool, tokenizer: Tokenizer, texts: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its tokenizer keeps its limit, which the library heeds without a word."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer import modules

    static = modules.StaticEmbedding(tokenizer, embedding_weights=TABLE_VD)
    parts = [static, *([modules.Normalize()] if last else [])]
    peer = sentence_transformers.SentenceTransformer(modules=parts, device="cpu")
    peer.save(str(tmp_path / "theirs"), create_model_card=False)
    model = checkpoint.load(tmp_path / "theirs", device="cpu")
    assert isinstance(model, StaticEncoder) and ("|length:1|" in model.signature) == last
    with caplog.at_level(logging.WARNING, "paraform"):
        found = model.embed(texts)
    np.testing.assert_allclose(found, peer.encode(texts), atol=1e-5)
    assert "1 of 7 texts are longer than the 6 tokens that" in caplog.text


def test_texts_that_it_cannot_read(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = checkpoint.load(folder, device="cpu")
    texts = ["a dog runs", "zebras zoom", "", "zebras zoom"]
    assert model.unread(texts).tolist() == [False, True, True, True]
    with caplog.at_level(logging.WARNING, "paraform"):
        model.embed(texts)
    assert "3 of 4 texts have few words that" in caplog.text
    with pytest.raises(InputError, match="a string where a list of texts is expected"):
        model.embed("text")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("config_sentence_transformers.json", {"prompts": {"q": "a "}, "default_prompt_name": "q"}),
        ("config_sentence_transformers.json", {"truncate_dim": 3}),
        ("1_Dense/config.json", {"in_features": 6, "out_features": 3, "bias": False}),
    ],
)
def test_what_is_more_than_a_mean_is_the_library_s_own(
    name: str, settings: dict[str, Any], folder: Path, texts: list[str]
) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    write_settings(folder / name, settings)
    if "Dense" in name:
        modules = json.loads((folder / "modules.json").read_text())
        modules[1] |= {"path": "1_Dense", "type": "sentence_transformers.models.Dense"}
        write_settings(folder / "modules.json", modules)
        save_tensors({"linear.weight": TABLE_VD[:3]}, folder / "1_Dense" / "model.safetensors")
    model = checkpoint.load(folder, device="cpu")
    assert isinstance(model, ModulePipeline)
    np.testing.assert_allclose(
        model.embed(texts), sentence_transformers.SentenceTransformer(str(folder), device="cpu").encode(texts)
    )


def test_another_name_of_the_table_is_the_library_s_own(folder: Path) -> None:
    """As model2vec writes it."""
    pytest.importorskip("sentence_transformers")
    save_tensors({"embeddings": TABLE_VD}, folder / "model.safetensors")
    assert isinstance(checkpoint.load(folder, device="cpu"), ModulePipeline)


def test_how_a_folder_cuts_texts(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of a tokenizer's settings the length alone counts: a stride beyond it would end the process."""
    written = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    cut = {"direction": "Right", "max_length": 2, "strategy": "OnlySecond", "stride": 5}
    write_settings(folder / "tokenizer.json", written | {"truncation": cut})
    model = checkpoint.load(folder, device="cpu")
    np.testing.assert_array_equal(model.embed(["a dog runs home"]), model.embed(["a dog"]))
    assert "1 of 1 texts" in caplog.text
    write_settings(folder / "tokenizer.json", written | {"truncation": cut | {"max_length": 0}})
    with pytest.raises(InputError, match="a tokenizer that cuts texts at 0 pieces; expected 1 at least"):
        checkpoint.load(folder, device="cpu")


def test_parts_are_of_few_texts_and_few_characters(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a dog", "a", "home runs a dog", "dog", "runs", "a cat runs home", "home"]
    model = checkpoint.load(folder, device="cpu")
    whole = model.embed(texts)
    monkeypatch.setattr("paraform.encoders.static.CHARACTERS", 8)
    assert part_ends(texts, 3) == [3, 6, 7] and part_ends([], 3) == []
    np.testing.assert_array_equal(model.embed(texts, batch_size=3), whole)


def test_damaged_folders(folder: Path, tokenizer: Tokenizer) -> None:
    weights = folder / "model.safetensors"
    with pytest.raises(InputError, match="is there already"):
        save_static(TABLE_VD, tokenizer, folder, card="")
    for damaged, message in {
        TABLE_VD[0]: r"embedding.weight float32 \[6\]; expected floats, a row for each piece",
        TABLE_VD.long(): r"embedding.weight int64 \[11, 6\]; expected floats",
        TABLE_VD / 0: "NaN or infinity",
        TABLE_VD.double() * 1e300: r"embedding.weight holds numbers of 1e\+15 or more",
    }.items():
        save_tensors({TABLE: damaged}, weights)
        with pytest.raises(InputError, match=message):
            checkpoint.load(folder, device="cpu")
    save_tensors({TABLE: TABLE_VD[:5]}, weights)
    with pytest.raises(InputError, match="has a piece 7; expected numbers below 5"):
        checkpoint.load(folder, device="cpu").embed(["a dog runs home"])
    weights.write_bytes(b"none")
    with pytest.raises(InputError, match="not a readable safetensors file"):
        checkpoint.load(folder, device="cpu")
    (folder / "tokenizer.json").unlink()
    save_tensors({TABLE: TABLE_VD}, weights)
    with pytest.raises(InputError, match=r"tokenizer\.json: no such file"):
        checkpoint.load(folder, device="cpu")
