"""A folder of sentence-transformers against that library: the same vectors, from our weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from paraform import encoders
from paraform.encoders.dense import Dense
from paraform.encoders.export import save_onnx, save_sentence_transformer
from paraform.encoders.loading import encoder_of
from paraform.records import InputError

SIZES = {"vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_attention_heads": 2, "num_hidden_layers": 2}


def test_the_library_gives_the_same_vectors(
    tmp_path: Path, write_tokenizer: Callable[..., None], shake: Callable[..., None], texts: list[str]
) -> None:
    library = pytest.importorskip("sentence_transformers")
    module = BertModel(BertConfig(**SIZES, max_position_embeddings=40)).eval()
    shake(module)
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ours = encoder_of(module, tokenizer, name="it", max_tokens=12).encode(texts)
    folder = save_sentence_transformer(module, tokenizer, tmp_path / "new" / "it", max_tokens=12, card="# It\n")
    theirs = library.SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(theirs.encode(texts), ours, atol=1e-5)
    np.testing.assert_allclose(encoders.load(str(folder), device="cpu").encode(texts), ours, atol=1e-5)
    assert theirs.max_seq_length == 12 and (folder / "README.md").read_text() == "# It\n"
    # a class that transformers 4 has, with which alone the library's ONNX backend works
    assert json.loads((folder / "tokenizer_config.json").read_text())["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert not list(folder.rglob("*.bin")) and [path.name for path in folder.parent.iterdir()] == ["it"]
    with pytest.raises(InputError, match="is there already"):
        save_sentence_transformer(module, tokenizer, folder, max_tokens=12, card="")


def test_any_encoder_is_exported_as_it_is(
    tmp_path: Path, write_tokenizer: Callable[..., None], shake: Callable[..., None], texts: list[str]
) -> None:
    """At a layer of its own, with a Dense module, by a folder of transformers' own: the library's vectors are ours."""
    library = pytest.importorskip("sentence_transformers")
    module = BertModel(BertConfig(**SIZES, max_position_embeddings=40))
    shake(module)
    plain = tmp_path / "plain"
    module.save_pretrained(plain)
    write_tokenizer(plain)
    tokenizer = Tokenizer.from_file(str(plain / "tokenizer.json"))
    dense = Dense(torch.randn(8, 8), torch.randn(8))
    mapped = save_sentence_transformer(module, tokenizer, tmp_path / "mapped", max_tokens=9, card="Mapped", dense=dense)
    for name, layer in ((plain, -1), (plain, 1), (mapped, -1)):
        encoder = encoders.load(str(name), device="cpu", layer=layer)
        made = encoder.export(tmp_path / f"{name.name}{layer}", terms="Free.")
        theirs = library.SentenceTransformer(str(made), device="cpu")
        np.testing.assert_allclose(theirs.encode(texts), encoder.encode(texts), atol=1e-5)
        card = (made / "README.md").read_text()
        assert "Free." in card and f"`{name}`, exported by paraform" in card
    # what a Dense module was made for may be named, and it is still behind it
    named, own = (
        encoders.load(str(mapped), device="cpu", layer=2, pooling="mean"),
        encoders.load(str(mapped), device="cpu"),
    )
    np.testing.assert_array_equal(named.encode(texts), own.encode(texts))
    assert encoders.load(str(mapped), device="cpu", layer=1).dense is None
    for bad, said in (({"pooling": "cls"}, "the cls of trained states"), ({"seed": 1}, "the mean of random states")):
        with pytest.raises(InputError, match=f"{said}, at length 1; expected"):
            encoders.load(str(plain), device="cpu", **bad).export(tmp_path / "out")  # type: ignore[arg-type]  # bad on purpose


def test_what_fails_leaves_nothing(tmp_path: Path, write_tokenizer: Callable[..., None]) -> None:
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    module = BertModel(BertConfig(**SIZES))
    module.save_pretrained = lambda folder: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[method-assign]  # what a kill does
    with pytest.raises(KeyboardInterrupt):
        save_sentence_transformer(module, tokenizer, tmp_path / "out" / "it", max_tokens=12, card="")
    assert list((tmp_path / "out").iterdir()) == []
    assert torch.is_grad_enabled()


def test_onnxruntime_gives_the_same_vectors(
    tmp_path: Path, write_tokenizer: Callable[..., None], shake: Callable[..., None], texts: list[str]
) -> None:
    """Its states, pooled, mapped and normalised by hand: of all texts in one batch, and of each alone."""
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    module = BertModel(BertConfig(**{**SIZES, "num_hidden_layers": 1}, max_position_embeddings=40))
    shake(module)
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    dense = Dense(torch.randn(8, 8), torch.randn(8))
    folder = save_sentence_transformer(
        module.train(), tokenizer, tmp_path / "it", max_tokens=12, card="", dense=dense, onnx=True
    )
    assert module.training and sorted(path.name for path in (folder / "onnx").iterdir()) == ["model.onnx"]
    written = (folder / "onnx" / "model.onnx").read_bytes()
    assert b"Dropout" not in written and str(Path(encoders.__file__).parent).encode() not in written
    ours = encoder_of(module.eval(), tokenizer, name="it", max_tokens=12, dense=dense).encode(texts)
    np.testing.assert_allclose(encoders.load(str(folder), device="cpu").encode(texts), ours, atol=1e-5)
    session = runtime.InferenceSession(folder / "onnx" / "model.onnx", providers=["CPUExecutionProvider"])
    theirs = Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs.enable_truncation(12)
    theirs.enable_padding(pad_id=module.config.pad_token_id)
    lengths = {len(theirs.encode(text).ids) for text in texts}
    assert len(lengths) > 2 and max(lengths) == 12

    def vectors(batch: list[str]) -> np.ndarray:
        encoded = theirs.encode_batch(batch)
        ids_BT, mask_BT = np.array([row.ids for row in encoded]), np.array([row.attention_mask for row in encoded])
        (states_BTD,) = session.run(["last_hidden_state"], {"input_ids": ids_BT, "attention_mask": mask_BT})
        means_BD = (states_BTD * mask_BT[..., None]).sum(1) / mask_BT.sum(1, keepdims=True)
        mapped_BE = means_BD @ dense.weight_ED.numpy().T + dense.bias_E.numpy()
        return mapped_BE / np.linalg.norm(mapped_BE, axis=1, keepdims=True)

    np.testing.assert_allclose(vectors(texts), ours, atol=1e-5)
    np.testing.assert_allclose(np.concatenate([vectors([text]) for text in texts]), ours, atol=1e-5)


def test_without_what_writes_onnx(
    tmp_path: Path, write_tokenizer: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    module = BertModel(BertConfig(**SIZES))
    monkeypatch.setattr("paraform.encoders.export.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"^writing ONNX needs onnxscript; pip install 'paraform\[onnx\]'$"):
        save_sentence_transformer(module, tokenizer, tmp_path / "out" / "it", max_tokens=12, card="", onnx=True)
    assert list((tmp_path / "out").iterdir()) == []


class Branches(torch.nn.Module):
    """What it computes depends on the numbers that it is given, which a graph cannot say."""

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return input_ids * 2 if input_ids.sum() > 3 else attention_mask


def test_what_onnx_cannot_say_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxscript")
    with pytest.raises(InputError, match=r"^a Branches cannot be written as ONNX: Could not guard on data-.*$"):
        save_onnx(Branches(), tmp_path / "onnx" / "model.onnx", max_tokens=12)
    assert capsys.readouterr() == ("", "") and not list(tmp_path.iterdir())
