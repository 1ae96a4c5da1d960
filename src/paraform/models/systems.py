"""The systems that are here, and those that other distributions add (`extensions`)."""

from __future__ import annotations

import pkgutil
from typing import Any, NamedTuple

from paraform.extensions import LABORATORY, extensions, loaded
from paraform.records import InputError

GROUP = "paraform.systems"


class System(NamedTuple):
    """What a name stands for in checkpoints and in `paraform train NAME`.

    Args:
        model: "module:Class" that a checkpoint is restored to (`checkpoint.Restores`).
        trainer: "module:TRAINER" that trains it (`trainers.Trainer`); imported when it is asked for. "": `paraform
            train` does not train it.
        trains: the line of `paraform train NAME` in the overview of commands; "" without a trainer.
    """

    model: str
    trainer: str = ""
    trains: str = ""


SYSTEMS = {
    name: System(f"paraform.models.{name}:{model}", f"paraform.trainers.{name}:TRAINER", trains)
    for name, model, trains in (
        ("disentangled", "DisentangledParaphraser", "train ParaBART on pairs"),
        ("exemplar", "ExemplarParaphraser", "train CRL-EGPG on pairs"),
        ("judge", "MeaningJudge", "train a judge of whether two texts say the same, on labelled pairs"),
        ("latent", "LatentLanguageModel", "train a VAE, an iVAE, a clVAE … on sentences"),
        ("lm", "LMParaphraser", "train a language model (smollm2, or your own) to paraphrase, on pairs"),
        ("retrofit", "RetrofittedEncoder", "train PAR, one matrix before an encoder, on pairs"),
        ("seq2seq", "Seq2SeqParaphraser", "train a seq2seq of your own (BART, T5 …) by trees, on pairs"),
    )
}
ELSEWHERE = ("averaged", "infersent", "scpn", "sgcp", "vgvae")  # in the laboratory; version 0.1.0 had them here


def system_names() -> list[str]:
    """Those that are here, and those that are installed beside it."""
    return [*SYSTEMS, *(name for name in extensions(GROUP) if name not in SYSTEMS)]


def system_named(name: str) -> System:
    """The system of that name. Raises: InputError if there is none, saying which package has it if we know."""
    if name in SYSTEMS:
        return SYSTEMS[name]
    if (point := extensions(GROUP).get(name)) is not None:
        found: System = loaded(point, System)
        return found
    if name in ELSEWHERE:
        raise InputError(f"system {name!r} is in {LABORATORY}, which is not installed: pip install {LABORATORY}")
    raise InputError(f"system {name!r}; expected one of {', '.join(sorted(system_names()))}")


def named_by(place: str) -> Any:
    """What "module:NAME" names; the module is imported. Raises: InputError if it is not there."""
    try:
        return pkgutil.resolve_name(place)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{place} cannot be imported: {error}") from error
