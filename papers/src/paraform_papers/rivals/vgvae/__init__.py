"""VGVAE and CGEN: what a sentence says on a sphere, and how it says it in a Gaussian (Chen et al. 2019)."""

from paraform_papers.rivals.vgvae.autoencoder import Vgvae
from paraform_papers.rivals.vgvae.config import VgvaeConfig
from paraform_papers.rivals.vgvae.update import make_update

__all__ = ["Vgvae", "VgvaeConfig", "make_update"]
