"""Training a judge of meaning, from Python and by the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stopped import goes_on_to_the_same_weights
from tiny_judge import SMALL, write_base

import paraform
from paraform.losses.both_ways import both_ways_nll
from paraform.models.judge import JudgeConfig
from paraform.models.judge.judge import calibrated
from paraform.records import InputError, Pair, Sentence
from paraform.trainers import judge
from paraform.trainers.judge import BY_NLL, calibration, known_of, train_judge

LOOP = replace(BY_NLL, tensorboard=False, device="cpu", seed=2, evaluate_every=100)
WORDS = ("how", "do", "i", "pay", "for", "it", "the", "cat", "sat", "on", "mat", "who", "are", "you", "dog", "rome")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_base(tmp_path_factory.mktemp("bases") / "encoder", "encoder")


def made_pairs(count: int, seed: int) -> list[Pair]:
    """Sentences of four words against themselves, 1, and against the same without the last word: back alone is no."""
    drawn, pairs = np.random.default_rng(seed), []
    for number in range(count):
        words = [WORDS[at] for at in drawn.permutation(len(WORDS))[:4]]
        whole, part = (Sentence(" ".join(some)) for some in (words, words[:3]))
        same = number % 2 == 0
        pairs.append(Pair(whole, whole if same else part, label=int(same), forth=1.0, back=float(same), cluster=number))
    return pairs


def config(base: Path, **fields: Any) -> JudgeConfig:
    return JudgeConfig(base=str(base), **{**SMALL, "learning_rate": 3e-3, **fields})


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(base: Path, tmp_path: Path) -> None:
    def train(name: str, *, resume: bool = False) -> Any:
        pairs = made_pairs(40, 0)
        return train_judge(
            pairs[:32], tmp_path / name, validation=pairs[32:], config=config(base), loop=LOOP, resume=resume
        )

    goes_on_to_the_same_weights(train, judge, tmp_path, at=lambda steps: steps * 2 // 3)


def test_it_learns_both_directions_and_goes_on_from_what_was_learned(base: Path, tmp_path: Path) -> None:
    pairs, held = made_pairs(240, 0), made_pairs(40, 1)
    train_judge(pairs, tmp_path / "one", validation=held, config=config(base, epochs=8, layers=0, rank=8), loop=LOOP)
    first = paraform.load(tmp_path / "one", device="cpu")
    sides, labels = [(one.source.text, one.target.text) for one in held], np.array([one.label == 1 for one in held])
    found = first.judge(sides)
    assert ((found.same > 0.5) == labels).mean() > 0.9 and (found.forth > 0.5).mean() > 0.9
    turned = first.judge([pair[::-1] for pair in sides])
    assert ((turned.forth > 0.5) == labels).mean() > 0.9 and (turned.back > 0.5).mean() > 0.9
    train_judge(
        pairs, tmp_path / "two", validation=held, start=first, loop=LOOP, config=replace(first.config, epochs=1)
    )
    again = paraform.load(tmp_path / "two", device="cpu").judge(sides)
    assert ((again.same > 0.5) == labels).mean() > 0.9
    with pytest.raises(InputError, match="another base, rank or layers"):
        train_judge(pairs, tmp_path / "three", validation=held, start=first, config=config(base, rank=3), loop=LOOP)


def test_calibration_finds_what_made_the_labels() -> None:
    """Labels drawn by σ(2 x + 0.5 + 3 c) of each direction: all numbers come back, of logits x and cosines c."""
    torch.manual_seed(0)
    logits, cosines = torch.randn(40_000, 2), torch.rand(40_000) - 0.5
    made = 2 * logits + 0.5 + 3 * cosines[:, None]
    drawn = (torch.rand(40_000, 2) < made.sigmoid()).float()
    known = torch.cat([drawn, torch.full((40_000, 1), math.nan)], 1)
    found, nll = calibration(logits, cosines, known)
    assert found.tolist() == [pytest.approx(2, abs=0.06), pytest.approx(0.5, abs=0.03), pytest.approx(3, abs=0.15)]
    assert nll == pytest.approx(both_ways_nll(made, known).item(), abs=1e-3)


@pytest.mark.parametrize("count", [8, 400])
def test_calibration_is_where_likelihood_and_prior_are_greatest(count: int) -> None:
    """Of pairs that are all told apart, where the likelihood alone has no greatest value: the gradient there is 0."""
    torch.manual_seed(0)
    logits, cosines = torch.randn(count, 2), torch.rand(count)
    known = torch.cat([(logits > 0).float(), torch.full((count, 1), math.nan)], 1)
    found, _ = calibration(logits, cosines, known)
    numbers = torch.stack([found[0].log(), found[1], found[2] / 10]).requires_grad_()
    own = torch.stack([numbers[0].exp(), numbers[1], numbers[2] * 10])
    whole = both_ways_nll(calibrated(logits, cosines, own), known) + 0.1 / count * numbers.square().sum()
    (gradient,) = torch.autograd.grad(whole, numbers)
    assert gradient.abs().max() < 1e-4


def test_what_is_known_of_pairs() -> None:
    one = Pair(Sentence("a"), Sentence("b"), label=0, back=0.25)
    found = known_of([one])
    assert np.isnan(found[0, 0]) and found[0, 1:].tolist() == [0.25, 0]
    with pytest.raises(InputError, match="pair 2: label None, forth None, back None; expected one of them"):
        known_of([one, Pair(Sentence("a"), Sentence("b"))])
    with pytest.raises(InputError, match="label 5"):
        known_of([Pair(Sentence("a"), Sentence("b"), label=5)])


def test_the_commands(base: Path, tmp_path: Path, command: Callable[..., Any]) -> None:
    """Train on JSON lines, judge two texts and a file, keep what says the same."""
    paraform.write_jsonl(made_pairs(60, 0), tmp_path / "pairs.jsonl")
    fields = [part for name, value in SMALL.items() for part in (f"--config.{name}", value)]
    run = tmp_path / "run"
    done = command(
        *("train", "judge", "--data", tmp_path / "pairs.jsonl", "--format", "jsonl", "--out", run),
        *("--config.base", base, *fields),
    )
    assert done.status == 0 and "validation likelihood, nats a pair" in done.out
    said = command("same", "the cat sat", "the  dog sat", "--model", run)
    assert said.status == 0 and said.out.count("\t") == 4 and said.out.endswith("the cat sat\tthe dog sat\n")
    (tmp_path / "pairs.tsv").write_text("the cat\tthe cat\nwho are you\tyou\n", encoding="utf-8")
    kept = command(
        "same", tmp_path / "pairs.tsv", "--model", run, "--json", "--threshold", 0.01, "--out", tmp_path / "kept.tsv"
    )
    assert kept.status == 0
    found = json.loads(kept.out)
    assert [one["texts"] for one in found["pairs"]] == [["the cat", "the cat"], ["who are you", "you"]]
    assert {*found["pairs"][0]} == {"texts", "same", "forth", "back", "says_the_same"}
    there = (tmp_path / "kept.tsv").read_text(encoding="utf-8").splitlines()
    assert there == ["\t".join(one["texts"]) for one in found["pairs"] if one["says_the_same"]]
    for arguments, message in (
        (["one text"], "1 text; expected two"),
        (["one", "two", "three"], "3 texts; expected two"),
        (["one text", tmp_path / "pairs.tsv"], "1 text and 1 file; expected two texts, or files"),
        ([tmp_path / "nowhere.tsv", tmp_path / "pairs.tsv"], "nowhere.tsv: no such file"),
        (["a", " "], "an empty text"),
        (["a", "b", "--out", tmp_path / "x.tsv"], "--out FILE without --threshold"),
        (["a", "b", "--model", "minilm"], "an encoder; expected a judge of meaning"),
    ):
        wrong = command("same", *arguments, *([] if "--model" in arguments else ["--model", run]))
        assert wrong.status == 2 and message in wrong.err, wrong.err


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
