"""An encoder packed beside the one that it started from: nearly the same again, checked by its digest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from paraform import checkpoint, encoders, weights
from paraform.encoders import Encoder
from paraform.encoders.export import save_sentence_transformer
from paraform.encoders.folder import ModelFolder
from paraform.encoders.packed import CHANGE, PACKED, pack, unpacked
from paraform.records import InputError
from paraform.weights import load_tensors, save_tensors

SIZES = {"vocab_size": 11, "hidden_size": 9, "intermediate_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2}


@pytest.fixture
def start(tmp_path: Path, write_tokenizer: Callable[..., None]) -> Path:
    folder = tmp_path / "start"
    folder.mkdir()
    write_tokenizer(folder)
    torch.manual_seed(0)
    BertModel(BertConfig(**SIZES, max_position_embeddings=40)).save_pretrained(folder)
    return folder


@pytest.fixture
def trained(start: Path, tmp_path: Path) -> Path:
    """The same after a little training, but for its embeddings, as a folder of sentence-transformers."""
    module = BertModel.from_pretrained(start)
    draw = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if "embeddings" not in name:
                weight += 0.01 * torch.randn(weight.shape, generator=draw)
    tokenizer = Tokenizer.from_file(str(start / "tokenizer.json"))
    return save_sentence_transformer(module, tokenizer, tmp_path / "trained", max_tokens=12, card="# It\n")


def test_what_is_made_whole_is_nearly_what_was_packed(
    start: Path, trained: Path, tmp_path: Path, own_cache: None
) -> None:
    """Each change to half a seventh of its row's largest; what did not move to the bit."""
    pack(trained, start, tmp_path / "packed", name="it")
    whole = unpacked(ModelFolder(tmp_path / "packed"), start)
    came, own, made = (load_tensors(folder / "model.safetensors") for folder in (start, trained, whole))
    assert own.keys() == made.keys()
    for name, tensor in own.items():
        change = tensor - came[name]
        most = change.abs().amax(-1, keepdim=True) / 7 * 0.51 if tensor.ndim == 2 else 1e-4
        assert ((made[name] - tensor).abs() <= most).all(), name
        if "embeddings" in name:
            assert torch.equal(made[name], came[name])
    changes = load_tensors(tmp_path / "packed" / CHANGE)
    assert changes["encoder.layer.0.attention.self.query.weight"].shape == (9, 5)  # two numbers a byte
    assert not any("embeddings" in name for name in changes)
    files = {path.relative_to(whole) for path in whole.rglob("*") if path.is_file()}
    assert files == {path.relative_to(trained) for path in trained.rglob("*") if path.is_file()}
    assert encoders.load(str(whole), device="cpu").encode(["a b"]).shape == (1, 9)
    before = (whole / "model.safetensors").stat().st_mtime_ns
    assert unpacked(ModelFolder(tmp_path / "packed"), start) == whole
    assert (whole / "model.safetensors").stat().st_mtime_ns == before


def test_an_embedded_one_is_known_by_its_name(
    start: Path, trained: Path, tmp_path: Path, own_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "pretrained" / "tiny-packed"
    place.parent.mkdir()
    pack(trained, start, place, name=str(start))
    find = weights.pretrained_folder
    named = {"tiny-packed": place}
    for module in ("paraform.encoders.packed", "paraform.checkpoint.folder"):
        monkeypatch.setattr(f"{module}.pretrained_folder", lambda name: named.get(name) or find(name))
    for model in (checkpoint.load("tiny-packed", device="cpu"), encoders.load("tiny-packed", device="cpu")):
        assert isinstance(model, Encoder) and model.name == "tiny-packed" and model.normalize
    assert encoders.width_of(encoders.load_module("tiny-packed")) == 9
    assert checkpoint.load("tiny-packed@layer=1", device="cpu").layer == 1


def test_another_start_or_a_damaged_file(start: Path, trained: Path, tmp_path: Path, own_cache: None) -> None:
    packed = tmp_path / "damaged"
    pack(trained, start, packed, name="it")
    with pytest.raises(InputError, match="SHA-256 is"):
        unpacked(ModelFolder(packed), trained)
    changes = load_tensors(packed / CHANGE)
    name = "encoder.layer.0.attention.self.query.weight"
    save_tensors({**changes, name: changes[name][:, :4]}, packed / CHANGE)
    with pytest.raises(InputError, match=rf"change of '{name}' \[9, 4\]; expected \[9, 5\]"):
        unpacked(ModelFolder(packed), start)
    save_tensors({**changes, name: changes[name] ^ 1}, packed / CHANGE)
    with pytest.raises(InputError, match="made whole its SHA-256 is"):
        unpacked(ModelFolder(packed), start)
    about = json.loads((packed / PACKED).read_text())
    (packed / PACKED).write_text(json.dumps({**about, "tensors": ["nothing"]}))
    with pytest.raises(InputError, match="no tensor 'nothing'"):
        unpacked(ModelFolder(packed), start)
    module = BertModel(BertConfig(**{**SIZES, "hidden_size": 6}, max_position_embeddings=40))
    other = save_sentence_transformer(
        module, Tokenizer.from_file(str(start / "tokenizer.json")), tmp_path / "other", max_tokens=12, card=""
    )
    with pytest.raises(InputError, match="is not it's; expected an encoder that started from it"):
        pack(other, start, tmp_path / "none", name="it")


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"tensors": 5}, "tensors is no list of names"),
        ({"tensors": [5]}, "tensors is no list of names"),
        ({"sha256": "../../../evil"}, "sha256 '../../../evil'; expected 64 hexadecimal digits"),
        ({"base_sha256": None}, "base_sha256 'None'; expected 64 hexadecimal digits"),
    ],
)
def test_what_a_stranger_says_of_a_packed_encoder(
    about: dict[str, object], said: str, start: Path, trained: Path, tmp_path: Path, own_cache: None
) -> None:
    pack(trained, start, tmp_path / "packed", name="it")
    path = tmp_path / "packed" / PACKED
    path.write_text(json.dumps({**json.loads(path.read_text()), **about}))
    with pytest.raises(InputError, match=re.escape(said)):
        unpacked(ModelFolder(tmp_path / "packed"), start)


def test_changes_that_do_not_fit(start: Path, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scale that is missing, or of other rows; bytes for a vector; in a cache where the whole is not there yet."""
    monkeypatch.setenv("PARAFORM_CACHE", str(tmp_path / "cache"))
    pack(trained, start, tmp_path / "packed", name="it")
    changes = load_tensors(tmp_path / "packed" / CHANGE)
    name = "encoder.layer.0.attention.self.query.weight"
    scale, bias = f"{name}.scale", "encoder.layer.0.attention.self.query.bias"
    cases: dict[str, dict[str, torch.Tensor]] = {
        "no scale": {key: value for key, value in changes.items() if key != scale},
        "four scales": {**changes, scale: changes[scale][:4]},
        "flat scales": {**changes, scale: changes[scale].flatten()},
        "bytes": {**changes, bias: torch.zeros(9, dtype=torch.uint8)},
        "scaled bytes": {**changes, bias: torch.zeros(5, dtype=torch.uint8), f"{bias}.scale": torch.zeros(9, 1).half()},
    }
    for bad in cases.values():
        save_tensors(bad, tmp_path / "packed" / CHANGE)
        with pytest.raises(InputError, match="packed encoder: change of '"):
            unpacked(ModelFolder(tmp_path / "packed"), start)
