"""SGCP: syntax-guided controlled generation of paraphrases (Kumar et al. 2020)."""

from paraform_papers.rivals.sgcp.config import SgcpConfig
from paraform_papers.rivals.sgcp.paraphraser import SgcpParaphraser
from paraform_papers.rivals.sgcp.update import make_update

__all__ = ["SgcpConfig", "SgcpParaphraser", "make_update"]
