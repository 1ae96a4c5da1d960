"""PAR: words that stay put when a sentence is reworded, by one matrix before a frozen encoder (Shi et al. 2019)."""

from paraform.models.retrofit.config import RetrofitConfig
from paraform.models.retrofit.encoder import RetrofittedEncoder
from paraform.models.retrofit.folding import fold
from paraform.models.retrofit.update import make_update

__all__ = ["RetrofitConfig", "RetrofittedEncoder", "fold", "make_update"]
