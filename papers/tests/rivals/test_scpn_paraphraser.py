"""SCPN on text: templates and whole parses, a checkpoint that says the same again, and what cannot be asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import tiny_scpn as tiny

from paraform import checkpoint
from paraform.batching import SPECIAL
from paraform.models.by_tree import as_text, units_of
from paraform.models.disentangled.symbols import below_root
from paraform.records import InputError
from paraform.syntax.parsing import parser_digest
from paraform.syntax.trees import Tree, delexicalized, template
from paraform.words import tokenize
from paraform_papers.rivals.scpn import ScpnConfig, ScpnParaphraser


def templates_of(texts: list[str], levels: int = 2) -> list[Tree]:
    return [template(tiny.parsed()[text], levels + 1) for text in texts]


def own(texts: list[str] = tiny.TEXTS) -> list[Tree]:
    return [tiny.parsed()[text] for text in texts]


@pytest.mark.parametrize("name", list(tiny.CONFIGS))
def test_a_checkpoint_says_the_same_again(tmp_path: Path, name: str) -> None:
    model = tiny.paraphraser(tiny.CONFIGS[name])
    model.digest = parser_digest("syntax")
    checkpoint.save(model, tmp_path / "it", card="a test")
    again = checkpoint.load(tmp_path / "it", device="cpu")
    assert isinstance(again, ScpnParaphraser) and again.config == model.config
    assert again.templates == model.templates and again.digest == model.digest
    forms = templates_of(tiny.TEXTS[::-1])
    said = model.decode_trees(tiny.TEXTS, forms)  # the sources are parsed
    assert again.decode_trees(tiny.TEXTS, forms) == said and len(set(said)) > 3
    assert again.decode(tiny.TEXTS, tiny.TEXTS[::-1], beam=2) == model.decode(tiny.TEXTS, tiny.TEXTS[::-1], beam=2)


@pytest.mark.parametrize("how", [{}, {"beam": 3}])
def test_a_row_says_the_same_in_any_company(how: dict[str, int]) -> None:
    model = tiny.paraphraser()
    forms = templates_of(tiny.TEXTS[::-1])
    whole = model.decode_trees(tiny.TEXTS, forms, source_trees=own(), **how)
    assert (
        model.decode_trees(tiny.TEXTS[::-1], forms[::-1], source_trees=own()[::-1], batch_size=3, **how) == whole[::-1]
    )
    each = zip(tiny.TEXTS, forms, own(), strict=True)
    assert [model.decode_trees([t], [f], source_trees=[o], **how)[0] for t, f, o in each] == whole
    drawn = [model.decode_trees(tiny.TEXTS, forms, source_trees=own(), temperature=1.0, seed=3) for _ in range(2)]
    assert drawn[0] == drawn[1] != whole
    assert not any(mark in text for mark in SPECIAL for text in drawn[0])


def test_a_template_is_completed_and_a_whole_parse_is_taken_as_it_is() -> None:
    model = tiny.paraphraser()
    asked = [Tree.parse("(ROOT (S (NP) (VP)))"), own()[0], Tree.parse("(S (VP (VB)))"), own()[0]]
    found = model.parses(tiny.TEXTS[:4], asked, source_trees=own()[:4])
    assert found[1] == found[3] == delexicalized(own()[0]) and below_root(found[2]) == below_root(asked[2])
    assert found[0] != asked[0] and found[0].label == "ROOT"


def test_an_exemplar_gives_its_template_or_its_parse() -> None:
    """What the model's own parser makes of it; the whole parse needs no generator."""
    model = tiny.paraphraser()
    likes = [text for text in tiny.TEXTS[::-1] if len(text.split()) > 2]  # a template of tags alone is a whole parse
    sources = tiny.TEXTS[: len(likes)]
    trees = [tree for tree in model.parser([text.split() for text in likes]) if tree is not None]
    levels = [template(Tree("ROOT", below_root(tree)), 3) for tree in trees]
    by_template = model.decode_trees(sources, levels, strict=False)
    assert model.decode(sources, likes) == by_template
    assert model.decoding_settings(beam=4) == {
        "decode": "beam 4", "decoder": "float32", "constrain_repetition": False, "form": "template", "parser": "syntax"
    }  # fmt: skip
    model.exemplar_form = "parse"
    for parameter in model.network.generator.parameters():
        parameter.data.fill_(float("nan"))
    assert model.decode(sources, likes) != by_template


def test_words_beyond_the_vocabulary_are_copied_and_constrained() -> None:
    """A gate that always copies says nothing but the source's words: constrained none more often than it stands."""
    model = tiny.paraphraser()
    model.network.paraphraser.gate.bias.data.fill_(1e4)
    sources = ["Zyzzyx met Qwertyuiop", "quux"]
    whole = own()[:2]
    plain = model.decode_trees(sources, whole)
    assert {word.lower() for text in plain for word in text.split()} <= {"zyzzyx", "met", "qwertyuiop", "quux"}
    for text, source in zip(model.decode_trees(sources, whole, constrain_repetition=True), sources, strict=True):
        said = tokenize(text.lower())
        assert all(said.count(word) == 1 for word in source.lower().split())
    with_config = tiny.paraphraser(replace(tiny.TINY, constrain_repetition=True))
    assert with_config.decoding_settings()["constrain_repetition"] is True
    assert with_config.decoding_settings(constrain_repetition=False)["constrain_repetition"] is False


def test_what_cannot_be_asked(caplog: pytest.LogCaptureFixture) -> None:
    model = tiny.paraphraser()
    form = Tree.parse("(ROOT (S (NP) (VP)))")
    for sources, trees, message in (
        (["stop", " "], [form, form], "source 2 is empty"),
        (["stop"], [form, form], "1 sources, 2 trees; expected a tree a source"),
        (["stop"], [Tree.parse("(SBARQ (WHNP) (SQ))")], "label '[A-Z]+' in no tree of training; the nearest is"),
        (["stop"], [Tree.parse("(ROOT)")], "a template of a root alone"),
        (["stop"], ["(S (NP))"], "record 1 is of type str; expected a Tree"),
    ):
        with pytest.raises(InputError, match=message):
            model.decode_trees(sources, trees)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 sources, 0 trees of theirs"):
        model.decode_trees(["stop"], [form], source_trees=[])
    with pytest.raises(InputError, match="1 sources, 0 exemplars"):
        model.decode(["stop"], [])
    with pytest.raises(InputError, match="exemplar 1 is empty"):
        model.decode(["stop"], [" "])
    with pytest.raises(InputError, match=r"beam 2, temperature 1\.0"):
        model.decode_trees(["stop"], [form], beam=2, temperature=1.0)
    with pytest.raises(InputError, match="an SCPN model needs a form: like="):
        model.exemplars(["stop"])
    assert model.decode([], []) == model.decode_trees([], []) == model.parses([], []) == []
    assert len(model.decode(["stop"], ["Why, oh why?"])) == 1  # a label that only this exemplar has is no mistake
    caplog.clear()
    deep = Tree.parse("(ROOT (S (NP (NP)) (VP)))")
    assert model.decode_trees(["stop"], [deep]) == model.decode_trees(["stop"], [form])
    assert "1 of 1 texts are longer than the 2 levels of a template that an SCPN model reads" in caplog.text


def test_a_parser_that_is_not_there_or_another_one() -> None:
    form = Tree.parse("(ROOT (S (NP) (VP)))")
    model = tiny.paraphraser(replace(tiny.TINY, parser="nowhere"))
    with pytest.raises(InputError, match="no parser 'nowhere'; expected 'syntax', 'syntax-all'"):
        model.decode(["stop"], ["go on"])
    assert len(model.decode_trees(["stop"], [form], source_trees=[tiny.parsed()["stop"]])) == 1  # nothing to parse
    model = tiny.paraphraser()
    model.digest = "0" * 64
    with pytest.raises(InputError, match=r"parser 'syntax' is [0-9a-f]{12}, and in training it was 000000000000"):
        model.decode_trees(["stop"], [form])


@pytest.mark.parametrize("asset", ["vocabulary.json", "symbols.tsv", "templates.txt"])
def test_damaged_assets(asset: str) -> None:
    model = tiny.paraphraser()
    assets, config = model.assets(), vars(model.config)
    with pytest.raises(InputError):
        ScpnParaphraser.restore(config, {**assets, asset: "{"})
    with pytest.raises(InputError, match=f"without \\['{asset}'\\]"):
        ScpnParaphraser.restore(config, {name: text for name, text in assets.items() if name != asset})
    with pytest.raises(InputError, match="unknown fields \\['more'\\]"):
        ScpnParaphraser.restore({**config, "more": 1}, assets)


def test_pieces_are_joined_to_words() -> None:
    config = ScpnConfig(**{**tiny.COMMON, "units": "pieces"})
    model, words = tiny.paraphraser(config), ("Unreplayable", "Zyzzyx")
    (pieces,) = units_of([words], config)
    copied = [len(model.vocabulary) + place for place in range(len(pieces))]
    assert len(pieces) > 2 and as_text(copied, pieces, " ".join(words), model.vocabulary, config) == " ".join(words)
    assert len(model.decode_trees([" ".join(words)] * 2, own()[:2])) == 2
