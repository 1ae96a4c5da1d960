"""Training a language model on pairs, from Python and by the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stopped import goes_on_to_the_same_weights
from tiny_lm import SMALL, write_lm

import paraform
from paraform.models.lm import LMConfig, LMParaphraser
from paraform.records import InputError, Pair
from paraform.trainers import lm
from paraform.trainers.lm import BY_NLL, train_lm

LOOP = replace(BY_NLL, tensorboard=False, device="cpu", seed=2, evaluate_every=100)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    return list(paraform.clusters([one for one in paraform.read(question_pairs) if isinstance(one, Pair)][:40]))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("base"))


def config(base: Path, **fields: Any) -> LMConfig:
    return LMConfig(base=str(base), **{**SMALL, "learning_rate": 1e-2, **fields})


@pytest.mark.parametrize("guide", ["text", "style"])
def test_a_run_that_was_stopped_goes_on_to_the_same_weights(
    pairs: list[Pair], base: Path, tmp_path: Path, own_cache: None, guide: Any
) -> None:
    def train(name: str, *, resume: bool = False) -> Any:
        return train_lm(
            pairs, tmp_path / name, validation=pairs[:9], config=config(base, guide=guide), loop=LOOP, resume=resume
        )

    goes_on_to_the_same_weights(train, lm, tmp_path, at=lambda steps: steps * 2 // 3)


def test_it_learns_and_goes_on_from_what_was_learned(pairs: list[Pair], base: Path, tmp_path: Path) -> None:
    sources, targets = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]

    def nats(model: LMParaphraser) -> float:
        return float(np.mean([shares.sum() for shares in model.likelihood(sources, targets)]))

    before = nats(LMParaphraser.of(config(base)))
    train_lm(pairs, tmp_path / "one", validation=pairs[:9], config=config(base, epochs=6), loop=LOOP)
    first = paraform.load(tmp_path / "one", device="cpu")
    assert nats(first) > before + 5
    result = train_lm(pairs, tmp_path / "two", validation=pairs[:9], start=first, loop=LOOP)
    assert nats(paraform.load(tmp_path / "two", device="cpu")) > before + 5
    assert result is not None and first.config.epochs == 6
    with pytest.raises(InputError, match="another base, rank or layers"):
        train_lm(pairs, tmp_path / "three", validation=pairs[:9], start=first, config=config(base, rank=3), loop=LOOP)


def test_the_command(question_pairs: Path, base: Path, tmp_path: Path, command: Callable[..., Any]) -> None:
    fields = [part for name, value in SMALL.items() for part in (f"--config.{name}", value)]
    done = command("train", "lm", "--data", question_pairs, "--out", tmp_path / "run", "--config.base", base, *fields)
    assert done.status == 0 and "nats a piece" in done.out
    said = command("paraphrase", "how do i pay ?", "--model", tmp_path / "run", "--like", "who are you ?")
    assert said.status == 2 and "without a guide" in said.err


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
