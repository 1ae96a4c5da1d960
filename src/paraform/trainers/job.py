"""What every training does: look at all that it is given, hold pairs out, run the loop, write what it was trained on.

A trainer's own file says what differs: its tables, its model, how that is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import torch

from paraform.batching.epochs import Batching
from paraform.models.update import State, Update
from paraform.records import (
    InputError,
    Pair,
    require_callable,
    require_count,
    require_kind,
    require_text,
    require_texts,
    several,
)
from paraform.trainers import RunOptions
from paraform.trainers.held_out import Divided, divided
from paraform.training import Result, TrainingConfig, fit, make_accelerator, require_metric, require_usable
from paraform.training.config import require_packages
from paraform.weights import PathLike, require_path


@dataclass(frozen=True)
class Job:
    """One training, as it was asked for; `Job.of` makes it.

    Args:
        folder: the run's.
        config, loop, validation, against, card, data_digests, resume: as `RunOptions` has them.
        shares, development: as `train_disentangled` has them.
    """

    folder: PathLike
    config: Any
    loop: TrainingConfig
    validation: Iterable[Any] | None
    against: list[str]
    card: str
    data_digests: Mapping[str, str]
    resume: bool
    shares: Sequence[float]
    development: Callable[[Any], Mapping[str, float]] | None

    @classmethod
    def of(
        cls,
        model: type[Any],
        folder: PathLike,
        usual: object,
        usual_loop: TrainingConfig,
        metrics: Mapping[str, bool] | Callable[[Any], Mapping[str, bool]],
        *,
        loop_of: Callable[[Any, TrainingConfig], TrainingConfig] | None = None,
        shares: Sequence[float] = (),
        development: Callable[[Any], Mapping[str, float]] | None = None,
        validation_rows: int = 1,
        **options: Unpack[RunOptions[Any, Any]],
    ) -> Job:
        """The job, once all arguments have been looked at: nothing is made or computed for those that cannot be.

        Args:
            model: the system's class.
            usual, usual_loop: the config and the loop, if `options` have none.
            metrics: what a validation gives, and whether higher is better, or what tells so of a config; "development"
                needs a `development`.
            loop_of: as `Trainer` has it.
            shares, development: as `train_disentangled` has them.
            validation_rows: pairs that are paraphrased for the validation's BLEU.
        Raises: InputError for the first that cannot be, or a folder that holds another run. TypeError for an option
            that is none.
        """
        if unknown := options.keys() - RunOptions.__annotations__.keys():
            raise TypeError(f"no option {min(unknown)!r}; expected one of {', '.join(RunOptions.__annotations__)}")
        config, loop = options.get("config"), options.get("loop", usual_loop)
        config = usual if config is None else config
        card, digests = options.get("card", ""), options.get("data_digests")
        require_path(folder)
        require_kind(config, model.config_class, "config")
        require_kind(loop, TrainingConfig, "loop")
        require_text(card, "card")
        require_kind(digests, (Mapping, type(None)), "data_digests")
        for name, digest in (digests or {}).items():
            require_text(name, "a name in data_digests")
            require_text(digest, f"the digest of {name}")
        require_kind(shares, Sequence, "shares")
        for share in shares:
            if isinstance(share, bool) or not isinstance(share, (int, float)):
                raise InputError(f"a share is of type {type(share).__name__}; expected a number")
        if development is not None:
            require_callable(development, "development")
        against = require_texts(iter(several(options.get("against", ()), "against")))
        require_packages()
        loop = loop_of(config, loop) if loop_of else loop
        found = metrics(config) if callable(metrics) else metrics
        require_metric(loop, {name: higher for name, higher in found.items() if name != "development" or development})
        resume = options.get("resume", False)
        require_usable(folder, model.system, config, resume=resume)
        require_count(validation_rows, "validation_rows", 1)
        return cls(
            folder=folder,
            config=config,
            loop=loop,
            validation=options.get("validation"),
            against=against,
            card=card,
            data_digests=digests or {},
            resume=resume,
            shares=shares,
            development=development,
        )

    @cached_property
    def accelerator(self) -> Any:
        """Of the loop's device and precision; seeds everything."""
        return make_accelerator(self.loop)

    @property
    def batching(self) -> Batching:
        """How tables make batches: the config's size, the loop's seed, and this process's part."""
        one = self.accelerator
        return Batching(
            batch_size=self.config.batch_size, seed=self.loop.seed, rank=one.process_index, world=one.num_processes
        )

    def divided(self, pairs: Iterable[Pair], *, labelled: bool = False) -> Divided:
        """Pairs to train on and to validate by, as `held_out.divided` has them."""
        shared, seed = bool(self.shares), self.loop.seed
        return divided(pairs, self.validation, self.against, seed=seed, labelled=labelled, shared=shared)

    def scoring(self, model: Any, evaluate: Callable[[], Mapping[str, float]]) -> Callable[[], Mapping[str, float]]:
        """What gives the validation's scores, those of `development` among them."""
        if (further := self.development) is None:
            return evaluate

        @torch.inference_mode()
        def both() -> Mapping[str, float]:
            return {**evaluate(), **further(model)}

        return both

    def run(
        self,
        model: Any,
        made: tuple[Update, State],
        batches: Callable[[int], Any],
        evaluate: Callable[[], Mapping[str, float]],
        *,
        digests: Mapping[str, str],
        epoch: int = 0,
        steps: int = 0,
        **changed: Any,
    ) -> Result:
        """Train, and keep the best in `folder/best`.

        Args:
            made: what `make_update` gave.
            digests: of what is trained on, beside `data_digests`.
            epoch: the steps of one; 0: there are none.
            steps: of the run; 0: `config.epochs` of them.
            changed: fields of the loop that this system sets.
        """
        return fit(
            model,
            *made,
            batches,
            folder=self.folder,
            config=replace(self.loop, steps=steps or self.config.epochs * epoch, **changed),
            accelerator=self.accelerator,
            evaluate=self.scoring(model, evaluate),
            epoch=epoch,
            card=self.card,
            data_digests={**self.data_digests, **digests},
            resume=self.resume,
        )
