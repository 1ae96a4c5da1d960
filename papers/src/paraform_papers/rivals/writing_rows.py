"""A rival's trained model as a row of CRL-EGPG's tables has it write, and what its sentences cost."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import torch

from paraform.capabilities import Paraphraser
from paraform.decoding import Decoding
from paraform.evaluation.protocols import GenerationRow
from paraform.score import Score, signature
from paraform_papers.rivals.rows import Way
from paraform_papers.rivals.scpn import ScpnParaphraser
from paraform_papers.rivals.sgcp import SgcpParaphraser

BESIDE: dict[str, Any] = {"protocols": ("first",), "parser": "syntax"}
"""How rows are measured beside rivals: all three protocols have seven exemplars to a row, and SGCP-R five heights to
each; rivals that read trees are asked for trees (TED-E, TED-R)."""

TIMED = 200  # rows that are said once more, for the time that they take


@dataclass(frozen=True)
class Writing:
    """A paraphraser that keeps so many hypotheses, whatever it is asked for."""

    model: Any
    beam: int

    @property
    def kind(self) -> str:
        """That of the model."""
        return str(self.model.kind)

    @property
    def device(self) -> torch.device:
        """That of the model."""
        return torch.device(self.model.device)

    def exemplars(self, sources: Sequence[str], like: Any = None, **how: Any) -> list[list[str]]:
        """Those of the model."""
        found: list[list[str]] = self.model.exemplars(sources, like, **how)
        return found

    def decode(self, sources: Sequence[str], exemplars: Sequence[str], **how: Unpack[Decoding]) -> list[str]:
        """Source i in the form of exemplar i."""
        said: list[str] = self.model.decode(sources, exemplars, **{**how, "beam": self.beam})
        return said

    def decoding_settings(self, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of it."""
        settings: dict[str, Any] = self.model.decoding_settings(**{**how, "beam": self.beam})
        return settings


def writing(model: Any, row: Way) -> Any:
    """The loaded model as the row has it write; itself, with any vectors that it has, if that is greedily."""
    if row.whole and isinstance(model, ScpnParaphraser):
        model.exemplar_form = "parse"
    if row.height and isinstance(model, SgcpParaphraser):
        model.config = replace(model.config, height=row.height)
    return Writing(model, row.beam) if row.beam > 1 else model


def costs(systems: Mapping[str, Paraphraser], rows: Sequence[GenerationRow]) -> tuple[Score, ...]:
    """Weights, of frozen encoders and parsers none, and seconds a sentence of each system, parsing counted."""
    some = rows[:TIMED]
    sources, likes = [row.source for row in some], [row.exemplars[0] for row in some]
    found = []
    for name, system in systems.items():
        network: Any = getattr(system, "model", system)
        system.decode(sources[:1], likes[:1])  # what is loaded or compiled at first is no cost of a sentence
        begun = time.perf_counter()
        system.decode(sources, likes)
        seconds = (time.perf_counter() - begun) / len(some)
        about = signature(rows=len(some), threads=torch.get_num_threads(), device=str(system.device))
        parameters = sum(parameter.numel() for parameter in network.parameters())
        found.append(Score("parameters, millions", parameters / 1e6, signature(frozen=False), system=name, digits=2))
        found.append(Score("seconds a sentence", seconds, about, system=name, digits=4))
    return tuple(found)
