"""The reader's optimisation step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from paraform.models.update import State, Update
from paraform_papers.par.reader.answer_span import answer_span_nll
from paraform_papers.par.reader.batches import ReaderBatch
from paraform_papers.par.reader.config import ReaderConfig
from paraform_papers.par.reader.network import Reader

if TYPE_CHECKING:  # its import takes longer than a short answer
    from accelerate import Accelerator


def make_update(
    model: Reader,
    config: ReaderConfig,
    accelerator: Accelerator,
    *,
    draw: Callable[[int], list[ReaderBatch]] | None = None,
    steps_per_epoch: int,
) -> tuple[Update, State]:
    """One Adam step on −ln p(start) − ln p(end).

    Args:
        draw, steps_per_epoch: not used; a step needs no further batches, and there is no schedule.
    Returns: the update, which gives `loss`, nats a question, and `gradient_norm`; and the optimiser's state.
    """
    optimizer = torch.optim.Adam(model.network.parameters(), lr=config.learning_rate)
    network, prepared = accelerator.prepare(model.network, optimizer)

    def update(batch: ReaderBatch, step: int) -> dict[str, float]:
        batch = batch.to(accelerator.device)
        spans = network(batch)
        loss = answer_span_nll(spans.start_BT, spans.end_BT, batch.start_B, batch.end_B)
        prepared.zero_grad()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(network.parameters(), config.clip_norm or float("inf"))
        prepared.step()
        return {"loss": loss.item(), "gradient_norm": norm.item()}

    return update, State({"adam": optimizer})
