"""The reader's optimisation step."""

from __future__ import annotations

import torch

from paraform.models.update import Accelerator, State, Stepper, Update, terms_of
from paraform_papers.par.reader.answer_span import answer_span_nll
from paraform_papers.par.reader.batches import ReaderBatch
from paraform_papers.par.reader.config import ReaderConfig
from paraform_papers.par.reader.network import Reader

CLIP_NORM = 5.0  # the gradient's, at most


def make_update(model: Reader, config: ReaderConfig, accelerator: Accelerator) -> tuple[Update, State]:
    """One Adam step on −ln p(start) − ln p(end).

    Returns: the update, which gives `loss`, nats a question, and `gradient_norm`; and the optimiser's state.
    """
    optimizer = torch.optim.Adam(model.network.parameters(), lr=config.learning_rate)
    stepper = Stepper(model.network, optimizer, accelerator, clip_norm=CLIP_NORM)

    def update(batch: ReaderBatch, step: int) -> dict[str, float]:
        batch = batch.to(accelerator.device)
        spans = stepper.network(batch)
        loss = answer_span_nll(spans.start_BT, spans.end_BT, batch.start_B, batch.end_B)
        return terms_of(loss=loss, **stepper(loss, step))

    return update, State({"adam": optimizer})
