"""A seq2seq on text: exemplars' trees and given ones, checkpoints, outputs that say nothing, what cannot be asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_seq2seq as tiny
import torch

from paraform import checkpoint
from paraform.models.seq2seq import Seq2SeqParaphraser, paraphraser
from paraform.models.seq2seq.pieces import Said
from paraform.records import InputError
from paraform.syntax.heights import heights_of, nearest
from paraform.syntax.parsing import parser_digest
from paraform.syntax.trees import Tree, depth, template


def trees_of(texts: list[str]) -> list[Tree]:
    return [tiny.parsed()[text] for text in texts]


FORMS, OWN = trees_of(tiny.TEXTS[::-1]), trees_of(tiny.TEXTS)


@pytest.mark.parametrize("kind", tiny.KINDS)
@pytest.mark.parametrize("name", list(tiny.CONFIGS))
def test_a_checkpoint_says_the_same_again(tmp_path: Path, name: str, kind: str) -> None:
    model = tiny.paraphraser(tiny.CONFIGS[name], kind)
    model.digest, model.cased = parser_digest("syntax"), {"paris": "Paris"}
    checkpoint.save(model, tmp_path / "it", card="a test")
    assert not list((tmp_path / "it").glob("*.bin"))
    again = checkpoint.load(tmp_path / "it", device="cpu")
    assert isinstance(again, Seq2SeqParaphraser) and again.config == model.config
    assert (again.digest, again.cased) == (model.digest, model.cased)
    said = model.decode_trees(tiny.TEXTS, FORMS, source_trees=OWN)
    assert again.decode_trees(tiny.TEXTS, FORMS, source_trees=OWN) == said and len(set(said)) > 1
    exemplars = tiny.TEXTS[::-1]
    assert again.decode(tiny.TEXTS, exemplars, beam=2) == model.decode(tiny.TEXTS, exemplars, beam=2)


def test_weights_of_an_output_layer_are_kept(tmp_path: Path) -> None:
    folder = tiny.write_seq2seq("t5", tmp_path / "t5", own_output=True)
    model = tiny.new_model(tiny.PAIRS, tiny.parsed(), tiny.TINY, folder).eval()
    checkpoint.save(model, tmp_path / "it", card="a test")
    again = checkpoint.load(tmp_path / "it", device="cpu")
    batch = tiny.table(model).batch(torch.arange(10).numpy())
    torch.testing.assert_close(again.network(batch), model.network(batch))


@pytest.mark.parametrize("how", [{}, {"beam": 3}, {"height": "best"}])
def test_a_row_says_the_same_in_any_company(how: dict[str, Any]) -> None:
    model = tiny.paraphraser()
    whole = model.decode_trees(tiny.TEXTS, FORMS, source_trees=OWN, **how)
    assert model.decode_trees(tiny.TEXTS[::-1], FORMS[::-1], source_trees=OWN[::-1], batch_size=3, **how) == whole[::-1]
    drawn = [model.decode_trees(tiny.TEXTS, FORMS, source_trees=OWN, temperature=1.0, seed=3) for _ in range(2)]
    assert drawn[0] == drawn[1] != whole


def test_heights_are_cuts_and_the_best_is_the_nearest(caplog: pytest.LogCaptureFixture) -> None:
    """Unless told otherwise a tree is cut at the config's height, which is told."""
    model = tiny.paraphraser(replace(tiny.TINY, height=3))
    wide = [(text, form) for text, form in zip(tiny.TEXTS, FORMS, strict=True) if depth(form) > 4][:6]
    sources, forms = [text for text, _ in wide], [form for _, form in wide]
    at = {levels: model.decode_trees(sources, [template(form, levels) for form in forms]) for levels in (2, 3)}
    assert "levels of a tree" not in caplog.text
    assert model.decode_trees(sources, forms) == at[3] != at[2]
    assert "6 of 6 texts are longer than the 3 levels of a tree that a seq2seq model reads" in caplog.text
    assert model.decode_trees(sources, forms, height=2) == at[2]
    best = model.decode_trees(sources, forms, height="best")
    for row, (source, form) in enumerate(wide):
        some = [model.decode_trees([source], [form], height=height)[0] for height in heights_of(form, "best")]
        assert best[row] == some[nearest(source, some)]


def test_an_exemplar_gives_its_tree() -> None:
    """What the model's own parser makes of it, down to the config's height, and of the source."""
    model = tiny.paraphraser()
    likes = tiny.TEXTS[::-1]
    trees, own = (
        [tree for tree in model.parser([text.split() for text in texts]) if tree is not None]
        for texts in (likes, tiny.TEXTS)
    )
    said = model.decode(tiny.TEXTS, likes)
    assert said == model.decode_trees(tiny.TEXTS, trees, source_trees=own, strict=False)
    assert model.decode_at(tiny.TEXTS, likes, 2) == model.decode_trees(tiny.TEXTS, trees, height=2, strict=False)
    assert model.decoding_settings(beam=4) == {
        "decode": "beam 4", "decoder": "float32", "height": 5, "parser": "syntax"
    }  # fmt: skip


def test_outputs_that_say_nothing_are_counted(caplog: pytest.LogCaptureFixture, monkeypatch: Any) -> None:
    """Without a separator, and without anything behind it."""
    model = tiny.paraphraser()
    mark, pieces = model.pieces.separator, model.pieces
    (tree,), (words,) = pieces.of(["(ROOT (S))"]), pieces.of(["do stop"])
    rows = [[*tree, mark, *words], [*tree, *words], [*tree, mark], []]
    monkeypatch.setattr(model, "_write", lambda read, how: rows)
    said = model.said(["stop"] * 4, FORMS[:4], OWN[:4])
    assert said[0] == Said("Do stop", "(ROOT (S))", True) and said[1] == Said("Do stop", "(ROOT (S))", False)
    assert model.decode_trees(["stop"] * 4, FORMS[:4], source_trees=OWN[:4]) == ["Do stop", "Do stop", "", ""]
    assert caplog.text.count("2 of 4 outputs have no separator behind their tree; what") == 1
    assert caplog.text.count("2 of 4 outputs say nothing") == 1
    caplog.clear()
    rows = [rows[1]] * 2
    model.decode_trees(["stop"] * 2, FORMS[:2], source_trees=OWN[:2])
    assert "2 of 2 outputs have no separator" in caplog.text and "nothing" not in caplog.text


@pytest.mark.parametrize(
    ("how", "together"), [({}, 128), ({"beam": 4}, 32), ({"beam": 300}, 1), ({"beam": 4, "batch_size": 3}, 3)]
)
def test_memory_of_a_beam_is_bounded(how: dict[str, Any], together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many hypotheses go together, not as many sentences, unless the caller says."""
    model, asked = tiny.paraphraser(), []

    def rows(*args: Any) -> list[list[int]]:
        asked.append(args[3]["batch_size"])
        return [[]]

    monkeypatch.setattr(paraphraser, "written_rows", rows)
    model.decode_trees(["stop"], FORMS[:1], source_trees=OWN[:1], **how)
    assert asked == [together]


def test_a_long_text_is_cut_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny.paraphraser()
    long = "the dog runs home " * 100
    (said,) = model.decode_trees([long], FORMS[:1], source_trees=OWN[:1])
    assert isinstance(said, str)
    assert "1 of 1 texts are longer than the 200 pieces of an input that a seq2seq model reads" in caplog.text


def test_what_cannot_be_asked() -> None:
    model = tiny.paraphraser()
    form = Tree.parse("(ROOT (S (NP) (VP)))")
    asked: list[tuple[Any, Any, dict[str, Any], str]] = [
        (["stop", " "], [form, form], {}, "source 2 is empty"),
        (["stop"], [form, form], {}, "1 sources, 2 trees; expected a tree a source"),
        (["stop"], [form], {"source_trees": []}, "1 sources, 1 forms, 0 trees of the sources; expected as many"),
        (["stop"], [Tree.parse("(SBARQ (WHNP) (SQ))")], {}, "label '[A-Z]+' in no tree of training; the nearest is"),
        (["stop"], [Tree.parse("(ROOT)")], {}, "a template of a root alone"),
        (["stop"], ["(S (NP))"], {}, "record 1 is of type str; expected a Tree"),
        (
            ["stop"] * 2,
            [FORMS[0], form],
            {"height": 4},
            "height 4 is beyond the tree of exemplar 2, which has",
        ),
        (["stop"], [form], {"height": 1}, "height 1; expected"),
        (["stop"], [form], {"beam": 2, "temperature": 1.0}, r"beam 2, temperature 1\.0"),
        (["stop"], [form], {"batch_size": 0}, "batch_size 0"),
    ]
    for sources, trees, how, message in asked:
        with pytest.raises(InputError, match=message):
            model.decode_trees(sources, trees, **how)
    with pytest.raises(InputError, match="1 sources, 0 exemplars"):
        model.decode(["stop"], [])
    with pytest.raises(InputError, match="exemplar 1 is empty"):
        model.decode(["stop"], [" "])
    with pytest.raises(InputError, match="height 60 is beyond the tree of exemplar 1"):
        model.decode_at(["stop"], ["go on"], 60)
    with pytest.raises(InputError, match="a seq2seq model needs a form: like="):
        model.exemplars(["stop"])
    assert model.exemplars(["stop", "go"], ["go on"]) == [["go on"]] * 2
    assert model.decode([], []) == model.decode_trees([], []) == []
    assert len(model.decode(["stop"], ["Why, oh why?"])) == 1  # a label that only this exemplar has is no mistake


def test_a_parser_that_is_not_there_or_another_one() -> None:
    model = tiny.paraphraser(replace(tiny.TINY, parser="nowhere"))
    with pytest.raises(InputError, match="no parser 'nowhere'; expected 'syntax', 'syntax-all'"):
        model.decode(["stop"], ["go on"])
    model = tiny.paraphraser(replace(tiny.CONFIGS["compact"], parser="nowhere"))
    assert len(model.decode_trees(["stop"], FORMS[:1])) == 1  # nothing to parse
    model = tiny.paraphraser()
    model.digest = "0" * 64
    with pytest.raises(InputError, match=r"parser 'syntax' is [0-9a-f]{12}, and in training it was 000000000000"):
        model.decode(["stop"], ["go on"])


@pytest.mark.parametrize("asset", ["seq2seq.json", "tokenizer.json", "symbols.tsv", "words.json"])
def test_damaged_assets(asset: str) -> None:
    model = tiny.paraphraser()
    assets, config = model.assets(), vars(model.config)
    for wrong in ("{", "[]", '{"config": {"model_type": "bert"}}', '{"config": {"model_type": "nothing"}}'):
        if (asset, wrong[:3]) != ("words.json", "[]"):
            with pytest.raises(InputError):
                Seq2SeqParaphraser.restore(config, {**assets, asset: wrong})
    with pytest.raises(InputError, match=f"without \\['{asset}'\\]"):
        Seq2SeqParaphraser.restore(config, {name: text for name, text in assets.items() if name != asset})
    with pytest.raises(InputError, match="unknown fields \\['more'\\]"):
        Seq2SeqParaphraser.restore({**config, "more": 1}, assets)


def test_code_elsewhere_is_refused_in_a_checkpoint_too() -> None:
    model = tiny.paraphraser()
    assets = model.assets()
    assert "_name_or_path" not in assets["seq2seq.json"]  # a folder of whoever trained it
    for key, value in (("attn_implementation", "someone/kernel"), ("adapter_kwargs", {}), ("x", {"num_layers": 10**9})):
        wrong = assets["seq2seq.json"].replace('"config": {', f'"config": {{ "{key}": {value!r},'.replace("'", '"'), 1)
        with pytest.raises(InputError, match=r"seq2seq\.json: (attention by|has|num_layers)"):
            Seq2SeqParaphraser.restore(vars(model.config), {**assets, "seq2seq.json": wrong})
