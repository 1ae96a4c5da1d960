"""Estimators for latent-variable models of text, which are bounds when they say that they are."""

from paraform.evaluation.latent.bounds import bound_by_a_quarter, importance_bound, log_weights
from paraform.evaluation.latent.critics import DualKL, refitted_dual
from paraform.evaluation.latent.estimates import Estimates, estimate
from paraform.evaluation.latent.information import active_units, batch_information, most_information, mutual_information
from paraform.evaluation.latent.memorization import Neighbour, nearest_sentences
from paraform.evaluation.latent.monitor import alarms, validate, validations
from paraform.evaluation.latent.ngram import NgramPerplexities, ngram_perplexities, with_ngrams
from paraform.evaluation.latent.plots import collapse_figure, draw_collapse, protocols_figure, save_figure
from paraform.evaluation.latent.proposals import GaussianProposal, Mixture, adapted, tempered
from paraform.evaluation.latent.protocol import Drawn, LatentModel, draw, is_implicit, log_likelihood, log_prior
from paraform.evaluation.latent.report import (
    LatentReport,
    SentenceBounds,
    compare_latent,
    evaluate_latent,
    side_by_side,
)

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
    "collapse_figure",
    "compare_latent",
    "draw",
    "draw_collapse",
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
    "protocols_figure",
    "refitted_dual",
    "save_figure",
    "side_by_side",
    "tempered",
    "validate",
    "validations",
    "with_ngrams",
]
