"""The way from tasks and an `embed` to figures: every text encoded once, the floors beside it, intervals if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import torch

from paraform.capabilities import Embed
from paraform.evaluation.bootstrap import bootstrap_interval
from paraform.evaluation.embedding.floors import floors
from paraform.evaluation.embedding.space import Space, embedded
from paraform.evaluation.embedding.task import Finding, Task
from paraform.evaluation.on_pairs import precision_of
from paraform.records import InputError
from paraform.score import Score, signature

Kind = TypeVar("Kind", bound=Task)


def spaces_of(
    tasks: Sequence[Task], embed: Embed, *, model: str, vectors: str | None = None, on: torch.device
) -> list[Space]:
    """The space of all the tasks' texts that a model's `embed` gives, and the floors.

    Args:
        model: its name.
        vectors: which of its vectors, if it has several.
        on: the device that they are computed on.
    """
    texts = [text for task in tasks for text in task.texts()]
    which = {"vectors": vectors} if vectors else {}
    settings = f"{signature(similarity='cosine', encoder=model, **which)}|{precision_of(on)}"
    return [embedded(embed, texts, name=f"{model} {vectors}" if vectors else model, signature=settings), *floors(texts)]


def measured(tasks: Sequence[Task], spaces: Sequence[Space]) -> list[Finding]:
    """Every figure of every space on every task, task by task."""
    return [finding for task in tasks for space in spaces for finding in task.measure(space)]


def bounded(findings: Sequence[Finding], resamples: int) -> list[Score]:
    """The figures, those that have rows with their interval by so many resamples of these; 0: none."""
    scores = []
    for score, figure in ((finding.score, finding.figure) for finding in findings):
        if resamples and figure is not None:
            low, high = bootstrap_interval(figure, resamples=resamples)
            score = replace(score, low=low, high=high)
        scores.append(score)
    return scores


def require_different(tasks: Sequence[Kind]) -> list[Kind]:
    """The tasks. Raises: InputError if two have one name: their figures could not be told apart."""
    names = [task.name for task in tasks]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two sets are called {twice[0]!r}; expected names that differ, of files or of their folders")
    return list(tasks)
