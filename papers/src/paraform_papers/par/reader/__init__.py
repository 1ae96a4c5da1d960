"""A small reader: where in a text the answer to a question stands, over frozen vectors of words."""

from paraform_papers.par.reader.config import ReaderConfig
from paraform_papers.par.reader.network import Reader
from paraform_papers.par.reader.update import make_update

__all__ = ["Reader", "ReaderConfig", "make_update"]
