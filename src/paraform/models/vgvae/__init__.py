"""VGVAE and CGEN: what a sentence says on a sphere, and how it says it in a Gaussian (Chen et al. 2019)."""

from paraform.models.vgvae.autoencoder import Vgvae
from paraform.models.vgvae.config import VgvaeConfig
from paraform.models.vgvae.update import make_update

__all__ = ["Vgvae", "VgvaeConfig", "make_update"]
