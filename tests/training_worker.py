"""A toy system and the command that trains it, for the tests that need processes of their own.

    python training_worker.py FOLDER [--steps N] [--resume] [--kill-at STEP] [--signal-at STEP [--again]] [--dropout P]

Its loss has a local term and a contrastive one over the whole batch, as the real systems do.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from paraform import training
from paraform.models.update import State, gather_with_gradient

BATCH, WIDTH = 8, 6


@dataclass(frozen=True)
class ToyConfig:
    hidden: int = 5
    dropout: float = 0.0
    name: str = "toy"


class Toy(nn.Module):
    system: ClassVar[str] = "toy"
    config_class: ClassVar[type] = ToyConfig

    def __init__(self, config: ToyConfig, vocabulary: str = "a\r\nb é\n") -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        self.inner = nn.Linear(WIDTH, config.hidden)
        self.outer = nn.Linear(config.hidden, WIDTH)
        self.tied = nn.Linear(WIDTH, config.hidden)
        self.tied.weight = self.inner.weight
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def assets(self) -> dict[str, str]:
        return {"vocabulary.txt": self.vocabulary}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> Toy:
        return cls(ToyConfig(**config), assets["vocabulary.txt"])

    def forward(self, rows_BW: Tensor) -> tuple[Tensor, Tensor]:
        hidden_BH = self.dropout(torch.tanh(self.inner(rows_BW)) + self.tied(rows_BW))
        return hidden_BH, self.outer(hidden_BH)


def nt_xent(first_BH: Tensor, second_BH: Tensor) -> Tensor:
    """Each of the 2B rows finds its other view among the 2B − 1 other rows; τ = 0.5."""
    rows = normalize(torch.cat([first_BH, second_BH]), dim=-1)
    similarity = (rows @ rows.T / 0.5).masked_fill(torch.eye(len(rows), dtype=torch.bool), float("-inf"))
    return cross_entropy(similarity, torch.arange(len(rows)).roll(len(rows) // 2))


def make_update(
    model: Toy, accelerator: Any, *, optimizer: str = "Adam", before: Callable[[int], None] = lambda step: None
) -> tuple[Callable[[Tensor, int], dict[str, float]], State]:
    made = getattr(torch.optim, optimizer)(model.parameters(), lr=0.02)
    wrapped, made = accelerator.prepare(model, made)

    def update(rows_2BW: Tensor, step: int) -> dict[str, float]:
        before(step)
        half = len(rows_2BW) // 2
        hidden, rebuilt = wrapped(rows_2BW)
        local = (rebuilt - rows_2BW).square().mean()
        contrast = nt_xent(gather_with_gradient(hidden[:half]), gather_with_gradient(hidden[half:]))
        made.zero_grad()
        accelerator.backward(local + contrast)
        made.step()
        return {"local": local.item(), "contrast": contrast.item()}

    return update, State({"main": made})


def batches(accelerator: Any, seed: int = 0) -> Callable[[int], Tensor]:
    def batch(step: int) -> Tensor:
        """Two views of this process's part of the batch, one below the other: [2·B/W, WIDTH]."""
        generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
        rows = torch.randn(BATCH, WIDTH, generator=generator)
        noise = 0.1 * torch.randn(BATCH, WIDTH, generator=generator)
        share = BATCH // accelerator.num_processes
        mine = slice(accelerator.process_index * share, (accelerator.process_index + 1) * share)
        return torch.cat([rows[mine], (rows + noise)[mine]])

    return batch


def train(folder: Any, config: training.TrainingConfig, dropout: float = 0.0, **options: Any) -> training.Result:
    fitting = {key: options.pop(key) for key in ("resume", "data_digests") if key in options}
    accelerator = training.make_accelerator(config)
    model = options.pop("model", None) or Toy(ToyConfig(dropout=dropout))
    update, state = make_update(model, accelerator, **options)
    held_out = batches(accelerator, seed=99)(0)

    def evaluate() -> Mapping[str, float]:
        return {"loss": (model(held_out)[1] - held_out).square().mean().item(), "noise": torch.rand(()).item()}

    every = {"folder": folder, "config": config, "accelerator": accelerator, "evaluate": evaluate}
    return training.fit(model, update, state, batches(accelerator, config.seed), **every, **fitting)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--kill-at", type=int, default=-1)
    parser.add_argument("--signal-at", type=int, default=-1)
    parser.add_argument("--again", action="store_true", help="after the signal, resume in the same processes")
    parser.add_argument("--dropout", type=float, default=0.0)
    given = parser.parse_args()

    def before(step: int) -> None:
        if step == given.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if step == given.signal_at and int(os.environ.get("RANK", 0)) == int(os.environ.get("WORLD_SIZE", 1)) - 1:
            os.kill(os.getpid(), signal.SIGTERM)  # to the last process only: the others must hear of it

    config = training.TrainingConfig(
        steps=given.steps,
        log_every=3,
        evaluate_every=5,
        checkpoint_every=7,
        average_last=0.5,
        device="cpu",
        tensorboard=False,
    )
    training.journal.Journal.draw = lambda *_, **__: None  # longer than the steps
    train(given.folder, config, given.dropout, before=before, resume=given.resume)
    if given.again:
        train(given.folder, config, given.dropout, resume=True)
    training.make_accelerator(config).end_training()
