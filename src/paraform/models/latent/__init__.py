"""The latent-variable family: one text autoencoder, thirteen objectives (clVAE, Teng et al. 2022)."""

from paraform.models.latent.config import OBJECTIVES, LatentConfig
from paraform.models.latent.language_model import LatentLanguageModel
from paraform.models.latent.update import make_update

__all__ = ["OBJECTIVES", "LatentConfig", "LatentLanguageModel", "make_update"]
