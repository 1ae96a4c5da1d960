"""SGCP on text: exemplars' trees and given ones, at all heights; checkpoints; what cannot be asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_sgcp as tiny

from paraform import checkpoint
from paraform.batching import EOS, SPECIAL
from paraform.records import InputError
from paraform.syntax.heights import heights_of, nearest
from paraform.syntax.parsing import parser_digest
from paraform.syntax.trees import Tree, depth, template
from paraform.words import tokenize
from paraform_papers.rivals.sgcp import SgcpConfig, SgcpParaphraser


def trees_of(texts: list[str]) -> list[Tree]:
    return [tiny.parsed()[text] for text in texts]


FORMS = trees_of(tiny.TEXTS[::-1])


@pytest.mark.parametrize("name", list(tiny.CONFIGS))
def test_a_checkpoint_says_the_same_again(tmp_path: Path, name: str) -> None:
    model = tiny.paraphraser(tiny.CONFIGS[name])
    model.digest = parser_digest("syntax")
    checkpoint.save(model, tmp_path / "it", card="a test")
    again = checkpoint.load(tmp_path / "it", device="cpu")
    assert isinstance(again, SgcpParaphraser) and again.config == model.config and again.digest == model.digest
    said = model.decode_trees(tiny.TEXTS, FORMS)
    assert again.decode_trees(tiny.TEXTS, FORMS) == said and len(set(said)) > 3
    exemplars = tiny.TEXTS[::-1]
    assert again.decode(tiny.TEXTS, exemplars, beam=2) == model.decode(tiny.TEXTS, exemplars, beam=2)


@pytest.mark.parametrize("how", [{}, {"beam": 3}, {"height": "best"}])
def test_a_row_says_the_same_in_any_company(how: dict[str, Any]) -> None:
    model = tiny.paraphraser()
    whole = model.decode_trees(tiny.TEXTS, FORMS, **how)
    assert model.decode_trees(tiny.TEXTS[::-1], FORMS[::-1], batch_size=3, **how) == whole[::-1]
    assert [model.decode_trees([t], [f], **how)[0] for t, f in zip(tiny.TEXTS, FORMS, strict=True)] == whole
    drawn = [model.decode_trees(tiny.TEXTS, FORMS, temperature=1.0, seed=3) for _ in range(2)]
    assert drawn[0] == drawn[1] != whole
    assert not any(mark in text for mark in SPECIAL for text in drawn[0])


def test_heights_are_cuts_and_the_best_is_the_nearest() -> None:
    """At a height, a tree says what its template says; "best" is what ROUGE-1 has nearest the source."""
    model = tiny.paraphraser()
    wide = [(text, form) for text, form in zip(tiny.TEXTS, FORMS, strict=True) if depth(form) > 4]
    sources, forms = [text for text, _ in wide], [form for _, form in wide]
    at = {height: model.decode_trees(sources, [template(form, height) for form in forms]) for height in (2, 3, 4)}
    for height, said in at.items():
        assert model.decode_trees(sources, forms, height=height) == said
    assert len({tuple(said) for said in at.values()}) == 3
    best = model.decode_trees(sources, forms, height="best")
    for row, (source, form) in enumerate(wide):
        some = [model.decode_trees([source], [form], height=height)[0] for height in heights_of(form, "best")]
        assert best[row] == some[nearest(source, some)]
    assert best != model.decode_trees(sources, forms)


def test_an_exemplar_gives_its_tree() -> None:
    """What the model's own parser makes of it, at the config's height unless another is asked for."""
    model = tiny.paraphraser()
    likes = tiny.TEXTS[::-1]
    trees = [tree for tree in model.parser([text.split() for text in likes]) if tree is not None]
    assert model.decode(tiny.TEXTS, likes) == model.decode_trees(tiny.TEXTS, trees, strict=False)
    best = model.decode_trees(tiny.TEXTS, trees, height="best", strict=False)
    assert model.decode_at(tiny.TEXTS, likes, "best") == best
    assert model.decode_at(tiny.TEXTS, likes, 2) == model.decode_trees(tiny.TEXTS, trees, height=2, strict=False)
    assert model.decoding_settings(beam=4) == {
        "decode": "beam 4", "decoder": "float32", "constrain_repetition": False, "height": "full", "parser": "syntax"
    }  # fmt: skip
    model.config = replace(model.config, height="best")
    assert model.decode(tiny.TEXTS, likes) == best and model.decoding_settings()["height"] == "best"


def test_words_beyond_the_vocabulary_are_copied_and_constrained() -> None:
    """A gate that always copies says nothing but the source's words: constrained none more often than it stands."""
    model = tiny.paraphraser()
    model.network.gate.bias.data.fill_(-1e4)
    sources, forms = ["Zyzzyx met Qwertyuiop", "quux"], FORMS[:2]
    plain = model.decode_trees(sources, forms)
    assert {word.lower() for text in plain for word in text.split()} <= {"zyzzyx", "met", "qwertyuiop", "quux"}
    for text, source in zip(model.decode_trees(sources, forms, constrain_repetition=True), sources, strict=True):
        said = text.lower().split()
        assert all(said.count(word) == 1 for word in source.lower().split())
    with_config = tiny.paraphraser(replace(tiny.TINY, constrain_repetition=True))
    assert with_config.decoding_settings()["constrain_repetition"] is True
    assert with_config.decoding_settings(constrain_repetition=False)["constrain_repetition"] is False


def test_a_long_exemplar_is_read_down_to_its_first_words(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny.paraphraser()
    words = " ".join(f"(NN w{number})" for number in range(12))
    long, cut = Tree.parse(f"(ROOT (NP {words}))"), Tree.parse(f"(ROOT (NP {' '.join(['(NN)'] * 8)}))")
    assert model.decode_trees(["stop"], [long]) == model.decode_trees(["stop"], [cut])
    assert caplog.text.count("1 of 1 texts are longer than the 8 words that an SGCP model reads") == 1


def test_what_cannot_be_asked() -> None:
    model = tiny.paraphraser()
    form = Tree.parse("(ROOT (S (NP) (VP)))")
    asked: list[tuple[Any, Any, dict[str, Any], str]] = [
        (["stop", " "], [form, form], {}, "source 2 is empty"),
        (["stop"], [form, form], {}, "1 sources, 2 trees; expected a tree a source"),
        (["stop"], [Tree.parse("(SBARQ (WHNP) (SQ))")], {}, "label '[A-Z]+' in no tree of training; the nearest is"),
        (["stop"], [Tree.parse("(ROOT)")], {}, "a template of a root alone"),
        (["stop"], ["(S (NP))"], {}, "record 1 is of type str; expected a Tree"),
        (
            ["stop"] * 2,
            [FORMS[0], form],
            {"height": 4},
            "height 4 is beyond the tree of exemplar 2, which has 3 levels",
        ),
        (["stop"], [form], {"height": 1}, "height 1; expected"),
        (["stop"], [form], {"height": "R"}, "height 'R'; expected full, best or a number of levels"),
        (["stop"], [form], {"height": 3.5}, "height"),
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
    with pytest.raises(InputError, match="an SGCP model needs a form: like="):
        model.exemplars(["stop"])
    assert model.exemplars(["stop", "go"], ["go on"]) == [["go on"]] * 2
    assert model.decode([], []) == model.decode_trees([], []) == []
    assert len(model.decode(["stop"], ["Why, oh why?"])) == 1  # a label that only this exemplar has is no mistake
    assert model.decode_trees(["stop"], [Tree.parse("(TOP (S (NP (NN x)) (VP (VB y))))")]) == model.decode_trees(
        ["stop"], [Tree.parse("(S (NP (NN)) (VP (VB)))")]
    )  # whatever the root is called, and whichever words it has


def test_a_parser_that_is_not_there_or_another_one() -> None:
    model = tiny.paraphraser(replace(tiny.TINY, parser="nowhere"))
    with pytest.raises(InputError, match="no parser 'nowhere'; expected 'syntax', 'syntax-all'"):
        model.decode(["stop"], ["go on"])
    assert len(model.decode_trees(["stop"], FORMS[:1])) == 1  # nothing to parse
    model = tiny.paraphraser()
    model.digest = "0" * 64
    with pytest.raises(InputError, match=r"parser 'syntax' is [0-9a-f]{12}, and in training it was 000000000000"):
        model.decode(["stop"], ["go on"])


@pytest.mark.parametrize("asset", ["vocabulary.json", "symbols.tsv"])
def test_damaged_assets(asset: str) -> None:
    model = tiny.paraphraser()
    assets, config = model.assets(), vars(model.config)
    with pytest.raises(InputError):
        SgcpParaphraser.restore(config, {**assets, asset: "{"})
    with pytest.raises(InputError, match=f"without \\['{asset}'\\]"):
        SgcpParaphraser.restore(config, {name: text for name, text in assets.items() if name != asset})
    with pytest.raises(InputError, match="unknown fields \\['more'\\]"):
        SgcpParaphraser.restore({**config, "more": 1}, assets)


def test_no_more_is_written_than_the_config_says() -> None:
    """By a network that never ends a sentence."""
    model = tiny.paraphraser()
    model.network.output.bias.data[EOS] = -1e4
    for how in ({}, {"beam": 2}):
        (text,) = model.decode_trees(["stop"], FORMS[:1], **how)  # type: ignore[arg-type]
        assert len(tokenize(text)) == model.config.most_written == 8


def test_pieces_are_joined_to_words() -> None:
    model = tiny.paraphraser(SgcpConfig(**{**tiny.COMMON, "units": "pieces"}))
    model.network.gate.bias.data.fill_(-1e4)
    assert "##" not in " ".join(model.decode_trees(["Unreplayable Zyzzyx"] * 2, FORMS[:2]))
