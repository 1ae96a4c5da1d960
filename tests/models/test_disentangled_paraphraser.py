"""ParaBART on text: vectors, paraphrases by tree, and a checkpoint that gives the same again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny_disentangled as tiny
import torch

from paraform import checkpoint
from paraform.cli import main
from paraform.models.disentangled import DisentangledParaphraser
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError
from paraform.syntax.trees import Tree


@pytest.mark.parametrize("special", [True, False])
def test_vectors_are_the_network_s_of_length_1(special: bool) -> None:
    config = replace(tiny.TINY, pool_special=special)
    model = tiny.paraphraser(config)
    every = tiny.table(config).sentences(np.arange(len(tiny.TEXTS)))
    rows = model.network.encode(every.pieces_BT, every.lengths_B).detach()
    expected = torch.nn.functional.normalize(rows, dim=1).numpy()
    np.testing.assert_allclose(model.embed(tiny.TEXTS), expected, atol=1e-5)
    assert model.embed(["", "the dog " * 30]).shape == (2, tiny.WIDTH)  # nothing, and more than it reads


def test_after_a_step_of_training_vectors_are_the_new_weights() -> None:
    model = tiny.paraphraser()
    before = model.embed(tiny.TEXTS)
    assert model.encoder is model.encoder
    model.train()
    with torch.no_grad():
        for weight in model.network.semantic.parameters():
            weight.add_(0.1)
    assert np.abs(model.embed(tiny.TEXTS) - before).max() > 1e-3


@pytest.mark.parametrize("brackets", [True, False])
def test_a_checkpoint_gives_the_same_again(tmp_path: Path, brackets: bool) -> None:
    model = tiny.paraphraser(replace(tiny.TINY, output_pieces="seen", brackets=brackets))
    model = DisentangledParaphraser(
        model.config, model.tokenizer, model.encoder_config, model.symbols, (0, 2, 3, 5, 6, 7), {"tea": "Tea"}
    ).eval()
    checkpoint.save(model, tmp_path / "it", card="a test")
    again = checkpoint.load(tmp_path / "it", device="cpu")
    assert isinstance(again, DisentangledParaphraser)
    np.testing.assert_array_equal(again.embed(tiny.TEXTS), model.embed(tiny.TEXTS))
    trees = [tiny.parsed()[text] for text in tiny.TEXTS]
    assert again.decode_trees(tiny.TEXTS, trees) == model.decode_trees(tiny.TEXTS, trees)
    assert (again.pieces, again.cased) == (model.pieces, model.cased)


def test_a_row_says_the_same_in_any_company() -> None:
    """Greedy and by beam, alone or beside others, in any order; a seed draws the same again."""
    model = tiny.paraphraser()
    trees = [tiny.parsed()[text] for text in tiny.TEXTS]
    whole = model.decode_trees(tiny.TEXTS, trees)
    assert model.decode_trees(tiny.TEXTS[::-1], trees[::-1], batch_size=3) == whole[::-1]
    assert [model.decode_trees([text], [tree])[0] for text, tree in zip(tiny.TEXTS, trees, strict=True)] == whole
    drawn = [model.decode_trees(tiny.TEXTS, trees, temperature=1.0, seed=3) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert "[" not in " ".join(drawn[0])  # no special piece


def test_what_cannot_be_said() -> None:
    model = tiny.paraphraser()
    tree = tiny.parsed()["stop"]
    with pytest.raises(InputError, match="source 2 is empty"):
        model.decode_trees(["stop", " "], [tree, tree])
    deep = Tree.parse("(S " * 40 + "(NP)" + ")" * 40)  # more symbols than there are places
    assert len(model.decode_trees(["stop"], [deep])) == 1
    assert model.decode_trees([], []) == model.decode([], []) == []
    with pytest.raises(InputError, match="1 sources, 2 trees"):
        model.decode_trees(["stop"], [tree, tree])
    with pytest.raises(InputError, match="label 'SBARQ' in no tree of training"):
        model.decode_trees(["stop"], [Tree.parse("(SBARQ (NP))")])
    model.symbols = TreeSymbols(("NN", "NP", "ROOT", "S", "VP"), ("NP", "S", "VP"), brackets=True)
    assert len(model.decode(["stop"], ["why ?"])) == 1  # what its parser makes of an exemplar is no user's mistake
    with pytest.raises(InputError, match="needs a form: like="):
        model.exemplars(["stop"])
    with pytest.raises(InputError, match="trained without trees"):
        tiny.paraphraser(replace(tiny.TINY, syntax=False)).decode_trees(["stop"], [tree])


def test_special_pieces_are_never_written() -> None:
    """Nor is the first, which stands for all that cannot be; the end is."""
    model = tiny.paraphraser()
    assert sorted(model._never().tolist()) == [0, 0, 1, 2]  # padding, for itself and as the first; unknown; the start
    assert model._ends() == (2, 3)


@pytest.mark.parametrize("asset", ["encoder.json", "tokenizer.json", "symbols.tsv", "words.json"])
def test_damaged_assets(asset: str) -> None:
    model = tiny.paraphraser()
    assets, config = model.assets(), vars(model.config)
    with pytest.raises(InputError):
        DisentangledParaphraser.restore(config, {**assets, asset: "{"})
    with pytest.raises(InputError, match=f"without \\['{asset}'\\]"):
        DisentangledParaphraser.restore(config, {name: text for name, text in assets.items() if name != asset})
    with pytest.raises(InputError, match="unknown fields \\['more'\\]"):
        DisentangledParaphraser.restore({**config, "more": 1}, assets)


@pytest.mark.parametrize("name", ["_attn_implementation", "attn_implementation"])
def test_a_checkpoint_names_no_code(name: str) -> None:
    """transformers would fetch such an attention from the hub, and run it."""
    model = tiny.paraphraser()
    config = json.dumps({**json.loads(model.encoder_config), name: "somebody/attention"})
    with pytest.raises(InputError, match="attention by 'somebody/attention'; expected none"):
        DisentangledParaphraser.restore(vars(model.config), {**model.assets(), "encoder.json": config})


@pytest.mark.parametrize("pieces", [[3, 2], [2, 2], [-1, 2], [0, 99]])
def test_a_checkpoint_s_pieces_are_the_tokenizer_s_in_order(pieces: list[int]) -> None:
    model = tiny.paraphraser()
    words = json.dumps({"pieces": pieces, "cased": {}})
    with pytest.raises(InputError, match="pieces to write: expected numbers of the tokenizer's, ascending"):
        DisentangledParaphraser.restore(vars(model.config), {**model.assets(), "words.json": words})


def test_half_of_a_model_is_not_exported(tmp_path: Path) -> None:
    """sentence-transformers would make the whole of it, and draw the weights."""
    with pytest.raises(InputError, match="the encoder half of a bart"):
        tiny.paraphraser(module=tiny.bart().get_encoder()).export(tmp_path / "it")
    assert not list(tmp_path.iterdir())


def test_the_encoder_alone_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = pytest.importorskip("sentence_transformers")
    model = tiny.paraphraser()
    checkpoint.save(model, tmp_path / "model", card="a test")
    assert main(["export", str(tmp_path / "model"), "--out", str(tmp_path / "mine"), "--json"]) == 0
    assert str(tmp_path / "mine") in capsys.readouterr().out
    theirs = library.SentenceTransformer(str(tmp_path / "mine"), device="cpu")
    np.testing.assert_allclose(theirs.encode(tiny.TEXTS), model.embed(tiny.TEXTS), atol=1e-5)
    assert "adversary_weight 0.1" in (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert main(["export", str(tmp_path / "model"), "--out", str(tmp_path / "mine")]) == 2
    assert main(["export", "latent-compact", "--out", str(tmp_path / "other")]) == 2
    assert "expected a model that is exported" in capsys.readouterr().err
    with pytest.raises(InputError, match="pool_special=False"):
        tiny.paraphraser(replace(tiny.TINY, pool_special=False)).export(tmp_path / "other")


def test_what_it_cuts_when_it_writes_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny.paraphraser(replace(tiny.TINY, max_tokens=6, max_symbols=3))
    flat, deep = Tree.parse("(ROOT (S (NN a)))"), Tree.parse("(ROOT (S (NP (NN a)) (VP (VB b))))")
    short = [len(model.symbols.encode(tree)[0]) for tree in (flat, deep)]
    model = tiny.paraphraser(replace(tiny.TINY, max_tokens=6, max_symbols=short[0]))
    model.decode_trees(["stop", "the dog " * 30, "the tea"], [flat, deep, flat])
    behind = "that a disentangled model reads; what is behind is left out"
    assert caplog.messages == [
        f"1 of 3 texts are longer than the {short[0]} symbols of a form's tree {behind}",
        f"1 of 3 texts are longer than the 6 tokens {behind}",
    ]
    assert short[0] < short[1]
    caplog.clear()
    model.decode_trees(["stop"], [flat])
    assert not caplog.messages
