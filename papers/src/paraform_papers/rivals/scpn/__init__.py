"""SCPN: syntactically controlled paraphrase networks (Iyyer et al. 2018)."""

from paraform_papers.rivals.scpn.config import ScpnConfig
from paraform_papers.rivals.scpn.paraphraser import ScpnParaphraser
from paraform_papers.rivals.scpn.update import make_update

__all__ = ["ScpnConfig", "ScpnParaphraser", "make_update"]
