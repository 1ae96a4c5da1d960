"""CRL-EGPG's rivals as rows of its tables: the same pairs, exemplars, measures and, by a beam of its own, decoding.

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
from paraform_papers.crl.data import Corpus
from paraform_papers.rivals.scpn import ScpnConfig
from paraform_papers.rivals.scpn.trainer import train_scpn
from paraform_papers.rivals.sgcp import SgcpConfig
from paraform_papers.rivals.sgcp.trainer import train_sgcp
from paraform_papers.rivals.vgvae import VgvaeConfig
from paraform_papers.rivals.vgvae.trainer import train_vgvae
from paraform_papers.tables import Scale


class FromFolder(NamedTuple):
    """A seq2seq's setting, and the folder of the model that it starts from."""

    config: Seq2SeqConfig
    start: PathLike | None


Rival: TypeAlias = ScpnConfig | SgcpConfig | VgvaeConfig | FromFolder

HEIGHTS: dict[str, Choice] = {"SGCP-F": "full", "SGCP-R": "best"}
NAMED = re.compile(r"(?P<trained>.+?)(?P<whole>, whole parse)?(?:, beam (?P<beam>[1-9]\d{0,2}))?")


class Setting(NamedTuple):
    """A rival's config class, and its fields: of smoke, of small, of long, and of every scale.

    seq2seq's is AESOP's; at less than full scale a small one, for a small model.
    """

    kind: Any
    tiny: Mapping[str, Any]
    small: Mapping[str, Any]
    long: Mapping[str, Any]
    always: Mapping[str, Any] = {}


TINY = {"batch_size": 32, "min_count": 1, "word_width": 32}
WIDTHS = {"encoder_width": 16, "decoder_width": 32}
LONG = {"batch_size": 128}
SMALL = {"dropout": 0.1, **LONG}
CGEN = Setting(
    VgvaeConfig, {**TINY, **WIDTHS, "semantic_width": 16, "syntax_width": 16, "word_vectors": "random"}, {}, {}
)
SETTINGS = {
    "SCPN": Setting(ScpnConfig, {**TINY, **WIDTHS, "generator_width": 32}, SMALL, LONG),
    "SGCP": Setting(SgcpConfig, {**TINY, "width": 32}, SMALL, LONG),
    "CGEN": CGEN,
    # the same network, without what CGEN adds
    "VGVAE": CGEN._replace(always={"latent_codes": False, "word_noise": 0.0, "position_weight": 0.0}),
    "seq2seq": Setting(Seq2SeqConfig, {}, {}, {}),
}
RIVALS = tuple(SETTINGS)
TRAINERS = {ScpnConfig: train_scpn, SgcpConfig: train_sgcp, VgvaeConfig: train_vgvae}


class Way(NamedTuple):
    """What a row's name asks for: which system, by the exemplar's whole parse or not, the hypotheses kept, and how an
    exemplar's tree is cut, if it is."""

    trained: str
    whole: bool
    beam: int
    height: Choice | None = None


def way_of(name: str) -> Way:
    """What that name asks for. Raises: InputError for the whole parse of a system that reads none."""
    found = NAMED.fullmatch(name)
    if found is None:
        return Way(name, False, 1)  # which no system is called
    system, height = found["trained"], HEIGHTS.get(found["trained"])
    if found["whole"] and system != "SCPN":
        raise InputError(f"row {name!r}: {system} has no template that a parse stands for; expected SCPN")
    return Way("SGCP" if height else system, bool(found["whole"]), int(found["beam"] or 1), height)


def config_of(system: str, scale: Scale, corpus: Corpus, start: PathLike | None = None) -> Rival:
    """A rival's setting at a scale, beside CRL-EGPG's of `crl.rows.setting`: as many pairs, epochs and rare words.

    Args:
        start: the folder of the model that a seq2seq starts from.
    """
    setting = SETTINGS[system]
    if scale == "full":
        config = setting.kind.paper(**setting.always)
    elif scale == "smoke":
        config = setting.kind.compact(**setting.tiny, epochs=1, **setting.always)
    elif scale == "small":
        config = setting.kind.compact(**setting.small, epochs=2 if corpus == "quora" else 3, **setting.always)
    else:
        config = setting.kind.compact(**setting.long, epochs=2, **setting.always)
    found: Rival = FromFolder(config, start) if system == "seq2seq" else config
    return found


def with_weights(rows: Mapping[str, Way], start: PathLike | None) -> dict[str, Way]:
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
    train: Any = TRAINERS[type(config)]
    result: Result = train(pairs, folder, config=config, **given)
    return result
