"""SentencePiece models without a tokenizer.json, against the library that trained them."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paraform import encoders
from paraform.encoders import Encoder
from paraform.encoders.tokenizer import read_tokenizer
from paraform.records import InputError

SENTENCES = [
    f"the dog {verb} home with a {noun}"
    for verb in ("runs", "walks", "jumps", "swims")
    for noun in ("cat", "bird", "friend", "stick", "ball")
] * 3
SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24}


def train(folder: Path, prefix: str, **numbers: int) -> Any:
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_prefix=str(folder / prefix), vocab_size=30, minloglevel=2, **numbers
    )
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{prefix}.model"))


@pytest.fixture
def t5(tmp_path: Path) -> Any:
    """A folder as T5's was distributed: no tokenizer.json."""
    import transformers

    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2}
    transformers.T5Model(transformers.T5Config(vocab_size=140, **sizes)).save_pretrained(tmp_path)
    return train(tmp_path, "spiece", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)


def test_t5_s_pieces(t5: Any, tmp_path: Path) -> None:
    encoder = encoders.load(str(tmp_path), device="cpu")
    texts = ["the dog runs home", "a friend swims xyz", ""]
    assert encoder.pieces(texts) == [[*t5.encode(text), 1] for text in texts]  # T5 ends a text with </s>
    assert encoder.encode(texts).shape == (3, 16)


def test_xlm_r_s_pieces(tmp_path: Path) -> None:
    """Its own first four are <s>, <pad>, </s> and <unk>: all others stand one further than in the model."""
    import transformers

    config = transformers.XLMRobertaConfig(vocab_size=40, max_position_embeddings=40, **SIZES)
    transformers.XLMRobertaModel(config).save_pretrained(tmp_path)
    peer = train(tmp_path, "sentencepiece.bpe")
    encoder = encoders.load(str(tmp_path), device="cpu")
    text = "the dog jumps with a bird"
    assert encoder.pieces([text]) == [[0, *(piece + 1 for piece in peer.encode(text)), 2]]


def test_a_template_of_a_token_that_it_has_not_is_one_line(minilm: Encoder, tmp_path: Path) -> None:
    """The library reads it, and panics when it encodes; alone, or among several processors."""
    about = json.loads(minilm._tokenizer.to_str())
    template = about["post_processor"]
    del template["special_tokens"]["[SEP]"]
    for processor in (template, {"type": "Sequence", "processors": [template]}):
        (tmp_path / "tokenizer.json").write_text(json.dumps(about | {"post_processor": processor}), encoding="utf-8")
        with pytest.raises(
            InputError, match=r"tokenizer\.json: '\[SEP\]' around a text; expected one of its special_t"
        ):
            read_tokenizer(tmp_path)


@pytest.mark.parametrize("kind", ["Bert", "Electra"])
def test_a_piece_without_an_embedding_is_one_line(
    kind: str, write_tokenizer: Callable[..., None], tmp_path: Path
) -> None:
    """A word's number, and that of what stands around a text; by our forward pass and by the library's."""
    import transformers

    config = getattr(transformers, f"{kind}Config")(vocab_size=11, max_position_embeddings=40, **SIZES)
    getattr(transformers, f"{kind}Model")(config).save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    assert encoders.load(str(tmp_path), device="cpu").encode(["a dog sleeps"]).shape == (1, 16)
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    for known, changed in (('"sleeps": 10', '"sleeps": 11'), ("[\n          3\n", "[\n          11\n")):
        assert known in text
        (tmp_path / "tokenizer.json").write_text(text.replace(known, changed), encoding="utf-8")
        with pytest.raises(InputError, match="the tokenizer has a piece 11; expected numbers below 11, as the encoder"):
            encoders.load(str(tmp_path), device="cpu").encode(["a dog sleeps"])


def test_without_the_package_one_line_names_the_extra(t5: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sentencepiece" else found(name))
    with pytest.raises(
        InputError, match=r"spiece\.model: a SentencePiece model; pip install 'paraform\[sentencepiece\]'"
    ):
        encoders.load(str(tmp_path), device="cpu")


@pytest.mark.parametrize("content", [b"", b"no model"])
def test_a_damaged_model_is_told_in_one_line(content: bytes, t5: Any, tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(content)
    with pytest.raises(InputError, match=r"spiece\.model: makes no tokenizer") as caught:
        encoders.load(str(tmp_path), device="cpu")
    assert "\n" not in str(caught.value)


def test_a_damaged_tokenizer_is_told_in_one_line(tmp_path: Path, write_tokenizer: Callable[..., None]) -> None:
    write_tokenizer(tmp_path)
    assert read_tokenizer(tmp_path).encode("a dog").tokens == ["[CLS]", "a", "dog", "[SEP]"]
    (tmp_path / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(InputError, match=r"tokenizer\.json: .*; expected a tokenizer's JSON"):
        read_tokenizer(tmp_path)
