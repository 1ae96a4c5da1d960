"""sp-average: sentence vectors that are averages of subword vectors, trained on paraphrases (Wieting et al. 2021)."""

from paraform_papers.rivals.averaged.config import AveragedConfig
from paraform_papers.rivals.averaged.encoder import AveragedEncoder
from paraform_papers.rivals.averaged.update import make_update

__all__ = ["AveragedConfig", "AveragedEncoder", "make_update"]
