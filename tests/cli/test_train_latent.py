"""What `train latent` makes of its data before it trains: the held-out part, and the size of a batch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paraform.cli.train_latent import hold_out
from paraform.records import InputError


@pytest.mark.parametrize(("different", "held"), [(2, 1), (39, 1), (40, 2), (500, 25), (19_999, 999), (30_000, 1000)])
@pytest.mark.parametrize("times", [1, 2])
def test_a_twentieth_of_the_different_sentences_is_held_out(different: int, held: int, times: int) -> None:
    texts = [f"sentence {number}" for number in range(different)] * times
    training, validation = hold_out(texts, seed=3)
    assert len(set(validation)) == held
    assert not set(training) & set(validation)
    assert sorted(training + validation) == sorted(texts)  # nothing is lost, nothing added
    assert hold_out(texts, seed=3) == (training, validation)
    if held > 1:
        assert set(hold_out(texts, seed=4)[1]) != set(validation)


def test_one_sentence_cannot_be_held_out() -> None:
    for texts in ([], ["alone"], ["alone", "alone"]):
        with pytest.raises(InputError, match="expected two or more"):
            hold_out(texts, seed=0)


def test_the_batch_size_that_the_command_is_told_is_heard(tmp_path: Path, command: Callable[..., Any]) -> None:
    """48 sentences of one length: 48 / B steps a pass."""
    data = tmp_path / "data.txt"
    data.write_text("".join(f"w{number} x{number} y .\n" for number in range(48)), encoding="utf-8")
    fields = {"word_width": 8, "hidden_width": 8, "latent_width": 2, "min_count": 1, "epochs": 1, "batch_size": 48}
    given = ["train", "latent", "--data", data, "--validation", data, "--objective", "vae", "--device", "cpu", "--json"]
    given += [word for name, value in fields.items() for word in (f"--config.{name}", value)]
    for told, steps in (([], 1), (["--batch-size", 8], 6)):
        done = command(*given, *told, "--out", tmp_path / f"run {steps}")
        assert done.status == 0, done.err
        assert json.loads(done.out)["step"] == steps
