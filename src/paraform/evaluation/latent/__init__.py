"""Estimators for latent-variable models of text, which are bounds when they say that they are."""

from paraform.evaluation.latent.adaptation import Mixture, adapted
from paraform.evaluation.latent.bounds import (
    GaussianProposal,
    bound_by_a_quarter,
    importance_bound,
    log_weights,
    tempered,
)
from paraform.evaluation.latent.comparison import compare_latent, side_by_side
from paraform.evaluation.latent.critics import DualKL, refitted_dual
from paraform.evaluation.latent.estimates import Estimates, estimate
from paraform.evaluation.latent.information import (
    active_units,
    batch_information,
    most_information,
    mutual_information,
)
from paraform.evaluation.latent.memory import Neighbour, nearest_sentences
from paraform.evaluation.latent.monitor import alarms, watch
from paraform.evaluation.latent.ngram import NgramPerplexities, ngram_perplexities
from paraform.evaluation.latent.protocol import Drawn, LatentModel, draw, is_implicit, log_likelihood, log_prior
from paraform.evaluation.latent.report import LatentReport, SentenceBounds, evaluate_latent
from paraform.evaluation.latent.watched import draw_watched, validations, watched_figure

__all__ = [
    "Drawn",
    "DualKL",
    "Estimates",
    "GaussianProposal",
    "LatentModel",
    "LatentReport",
    "Mixture",
    "Neighbour",
    "NgramPerplexities",
    "SentenceBounds",
    "active_units",
    "adapted",
    "alarms",
    "batch_information",
    "bound_by_a_quarter",
    "compare_latent",
    "draw",
    "draw_watched",
    "estimate",
    "evaluate_latent",
    "importance_bound",
    "is_implicit",
    "log_likelihood",
    "log_prior",
    "log_weights",
    "most_information",
    "mutual_information",
    "nearest_sentences",
    "ngram_perplexities",
    "refitted_dual",
    "side_by_side",
    "tempered",
    "validations",
    "watch",
    "watched_figure",
]
