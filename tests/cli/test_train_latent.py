"""What `train latent` hears of its options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


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
