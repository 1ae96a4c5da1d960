"""sp-average: sentence vectors that are averages of subword vectors, trained on paraphrases (Wieting et al. 2021)."""

from paraform.models.averaged.config import AveragedConfig
from paraform.models.averaged.encoder import AveragedEncoder
from paraform.models.averaged.update import make_update

__all__ = ["AveragedConfig", "AveragedEncoder", "make_update"]
