"""Tags, and the exemplars found by them."""

from paraform.syntax.exemplars import ExemplarIndex, Match, MiningConfig
from paraform.syntax.mining import Mined, mine

__all__ = ["ExemplarIndex", "Match", "Mined", "MiningConfig", "mine"]
