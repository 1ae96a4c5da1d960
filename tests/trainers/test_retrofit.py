"""PAR from Python and by the command line: pairs and a folder are enough."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_retrofit as tiny
import torch

import paraform
from paraform.losses.orthogonality import orthogonality_penalty
from paraform.models.retrofit import RetrofitConfig, network
from paraform.models.retrofit.encoder import RetrofittedEncoder
from paraform.models.retrofit.frozen import FrozenEncoder
from paraform.records import InputError, Pair, Sentence
from paraform.trainers import retrofit_validation
from paraform.trainers.held_out import hold_out_labelled
from paraform.trainers.retrofit import BY_ACCURACY, drawn, negative_distance, train_retrofit
from paraform.trainers.retrofit_tables import table_of_pairs, training_table
from paraform.trainers.retrofit_validation import distances, examples
from paraform.training import Result

LOOP = replace(BY_ACCURACY, tensorboard=False, device="cpu", evaluate_every=4, log_every=2, patience=0)
WHO, DOES, WHERE = (
    ("the dog", "a cat", "my arm", "who", "i", "the big cat"),
    ("runs", "sleeps", "works"),
    ("at home", ""),
)


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    """36 pairs of two clusters each with a word in common."""
    made = [
        Pair(Sentence(f"{who} {does} {where} ."), Sentence(f"{where} , {does} {who} ?"))
        for who in WHO for does in DOES for where in WHERE
    ]  # fmt: skip
    return list(paraform.clusters(made))


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> RetrofitConfig:
    folder = tiny.folder_of(tmp_path_factory.mktemp("encoder"))
    return RetrofitConfig(encoder=folder, batch_size=8, epochs=2, learning_rate=0.01)


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(other[name], tensor, atol=1e-6, rtol=1e-5)


def test_a_run_that_was_stopped_goes_on_to_the_same_m(
    pairs: list[Pair], config: RetrofitConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"config": config, "validation": pairs[:12]}
    whole = train_retrofit(pairs[12:], tmp_path / "whole", loop=LOOP, **given)
    assert (whole.ended, whole.step) == ("finished", 2 * (24 // 8))
    assert set(whole.history[0]["train"]) == {"loss", "hinge", "paraphrased", "other", "margin", "orthogonality"}
    scores = [record["validation"] for record in whole.history if "validation" in record]
    assert set(scores[0]) == {"accuracy", "paraphrased", "other", "ratio", "orthogonality"}
    part = tmp_path / "part"
    with monkeypatch.context() as patch:

        def stop(model: Any, *_: Any, **__: Any) -> tuple[float, float]:
            if not torch.equal(model.matrix, torch.eye(tiny.WIDTH)):
                raise KeyError("as if it were killed at its first validation")
            return distances(model, *_, **__)

        patch.setattr("paraform.trainers.retrofit_validation.distances", stop)
        with pytest.raises(KeyError):
            train_retrofit(pairs[12:], part, loop=replace(LOOP, checkpoint_every=3), **given)
    again = train_retrofit(pairs[12:], part, loop=replace(LOOP, checkpoint_every=3), resume=True, **given)
    assert again.step == whole.step
    one, other = (paraform.load(str(tmp_path / name / "last"), device="cpu") for name in ("whole", "part"))
    same(one.state_dict(), other.state_dict())
    assert not torch.equal(one.matrix, torch.eye(tiny.WIDTH))
    best = paraform.load(str(tmp_path / "whole"), device="cpu")
    assert best.embed(["the dog runs ."]).shape == (1, tiny.WIDTH)
    with pytest.raises(InputError, match="holds a run"):
        train_retrofit(pairs[12:], part, loop=LOOP, **given)


def test_a_run_does_not_go_on_with_another_encoder(pairs: list[Pair], config: RetrofitConfig, tmp_path: Path) -> None:
    own = tmp_path / "encoder"
    own.mkdir()
    config = replace(config, encoder=tiny.folder_of(own), epochs=1)
    train_retrofit(pairs[12:], tmp_path / "run", config=config, loop=LOOP, validation=pairs[:12])
    other: Any = tiny.bert()
    with torch.no_grad():
        other.embeddings.word_embeddings.weight[3, 0] += 0.1
    other.save_pretrained(own)
    with pytest.raises(InputError, match=r"the data changed: encoder was '[0-9a-f]{64}' when the run began"):
        train_retrofit(pairs[12:], tmp_path / "run", config=config, loop=LOOP, validation=pairs[:12], resume=True)
    with pytest.raises(InputError, match="is not the one that M was trained with"):
        paraform.load(str(tmp_path / "run"), device="cpu")


def test_validation_and_margin_by_a_loop(pairs: list[Pair], config: RetrofitConfig, tmp_path: Path) -> None:
    """The mean over shared words; γ is the mean distance to negatives before training × 3 / 3.97."""
    kept, held = pairs[12:], pairs[:12]
    found = train_retrofit(kept, tmp_path / "run", config=replace(config, epochs=1), loop=LOOP, validation=held)
    model = paraform.load(str(tmp_path / "run" / "last"), device="cpu")
    last = [record["validation"] for record in found.history if "validation" in record][-1]
    assert last["ratio"] == pytest.approx(last["paraphrased"] / last["other"])
    assert (last["paraphrased"], last["other"]) == pytest.approx(distances(model, table_of_pairs(held, model), seed=0))
    start = RetrofittedEncoder.start(model.config)
    whole = table_of_pairs(kept, start)
    unit = negative_distance(start, whole, seed=0)
    assert float(model.network.margin) == pytest.approx(3 * unit / 3.97, rel=1e-5)
    near, far = distances(start, whole, seed=0)
    every = np.arange(len(whole.source_W))
    with torch.no_grad():
        own = start.network(whole.batch(every, *whole.negatives(every, "substitute", np.random.default_rng(0))))
    left_out = len(whole) % 8  # what does not fill a batch
    assert left_out or near == pytest.approx(float(own.paraphrased_W.mean()), rel=1e-4)
    assert far > 0 and near > 0


def test_pairs_labelled_0_are_held_out_with_their_sentences() -> None:
    labelled = [
        Pair(Sentence(f"the dog {n}"), Sentence(f"{n} the dog"), label=int(n % 3 > 0), cluster=n) for n in range(60)
    ]
    labelled += [Pair(Sentence(f"the dog {n}"), Sentence(f"a cat {n}"), label=0, cluster=n) for n in range(60)]
    kept, held = hold_out_labelled(labelled, seed=1)
    sides = [{side.text for pair in some for side in (pair.source, pair.target)} for some in (kept, held)]
    assert held and not sides[0] & sides[1] and len(kept) + len(held) == 120


def test_what_the_classifier_tells(pairs: list[Pair], config: RetrofitConfig) -> None:
    model = RetrofittedEncoder.start(config)
    table = table_of_pairs(pairs, model)
    mined = examples(pairs, table, seed=0)
    cluster = {side.text: pair.cluster for pair in pairs for side in (pair.source, pair.target)}
    others = [one for one in mined if not one.paraphrases]
    assert len(others) == len(table) and len(mined) == len(pairs) + len(table)
    for one in others:
        assert cluster[one.first] != cluster[one.second]
        assert set(one.first.split()) & set(one.second.split())
    labelled = [*pairs, replace(pairs[0], target=pairs[9].target, label=0)]
    assert [one for one in examples(labelled, table, seed=0) if not one.paraphrases] == [
        (pairs[0].source.text, pairs[9].target.text, False)
    ]


def test_how_many_pairs_and_which(pairs: list[Pair]) -> None:
    some = [*pairs[:10], replace(pairs[10], label=0), *pairs[11:20]]
    first = drawn(some, RetrofitConfig(most_pairs=5, sample="first"), seed=0)
    assert first == [*some[:5], some[10]]
    chosen = drawn(some, RetrofitConfig(most_pairs=5), seed=0)
    assert len(chosen) == 6 and chosen != first and some[10] in chosen
    assert drawn(some, RetrofitConfig(), seed=0) == some


def test_the_closed_form_trains_nothing(pairs: list[Pair], config: RetrofitConfig, tmp_path: Path) -> None:
    """After it the scatter of words in paraphrases is more alike in its directions, and as large as it was.

    One direction has none: what comes out of a layer norm has one number less that is free.
    """
    config = replace(config, place="after", orthogonality="free", fit="whitening")
    kept = pairs[13:]  # no multiple of a batch: every pair is looked at
    found = train_retrofit(kept, tmp_path / "run", config=config, loop=LOOP, validation=pairs[:12])
    assert isinstance(found, Result) and (found.step, found.ended) == (0, "finished")
    made = paraform.load(str(tmp_path / "run"), device="cpu")
    table, start = table_of_pairs(kept, made), RetrofittedEncoder.start(config)
    every = np.arange(len(table.source_W))
    batch = table.batch(every, *table.negatives(every, "substitute", np.random.default_rng(0)))
    sizes = []
    for model in (start, made):
        with torch.no_grad():
            vectors = model.network.vectors(batch, model.network.transform()).double()
        apart = vectors[batch.source_W] - vectors[batch.target_W]
        values = torch.linalg.eigvalsh(apart.T @ apart / len(apart))[1:]
        sizes.append((float(values.sum()), float(values[-1] / values[0])))
    assert sizes[1][0] == pytest.approx(sizes[0][0], rel=1e-3)
    assert len(table) % 8
    assert sizes[1][1] < 0.5 * sizes[0][1]


def test_behind_an_encoder_each_text_is_read_once_for_all_runs(
    pairs: list[Pair], config: RetrofitConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for known in (network.KNOWN, retrofit_validation.KNOWN):
        known.clear()
    read: list[int] = []
    words, texts = FrozenEncoder.read, RetrofittedEncoder.means

    def states(own: FrozenEncoder, sentences: list[list[int]], *given: Any, **how: Any) -> torch.Tensor:
        read.append(len(sentences))
        return words(own, sentences, *given, **how)

    def means(own: RetrofittedEncoder, some: list[str], **how: Any) -> Any:
        read.append(len(some))
        return texts(own, some, **how)

    monkeypatch.setattr(FrozenEncoder, "read", states)
    monkeypatch.setattr(RetrofittedEncoder, "means", means)
    behind = replace(config, place="after", orthogonality="free")
    ratios = []
    for name, own in (("one", behind), ("other", replace(behind, learning_rate=0.1)), ("layer", behind)):
        if name == "layer":
            own = replace(own, encoder=f"{own.encoder}@layer=1")
        read.clear()
        found = train_retrofit(pairs[12:], tmp_path / name, config=own, loop=LOOP, validation=pairs[:12])
        ratios.append(found.history[-1]["validation"]["ratio"])
        assert sum(read) == (
            0 if name == "other" else 2 * 72
        )  # both sides of 36 pairs, for words and for the classifier
    assert len(set(ratios)) == 3


def test_behind_an_encoder_what_is_left_out_is_told_as_before_it(
    pairs: list[Pair], config: RetrofitConfig, tmp_path: Path
) -> None:
    behind = replace(config, place="after", min_tokens=9, max_tokens=20)
    with pytest.raises(InputError, match="none of 36 pairs has a word in both sides"):
        train_retrofit(pairs, tmp_path / "run", config=behind, loop=LOOP, validation=pairs[:4])
    odd = [*pairs[12:], *paraform.clusters([Pair(Sentence("? ?"), Sentence("! ?"))])]  # without a word
    found = train_retrofit(
        odd, tmp_path / "run", config=replace(config, place="after"), loop=LOOP, validation=pairs[:12]
    )
    assert found.ended == "finished"


def test_what_cannot_be_trained_on(
    pairs: list[Pair], config: RetrofitConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(some: list[Pair], said: str, own: RetrofitConfig = config) -> None:
        with pytest.raises(InputError, match=said):
            train_retrofit(some, tmp_path / "run", config=own, loop=LOOP, validation=pairs[:4])
        assert not (tmp_path / "run").exists()

    apart = [Pair(Sentence("the dog"), Sentence("a cat"), cluster=0), Pair(Sentence("who"), Sentence("i"), cluster=1)]
    refused(apart, "none of 2 pairs has a word in both sides; expected paraphrases that share words")
    refused(
        pairs,
        r"none of 36 pairs has a word in both sides \(9 to 20 words a side\)",
        replace(config, min_tokens=9, max_tokens=20),
    )
    lone = [
        Pair(Sentence("the dog"), Sentence("dog the"), cluster=0),
        Pair(Sentence("my arm"), Sentence("arm my"), cluster=1),
    ]
    refused(lone, "no shared word of 2 pairs stands in a sentence of another cluster")
    refused([replace(pair, label=0) for pair in pairs], "36 pairs, all labelled 0; expected paraphrases")
    refused(pairs[:4], "4 pairs with a shared word; expected at least one batch of 8")
    refused(["text"], "record 1 is of type str; expected a Pair")  # type: ignore[list-item]
    refused(pairs, r"neither a folder nor a hub id|out of reach", replace(config, encoder="no/such"))
    with pytest.raises(InputError, match="metric 'mrr'"):
        train_retrofit(pairs, tmp_path / "run", config=config, loop=replace(LOOP, metric="mrr"))
    model = RetrofittedEncoder.start(config)
    with caplog.at_level(logging.WARNING, logger="paraform"):
        training_table([*pairs, *apart, Pair(Sentence("how big"), Sentence("big how"), cluster=99)], model)
    assert "2 of 39 pairs have no word to compare in both sides; left out" in caplog.text
    assert "shared words stand in no sentence of another cluster; left out" in caplog.text


def test_the_command_trains_embeds_and_exports(
    pairs: list[Pair], config: RetrofitConfig, tmp_path: Path, command: Callable[..., Any]
) -> None:
    data = tmp_path / "pairs.tsv"
    data.write_text("".join(f"{pair.source.text}\t{pair.target.text}\n" for pair in pairs), encoding="utf-8")
    run = tmp_path / "run"
    given = ["--config.encoder", config.encoder, "--batch-size", 8, "--config.epochs", 1, "--loop.patience", 0]
    done = command("train", "retrofit", "--data", data, "--validation", data, "--out", run, "--device", "cpu", *given)
    assert done.status == 0, done.err
    assert done.out.startswith(f"{run / 'best'}: validation ratio ")
    embedded = command("embed", "the dog runs .", "--model", run, "--json", "--device", "cpu")
    assert np.array(json.loads(embedded.out)["vectors"]).shape == (1, tiny.WIDTH)
    measured = command("evaluate", "distances", "--model", run, "--data", data, "--json", "--resamples", 0)
    assert measured.status == 0, measured.err
    scores = {(score["subset"], score["name"]): score["value"] for score in json.loads(measured.out)["scores"]}
    model = paraform.load(str(run), device="cpu")
    assert scores["M", "‖I − MᵀM‖_F"] == pytest.approx(float(orthogonality_penalty(model.matrix)), rel=1e-3)
    assert scores["M", "least singular value"] <= 1 <= scores["M", "largest singular value"]
    assert scores["pairs, paraphrases", "L2"] > 0 and scores["pairs, paraphrases", "L2 ratio"] > 0
    about = json.loads((run / "best" / "encoder.json").read_text())
    assert (
        about["margin"] == pytest.approx(float(model.network.margin))
        and f'"margin": {about["margin"]}' in (run / "log.jsonl").read_text()
    )
    assert command("export", run, "--out", tmp_path / "made").status == 0
    assert (tmp_path / "made" / "modules.json").is_file()
    refused = command("train", "retrofit", "--data", data, "--out", tmp_path / "no", "--config.train_mix", "true")
    assert refused.status == 2 and "train_mix with states 'last'" in refused.err and len(refused.err.splitlines()) == 1


def test_the_command_takes_labelled_files_and_their_shares(
    pairs: list[Pair], config: RetrofitConfig, tmp_path: Path, command: Callable[..., Any]
) -> None:
    """PAN's three files and MRPC's: labels 0 are what the classifier tells, and what --against names is left out."""
    sides = [(pair.source.text, pair.target.text) for pair in pairs]
    one, other = sides[:18], sides[18:]
    mixed = [(a, b, int(at % 3 > 0)) for at, (a, b) in enumerate(one)]
    for name, column in (("pan-train.labels", 2), ("pan-train_s1.txt", 0), ("pan-train_s2.txt", 1)):
        (tmp_path / name).write_text("".join(f"{row[column]}\n" for row in mixed), encoding="utf-8")
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    rows = "".join(f"{int(at % 4 > 0)}\t1\t2\t{a}\t{b}\n" for at, (a, b) in enumerate(other))
    (tmp_path / "msr.txt").write_text(header + rows, encoding="utf-8")
    files = [tmp_path / "pan-train.labels", tmp_path / "msr.txt"]
    out = tmp_path / "run"
    given = ["train", "retrofit", "--format", "labelled-pairs", "--device", "cpu", "--config.encoder", config.encoder]
    given += ["--batch-size", 4, "--config.epochs", 1, "--validation", tmp_path / "msr.txt", "--data", *files]
    done = command(*given, "--out", out, "--shares", 1, 3)
    assert done.status == 0, done.err
    assert "no evaluation sets named (--against)" in done.err and "labelled 0" not in done.err
    (tmp_path / "test.tsv").write_text(f"{one[1][0]}\tof another kind\n", encoding="utf-8")
    done = command(*given, "--out", tmp_path / "other", "--against", tmp_path / "test.tsv")
    assert done.status == 0 and "pairs have a sentence of the evaluation sets" in done.err, done.err
    done = command(*given, "--out", tmp_path / "no", "--shares", 1)
    assert done.status == 2 and "shares [1.0] of 2 files of pairs" in done.err
    (tmp_path / "none.tsv").write_text("no word\tin common\n", encoding="utf-8")
    done = command(*given, tmp_path / "none.tsv", "--out", tmp_path / "no", "--shares", 1, 1, 1)
    assert done.status == 2 and "none.tsv: none of its pairs is left to train on" in done.err


def test_development_sets_choose(pairs: list[Pair], config: RetrofitConfig, tmp_path: Path) -> None:
    """The best checkpoint is that of the highest development score, which here falls from one to the next."""
    falling = iter(range(9, 0, -1))
    loop = replace(LOOP, metric="development", evaluate_every=1)
    found = train_retrofit(
        pairs, tmp_path / "run", config=config, loop=loop, validation=pairs[:12],
        development=lambda model: {"development": float(next(falling))},
    )  # fmt: skip
    assert (found.best_score, found.best_step) == (8.0, 1)
    with pytest.raises(InputError, match="metric 'development'"):
        train_retrofit(pairs, tmp_path / "no", config=config, loop=loop)
