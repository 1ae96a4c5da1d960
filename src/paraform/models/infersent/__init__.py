"""InferSent: sentence vectors of a BiLSTM with max pooling, trained on entailment (Conneau et al. 2017)."""

from paraform.models.infersent.config import InferSentConfig
from paraform.models.infersent.encoder import InferSent
from paraform.models.infersent.update import make_update

__all__ = ["InferSent", "InferSentConfig", "make_update"]
