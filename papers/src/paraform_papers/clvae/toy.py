"""clVAE's Table 5: latent spaces of two numbers for K = 4, 8, 16 categories, as VAE, iVAE and clVAE+ learn them.

    paraform reproduce clvae/toy --scale small --out runs/clvae

Writes OUT/toy/SCALE/panels.png, or part.png of the rows that --row names. "iVAE, two views" is one that tells contrast
from what comes with it: both views are decoded, and nothing contrasts them. `full` is the paper's setting (learning
rate 1e-5, 80,000 steps), `small` ten times the rate and a tenth of the steps. Accuracy is the decoder's on 500 draws a
category, `early` after a sixteenth of the steps (the paper's 5K). `within` is a draw's mean distance from its own
category's centre, `between` a centre's from the others, both after the last step. Figures and running time:
docs/results/clvae.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paraform.batching import SentenceBatch
from paraform.evaluation.pictures import save_plot
from paraform.models.latent import make_update
from paraform.score import Score, signature
from paraform.training import TrainingConfig, fit, make_accelerator
from paraform.weights import atomic_path
from paraform_papers.clvae.clusters import ClusterModel
from paraform_papers.rows import Row
from paraform_papers.tables import Asked, Figures, Scale, Table

ROWS = {"VAE": "vae", "iVAE": "ivae", "clVAE+": "clvae+"}
CONTROLS = {f"{name}, two views": f"{objective}-two-views" for name, objective in ROWS.items()}
CATEGORIES = (4, 8, 16)
EACH = 500  # draws of a category
ENOUGH = 0.95
EARLY = 1 / 16  # 5 of the paper's 80 thousand steps


@dataclass(frozen=True)
class Size:
    """Learning rate, steps, validations, and the shares of the steps after which a panel is drawn."""

    learning_rate: float
    steps: int
    validations: int = 160
    shown: tuple[float, ...] = (0, EARLY, 0.1875, 0.375, 1.0)  # 0, 5, 15, 30 and 80 of the paper's 80 thousand


SIZES: dict[Scale, Size] = {"smoke": Size(1e-3, 64, 16), "small": Size(1e-4, 8_000), "full": Size(1e-5, 80_000)}


def place_of(asked: Asked) -> Path:
    """The folder of the runs."""
    return asked.out / "toy" / asked.scale


def spaces(asked: Asked) -> list[Row]:
    """A row for each model and number of categories."""
    known = ROWS | CONTROLS
    return [
        space(known[name], name, categories, asked)
        for categories in CATEGORIES
        for name in asked.chosen(known, ROWS, between="; ")
    ]


def space(objective: str, name: str, categories: int, asked: Asked) -> Row:
    """One of them as it is trained."""
    size, folder = SIZES[asked.scale], place_of(asked) / f"{objective}-{categories}"

    def go() -> None:
        train(objective, categories, size, folder, seed=asked.seed, device=asked.trained_on)

    return Row(f"{name}, K = {categories}", folder, go, None, lambda: asdict(size) | {"seed": asked.seed}, asked.seed)


def measure(asked: Asked, rows: Sequence[Row]) -> Figures:
    """What validations said and where draws lie; draws the panels."""
    size = SIZES[asked.scale]
    scores: list[Score] = []
    panels: dict[tuple[str, int], dict[int, np.ndarray[Any, Any]]] = {}
    for row in rows:
        name, _, subset = row.name.rpartition(", ")
        categories, history = int(subset.removeprefix("K = ")), validated(row.folder)
        reached = [record["step"] for record in history if record["validation"]["accuracy"] >= ENOUGH]
        settings = signature(draws=EACH, rate=f"{size.learning_rate:g}", steps=size.steps, seed=asked.seed)
        accuracy = history[-1]["validation"]["accuracy"]
        scores.append(Score("accuracy", accuracy, settings, name, subset=subset, digits=3))
        if reached:
            scores.append(Score("steps to 95 %", reached[0], settings, name, subset=subset, digits=0))
        early = next(record for record in history if record["step"] >= EARLY * size.steps)
        scores.append(Score("early", early["validation"]["accuracy"], settings, name, subset=subset, digits=3))
        steps = [round(share * size.steps) for share in size.shown]
        panels[name, categories] = {step: np.load(row.folder / f"{step}.npy") for step in steps}
        apart = distances(panels[name, categories][size.steps], categories)
        for figure, value in zip(("within", "between"), apart, strict=True):
            scores.append(Score(figure, value, settings, name, subset=subset))
    # A part of the table does not replace the picture of the whole.
    draw_panels(panels, place_of(asked) / ("part.png" if asked.rows else "panels.png"))
    return Figures(tuple(scores))


TABLE = Table("clvae/toy", "clVAE's Table 5: toy spaces", SIZES, spaces, measure, keeps=False)


def train(objective: str, categories: int, size: Size, folder: Path, *, seed: int, device: str) -> None:
    """One space. The points of every panel are kept as STEP.npy. Raises: KeyboardInterrupt if it was interrupted."""
    name, _, views = objective.partition("-")
    config = ClusterModel.of(name, categories, learning_rate=size.learning_rate)
    if views:
        config = config.with_two_views()
    every = max(1, size.steps // size.validations)
    loop = TrainingConfig(
        steps=size.steps,
        seed=seed,
        log_every=every,
        evaluate_every=every,
        checkpoint_every=max(1, size.steps // 16),
        metric="accuracy",
        higher_is_better=True,
        device=device,
        tensorboard=False,
    )
    accelerator = make_accelerator(loop)
    model = ClusterModel(config).to(accelerator.device)
    update, state = make_update(model, config, accelerator, steps_per_epoch=size.steps // config.epochs)
    rows = torch.arange(categories).repeat_interleave(config.batch_size // categories)[:, None]
    batch = SentenceBatch(rows, torch.ones(len(rows), dtype=torch.long))
    shown = {round(share * size.steps) for share in size.shown}
    at = 0

    def counted(batch: SentenceBatch, step: int) -> dict[str, float]:
        nonlocal at
        at = step + 1
        return update(batch, step)

    def drawn() -> tuple[Tensor, Tensor]:
        return model.draw(EACH, torch.Generator().manual_seed(seed))

    def keep(step: int, z: Tensor) -> None:
        with atomic_path(folder / f"{step}.npy") as unfinished, open(unfinished, "wb") as file:
            np.save(file, z.cpu().numpy())

    def evaluate() -> dict[str, float]:
        z, decoded = drawn()
        meant = torch.arange(categories, device=decoded.device).repeat_interleave(EACH)
        if at in shown:
            keep(at, z)
        return {"accuracy": float((decoded == meant).float().mean())}

    begun, _ = drawn()
    fit(
        model, counted, state, lambda step: batch, folder=folder, config=loop, accelerator=accelerator,
        evaluate=evaluate, resume=True,
    ).require_over()  # fmt: skip
    keep(0, begun)


def validated(folder: Path) -> list[dict[str, Any]]:
    """The validations of a run."""
    records = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [record for record in records if "validation" in record]


def distances(z_NZ: np.ndarray[Any, Any], categories: int) -> tuple[float, float]:
    """How far draws lie from the centre of their category, and centres from each other, both means.

    Args:
        z_NZ: as many draws of each category, those of one behind those of the one before.
    """
    z_KNZ = z_NZ.reshape(categories, -1, z_NZ.shape[-1])
    centres_KZ = z_KNZ.mean(axis=1)
    within = np.linalg.norm(z_KNZ - centres_KZ[:, None], axis=-1).mean()
    between_KK = np.linalg.norm(centres_KZ[:, None] - centres_KZ, axis=-1)
    return float(within), float(between_KK.sum() / (categories * (categories - 1)))


def draw_panels(panels: dict[tuple[str, int], dict[int, np.ndarray[Any, Any]]], path: Path) -> None:
    """Table 5: a row for each model and K, a column for each number of steps; a colour for each category."""
    from matplotlib.figure import Figure

    columns = max(len(points) for points in panels.values())
    figure = Figure(figsize=(2.2 * columns, 2.2 * len(panels)), layout="constrained")
    for row, ((name, categories), points) in enumerate(panels.items()):
        for column, (step, z) in enumerate(points.items()):
            axes = figure.add_subplot(len(panels), columns, row * columns + column + 1)
            axes.scatter(
                z[:, 0], z[:, 1], c=np.arange(len(z)) * categories // len(z), s=1, cmap="nipy_spectral", linewidths=0
            )
            axes.set(xticks=[], yticks=[], box_aspect=1, title=f"{name}, K = {categories}, {step:,} steps")
            axes.set_aspect("equal", adjustable="datalim")  # so that all panels are squares of one size
            axes.title.set_fontsize(8)
    save_plot(figure, path, dpi=80)
