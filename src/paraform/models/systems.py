"""The table of systems: what a new one is entered in."""

from __future__ import annotations

from typing import NamedTuple


class System(NamedTuple):
    """A system NAME lives in `models/NAME`, and is trained by the `TRAINER` of `trainers/NAME`.

    Args:
        model: the class in `models/NAME` that a checkpoint is restored to.
        trains: the line of `paraform train NAME` in the overview of commands.
    """

    model: str
    trains: str


SYSTEMS = {
    "averaged": System("AveragedEncoder", "train sp-average, a mean of subword vectors, on pairs"),
    "disentangled": System("DisentangledParaphraser", "train ParaBART on pairs"),
    "exemplar": System("ExemplarParaphraser", "train CRL-EGPG on pairs"),
    "infersent": System("InferSent", "train InferSent, a BiLSTM over frozen words, on entailment"),
    "latent": System("LatentLanguageModel", "train a VAE, an iVAE, a clVAE … on sentences"),
    "retrofit": System("RetrofittedEncoder", "train PAR, one matrix before an encoder, on pairs"),
    "scpn": System("ScpnParaphraser", "train SCPN, which takes form from templates, on pairs"),
    "seq2seq": System("Seq2SeqParaphraser", "train a seq2seq of your own (BART, T5 …) by trees, on pairs"),
    "sgcp": System("SgcpParaphraser", "train SGCP, which takes form from exemplars' trees, on pairs"),
    "vgvae": System("Vgvae", "train VGVAE or CGEN, meaning and form apart, on pairs"),
}
