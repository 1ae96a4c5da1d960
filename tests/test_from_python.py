"""Whatever is given from Python: one line of an InputError, and texts that are cut are counted."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform
import paraform_papers
from paraform.cli import main
from paraform.corpora.senteval import LabelledText
from paraform.encoders import Encoder
from paraform.models.exemplar import ExemplarParaphraser
from paraform.models.latent import LatentLanguageModel
from paraform.records import InputError, Pair, Sentence, Triple
from paraform.syntax import ExemplarIndex, MiningConfig

TEXTS = ["How old are you ?"]
NO_TEXTS = (None, "a string", b"bytes", 5, [None], [1], [b"x"], ["half \ud800"], ["fine", float("nan")])
NO_COUNTS = (None, 10**30, -(10**30), 2**63, 1.5, "x", [], True, float("nan"), -1)
TAGGED = [Sentence("A cat .", ("A", "cat", "."), ("DT", "NN", ".")), Sentence("b c", ("b", "c"), ("NN", "NN"))]


@pytest.fixture(scope="module")
def exemplar(tiny_run: Path) -> ExemplarParaphraser:
    model: ExemplarParaphraser = paraform.load(tiny_run, device="cpu")
    return model


@pytest.fixture(scope="module")
def latent() -> LatentLanguageModel:
    model: LatentLanguageModel = paraform.load("latent-compact", device="cpu")
    return model


def refused(call: Callable[[Any], object], given: object) -> None:
    with pytest.raises(InputError) as caught:
        call(given)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_what_are_no_texts(exemplar: Any, latent: Any, minilm: Encoder) -> None:
    one_too: list[Callable[[Any], object]] = [
        exemplar.paraphrase,
        lambda texts: paraform.reword(texts, device="cpu"),
        minilm.encode,
    ]
    calls: list[Callable[[Any], object]] = [
        exemplar.content,
        exemplar.style,
        exemplar.embed,
        exemplar.exemplars,
        lambda texts: exemplar.decode(texts, TEXTS),
        lambda texts: exemplar.decode(TEXTS, texts),
        lambda texts: exemplar.log_likelihood(texts, TEXTS, TEXTS),
        lambda texts: paraform.Reworder.default("cpu").assess(texts, TEXTS, TEXTS),
        latent.embed,
        latent.reconstruct,
        latent.unknown,
        minilm.embed,
        minilm.pieces,
        minilm.count_tokens,
        lambda texts: minilm.states(texts, layers=[1]),
        lambda texts: paraform.train_latent(texts, "nowhere"),
        lambda texts: paraform.SearchIndex.build(texts, minilm),
        lambda texts: paraform.SearchIndex.build(TEXTS, minilm).unread(texts),
    ]
    index = paraform.SearchIndex.build(TEXTS, minilm)
    for questions in NO_TEXTS:
        if not isinstance(questions, str):
            refused(index.search, questions)
    for call in calls:
        for given in NO_TEXTS:
            refused(call, given)
    for call in one_too:
        for given in (*(given for given in NO_TEXTS if given != "a string"), "half \ud800"):
            refused(call, given)
    for given in ([None], [1], 5, ["half a \ud800 pair"]):
        refused(lambda like: exemplar.paraphrase(TEXTS, like), given)


def test_what_are_no_words(minilm: Encoder, latent: LatentLanguageModel) -> None:
    calls: list[Callable[[Any], object]] = [
        paraform.load_tagger(device="cpu"),
        paraform.load_parser(device="cpu"),
        minilm.fitting,
        lambda sentences: minilm.word_states(sentences, layers=[1]),
        lambda sentences: paraform.detokenize(sentences[0]),
    ]
    for call in calls:
        for given in ([None], [[None]], [["half \ud800"]], ["a string"], [[1, 2]]):
            refused(call, given)
    for given in (None, ["a"], 5, "\ud800"):
        refused(paraform.tokenize, given)
        refused(latent.words, given)
        refused(paraform.Tree.parse, given)


def test_what_is_no_count(exemplar: Any, latent: Any, minilm: Encoder) -> None:
    ways: list[tuple[Any, str]] = [(exemplar.paraphrase, "beam"), (exemplar.paraphrase, "batch_size")]
    calls: list[Callable[[Any], object]] = [
        *(lambda count, call=call, name=name: call(TEXTS, TEXTS, **{name: count}) for call, name in ways),
        lambda count: exemplar.paraphrase(TEXTS, num=count),
        lambda count: exemplar.paraphrase(TEXTS, TEXTS, num=count),
        lambda count: paraform.reword(TEXTS, num=count, device="cpu"),
        lambda count: exemplar.content(TEXTS, batch_size=count),
        lambda count: exemplar.style(TEXTS, batch_size=count),
        lambda count: exemplar.log_likelihood(TEXTS, TEXTS, TEXTS, batch_size=count),
        latent.sample,
        lambda count: latent.sample(1, beam=count),
        lambda count: latent.interpolate("a cat", "a dog", steps=count),
        lambda count: latent.vectors(TEXTS, samples=count),
        lambda count: latent.encode(TEXTS, batch_size=count),
        lambda count: minilm.encode(TEXTS, batch_tokens=count),
        lambda count: paraform.SearchIndex.build(TEXTS, minilm).search(TEXTS, count),
        *(lambda count, model=model: model.embed(TEXTS, batch_size=count) for model in (minilm, exemplar, latent)),
    ]
    for call in calls:
        for given in (*NO_COUNTS, np.zeros(2)):
            refused(call, given)
    for name in ("temperature", "top_p"):
        for given in (None, "x", [], True, float("nan"), -1, 10**400):
            refused(lambda number, name=name: latent.sample(1, **{"temperature": 1.0} | {name: number}), given)
    for given in NO_COUNTS[:-1]:
        refused(lambda seed: latent.sample(1, seed=seed), given)


NO_SIDES = (None, "text", 5, [], Pair(Sentence("a"), Sentence("b")))


@pytest.mark.parametrize("given", NO_SIDES)
def test_what_no_record_can_hold(given: Any) -> None:
    fine = Sentence("a")
    calls: list[Callable[[Any], object]] = [
        lambda side: Pair(side, fine),
        lambda side: Pair(fine, side),
        lambda side: Triple(fine, side, fine),
        lambda side: Pair(fine, fine, label=side or "x"),
        lambda side: Pair(fine, fine, score=side or "x"),
        lambda side: Triple(fine, fine, fine, cluster=side or "x"),
    ]
    for call in calls[: 3 if given == 5 else None]:
        refused(call, given)
    for text in (None, 5, b"x", ["a"], float("nan")):
        refused(Sentence, text)
        refused(lambda words: Sentence("a", words), text or "ab")
        refused(lambda tags: Sentence("a", ("a",), tags), text or "ab")
    for words in (["a"], ("a", None), (1,), np.array(["a", "b"])):
        refused(lambda words: Sentence("a", words), words)
    refused(lambda tree: Sentence("a", tree=tree), 5)
    assert Pair(fine, fine, label=np.int64(1), score=np.float32(0.5)).label == 1  # NumPy's numbers are some


def test_a_refusal_is_one_line_whatever_came() -> None:
    refused(paraform.load, "a\nb\u2028c")
    refused(lambda count: MiningConfig(keep=count), np.zeros((3, 3)))


def test_what_is_measured_by_nonsense(latent: LatentLanguageModel, minilm: Encoder) -> None:
    """Texts, functions, counts, seeds and names of the evaluations and of what leaves sentences out."""
    tag: Callable[[Any], Any] = lambda sentences: [["NN"] * len(words) for words in sentences]  # noqa: E731
    row = paraform.GenerationRow("a b", "b a", ("c d",), None, 0)
    tree = paraform.Tree.parse("(S (NN a))")

    def generation(**given: Any) -> object:
        known: dict[str, Any] = {"paraphrase": lambda texts, _: texts, "rows": [row], "tag": tag, "embed": minilm.embed}
        return paraform.evaluate_generation(**known | {"settings": paraform.GenerationSettings(("first",))} | given)

    def style(**given: Any) -> object:
        known: dict[str, Any] = {"sources": ["a"], "targets": ["b"], "clusters": [0], "content": minilm.embed}
        return paraform.evaluate_style(**known | given)

    for given in (None, 5, "text", [None], ["a"]):
        refused(lambda rows: generation(rows=rows), given)
        refused(lambda trees: paraform.evaluate_syntax(trees, [tree], parser="p", data="d"), given)
        refused(lambda records: paraform.without_overlap(records, TEXTS), given)
    for given in NO_TEXTS:
        refused(lambda texts: paraform.overlap(texts, TEXTS), given)
        refused(lambda texts: paraform.overlap(TEXTS, texts), given)
        refused(lambda texts: paraform.without_overlap([], texts), given)
        refused(lambda texts: style(sources=texts), given)
    for given in (None, 5, print, ["last"], []):
        refused(paraform.GenerationSettings, given)
    for name in ("paraphrase", "tag", "embed", "content", "style", "parse"):
        refused(lambda call, name=name: generation(**{name: call}), "a string")
    for given in NO_COUNTS[1:]:
        refused(lambda count: paraform.GenerationSettings(resamples=count), given)
        refused(lambda count: paraform.StyleSettings(top=count), given)
        refused(lambda count: paraform.evaluate_latent(latent, TEXTS, samples=count), given)
        refused(lambda count: paraform.evaluate_latent(latent, TEXTS, bound_samples=count), given)
        refused(lambda count: style(settings=paraform.StyleSettings(max_tokens=count)), given)
        refused(lambda settings: generation(settings=settings), given or "none")
    for given in ([[]], [{}], 5, [0, 1], [None]):
        refused(lambda clusters: style(clusters=clusters), given)
    refused(lambda model: paraform.evaluate_latent(model, TEXTS), "minilm")
    refused(lambda name: generation(settings=paraform.GenerationSettings(bleu_tokenize=name)), ["none"])
    refused(lambda found: paraform.evaluate_syntax([tree], found, parser="p", data="d"), [])
    for groups in (
        {"a": None},
        {"a": [1]},
        {"a": [-1]},
        {"a": [0.0]},
        {"a": [[0]]},
        {"a": [[0], [0, 0]]},
        {5: [0]},
        [0],
    ):
        refused(lambda groups: paraform.evaluate_syntax([tree], [tree], parser="p", data="d", groups=groups), groups)


TRAINERS: dict[str, Callable[..., Any]] = {
    "latent": paraform.train_latent,
    "exemplar": paraform.train_exemplar,
    "disentangled": paraform.train_disentangled,
    "retrofit": paraform.train_retrofit,
    "averaged": paraform_papers.train_averaged,
    "infersent": paraform_papers.train_infersent,
}
NO_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "config": (5, "paper", {}, paraform.TrainingConfig(), [None]),
    "loop": (None, 5, {}, paraform.LatentConfig()),
    "against": NO_TEXTS,
    "card": (None, 5, b"x", ["a"], "half \ud800"),
    "data_digests": (5, "x", [1], {"a": None}, {1: "a"}, {"a": "\ud800"}),
    "folder": (None, 5, ["a"], "a\0b", "\ud800"),
    "validation": (5, "text", [None], [1], [Sentence("a")]),
}


@pytest.mark.parametrize("name", TRAINERS)
def test_training_by_nonsense_makes_no_folder(name: str, tmp_path: Path) -> None:
    """Each argument, and the texts or pairs: looked at before anything is read, computed or written."""
    pairs: list[Any] = [
        Pair(Sentence(f"the {word} runs"), Sentence(f"it is the {word} that runs")) for word in "abcdef"
    ]
    first: list[Any] = ["a b", "b c", "c d"] if name == "latent" else pairs
    if name == "infersent":
        first = pairs = [LabelledText(pair.source.text, pair.target.text, 1, "") for pair in pairs]
    wrong = dict(NO_ARGUMENTS)
    if name in ("disentangled", "retrofit", "averaged"):
        wrong |= {"shares": (5, "x", [None], ["x"], [True]), "development": (5, "x", [])}
    if name == "exemplar":
        wrong |= {"validation_rows": NO_COUNTS, "tagger": (None, 5, [])}
    for argument, values in wrong.items():
        for value in values:
            given = {"folder": tmp_path / "run", argument: value}
            refused(lambda _, given=given: TRAINERS[name](first, **given), value)
    for value in (None, 5, "text", [None], [1], [], [first[:1]]):
        refused(lambda given: TRAINERS[name](given, tmp_path / "run"), value)
    if name != "latent":
        refused(lambda given: TRAINERS[name](given, tmp_path / "run", validation=pairs), [])
        refused(lambda given: TRAINERS[name](pairs, tmp_path / "run", validation=given), [])
    assert not list(tmp_path.iterdir())


def test_what_is_saved_and_exported_by_nonsense(latent: LatentLanguageModel, minilm: Encoder, tmp_path: Path) -> None:
    for name, values in {
        "scores": (5, "x", [None], [1]),
        "data_digests": (5, "x", {"a": None}),
        "seed": (1.5, "x", 10**30, float("nan")),
        "dtype": (None, 5, "float8", np.array("float16")),
        "card": (None, 5, "\ud800"),
    }.items():
        for value in values:
            refused(lambda value, name=name: paraform.save(latent, tmp_path / "made", **{name: value}), value)
    for pooling in (5, ["mean"], np.array("mean"), "all"):  # an array of one name is equal to it
        refused(lambda pooling: minilm.encode(TEXTS, pooling=pooling), pooling)
    for terms in (None, 5, ["a"]):
        refused(lambda terms: minilm.export(tmp_path / "made", terms=terms), terms)
    for folder in (None, 5, "a\0b", "\ud800"):
        refused(minilm.export, folder)
        refused(lambda path: paraform.write_jsonl([], path), folder)
    both = {
        "encoder": (None, 5),
        "texts": NO_TEXTS,
        "folder": (None, 5, "a\0b"),
        "seed": NO_COUNTS[1:-1],
        "terms": (None, 5),
    }
    many = [f"text {number}" for number in range(1000)]
    for call, wrong in (
        (paraform.erase, both | {"erased": (None, "all", np.array("form")), "parser": (None, 5)}),
        (paraform.distil, both),
    ):
        for name, values in wrong.items():
            for value in values:
                known: dict[str, Any] = {"encoder": "minilm", "texts": many, "folder": tmp_path / "made"}
                refused(lambda value, name=name, call=call, known=known: call(**known | {name: value}), value)
    assert not list(tmp_path.iterdir())


def test_what_are_no_records(tmp_path: Path) -> None:
    index = ExemplarIndex.build(TAGGED)
    calls: list[Callable[[Any], object]] = [
        paraform.clusters,
        paraform.mine,
        ExemplarIndex.build,
        lambda records: index.nearest(records or 5),
        lambda records: index.nearest(TAGGED, sources=records or 5),
        lambda records: paraform.write_jsonl(records, tmp_path / "x.jsonl"),
    ]
    for call in calls:
        for given in (None, 5, "text", [None], ["text"], [1], [("a", "b")]):
            refused(call, given)
    assert not list(tmp_path.iterdir())
    for clusters in (5, ["x", "y"], [10**30, 1], [1], [[1], [2]], [-1, 0]):
        refused(lambda found: ExemplarIndex.build(TAGGED, found), clusters)
    for rows in (5, ["x", "y"], [10**30, 1], [1]):
        refused(lambda found: index.nearest(TAGGED, rows=found), rows)
    for config in ({"keep": 3}, [], 0, "x"):
        refused(lambda config: index.nearest(TAGGED, config), config)
        refused(lambda config: index.nearest(TAGGED, config, k=2), config)
    refused(lambda config: paraform.mine([Pair(*TAGGED, cluster=0)], config), {"keep": 3})
    assert index.nearest(TAGGED, MiningConfig(keep=1)) == [[(1, 2)], [(0, 2)]]
    assert index.nearest(TAGGED, k=10**9) == index.nearest(TAGGED, k=2)  # room for all that there are, and no more
    pairs = [Pair(*TAGGED, cluster=0), Pair(*TAGGED[::-1], cluster=1)]
    assert paraform.mine(pairs, MiningConfig(keep=10**9)).exemplars.shape == (2, 2)


@pytest.mark.parametrize("given", [None, 5, ["a"], 1.5, float("nan")])
def test_what_is_no_name(given: Any, latent: LatentLanguageModel) -> None:
    for call in (
        paraform.load,
        paraform.read,
        paraform.load_tagger,
        paraform.load_parser,
        ExemplarIndex.load,
        paraform.SearchIndex.load,
        paraform.SearchIndex.build(TEXTS, "minilm").save,
        lambda folder: paraform.save(latent, folder),
        lambda model: paraform.save(model, "nowhere"),
        lambda format: paraform.read("nowhere", format),
    ):
        refused(call, given)
    if given is not None:
        refused(lambda device: paraform.load("latent-compact", device=device), given)


def test_a_model_is_saved_without_a_card(latent: LatentLanguageModel, tmp_path: Path) -> None:
    paraform.save(latent, tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text()
    assert card.startswith("# latent\n") and "Nobody has said what it was trained on" in card
    assert np.array_equal(paraform.load(tmp_path / "model", device="cpu").embed(TEXTS), latent.embed(TEXTS))


LONG = "the same words again and again " * 60


def test_texts_that_are_cut_are_counted(
    minilm: Encoder, exemplar: ExemplarParaphraser, caplog: pytest.LogCaptureFixture
) -> None:
    """Two that differ behind what is read have one vector."""
    caplog.set_level(logging.WARNING, "paraform")
    texts = [LONG + "at the bank", LONG + "of the river", "short", LONG + "at the bank"]
    vectors = minilm.encode(texts)
    assert vectors[0] @ vectors[1] == pytest.approx(1.0)
    cut = f"3 of 4 texts are longer than the {minilm.max_tokens} tokens that minilm reads; what is behind is left out"
    assert [record.getMessage() for record in caplog.records] == [cut]
    caplog.clear()
    minilm.states(texts[:3], layers=[1])
    exemplar.embed(texts)
    exemplar.embed(texts, "style")
    exemplar.paraphrase(texts[1:], TEXTS)
    words = exemplar.config.max_tokens
    assert [record.getMessage().partition(" that ")[0] for record in caplog.records] == [
        f"2 of 3 texts are longer than the {minilm.max_tokens} tokens",
        f"3 of 4 texts are longer than the {words} words",
        f"3 of 4 texts are longer than the {words} words",
        f"2 of 3 texts are longer than the {words} words",
    ]
    caplog.clear()
    minilm.encode(["short", "this is as well"])
    minilm.count_tokens(texts)
    assert not caplog.records


def test_a_command_says_it_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraform.cli.embed.CHUNK", 2)
    path = tmp_path / "texts.txt"
    path.write_text(f"{LONG}\nshort\n{LONG} too\nshort\n{LONG}\n")
    assert main(["embed", str(path), "--json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["rows"] == 5
    assert err.startswith("paraform: 3 of 5 texts are longer than the ") and err.count("\n") == 1
