"""Say a text in other words: candidates, what each must keep of its source, and which is best."""

from paraform.rewording.records import Candidate, Rewording

__all__ = ["Candidate", "Rewording"]
