"""A small reader: where in a text the answer to a question stands, over frozen vectors of words."""

from paraform.models.reader.config import ReaderConfig
from paraform.models.reader.network import Reader
from paraform.models.reader.update import make_update

__all__ = ["Reader", "ReaderConfig", "make_update"]
