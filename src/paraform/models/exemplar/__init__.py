"""CRL-EGPG: exemplar-guided paraphrase generation (Yang et al. 2021)."""

from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.paraphraser import ExemplarParaphraser
from paraform.models.exemplar.update import make_update

__all__ = ["ExemplarConfig", "ExemplarParaphraser", "make_update"]
