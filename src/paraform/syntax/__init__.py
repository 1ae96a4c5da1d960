"""Words, tags, and the exemplars found by them."""

from paraform.syntax.annotation import annotate
from paraform.syntax.exemplars import ExemplarIndex, Match
from paraform.syntax.mining import Mined, mine
from paraform.syntax.rules import MiningConfig
from paraform.syntax.tagging import Tagger, load_tagger

__all__ = ["ExemplarIndex", "Match", "Mined", "MiningConfig", "Tagger", "annotate", "load_tagger", "mine"]
