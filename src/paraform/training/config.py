"""When the loop does what, and on what machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from paraform.encoders.torch_settings import asked_dtype
from paraform.extensions import needed
from paraform.fields import require_types
from paraform.records import InputError


@dataclass(frozen=True)
class TrainingConfig:
    """When the loop does what. A resumed run must have the same, but for the last four fields.

    Args:
        steps: optimisation steps of the whole run.
        seed: the seed of every generator when the run begins; process r gets seed + r.
        log_every: steps; a record is the mean of each term over the steps since the last one.
        evaluate_every: steps between validations; the last step is always followed by one.
        patience: validations without a better score after which the run ends; 0: never.
        average_last: share of the steps, at the end of the run, whose weights are averaged. From then on the mean is
            validated, and is what `best/` holds. 0: no mean (Izmailov et al. 2018).
        metric: the validation score that decides.
        higher_is_better: whether the best score is the highest; else the lowest.
        mixed_precision: "no" (float32) or "bf16": bfloat16 where it is safe, weights in float32; on a CPU in the
            factors of matrix products alone, and only if it is faster there or asked for. Where float32 products
            are asked for (`$PARAFORM_PRODUCTS`), it is "no".
        device: "auto" (the GPU if there is one), "cpu" or "cuda".
        checkpoint_every: steps between replacements of `last/`; the end of the run always makes one.
        tensorboard: whether to write TensorBoard's scalars.
        progress: a bar on stderr: "auto" (on a terminal; elsewhere a line a minute), "always" or "never".
    """

    steps: int = 1000
    seed: int = 0
    log_every: int = 50
    evaluate_every: int = 500
    patience: int = 0
    average_last: float = 0.0
    metric: str = "loss"
    higher_is_better: bool = False
    mixed_precision: str = "no"
    device: str = "auto"
    checkpoint_every: int = 500
    tensorboard: bool = True
    progress: str = "auto"

    def __post_init__(self) -> None:
        require_types(self)
        for name in ("steps", "log_every", "evaluate_every", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; expected at least 1")
        if self.patience < 0:
            raise InputError(f"patience is {self.patience}; expected 0 (never stop early) or more")
        if not 0 <= self.average_last <= 1:
            raise InputError(f"average_last is {self.average_last}; expected 0 (no mean) to 1 (of all steps)")
        allowed = {"mixed_precision": ("no", "bf16"), "device": ("auto", "cpu", "cuda")}
        for name, values in {**allowed, "progress": ("auto", "always", "never")}.items():
            if getattr(self, name) not in values:
                raise InputError(f"{name} is {getattr(self, name)!r}; expected one of {', '.join(values)}")

    def averaged(self, step: int) -> int:
        """How many steps' weights the mean has after that step."""
        return max(0, step - (self.steps - round(self.steps * self.average_last)))


def require_metric(config: TrainingConfig, known: Mapping[str, bool]) -> None:
    """What chooses the weights is one of a system's scores, and the right way round; asked before long preparations.

    Args:
        known: whether higher is better, by name.
    Raises: InputError if it is not.
    """
    if known.get(config.metric) is not config.higher_is_better:
        scores = ", ".join(f"{name} ({'higher' if higher else 'lower'} is better)" for name, higher in known.items())
        raise InputError(f"metric {config.metric!r}, higher_is_better {config.higher_is_better}; expected {scores}")


MAY_DIFFER = ("device", "checkpoint_every", "tensorboard", "progress")


def require_packages() -> None:
    """Raises: InputError, naming the extra, if a package is not installed that a training ends without."""
    for module in ("accelerate", "matplotlib", "tensorboard"):
        needed(module, "training", "train")


def make_accelerator(config: TrainingConfig) -> Any:
    """The `accelerate.Accelerator` of a run, and every generator seeded, so that the model can be built.

    One process, or as many as `accelerate launch` started; under FSDP as its configuration says.
    """
    require_packages()
    from accelerate import Accelerator
    from accelerate.utils import DistributedType, set_seed

    if config.device == "cuda" and not torch.cuda.is_available():
        raise InputError("device 'cuda': torch finds no GPU here; 'auto' or 'cpu' works")
    on_cpu = config.device == "cpu" or not torch.accelerator.is_available()  # there the loop sees to the precision
    precision = "no" if on_cpu or asked_dtype() == torch.float32 else config.mixed_precision
    accelerator = Accelerator(mixed_precision=precision, cpu=config.device == "cpu")
    if accelerator.distributed_type == DistributedType.FSDP and not accelerator.is_fsdp2:
        raise InputError("accelerate's fsdp_version is 1; set fsdp_version: 2 in its configuration")
    set_seed(config.seed)
    return accelerator
