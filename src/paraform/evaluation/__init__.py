"""Figures that carry their settings. Evaluation knows callables and no model class."""

from paraform.evaluation.bleu import bleu
from paraform.evaluation.bootstrap import Comparison, paired_bootstrap
from paraform.evaluation.diversity import distinct_n
from paraform.evaluation.generation import copy_exemplar, copy_source, evaluate_generation
from paraform.evaluation.meteor import meteor
from paraform.evaluation.protocols import GenerationRow, blind_exemplars
from paraform.evaluation.report import GenerationReport, Outputs, compare
from paraform.evaluation.rouge import rouge
from paraform.evaluation.style import StyleReport, evaluate_style
from paraform.evaluation.syntax import evaluate_syntax
from paraform.score import Score, table

__all__ = [
    "Comparison",
    "GenerationReport",
    "GenerationRow",
    "Outputs",
    "Score",
    "StyleReport",
    "bleu",
    "blind_exemplars",
    "compare",
    "copy_exemplar",
    "copy_source",
    "distinct_n",
    "evaluate_generation",
    "evaluate_style",
    "evaluate_syntax",
    "meteor",
    "paired_bootstrap",
    "rouge",
    "table",
]
