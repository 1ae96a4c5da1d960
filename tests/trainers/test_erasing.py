"""Form erased from an encoder as it comes: it is written as the library has it, and no linear reader tells it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

import paraform
from paraform import encoders
from paraform.cli import main
from paraform.models.disentangled.erasure import concepts
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError, Pair
from paraform.syntax import annotate
from paraform.syntax.trees import Tree


@pytest.fixture(scope="module")
def texts(question_pairs: Path) -> list[str]:
    pairs = [one for one in paraform.read(question_pairs) if isinstance(one, Pair)][:60]
    return list(dict.fromkeys(side.text for pair in pairs for side in (pair.source, pair.target)))


@pytest.fixture(scope="module")
def encoder(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a tiny BERT of the texts' words, of three layers."""
    folder = tmp_path_factory.mktemp("encoder")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = sorted({word for text in texts for word in text.lower().replace("?", " ?").split()})
    tokenizer = Tokenizer(models.WordLevel({w: row for row, w in enumerate([*special, *words])}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.add_special_tokens(special)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_hidden_layers": 3}
    size = len(special + words)
    BertModel(BertConfig(vocab_size=size, max_position_embeddings=64, **sizes)).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return str(folder)


def bags(texts: list[str]) -> torch.Tensor:
    trees = [Tree.parse(str(one.tree)) for one in annotate(texts, parser="syntax")]
    return concepts(trees, TreeSymbols.of(trees, brackets=True), "constituents")


def told(vectors: np.ndarray, bags_NC: torch.Tensor) -> float:
    """The largest covariance of a feature and a share."""
    centred = vectors.astype(float) - vectors.mean(0)
    return float(np.abs(centred.T @ (bags_NC - bags_NC.mean(0)).numpy() / len(vectors)).max())


@pytest.mark.parametrize("layer", ["", "@layer=2,pooling=mean"])
def test_what_is_written_does_not_tell(layer: str, texts: list[str], encoder: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer

    made = paraform.erase(encoder + layer, texts, tmp_path / "erased", erased="constituents", terms="Ours to give.")
    model = encoders.load(str(made), device="cpu")
    assert model.num_layers == (2 if layer else 3)
    before = encoders.load(encoder, device="cpu", layer=2 if layer else -1)
    plain = [one.encode(texts, normalize=False) for one in (before, model)]
    bags_NC = bags(texts)
    assert told(plain[1], bags_NC) < 1e-3 * told(plain[0], bags_NC)
    theirs = SentenceTransformer(str(made), device="cpu").encode(texts)
    np.testing.assert_allclose(model.encode(texts), theirs, atol=1e-2)  # bfloat16, where the processor has it
    assert "Ours to give." in (made / "README.md").read_text()
    # once more: the second map stands behind the first, and there is nothing left to take
    again = encoders.load(
        str(paraform.erase(str(made), texts, tmp_path / "again", erased="constituents")), device="cpu"
    )
    np.testing.assert_allclose(again.encode(texts, normalize=False), plain[1], atol=0.02 * np.abs(plain[1]).max())


def test_what_cannot_be_erased(texts: list[str], encoder: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="31 different sentences; expected at least 32, 2 for each of"):
        paraform.erase(encoder, texts[:31], tmp_path / "out")
    for choice, said in (("@pooling=cls", "the cls of trained"), ("@weights=random", "the mean of random")):
        with pytest.raises(InputError, match=f"{said} states, at length 1; expected the mean of trained ones"):
            paraform.erase(encoder + choice, texts, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_by_the_command_line(
    texts: list[str], encoder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    given = ["erase", str(tmp_path / "texts.txt"), "--model", encoder, "--out", str(tmp_path / "out")]
    assert main(given) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'out'}\n"
    assert encoders.load(str(tmp_path / "out")).dense is not None
    assert main(given) == 2
    assert "is there already" in capsys.readouterr().err
