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
from paraform.cli import main
from paraform.encoders import Encoder
from paraform.models.exemplar import ExemplarParaphraser
from paraform.models.latent import LatentLanguageModel
from paraform.records import InputError, Pair, Sentence
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
    calls: list[Callable[[Any], object]] = [
        exemplar.content,
        exemplar.style,
        exemplar.embed,
        exemplar.paraphrase,
        exemplar.exemplars,
        exemplar.reword,
        lambda texts: exemplar.decode(texts, TEXTS),
        lambda texts: exemplar.decode(TEXTS, texts),
        lambda texts: exemplar.log_likelihood(texts, TEXTS, TEXTS),
        lambda texts: exemplar.assess(texts, TEXTS, TEXTS),
        latent.embed,
        latent.reconstruct,
        latent.unknown,
        minilm.encode,
        minilm.embed,
        minilm.pieces,
        minilm.count_tokens,
        lambda texts: minilm.states(texts, layers=[1]),
        lambda texts: paraform.train_latent(texts, "nowhere"),
    ]
    for call in calls:
        for given in NO_TEXTS:
            refused(call, given)
    for given in ([None], [1], 5, ["half a \ud800 pair"]):
        refused(lambda like: exemplar.paraphrase(TEXTS, like), given)


def test_what_are_no_words(minilm: Encoder) -> None:
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
        refused(paraform.Tree.parse, given)


def test_what_is_no_count(exemplar: Any, latent: Any, minilm: Encoder) -> None:
    ways: list[tuple[Any, str]] = [(exemplar.paraphrase, "beam"), (exemplar.paraphrase, "batch_size")]
    calls: list[Callable[[Any], object]] = [
        *(lambda count, call=call, name=name: call(TEXTS, TEXTS, **{name: count}) for call, name in ways),
        lambda count: exemplar.paraphrase(TEXTS, num=count),
        lambda count: exemplar.reword(TEXTS, num=count),
        lambda count: exemplar.content(TEXTS, batch_size=count),
        lambda count: exemplar.style(TEXTS, batch_size=count),
        lambda count: exemplar.log_likelihood(TEXTS, TEXTS, TEXTS, batch_size=count),
        latent.sample,
        lambda count: latent.sample(1, beam=count),
        lambda count: latent.interpolate("a cat", "a dog", steps=count),
        lambda count: latent.vectors(TEXTS, samples=count),
        lambda count: latent.encode(TEXTS, batch_size=count),
        lambda count: minilm.encode(TEXTS, batch_tokens=count),
        lambda count: minilm.embed(TEXTS, batch_size=count),
    ]
    for call in calls:
        for given in NO_COUNTS:
            refused(call, given)
    for name in ("temperature", "top_p"):
        for given in (None, "x", [], True, float("nan"), -1, 10**400):
            refused(lambda number, name=name: latent.sample(1, **{"temperature": 1.0} | {name: number}), given)
    for given in NO_COUNTS[:-1]:
        refused(lambda seed: latent.sample(1, seed=seed), given)


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
    refused(lambda config: index.nearest(TAGGED, config), {"keep": 3})
    refused(lambda config: paraform.mine([Pair(*TAGGED, cluster=0)], config), {"keep": 3})
    assert index.nearest(TAGGED, MiningConfig(keep=1)) == [[(1, 2)], [(0, 2)]]


@pytest.mark.parametrize("given", [None, 5, ["a"], 1.5, float("nan")])
def test_what_is_no_name(given: Any, latent: LatentLanguageModel) -> None:
    for call in (
        paraform.load,
        paraform.read,
        paraform.load_tagger,
        paraform.load_parser,
        ExemplarIndex.load,
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
