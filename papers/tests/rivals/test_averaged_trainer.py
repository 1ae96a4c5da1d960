"""sp-average from Python and by the command line: pairs and a folder are enough."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform
from paraform.records import InputError, Origin, Pair, Sentence
from paraform_papers.rivals.averaged import AveragedConfig
from paraform_papers.rivals.averaged.trainer import BY_MRR, train_averaged

LOOP = replace(BY_MRR, tensorboard=False, device="cpu", evaluate_every=2, log_every=1)
CONFIG = AveragedConfig(width=12, batch_size=8, megabatch=3, epochs=4, vocabulary_size=120, learning_rate=0.01)
WHO, DOES, WHERE = ("dog", "cat", "boy", "girl", "bird", "king"), ("runs", "sleeps", "works"), ("at home", "here")


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    """36 pairs, each a cluster."""
    made = [
        Pair(Sentence(f"the {who} {does} {where}"), Sentence(f"{where} it is the {who} that {does}"))
        for who in WHO for does in DOES for where in WHERE
    ]  # fmt: skip
    return list(paraform.clusters(made))


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(
    pairs: list[Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between two mega-batches, whose negatives depend on the weights at their beginning."""
    given: dict[str, Any] = {"config": CONFIG, "validation": pairs[:12]}
    whole = train_averaged(pairs[12:], tmp_path / "whole", loop=LOOP, **given)
    assert (whole.ended, whole.step) == ("finished", 8)  # four of one batch, four of two: 4 epochs of 3
    assert set(whole.history[0]["train"]) == {"loss", "positive", "negative", "batches"}
    part = tmp_path / "part"
    with monkeypatch.context() as patch:

        def stop(*_: Any) -> float:
            raise KeyError("as if it were killed at its first validation")

        patch.setattr("paraform_papers.rivals.averaged.trainer.mean_reciprocal_rank", stop)
        with pytest.raises(KeyError):
            train_averaged(pairs[12:], part, loop=replace(LOOP, checkpoint_every=1), **given)
    assert train_averaged(pairs[12:], part, loop=replace(LOOP, checkpoint_every=1), resume=True, **given).step == 8
    one, other = (paraform.load(tmp_path / name / "last", device="cpu") for name in ("whole", "part"))
    texts = [pair.source.text for pair in pairs]
    assert np.array_equal(one.embed(texts), other.embed(texts))
    with pytest.raises(InputError, match="holds a run"):
        train_averaged(pairs[12:], part, loop=LOOP, **given)


def test_files_have_shares_and_evaluation_texts_are_left_out(
    pairs: list[Pair], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filed = [replace(pair, origin=Origin("ab"[at % 2], at)) for at, pair in enumerate(pairs)]
    given: dict[str, Any] = {"config": replace(CONFIG, epochs=1), "loop": LOOP, "validation": pairs[:4]}
    done = train_averaged(filed[4:], tmp_path / "run", shares=(1, 3), against=[pairs[9].source.text.upper()], **given)
    assert done.ended == "finished" and "1 of 32 pairs have a sentence of the evaluation sets" in caplog.text
    with pytest.raises(InputError, match=r"shares \[1\] of 2 files"):
        train_averaged(filed[4:], tmp_path / "no", shares=[1], **given)


def test_what_cannot_be_trained_on(pairs: list[Pair], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def refused(some: list[Any], said: str, **more: Any) -> None:
        with pytest.raises(InputError, match=said):
            train_averaged(some, tmp_path / "run", **{"config": CONFIG, "loop": LOOP, "validation": pairs[:4]} | more)
        assert not (tmp_path / "run").exists()

    refused(["text"], "record 1 is of type str; expected a Pair")
    refused(pairs[:4], "4 pairs; expected at least one batch of 8")
    refused([], "0 pairs to train on, 4 to validate by")
    refused(pairs, "metric 'nll'", loop=replace(LOOP, metric="nll"))
    refused([replace(pairs[0], target=Sentence(" ")), *pairs], "pair 1 has an empty side")
    with caplog.at_level(logging.WARNING, logger="paraform"):
        refused([replace(pair, label=0) for pair in pairs], "0 pairs to train on")
    assert "36 of 36 pairs are labelled 0" in caplog.text


def test_the_command_trains_embeds_and_measures(pairs: list[Pair], tmp_path: Path, command: Callable[..., Any]) -> None:
    data, run = tmp_path / "pairs.tsv", tmp_path / "run"
    data.write_text("".join(f"{pair.source.text}\t{pair.target.text}\n" for pair in pairs), encoding="utf-8")
    fields = ["--config.width", 12, "--config.megabatch", 3, "--batch-size", 8, "--config.epochs", 20]
    done = command("train", "averaged", "--data", data, "--validation", data, "--out", run, "--device", "cpu", *fields)
    assert done.status == 0, done.err
    assert done.out.startswith(f"{run / 'best'}: validation MRR ")
    embedded = command("embed", "the dog runs .", "--model", run, "--json", "--device", "cpu")
    assert np.array(json.loads(embedded.out)["vectors"]).shape == (1, 12)
    (tmp_path / "texts.txt").write_text("the dog runs here\nTHE dog runs here\na king works\n")
    found = command("duplicates", tmp_path / "texts.txt", "--model", run, "--device", "cpu", "--threshold", 0.9)
    assert found.status == 0, found.err
    scored = tmp_path / "scored.tsv"
    scored.write_text(
        "sentence1\tsentence2\tscore\n"
        + "".join(f"{p.source.text}\t{q.target.text}\t{int(p is q)}\n" for p in pairs[:5] for q in pairs[:5])
    )
    given = ["--model", run, "--data", scored, "--device", "cpu", "--json", "--resamples", 0]
    measured = command("evaluate", "similarity", *given)
    assert measured.status == 0, measured.err
    names = {score["system"] for score in json.loads(measured.out)["scores"]}
    assert str(run) in names and f"{run}@weights=random" in names
