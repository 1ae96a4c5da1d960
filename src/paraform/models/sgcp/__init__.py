"""SGCP: syntax-guided controlled generation of paraphrases (Kumar et al. 2020)."""

from paraform.models.sgcp.config import SgcpConfig
from paraform.models.sgcp.paraphraser import SgcpParaphraser
from paraform.models.sgcp.update import make_update

__all__ = ["SgcpConfig", "SgcpParaphraser", "make_update"]
