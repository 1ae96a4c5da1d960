"""CRL-EGPG's rivals as rows of its tables: the same pairs, exemplars, sticks and, by a beam of its own, decoding.

    paraform reproduce crl/table2 --scale small --corpus quora --data ../shared/data --out runs/crl \
        --row full "full, beam 4" SCPN "SCPN, beam 4" "SCPN, whole parse" SGCP-F SGCP-R "SGCP-R, beam 4" CGEN VGVAE \
        seq2seq --seq2seq ../bart-base

A row is a system's name, of SCPN perhaps ", whole parse" (the exemplar's, in its template's place, by the same
weights), and perhaps ", beam 4". Of SGCP the exemplar's tree is read whole, SGCP-F, or at several heights, of whose
outputs the one nearest the source is kept, SGCP-R, by the same weights. What has the same weights is trained once.
VGVAE is CGEN without latent codes, word noise and the word position loss. seq2seq is a model of the user's own, trained
AESOP's way; without the folder that it starts from the row is left out.

Running time on one core: smoke, a minute; small, five to ten minutes a row, and twenty minutes for what all say
of 3,001 questions. Expected figures: docs/results/rivals.md.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from paraform.models.seq2seq import Seq2SeqConfig
from paraform.records import InputError, Pair
from paraform.syntax.heights import Choice
from paraform.trainers.seq2seq import train_seq2seq
from paraform.training import Result
from paraform.weights import PathLike
from paraform_papers.crl.data import Corpus, Scale
from paraform_papers.rivals.scpn import ScpnConfig
from paraform_papers.rivals.scpn.trainer import train_scpn
from paraform_papers.rivals.sgcp import SgcpConfig
from paraform_papers.rivals.sgcp.trainer import train_sgcp
from paraform_papers.rivals.vgvae import VgvaeConfig
from paraform_papers.rivals.vgvae.trainer import train_vgvae


class FromFolder(NamedTuple):
    """A seq2seq's setting, and the folder of the model that it starts from."""

    config: Seq2SeqConfig
    start: PathLike | None


Rival: TypeAlias = ScpnConfig | SgcpConfig | VgvaeConfig | FromFolder

RIVALS = ("SCPN", "SGCP", "CGEN", "VGVAE", "seq2seq")
HEIGHTS: dict[str, Choice] = {"SGCP-F": "full", "SGCP-R": "best"}
WAY = re.compile(r"(?P<trained>.+?)(?P<whole>, whole parse)?(?:, beam (?P<beam>[1-9]\d{0,2}))?")


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


def config_of(system: str, scale: Scale, corpus: Corpus, start: PathLike | None = None) -> Rival:
    """A rival's setting at a scale, beside CRL-EGPG's of `crl_rows.setting`: as many pairs, epochs and rare words.

    Args:
        start: the folder of the model that a seq2seq starts from.
    """
    quora = corpus == "quora"
    if system == "seq2seq":
        return FromFolder(seq2seq_of(scale, quora=quora), start)
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


def seq2seq_of(scale: Scale, *, quora: bool) -> Seq2SeqConfig:
    """AESOP's setting; at less than full scale a small one, for a small model."""
    if scale == "smoke":
        return Seq2SeqConfig.compact(epochs=1)
    if scale == "small":
        return Seq2SeqConfig.compact(epochs=2 if quora else 3)
    return Seq2SeqConfig.compact(epochs=2) if scale == "long" else Seq2SeqConfig.paper()


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


def with_weights(rows: Mapping[str, Row], start: PathLike | None) -> dict[str, Row]:
    """The rows that can be trained: seq2seq's only with a folder to start from; a warning names what is left out."""
    kept = {name: row for name, row in rows.items() if row.trained != "seq2seq" or start is not None}
    for name in rows.keys() - kept.keys():
        logging.getLogger("paraform").warning("row %s is left out: no model to start from (--seq2seq FOLDER)", name)
    return kept


def train_rival(config: Rival, pairs: Iterable[Pair], folder: PathLike, **given: Any) -> Result:
    """Train the system that the configuration is of.

    Args:
        given: arguments that all trainers have.
    Raises: InputError for a seq2seq without a folder to start from.
    """
    if isinstance(config, FromFolder):
        if config.start is None:
            raise InputError("row 'seq2seq' without a model to start from; expected its folder (--seq2seq FOLDER)")
        return train_seq2seq(pairs, folder, model=config.start, config=config.config, **given)
    if isinstance(config, SgcpConfig):
        return train_sgcp(pairs, folder, config=config, **given)
    if isinstance(config, VgvaeConfig):
        return train_vgvae(pairs, folder, config=config, **given)
    return train_scpn(pairs, folder, config=config, **given)
