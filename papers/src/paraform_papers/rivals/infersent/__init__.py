"""InferSent: sentence vectors of a BiLSTM with max pooling, trained on entailment (Conneau et al. 2017)."""

from paraform_papers.rivals.infersent.config import InferSentConfig
from paraform_papers.rivals.infersent.encoder import InferSent
from paraform_papers.rivals.infersent.update import make_update

__all__ = ["InferSent", "InferSentConfig", "make_update"]
