"""Sentences that look like another and say something else, of every kind that a rewording goes wrong in."""

from paraform.rewording.negatives.altered import Altered
from paraform.rewording.negatives.kinds import HELD_OUT, KINDS, negatives

__all__ = ["HELD_OUT", "KINDS", "Altered", "negatives"]
