"""A seq2seq model of the user's own, told a form by trees (AESOP's way, Sun et al. 2021)."""

from paraform.models.seq2seq.config import Seq2SeqConfig
from paraform.models.seq2seq.paraphraser import Seq2SeqParaphraser
from paraform.models.seq2seq.update import make_update

__all__ = ["Seq2SeqConfig", "Seq2SeqParaphraser", "make_update"]
