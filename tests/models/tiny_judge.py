"""Tiny judges of meaning: on a BERT, or on a Llama, of random weights."""

from __future__ import annotations

from pathlib import Path

import torch
from tiny_encoder import write_encoder
from tiny_lm import write_lm

from paraform.models.judge import JudgeConfig, MeaningJudge

SMALL = {"rank": 2, "layers": 2, "max_pieces": 48, "batch_size": 4, "warmup": 1, "epochs": 2}
WORDS = "how do i pay for it ? the cat sat on mat who are you a an dog in rome"


def write_base(folder: Path, kind: str) -> Path:
    """The folder of a base: "encoder", a BERT with three layers, or "causal", a Llama."""
    if kind == "causal":
        return write_lm(folder)
    words = folder.parent / f"{folder.name}-words"
    words.mkdir(parents=True)
    (words / "all.txt").write_text(WORDS, encoding="utf-8")
    write_encoder(words, folder, layers=3)
    return folder


def new_judge(base: Path, *, trained: bool = True, **fields: object) -> MeaningJudge:
    """A judge on it; `trained`: with adapters that change what it says, and a calibration."""
    torch.manual_seed(2)
    model = MeaningJudge.of(JudgeConfig(base=str(base), **{**SMALL, **fields}))  # type: ignore[arg-type]
    if trained:
        for weight in model.adapters.up:
            torch.nn.init.normal_(weight, std=0.3)
        torch.nn.init.normal_(model.head.weight)
        model.calibration.copy_(torch.tensor([0.5, -0.25, 1.5]))
    return model.eval()
