"""The one loop: logging, validation, checkpoints, resuming, early stop."""

from paraform.training.config import TrainingConfig, make_accelerator, require_metric
from paraform.training.loop import Result, fit, require_usable
from paraform.training.run import text_digest

__all__ = ["Result", "TrainingConfig", "fit", "make_accelerator", "require_metric", "require_usable", "text_digest"]
