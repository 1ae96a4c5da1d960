"""InferSent from Python and by the command line: judged pairs and a folder are enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform
from paraform.corpora.senteval import SICK_CLASSES, LabelledText
from paraform.records import InputError
from paraform_papers.rivals.infersent import InferSentConfig
from paraform_papers.rivals.infersent.trainer import BY_ACCURACY, figures_of, train_infersent

LOOP = replace(BY_ACCURACY, tensorboard=False, device="cpu", log_every=2)
NOUNS, VERBS = ("dog", "cat", "boy", "girl", "bird", "king"), ("runs", "sleeps", "works", "sings")


@pytest.fixture(scope="module")
def pairs() -> list[LabelledText]:
    """72 pairs of the three classes."""
    made = []
    for noun in NOUNS:
        for verb in VERBS:
            one = f"the {noun} {verb}"
            others = (f"no {noun} {verb}", f"a king sees the {noun}", f"a {noun} {verb}")
            made += [LabelledText(one, other, label, "") for label, other in enumerate(others)]
    return made


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> InferSentConfig:
    path = tmp_path_factory.mktemp("words") / "glove.txt"
    draw = np.random.default_rng(0)
    words = [*NOUNS, *VERBS, "the", "a", "no", "sees"]
    path.write_text("".join(f"{word} {' '.join(map(str, draw.standard_normal(4)))}\n" for word in words))
    return InferSentConfig(
        word_vectors=str(path), word_scale=1.0, hidden_width=5, classifier_width=6, batch_size=8, epochs=3,
        optimiser="adam", learning_rate=0.01,
    )  # fmt: skip


def test_a_run_that_was_stopped_goes_on_to_the_same_weights_and_rate(
    pairs: list[LabelledText], config: InferSentConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"config": config, "validation": pairs[:12]}
    whole = train_infersent(pairs[12:], tmp_path / "whole", loop=LOOP, **given)
    assert (whole.ended, whole.step) == ("finished", 3 * (60 // 8))
    assert set(whole.history[0]["train"]) == {"loss", "accuracy", "rate", "gradient_norm"}
    scores = [record["validation"] for record in whole.history if "validation" in record]
    assert len(scores) == 3 and set(scores[0]) == {"accuracy", "nll"}  # one an epoch
    part = tmp_path / "part"
    calls: list[int] = []
    with monkeypatch.context() as patch:

        def stop(*given: Any) -> dict[str, float]:
            calls.append(0)
            if len(calls) == 2:
                raise KeyError("as if it were killed at its second validation")
            return figures_of(*given)

        patch.setattr("paraform_papers.rivals.infersent.trainer.figures_of", stop)
        with pytest.raises(KeyError):
            train_infersent(pairs[12:], part, loop=replace(LOOP, checkpoint_every=3), **given)
    again = train_infersent(pairs[12:], part, loop=replace(LOOP, checkpoint_every=3), resume=True, **given)
    rates = [[record["train"]["rate"] for record in run.history if "train" in record] for run in (whole, again)]
    assert again.step == whole.step and rates[0] == pytest.approx(rates[1])
    one, other = (paraform.load(tmp_path / name / "last", device="cpu") for name in ("whole", "part"))
    texts = [pair.text for pair in pairs]
    np.testing.assert_allclose(one.embed(texts), other.embed(texts), atol=1e-7)
    assert float(one.best) == pytest.approx(max(record["accuracy"] for record in scores)) == float(other.best)
    with pytest.raises(InputError, match="holds a run"):
        train_infersent(pairs[12:], part, loop=LOOP, **given)


def test_what_is_held_out_and_what_is_left_out(
    pairs: list[LabelledText], config: InferSentConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = replace(config, epochs=1)
    done = train_infersent(pairs, tmp_path / "run", config=own, loop=LOOP, against=["The dog runs."])
    assert done.ended == "finished" and "3 of 72 pairs have a sentence of the evaluation sets" in caplog.text
    model = paraform.load(tmp_path / "run", device="cpu")
    found = figures_of(model, model.table([(one.text, one.other or "", one.label) for one in pairs]))
    assert 0 <= found["accuracy"] <= 1 and found["nll"] > 0


def test_what_cannot_be_trained_on(pairs: list[LabelledText], config: InferSentConfig, tmp_path: Path) -> None:
    def refused(some: list[Any], said: str, own: InferSentConfig = config, **more: Any) -> None:
        given = {"loop": LOOP, "validation": pairs[:4]} | more
        with pytest.raises(InputError, match=said):
            train_infersent(some, tmp_path / "run", config=own, **given)
        assert not (tmp_path / "run").exists()

    refused(["text"], "record 1 is of type str; expected a LabelledText")
    refused([LabelledText("a", None, 0, "")], "pair 1: label 0; expected two texts")
    refused([LabelledText("a", "b", 3, "")], "pair 1: label 3; expected two texts, and 0, 1 or 2 of them")
    refused(pairs[:4], "4 pairs; expected at least one batch of 8")
    refused([], "0 pairs to train on, 4 to validate by")
    refused([LabelledText("xyz", "xyzzy", 1, "")] * 9, "has none of the words of 9 pairs")
    refused(pairs, "classifier_width 0, no head", replace(config, classifier_width=0))
    refused(pairs, "metric 'mrr'", loop=replace(LOOP, metric="mrr"))
    refused(pairs, "no such file", replace(config, word_vectors=str(tmp_path / "none.txt")))


def test_the_command_reads_sick_trains_and_embeds(
    pairs: list[LabelledText], config: InferSentConfig, tmp_path: Path, command: Callable[..., Any]
) -> None:
    data, run = tmp_path / "SICK_train.txt", tmp_path / "run"
    rows = [f"{at}\t{p.text}\t{p.other}\t3\t{SICK_CLASSES[p.label]}\n" for at, p in enumerate(pairs)]
    data.write_text("pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n" + "".join(rows))
    fields = ["--config.word_vectors", config.word_vectors, "--config.hidden_width", 5, "--config.epochs", 1]
    given = ["train", "infersent", "--data", data, "--out", run, "--device", "cpu", "--batch-size", 8, *fields]
    done = command(*given)
    assert done.status == 0, done.err
    assert done.out.startswith(f"{run / 'best'}: validation accuracy ")
    embedded = command("embed", "the dog runs", "--model", run, "--json", "--device", "cpu")
    assert np.array(json.loads(embedded.out)["vectors"]).shape == (1, 10)
    data.write_text(data.read_text() + "9\ta dog\ta cat\t3\tPERHAPS\n")
    refused = command(*given[:4], "--out", tmp_path / "no")
    assert refused.status == 2 and f"{data}:74: the label is 'PERHAPS'" in refused.err
    assert len(refused.err.splitlines()) == 1 and not (tmp_path / "no").exists()
