"""CRL-EGPG's rivals as rows of its tables: the same pairs, exemplars, sticks and, by a beam of its own, decoding.

    paraform reproduce crl/table2 --scale small --corpus quora --data ../shared/data --out runs/crl \
        --row full "full, beam 4" SCPN "SCPN, beam 4" "SCPN, whole parse" SGCP-F SGCP-R "SGCP-R, beam 4" CGEN VGVAE

A row is a system's name, of SCPN perhaps ", whole parse" (the exemplar's, in its template's place, by the same
weights), and perhaps ", beam 4". Of SGCP the exemplar's tree is read whole, SGCP-F, or at several heights, of whose
outputs the one nearest the source is kept, SGCP-R, by the same weights. What has the same weights is trained once.
VGVAE is CGEN without latent codes, word noise and the word position loss.

Running time on one core: smoke, a minute; small, about ten minutes by an estimate (SCPN, CGEN and VGVAE 250 steps of a
second, SGCP 500 of half a second, and parsing or tagging). Expected figures: none yet, since no row was trained at
length.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, Unpack

import torch

from paraform.capabilities import Paraphraser
from paraform.decoding import Decoding
from paraform.evaluation.protocols import GenerationRow
from paraform.models.scpn import ScpnConfig, ScpnParaphraser
from paraform.models.sgcp import SgcpConfig, SgcpParaphraser
from paraform.models.sgcp.heights import Choice
from paraform.models.vgvae import VgvaeConfig
from paraform.recipes.crl_data import Corpus, Scale
from paraform.records import InputError, Pair
from paraform.score import Score, signature
from paraform.trainers.scpn import train_scpn
from paraform.trainers.sgcp import train_sgcp
from paraform.trainers.vgvae import train_vgvae
from paraform.training import Result
from paraform.weights import PathLike

Rival: TypeAlias = ScpnConfig | SgcpConfig | VgvaeConfig

RIVALS = ("SCPN", "SGCP", "CGEN", "VGVAE")
HEIGHTS: dict[str, Choice] = {"SGCP-F": "full", "SGCP-R": "best"}
WAY = re.compile(r"(?P<trained>.+?)(?P<whole>, whole parse)?(?:, beam (?P<beam>[1-9]\d{0,2}))?")
TIMED = 200  # rows that are said once more, for the time that they take


class Row(NamedTuple):
    """What a row's name asks for: which system, by the exemplar's whole parse or not, the hypotheses kept, and how an
    exemplar's tree is cut, if it is."""

    trained: str
    whole: bool
    beam: int
    height: Choice | None = None


def row_of(name: str) -> Row:
    """What that name asks for. Raises: InputError for the whole parse of a system that reads none."""
    found = WAY.fullmatch(name)
    if found is None:
        return Row(name, False, 1)  # which no system is called
    system, height = found["trained"], HEIGHTS.get(found["trained"])
    if found["whole"] and system != "SCPN":
        raise InputError(f"row {name!r}: {system} has no template that a parse stands for; expected SCPN")
    return Row("SGCP" if height else system, bool(found["whole"]), int(found["beam"] or 1), height)


def config_of(system: str, scale: Scale, corpus: Corpus) -> Rival:
    """A rival's setting at a scale, beside CRL-EGPG's of `crl_table2.setting`: as many pairs, epochs and rare words."""
    quora = corpus == "quora"
    if system in ("CGEN", "VGVAE"):
        return vgvae_of(system, scale, quora=quora)
    if system == "SGCP":
        if scale == "smoke":
            return SgcpConfig.compact(word_width=32, width=32, batch_size=32, epochs=1, min_count=1)
        if scale == "small":
            return SgcpConfig.compact(epochs=2 if quora else 3, dropout=0.1, batch_size=128)
        return SgcpConfig.compact(epochs=2, batch_size=128) if scale == "long" else SgcpConfig.paper()
    if scale == "smoke":
        widths = {"word_width": 32, "encoder_width": 16, "decoder_width": 32, "generator_width": 32}
        return ScpnConfig.compact(**widths, batch_size=32, epochs=1, min_count=1)
    if scale == "small":
        return ScpnConfig.compact(epochs=2 if quora else 3, dropout=0.1, batch_size=128)
    if scale == "long":
        return ScpnConfig.compact(epochs=2, batch_size=128)
    return ScpnConfig.paper()


def vgvae_of(row: str, scale: Scale, *, quora: bool) -> VgvaeConfig:
    """CGEN's setting, or VGVAE's, which is the same network and has not what CGEN adds."""
    without: dict[str, Any] = (
        {"latent_codes": False, "word_noise": 0.0, "position_weight": 0.0} if row == "VGVAE" else {}
    )
    if scale == "smoke":
        widths: dict[str, Any] = {
            "word_width": 32,
            "semantic_width": 16,
            "syntax_width": 16,
            "encoder_width": 16,
            "decoder_width": 32,
        }
        return VgvaeConfig.compact(**widths, batch_size=32, epochs=1, min_count=1, word_vectors="random", **without)
    if scale == "small":
        return VgvaeConfig.compact(epochs=2 if quora else 3, **without)
    if scale == "long":
        return VgvaeConfig.compact(epochs=2, **without)
    return VgvaeConfig.paper(**without)


def train_rival(config: Rival, pairs: Iterable[Pair], folder: PathLike, **given: Any) -> Result:
    """Train the system that the configuration is of.

    Args:
        given: arguments that all trainers have.
    """
    if isinstance(config, SgcpConfig):
        return train_sgcp(pairs, folder, config=config, **given)
    if isinstance(config, VgvaeConfig):
        return train_vgvae(pairs, folder, config=config, **given)
    return train_scpn(pairs, folder, config=config, **given)


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

    def decode(
        self, sources: Sequence[str], exemplars: Sequence[str], *, ration: bool | None = None, **how: Unpack[Decoding]
    ) -> list[str]:
        """Source i in the form of exemplar i."""
        said: list[str] = self.model.decode(sources, exemplars, ration=ration, **{**how, "beam": self.beam})
        return said

    def decoding_settings(self, *, ration: bool | None = None, **how: Unpack[Decoding]) -> dict[str, Any]:
        """What a signature says of it."""
        settings: dict[str, Any] = self.model.decoding_settings(ration=ration, **{**how, "beam": self.beam})
        return settings


def writing(model: Any, row: Row) -> Any:
    """The loaded model as the row has it write; itself, with any vectors that it has, if that is greedily."""
    if row.whole and isinstance(model, ScpnParaphraser):
        model.config = replace(model.config, exemplar_form="parse")
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
