"""ParaBART: sentence vectors that keep meaning and drop form, and paraphrase by syntax (Huang et al. 2021)."""

from paraform.models.disentangled.config import DisentangledConfig
from paraform.models.disentangled.paraphraser import DisentangledParaphraser
from paraform.models.disentangled.update import make_update

__all__ = ["DisentangledConfig", "DisentangledParaphraser", "make_update"]
