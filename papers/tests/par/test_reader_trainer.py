"""A reader of a tiny BERT's words: it learns a few answers by heart, resumes, and reads longer texts in parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import tiny_retrofit as tiny
import torch

from paraform import checkpoint, encoders
from paraform.batching import Ragged
from paraform.evaluation.embedding.distances import word_system
from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder
from paraform.records import InputError
from paraform_papers.par.reader import Reader, ReaderConfig
from paraform_papers.par.reader.batches import ReaderTable
from paraform_papers.par.reader.trainer import (
    BY_F1,
    Prepared,
    answers_of,
    held_out,
    load_reader,
    reading_system,
    root_mean_square,
    train_reader,
)
from paraform_papers.par.reader.vectors import kept_vectors, parts_of
from paraform_papers.par.reading import read_metrics
from paraform_papers.par.squad import Answer, Question

LOOP = replace(BY_F1, device="cpu", tensorboard=False, evaluate_every=20, log_every=10, patience=0)
CONTEXTS = ("the dog runs home .", "a cat is at home . the dog sleeps", "who does homeworks ? my arm is big")


def question(name: str, text: str, context: str, answer: str, article: str = "one") -> Question:
    return Question(name, article, text, context, (Answer(answer, context.index(answer)),))


ASKED = [
    question("q0", "who runs ?", CONTEXTS[0], "the dog"),
    question("q1", "what does the dog ?", CONTEXTS[0], "runs home"),
    question("q2", "who is at home ?", CONTEXTS[1], "a cat"),
    question("q3", "who sleeps ?", CONTEXTS[1], "the dog"),
    question("q4", "what is big ?", CONTEXTS[2], "my arm"),
    question("q5", "what does who ?", CONTEXTS[2], "homeworks"),
]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> ReaderConfig:
    folder = tiny.folder_of(tmp_path_factory.mktemp("encoder"))
    return ReaderConfig(encoder=folder, width=32, linear=32, dropout=0.0, batch_size=6, epochs=240,
                        learning_rate=0.01)  # fmt: skip


def test_it_learns_a_few_answers_by_heart(config: ReaderConfig, tmp_path: Path) -> None:
    result = train_reader(ASKED, tmp_path / "run", validation=ASKED, config=config, loop=LOOP)
    assert (result.step, result.best_score) == (240, 100)
    assert set(result.history[0]["train"]) == {"loss", "gradient_norm"}
    model = load_reader(tmp_path / "run", device="cpu")
    assert model.config.inputs == tiny.WIDTH
    prepared = Prepared.of(ASKED, reading_system(config, device="cpu"), tmp_path / "elsewhere")
    model.train()
    assert answers_of(model, prepared) == {one.name: one.answers[0].text for one in ASKED}
    assert not model.training  # no dropout where it answers
    assert float(model.network.scale) == pytest.approx(1 / root_mean_square(prepared.table))
    (kept,) = (tmp_path / "run" / "vectors").iterdir()  # computed once, for training and validation
    assert np.load(kept).shape == (sum(len(prepared.words[text]) for text in prepared.words), tiny.WIDTH)
    with pytest.raises(InputError, match="holds a run"):
        train_reader(ASKED, tmp_path / "run", validation=ASKED, config=config, loop=LOOP)


def test_a_run_that_was_stopped_goes_on_to_the_same_reader(
    config: ReaderConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(config, epochs=4, batch_size=3, dropout=0.3)
    loop = replace(LOOP, evaluate_every=4, checkpoint_every=3)
    train_reader(ASKED, tmp_path / "whole", validation=ASKED[:2], config=config, loop=loop)
    with monkeypatch.context() as patch:
        patch.setattr("paraform_papers.par.reader.trainer.read_metrics", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            train_reader(ASKED, tmp_path / "part", validation=ASKED[:2], config=config, loop=loop)
        patch.setattr("paraform_papers.par.reader.vectors._write", lambda *_: 1 / 0)  # nothing is encoded again
        patch.setattr("paraform_papers.par.reader.trainer.read_metrics", read_metrics)
        train_reader(ASKED, tmp_path / "part", validation=ASKED[:2], config=config, loop=loop, resume=True)
    one, other = (
        checkpoint.load(tmp_path / name / "last", device="cpu", systems={"reader": Reader}).state_dict()
        for name in ("whole", "part")
    )
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(other[name], one[name])
    dog = (Answer("dog", 4),)
    for change in ({"text": "who ?"}, {"answers": dog}):
        other = [replace(ASKED[0], **change), *ASKED[1:]]  # type: ignore[arg-type]
        with pytest.raises(InputError, match="the data changed: training questions was"):
            train_reader(other, tmp_path / "part", validation=ASKED[:2], config=config, loop=loop, resume=True)
        with pytest.raises(InputError, match="the data changed: validation questions was"):
            train_reader(ASKED, tmp_path / "part", validation=other[:2], config=config, loop=loop, resume=True)


def test_vectors_are_divided_by_their_root_mean_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """√((1 + 1 + 49 + 49) / 4) = 5, also in blocks; only the first 4,096 texts count; 1 of nothing but zeros."""
    monkeypatch.setattr("paraform_papers.par.reader.trainer.ROWS_AT_ONCE", 3)
    numbers = np.arange(0)
    for values, texts, expected in (
        ([[1, 7], [7, 1]], 2, 5.0),
        ([[0, 0]], 1, 1.0),
        ([[3, 3]] * 4096 + [[9, 9]], 4097, 3.0),
    ):
        vectors = Ragged(np.array(values, np.float16), np.arange(texts + 1))
        assert root_mean_square(ReaderTable(vectors, *(numbers,) * 4)) == pytest.approx(expected)


def test_each_validation_score_has_its_own_name(
    config: ReaderConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of six answers one is right, and one has half of the words: F1 is (100 + 2/3 · 100) / 6."""
    given = {one.name: "" for one in ASKED} | {"q0": "dog", "q1": "runs"}
    monkeypatch.setattr("paraform_papers.par.reader.trainer.answers_of", lambda *_: given)
    result = train_reader(ASKED, tmp_path, validation=ASKED, config=replace(config, epochs=1), loop=LOOP)
    assert result.history[-1]["validation"] == pytest.approx({"f1": 1000 / 36, "exact": 100 / 6})


def test_articles_are_held_out_whole() -> None:
    asked = [question(f"q{number}", "who ?", CONTEXTS[0], "dog", f"article {number % 20}") for number in range(200)]
    kept, held = held_out(asked, seed=1)
    articles = [{one.article for one in some} for some in (kept, held)]
    assert len(articles[1]) == 2 and not articles[0] & articles[1] and len(kept) + len(held) == 200
    many = [replace(asked[0], name=str(number), article=str(number % 2)) for number in range(1400)]
    assert [len(some) for some in held_out(many, seed=0)] == [700, 500]
    with pytest.raises(InputError, match="questions on 1 article; expected two or more"):
        held_out(ASKED, seed=0)


def test_texts_longer_than_the_encoder_reads(config: ReaderConfig, tmp_path: Path) -> None:
    """16 pieces with [CLS] and [SEP]: words in parts, that end with a sentence where they can."""
    encoder = encoders.load(config.encoder, device="cpu")
    system = word_system("tiny", encoder)
    words = ["the", "dog"] * 3 + ["runs", "home", "."] + ["a", "cat"] * 6 + ["sleeps"] + ["my", "arm"] * 8
    parts = parts_of(system, words)
    assert [len(part) for part in parts] == [9, 13, 14, 2]  # "sleeps" is two pieces
    assert [word for part in parts for word in part] == words
    assert [len(part) for part in parts_of(system, ["who", "."] + ["the", "dog"] * 9)] == [14, 6]  # too short an end
    short = ["who", "runs"]
    found = kept_vectors(system, [words, short], tmp_path)
    expected = torch.cat([encoder.word_states([part], layers=[-1]).states_NLD[:, 0] for part in [*parts, short]])
    np.testing.assert_allclose(found.values, expected.numpy(), atol=2e-3)
    assert found.offsets.tolist() == [0, len(words), len(words) + 2] and found.values.dtype == np.float16
    (path,) = tmp_path.iterdir()
    before = path.stat().st_mtime_ns
    kept_vectors(system, [words, short], tmp_path)
    assert path.stat().st_mtime_ns == before
    kept_vectors(system, [short], tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(InputError, match="remove it, to encode the texts anew"):
        kept_vectors(system, [words, short], tmp_path)
    np.save(path, np.zeros((3, 8), np.float16))
    with pytest.raises(InputError, match=r"float16 \[3, 8\] for 40 words; remove it"):
        kept_vectors(system, [words, short], tmp_path)


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_retrofitted_encoder_is_read_with_m(
    place: Literal["before", "after"], config: ReaderConfig, tmp_path: Path
) -> None:
    """Before the encoder, folded in, and behind it, where its plain encoder gives words without M."""
    model: Any = RetrofittedEncoder.start(RetrofitConfig(encoder=config.encoder, place=place))
    with torch.no_grad():
        model.network.transform.weight.add_(0.3 * torch.randn(tiny.WIDTH, tiny.WIDTH))
    checkpoint.save(model.eval(), tmp_path / "par", card="")
    system = reading_system(replace(config, encoder=str(tmp_path / "par")), device="cpu")
    words = CONTEXTS[0].split()
    expected = model.word_states([words], layers=[-1]).states_NLD
    torch.testing.assert_close(system.words([words]).states_NLD, expected)
    plain = reading_system(config, device="cpu")
    assert system.signature != plain.signature and not torch.allclose(plain.words([words]).states_NLD, expected)


def test_what_cannot_be_trained_on(
    config: ReaderConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraform_papers.par.reader.trainer.MOST_WORDS", 2)
    with pytest.raises(InputError, match="no question on a context of at most 2 words"):
        train_reader(ASKED, tmp_path / "a", validation=ASKED, config=config, loop=LOOP)
    monkeypatch.setattr("paraform_papers.par.reader.trainer.MOST_WORDS", 5)
    with pytest.raises(InputError, match="2 questions; expected at least one batch of 6"):
        train_reader(ASKED, tmp_path / "b", validation=ASKED, config=config, loop=LOOP)
    assert "4 of 6 questions are on a context of more than 5 words; left out" in caplog.text
    with pytest.raises(InputError, match="expected an encoder with word states"):
        reading_system(replace(config, encoder="latent-compact"))
