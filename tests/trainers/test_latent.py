"""A run of the latent family: resumed it is the run that was never stopped; its monitor."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import paraform
from paraform.models.latent import OBJECTIVES, LatentConfig, update
from paraform.records import InputError
from paraform.trainers import job, latent
from paraform.trainers.held_out import hold_out_texts
from paraform.training import TrainingConfig, text_digest
from paraform_papers.clvae.configs import TINY

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "no", "dog", "run", "by", "in", "rain", "or", "snow"]


def sentences(count: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(2, 9))) for _ in range(count)]


def config(objective: str, **fields: Any) -> LatentConfig:
    small = replace(LatentConfig(), **{**TINY, "batch_size": 8, "epochs": 2, "svi_steps": 2})
    return replace(small.with_objective(objective), **fields)


def trained(folder: Path, chosen: LatentConfig, **loop: Any) -> Any:
    texts = sentences(40)
    fields = {"log_every": 2, "checkpoint_every": 3, "evaluate_every": 10**9, "tensorboard": False, "device": "cpu"}
    return latent.train_latent(
        texts,
        folder,
        validation=sentences(20, seed=1),
        config=chosen,
        loop=TrainingConfig(**{**fields, **loop}),
        resume=True,
    )


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_every_objective_trains_and_resumes(objective: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = config(objective)
    drawn = objective == "clvae+_mi"
    if not drawn:  # the picture takes longer than the run
        monkeypatch.setattr(latent, "draw_collapse", lambda *given: None)
    monkeypatch.setattr(update, "MOST_ALONE", 20)
    if objective == "lagvae":  # whose aggressive phase is to end before the cut, and not to begin again behind it
        falling = iter(range(100, 0, -1))
        monkeypatch.setattr(latent, "validate", lambda *given, **named: {"loss": 1.0, "mi": float(next(falling))})
    every = 2 if objective == "lagvae" else 5
    whole = trained(tmp_path / "whole", chosen, evaluate_every=every)
    assert (whole.ended, whole.step) == ("finished", 10)
    made = latent.make_update

    def stopping(*given: Any, **named: Any) -> Any:
        update, state = made(*given, **named)

        def until_seven(batch: Any, step: int) -> dict[str, float]:
            if step == 7:
                raise KeyboardInterrupt
            return update(batch, step)

        return until_seven, state

    monkeypatch.setattr(latent, "make_update", stopping)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "parts", chosen, evaluate_every=every)
    monkeypatch.setattr(latent, "make_update", made)
    assert trained(tmp_path / "parts", chosen, evaluate_every=every).step == 10
    one, other = (paraform.load(tmp_path / name / "last", device="cpu").state_dict() for name in ("whole", "parts"))
    for name, weight in one.items():
        assert torch.equal(weight, other[name]), name
    if drawn:
        assert (tmp_path / "whole" / "collapse.png").stat().st_size > 1000
    records = [json.loads(line) for line in (tmp_path / "whole" / "log.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records if "validation" in record] == list(range(every, 11, every))
    if objective == "lagvae":
        updates = {record["step"]: record["train"]["encoder_updates"] for record in records if "train" in record}
        assert updates[3] > 0 and updates[8] == updates[10] == 0  # an epoch of five steps has two windows


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        ({"vocabulary_size": 0}, {"a", "b", "c", "d"}),
        ({"vocabulary_size": 2}, {"a", "b"}),
        ({"vocabulary_size": 0, "min_count": 16}, {"a", "b", "c"}),
    ],
)
def test_the_words_of_a_model_are_the_most_frequent_ones(
    fields: dict[str, Any], known: set[str], tmp_path: Path
) -> None:
    texts = ["b a a", "a b c d", "a b c"] * 8  # 32 a, 24 b, 16 c, 8 d
    loop = TrainingConfig(tensorboard=False, device="cpu", evaluate_every=10**9)
    latent.train_latent(
        texts, tmp_path / "run", validation=texts[:8], config=config("ae", epochs=1, **fields), loop=loop
    )
    assert set(paraform.load(tmp_path / "run", device="cpu").vocabulary.words[4:]) == known


@pytest.mark.parametrize("objective", ["ae", "vae", "clvae+_mi"])
def test_a_run_that_diverges_says_so(objective: str, tmp_path: Path) -> None:
    """At the validation, if that comes before the next line of the log."""
    with pytest.raises(InputError, match=r"is (nan|inf|-inf); expected finite numbers"):
        trained(tmp_path, config(objective, learning_rate=1e30), log_every=1000, evaluate_every=3)


def test_a_corpus_of_one_word_and_one_of_unknown_words(tmp_path: Path) -> None:
    for name, text in (("one", "hello"), ("unknown", "<unk> <unk>")):
        result = latent.train_latent(
            [text] * 16,
            tmp_path / name,
            validation=[text] * 4,
            config=config("vae"),
            loop=TrainingConfig(tensorboard=False, device="cpu", evaluate_every=10**9),
        )
        assert result.ended == "finished"
        said = paraform.load(tmp_path / name, device="cpu").sample(3)
        assert {word for line in said for word in line.split()} <= {"hello", "<unk>"}
    with pytest.raises(InputError, match="2 sentences; expected at least one batch of 8"):
        latent.train_latent(["a", "b"], tmp_path / "few", validation=["a"], config=config("vae"))


def test_a_collapsed_run_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    trained(tmp_path / "run", config("vae", beta=50.0, beta_schedule="constant", learning_rate=0.05, epochs=8))
    assert caplog.text.count("the posterior has collapsed") == 1  # though its KL is another number every time
    assert "unknown" not in caplog.text


def test_an_alarm_says_when_and_when_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen = iter([0.05, 0.03, 2.0, 2.0, 0.01])
    monkeypatch.setattr(latent, "validate", lambda *given, **named: {"loss": 1.0, "kl": next(seen)})
    trained(tmp_path / "run", config("vae"), evaluate_every=2)
    assert [line.split(":")[:2] for line in caplog.messages if "collapsed" in line] == [
        ["validation 2", " the posterior has collapsed"],
        ["validation 3", " recovered; at validation 2"],
        ["validation 5", " the posterior has collapsed"],
    ]


def test_a_first_validation_is_no_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen = iter([0.05, 2.0, 2.0, 2.0, 2.0])
    monkeypatch.setattr(latent, "validate", lambda *given, **named: {"loss": 1.0, "kl": next(seen)})
    trained(tmp_path / "run", config("vae"), evaluate_every=2)
    assert "collapsed" not in caplog.text


def test_many_unknown_words_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    trained(tmp_path / "run", config("vae", epochs=1, min_count=1000))
    assert "words of the validation sentences are unknown" in caplog.text


def test_texts_and_a_folder_are_enough(tmp_path: Path) -> None:
    """The held-out sentences and the loop are the command's; `best/` is what `load` reads."""
    texts = sentences(60)
    loop = replace(latent.EACH_EPOCH, tensorboard=False, device="cpu", seed=3)
    result = paraform.train_latent(texts, str(tmp_path / "run"), config=config("vae"), loop=loop)
    training, validation = hold_out_texts(texts, seed=3)
    assert result.step == 2 * (len(training) // 8)
    digests = json.loads((tmp_path / "run" / "best" / "paraform.json").read_text())["data"]
    assert digests == {
        "training sentences": text_digest(training),
        "validation sentences": text_digest(validation),
    }
    assert len(paraform.load(tmp_path / "run", device="cpu").sample(2)) == 2
    again = {"config": config("vae"), "loop": loop, "resume": True}
    assert paraform.train_latent(iter(texts), tmp_path / "run", **again).step == result.step  # any iterable
    given: Any
    for given, message in (
        ("one sentence", "a string where a list of texts is expected"),
        (["a b", 3], "text 2 is of type int; expected a string"),
        (["a b", "caf\udce9"], "text 2 holds half of a surrogate pair; expected what UTF-8 can write"),
    ):
        with pytest.raises(InputError, match=message):
            paraform.train_latent(given, tmp_path / "other")
        with pytest.raises(InputError, match=message):
            paraform.train_latent(texts, tmp_path / "other", validation=given)


def test_texts_alone_are_trained_on_as_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    class Enough(InputError):
        """Instead of a training."""

    asked: list[Any] = []

    def look(model: Any, *rest: Any, folder: Path, config: TrainingConfig, **more: Any) -> None:
        asked.append((model.config, replace(config, device="auto"), more["data_digests"]["validation sentences"]))
        raise Enough("seen")

    monkeypatch.setattr(job, "fit", look)
    texts = [*(f"sentence {number} of {number % 7}" for number in range(100)), "", "long " * 300]
    with pytest.raises(Enough):
        paraform.train_latent(texts, tmp_path / "run")
    (tmp_path / "texts.txt").write_text("\n".join(text for text in texts if text), encoding="utf-8")
    assert command("train", "latent", "--data", tmp_path / "texts.txt", "--out", tmp_path / "other").status == 2
    assert asked[0] == asked[1]
    assert asked[0][0] == LatentConfig.compact()


def test_what_is_read_alike_is_not_held_out_from_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model reads lower-cased words."""
    asked: list[Any] = []
    held_out = latent.hold_out_texts

    def look(*given: Any, **named: Any) -> Any:
        asked.append(held_out(*given, **named))
        return asked[-1]

    monkeypatch.setattr(latent, "hold_out_texts", look)
    texts = [variant for text in sentences(60) for variant in (text, f" {text.upper()}")]
    loop = replace(latent.EACH_EPOCH, tensorboard=False, device="cpu")
    paraform.train_latent(texts, tmp_path / "run", config=config("vae", epochs=1), loop=loop)
    training, validation = ({text.strip().lower() for text in part} for part in asked[0])
    assert validation and not training & validation


def test_pictures_are_drawn_seconds_apart_and_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Path] = []
    monkeypatch.setattr(latent, "draw_collapse", lambda runs, picture: drawn.append(picture))
    trained(tmp_path / "run", config("vae"), evaluate_every=2)
    assert drawn == [tmp_path / "run" / "collapse.png"] * 2  # of five validations the first, and then the end
    monkeypatch.setattr(latent, "PICTURES_APART", 0.0)
    drawn.clear()
    trained(tmp_path / "other", config("vae"), evaluate_every=2)
    assert len(drawn) == 6


def test_an_autoencoder_has_no_mutual_information_to_choose_by(tmp_path: Path) -> None:
    loop = replace(latent.EACH_EPOCH, metric="mi", higher_is_better=True)
    with pytest.raises(InputError, match=r"metric 'mi'.*expected loss \(lower is better\), reconstruction"):
        paraform.train_latent(["a b"], tmp_path / "run", config=config("ae"), loop=loop)


@pytest.mark.parametrize("loop", [{"metric": "bleu"}, {"metric": "au"}, {"higher_is_better": True}])
def test_what_would_choose_the_worst_weights_is_refused_at_once(loop: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected loss \(lower is better\)"):
        paraform.train_latent([], tmp_path / "run", loop=replace(latent.EACH_EPOCH, **loop))
