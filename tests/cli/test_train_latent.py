"""What `train latent` hears of its options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonargparse import Namespace

from paraform.cli.train_exemplar import INTERRUPTED, tell_end
from paraform.training import Result


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


def test_how_a_run_ended_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Of one that was interrupted before its first validation there is no best/ to name."""
    early, late = Result(7, "interrupted", None, None, []), Result(9, "finished", 1.25, 6, [])
    plain, as_json = Namespace(out="runs/a", json=False), Namespace(out="runs/a", json=True)
    assert tell_end(plain, early, "{:.1f} nats") == INTERRUPTED
    assert capsys.readouterr().out == "runs/a: no validation yet; interrupted after step 7\n"
    assert tell_end(plain, late, "{:.1f} nats") == 0
    assert capsys.readouterr().out == "runs/a/best: 1.2 nats at step 6; finished after step 9\n"
    tell_end(as_json, early, "", best_bleu=None)
    expected = {"model": None, "best_bleu": None, "ended": "interrupted", "step": 7, "best_step": None}
    assert json.loads(capsys.readouterr().out) == expected
    tell_end(as_json, late, "", best_bleu=1.25)
    assert json.loads(capsys.readouterr().out)["model"] == "runs/a/best"
