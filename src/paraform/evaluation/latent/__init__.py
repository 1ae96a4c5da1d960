"""Estimators for latent-variable models of text, which are bounds when they say that they are."""

from paraform.evaluation.latent.bounds import Fitted, importance_bound
from paraform.evaluation.latent.critics import DualKL, refitted_dual
from paraform.evaluation.latent.information import active_units, most_information, mutual_information
from paraform.evaluation.latent.monitor import alarms, watch
from paraform.evaluation.latent.protocol import Drawn, LatentModel, draw, log_likelihood, log_prior

__all__ = [
    "Drawn",
    "DualKL",
    "Fitted",
    "LatentModel",
    "active_units",
    "alarms",
    "draw",
    "importance_bound",
    "log_likelihood",
    "log_prior",
    "most_information",
    "mutual_information",
    "refitted_dual",
    "watch",
]
