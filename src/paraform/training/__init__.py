"""The one loop: logging, validation, checkpoints, resuming, early stop."""

from paraform.training.config import TrainingConfig, make_accelerator
from paraform.training.loop import Result, fit

__all__ = ["Result", "TrainingConfig", "fit", "make_accelerator"]
