"""What the entry points of `pyproject.toml` name: light, so that `paraform --help` imports nothing else."""

from __future__ import annotations

from paraform.cli import Command
from paraform.models.systems import System


def _rival(name: str, model: str, trains: str) -> System:
    return System(f"paraform_papers.rivals.{name}:{model}", f"paraform_papers.rivals.{name}.trainer:TRAINER", trains)


AVERAGED = _rival("averaged", "AveragedEncoder", "train sp-average, a mean of subword vectors, on pairs")
INFERSENT = _rival("infersent", "InferSent", "train InferSent, a BiLSTM over frozen words, on entailment")
SCPN = _rival("scpn", "ScpnParaphraser", "train SCPN, which takes form from templates, on pairs")
SGCP = _rival("sgcp", "SgcpParaphraser", "train SGCP, which takes form from exemplars' trees, on pairs")
VGVAE = _rival("vgvae", "Vgvae", "train VGVAE or CGEN, meaning and form apart, on pairs")

RELATEDNESS = Command("paraform_papers.par.evaluate_relatedness", "SICK-R by a tree-LSTM, as PAR's paper has it")
REPRODUCE = Command("paraform_papers.reproduce", "a table of a paper")
