"""SCPN: syntactically controlled paraphrase networks (Iyyer et al. 2018)."""

from paraform.models.scpn.config import ScpnConfig
from paraform.models.scpn.paraphraser import ScpnParaphraser
from paraform.models.scpn.update import make_update

__all__ = ["ScpnConfig", "ScpnParaphraser", "make_update"]
