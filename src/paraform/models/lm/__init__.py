"""A language model that says a sentence in other words: adapters on a pretrained one, a guide where one is given."""

from paraform.models.lm.config import LMConfig
from paraform.models.lm.paraphraser import LMParaphraser
from paraform.models.lm.update import make_update

__all__ = ["LMConfig", "LMParaphraser", "make_update"]
