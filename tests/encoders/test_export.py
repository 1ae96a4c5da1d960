"""A folder of sentence-transformers against that library: the same vectors, from our weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from paraform import encoders
from paraform.encoders.export import save_sentence_transformer
from paraform.encoders.trainable import encoder_of
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
    assert not list(folder.rglob("*.bin")) and [path.name for path in folder.parent.iterdir()] == ["it"]
    with pytest.raises(InputError, match="is there already"):
        save_sentence_transformer(module, tokenizer, folder, max_tokens=12, card="")


def test_what_fails_leaves_nothing(tmp_path: Path, write_tokenizer: Callable[..., None]) -> None:
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    module = BertModel(BertConfig(**SIZES))
    module.save_pretrained = lambda folder: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        save_sentence_transformer(module, tokenizer, tmp_path / "out" / "it", max_tokens=12, card="")
    assert list((tmp_path / "out").iterdir()) == []
    assert torch.is_grad_enabled()
