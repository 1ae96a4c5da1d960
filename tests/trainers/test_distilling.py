"""A static encoder distilled: the fit against a dense solver, and the whole of it on a tiny teacher."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

import paraform
from paraform import checkpoint, encoders
from paraform.batching.ragged import Ragged
from paraform.cli import main
from paraform.encoders.sentence_transformer import ModulePipeline
from paraform.encoders.static import StaticEncoder
from paraform.records import InputError
from paraform.trainers.distilling import LEAST, PENALTY, RARE, prior, product, ridge, shares_of, vectors_alone

WORDS = ("the", "a", "my"), ("old", "new", "red", "big"), ("dog", "cat", "car"), ("runs", "stops", "sing ##s", "waits")
TEXTS = [f"{one} {' '.join(rest)}".replace(" ##", "") for one, *rest in itertools.product(*WORDS)]
TEXTS = list(dict.fromkeys([*TEXTS, *(f"{one} {two}" for one, two in itertools.product(TEXTS[:40], TEXTS[:30]))]))
PIECES = [[0, 1, 2], [2, 2, 3, 0], [], [1], [3, 1, 1]]  # of five, of which piece 4 is never seen


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a tiny BERT that reads WordPieces, of which `##s` does not begin a word, and one is unseen."""
    folder = tmp_path_factory.mktemp("teacher")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    pieces = [*special, *sorted({piece for words in WORDS for word in words for piece in word.split()}), "s", "never"]
    tokenizer = Tokenizer(models.WordPiece({piece: row for row, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.WordPiece()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    tokenizer.add_special_tokens(special)
    tokenizer.enable_padding(length=8)  # as all-MiniLM-L6-v2's does
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2, "num_hidden_layers": 2}
    BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return str(folder)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    return tmp_path / "texts.txt"


def small() -> tuple[Ragged, torch.Tensor, torch.Tensor, torch.Tensor]:
    """PIECES; X as a dense matrix by hand, targets, and a table to begin with."""
    means_SV = torch.zeros(5, 5)
    for row, pieces in enumerate(PIECES):
        for piece in pieces:
            means_SV[row, piece] += 1 / len(pieces)
    generator = torch.Generator().manual_seed(0)
    targets_SD, prior_VD = (torch.randn(5, 3, generator=generator) for _ in range(2))
    return Ragged.of(PIECES), means_SV, targets_SD, prior_VD


def test_the_table_is_that_of_a_dense_solver() -> None:
    pieces, means_SV, targets_SD, prior_VD = small()
    sparse = shares_of(pieces, 5)
    torch.testing.assert_close(sparse.to_dense(), means_SV)
    torch.testing.assert_close(product(sparse)(prior_VD), means_SV @ prior_VD)
    torch.testing.assert_close(product(sparse.t())(targets_SD), means_SV.T @ targets_SD)
    for penalty in (PENALTY, 1.0):
        normal_VV = means_SV.T @ means_SV + penalty * torch.eye(5)
        expected = torch.linalg.solve(normal_VV, means_SV.T @ targets_SD + penalty * prior_VD)
        found = ridge(sparse, targets_SD, prior_VD, penalty=penalty)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
        assert torch.equal(found[4], prior_VD[4])  # no sentence holds that piece
    assert torch.equal(ridge(sparse, targets_SD, prior_VD, steps=0), prior_VD)
    exact = ridge(sparse, means_SV @ prior_VD, prior_VD)  # nothing is left to fit: 0 / 0 in the first step
    torch.testing.assert_close(exact, prior_VD)


def test_a_step_goes_downhill() -> None:
    """Of the sum that is minimised; steps are each column's own, so that one that is fitted does not stop others."""
    pieces, means_SV, targets_SD, prior_VD = small()
    targets_SD[:, 0] = means_SV @ prior_VD[:, 0]

    def loss(table_VD: torch.Tensor) -> float:
        misfit = (means_SV @ table_VD - targets_SD).square().sum() + PENALTY * (table_VD - prior_VD).square().sum()
        return float(misfit)

    losses = [loss(ridge(shares_of(pieces, 5), targets_SD, prior_VD, steps=steps)) for steps in range(5)]
    assert all(after < before for before, after in itertools.pairwise(losses))


def test_before_any_sentence_rare_pieces_weigh_more() -> None:
    pieces, means_SV, targets_SD, alone_VD = small()
    found = prior(alone_VD, pieces, shares_of(pieces, 5), targets_SD)
    shares_V = torch.tensor([2, 4, 3, 2, 0]) / 11
    weighted = alone_VD * (RARE / (RARE + shares_V))[:, None]
    line = (means_SV @ weighted).reshape(-1, 1)
    factor = torch.linalg.lstsq(line, targets_SD.reshape(-1, 1)).solution
    torch.testing.assert_close(found, factor * weighted)
    nothing = Ragged.of([[], []])  # of white space, say
    assert not prior(alone_VD, nothing, shares_of(nothing, 5), targets_SD[:2]).any()


def test_a_piece_alone_is_read_as_a_text(teacher: str) -> None:
    known = encoders.load(teacher, device="cpu")
    tokenizer = encoders.ModelFolder(Path(teacher)).tokenizer()
    tokenizer.no_padding()
    alone_VD = vectors_alone(known, tokenizer)
    ids = {piece: tokenizer.token_to_id(piece) for piece in ("[UNK]", "[CLS]", "dog", "never", "s", "##s")}
    assert alone_VD.shape == (tokenizer.get_vocab_size(), 16) and not alone_VD[[ids["[UNK]"], ids["[CLS]"]]].any()
    torch.testing.assert_close(alone_VD[ids["##s"]], alone_VD[ids["s"]])
    difference = known.encode(["dog"]) - known.encode(["never"])
    np.testing.assert_allclose((alone_VD[ids["dog"]] - alone_VD[ids["never"]])[None], difference, atol=1e-2)
    torch.testing.assert_close(alone_VD.sum(0), torch.zeros(16), atol=1e-4, rtol=0)


def test_a_tiny_teacher_is_learned(teacher: str, tmp_path: Path) -> None:
    made = paraform.distil(teacher, TEXTS, tmp_path / "static", terms="Ours to give.", device="cpu")
    model, known = checkpoint.load(made, device="cpu"), encoders.load(teacher, device="cpu")
    assert isinstance(model, StaticEncoder) and made == tmp_path / "static"
    expected, found = known.encode(TEXTS), model.embed(TEXTS)
    assert (found * expected).sum(1).mean() > 0.95
    # what sentences have taught is more than what the pieces have alone
    tokenizer = encoders.ModelFolder(made).tokenizer()
    pieces = Ragged.of([one.ids for one in tokenizer.encode_batch_fast(TEXTS, add_special_tokens=False)])
    means_SV = shares_of(pieces, tokenizer.get_vocab_size())
    before = prior(vectors_alone(known, tokenizer), pieces, means_SV, torch.from_numpy(expected))
    alone = torch.nn.functional.normalize(product(means_SV)(before), dim=-1).numpy()
    assert ((found - expected) ** 2).sum() < 0.5 * ((alone - expected) ** 2).sum()
    card = (made / "README.md").read_text()
    assert f"its vectors of {len(TEXTS):,} sentences" in card and "Ours to give." in card
    assert json.loads((made / "tokenizer.json").read_text())["padding"] is None


def test_the_library_reads_the_same_vectors(teacher: str, tmp_path: Path) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    made = paraform.distil(f"{teacher}@layer=1,pooling=max", TEXTS, tmp_path / "static", device="cpu")
    peer = sentence_transformers.SentenceTransformer(str(made), device="cpu")
    some = [*TEXTS[:50], "", "never seen", "the the"]
    np.testing.assert_allclose(checkpoint.load(made, device="cpu").embed(some), peer.encode(some), atol=1e-5)
    again = paraform.distil(str(made), TEXTS, tmp_path / "again", device="cpu")  # a static one is a teacher, too
    assert isinstance(checkpoint.load(again, device="cpu"), StaticEncoder)


def test_sentences_are_drawn_by_seed(teacher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraform.trainers.distilling.MOST", 300)
    tables = [
        (paraform.distil(teacher, TEXTS, tmp_path / f"{row}", seed=seed, device="cpu") / "model.safetensors")
        for row, seed in enumerate((0, 0, 1))
    ]
    first, same, other = (path.read_bytes() for path in tables)
    assert first == same != other
    assert "300 sentences" in (tmp_path / "0" / "README.md").read_text()


def test_what_cannot_be_distilled(teacher: str, tmp_path: Path) -> None:
    few = [*TEXTS[: LEAST - 1], TEXTS[0]]
    with pytest.raises(InputError, match="999 different sentences; expected at least 1,000, and better 50,000"):
        paraform.distil(teacher, few, tmp_path / "out")
    (tmp_path / "words.txt").write_text("the 1 2\ndog 3 4\n")
    with pytest.raises(InputError, match=r"vectors of words, which have no tokenizer; expected an encoder with a tok"):
        paraform.distil(str(tmp_path / "words.txt"), TEXTS, tmp_path / "out")
    with pytest.raises(InputError, match="layer 9 of"):
        paraform.distil(f"{teacher}@layer=9", TEXTS, tmp_path / "out")
    with pytest.raises(InputError, match="is there already"):
        paraform.distil(teacher, TEXTS, tmp_path)
    assert not (tmp_path / "out").exists()


def test_by_the_command_line(teacher: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["distil", str(data), "--model", teacher, "--out", str(tmp_path / "out"), "--terms", "Ours.", "--json"]
    assert main(given) == 0
    assert json.loads(capsys.readouterr().out) == {"folder": str(tmp_path / "out"), "model": teacher}
    assert main(["embed", str(data), "--model", str(tmp_path / "out"), "--out", str(tmp_path / "v.npy")]) == 0
    assert np.load(tmp_path / "v.npy").shape == (len(TEXTS), 16)
    capsys.readouterr()
    assert main(given) == 2
    assert "is there already" in capsys.readouterr().err


def test_a_model_of_sentence_transformers_is_a_teacher(teacher: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    parts = [modules.Transformer(teacher), modules.Pooling(16), modules.Dense(16, 8)]
    SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path / "teacher"), create_model_card=False)
    known = checkpoint.load(tmp_path / "teacher", device="cpu")
    made = paraform.distil(str(tmp_path / "teacher"), TEXTS, tmp_path / "static", device="cpu")
    found, expected = checkpoint.load(made, device="cpu").embed(TEXTS), known.embed(TEXTS)
    assert isinstance(known, ModulePipeline) and found.shape == (len(TEXTS), 8)
    assert (found * expected / np.linalg.norm(expected, axis=1, keepdims=True)).sum(1).mean() > 0.9
