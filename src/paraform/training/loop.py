"""The one loop: `fit`. It owns time (logging, validation, checkpoints, resuming, early stop); a system owns `update`.

A run's folder holds `last/` (a checkpoint with `training.safetensors` and `training.json`, all of one step, replaced
as a whole), `best/` (the checkpoint with the best validation score), `log.jsonl`, `loss.png`, `tensorboard/` and
`run.lock`.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from paraform import manifest
from paraform.encoders import bfloat16_products
from paraform.ending import Terminated, status_of
from paraform.memory import keep_freed_memory
from paraform.models.update import State, Update
from paraform.records import InputError
from paraform.training.config import TrainingConfig
from paraform.training.console import Bar, Interrupt
from paraform.training.dropout import quick_dropout
from paraform.training.journal import Journal, Record, as_record
from paraform.training.lock import NAME as LOCK
from paraform.training.lock import alone
from paraform.training.run import Run, require_same_model
from paraform.weights import PathLike, lost_link

WRITTEN = ("best", "last", "log.jsonl", "loss.png", "tensorboard")  # in a run's folder, beside its lock


class Result(NamedTuple):
    """How a run ended: after which step, why ("finished", "early" or "interrupted"), with which best score.

    Args:
        signal: of one that was interrupted, "SIGTERM" if this process got that.
    """

    step: int
    ended: str
    best_score: float | None
    best_step: int | None
    history: list[Record]
    signal: str = ""

    def require_over(self) -> None:
        """Raises: KeyboardInterrupt, of SIGTERM `Terminated`, if the run was interrupted, and saved."""
        if self.ended == "interrupted":
            raise Terminated if self.signal == "SIGTERM" else KeyboardInterrupt

    @property
    def status(self) -> int:
        """The exit status of a program that ends now: 0, or of one that was interrupted 130 or, by SIGTERM, 143."""
        try:
            self.require_over()
        except KeyboardInterrupt as stop:
            return status_of(stop)
        return 0


def require_usable(folder: PathLike, system: str, config: Any, *, resume: bool) -> None:
    """A run of this system and config may begin in the folder, or go on in it; asked before long preparations.

    Args:
        config: the model's, a dataclass.
    Raises: InputError if the folder holds a run, and `resume` is False or the run is another one.
    """
    last = Path(folder) / "last"
    if lost := lost_link(folder):
        raise InputError(f"{lost}: a link that leads nowhere; expected one into a folder that is there")
    if Path(folder).exists() and not Path(folder).is_dir():
        raise InputError(f"{folder}: a file; expected a folder for the run, or none yet")
    if not (last / manifest.NAME).exists():
        if not (Path(folder) / "best" / manifest.NAME).exists():
            require_nothing_of_others(Path(folder))
        elif not resume:
            raise InputError(f"{folder}: holds the best/ of a run, and no last/ to go on from; name another folder")
        return
    if not resume:
        raise InputError(f"{folder}: holds a run; resume it (resume=True, --resume) or name another folder")
    require_same_model(manifest.read(last), system, config, Path(folder))


def require_nothing_of_others(folder: Path) -> None:
    """What a run there would write over is a run's own, which `run.lock` tells. Raises: InputError if it is not."""
    theirs = [name for name in WRITTEN if (folder / name).exists()]
    if theirs and not (folder / LOCK).exists():
        raise InputError(f"{folder}: its {theirs[0]} is of no run, and would be written over; name another folder")


def window_ends(step: int, log_every: int, epoch: int) -> bool:
    """Whether a record of the log is due after that step.

    An epoch is cut into windows of about `log_every` steps, of one length but for rounding: a window over its end would
    mean what is easy at the end of one with what is hard at the start of the next, and so draw a saw.

    Args:
        epoch: steps; 0: there is none, and windows have `log_every` steps.
    """
    if not epoch:
        return step % log_every == 0
    windows = max(1, round(epoch / log_every))
    within = (step - 1) % epoch  # steps of this epoch that were done before
    return (within + 1) * windows // epoch > within * windows // epoch


def fit(
    model: Any,
    update: Update,
    state: State,
    batches: Callable[[int], Any],
    *,
    folder: PathLike,
    config: TrainingConfig,
    accelerator: Any,
    evaluate: Callable[[], Mapping[str, float]] | None = None,
    epoch: int = 0,
    card: str = "",
    data_digests: Mapping[str, str] | None = None,
    resume: bool = False,
) -> Result:
    """Train until `config.steps`, an early stop, or Ctrl-C or SIGTERM, which let the step in hand end and be saved.

    On a CPU dropout is drawn in updates as `training.dropout` does. A warning says when the best validation was in the
    first half of a run that is over.

    Args:
        model: an `nn.Module` that is `checkpoint.Checkpointable`, not wrapped; `update` holds the wrapped one.
        update, state: the pair that `make_update` returns; `update` is called with steps from 0.
        batches: `batches(step)`, a pure function of the seed and the step; this process's share.
        folder: the run's.
        evaluate: the validation scores by name; called in evaluation mode without gradients, in every process, and
            the first one's scores count.
        epoch: steps of a pass over the data, each of which is logged as whole windows of about `config.log_every`
            steps; 0: it has none.
        card: README.md of the checkpoints; "": a line that says what they are.
        data_digests: SHA-256 by name, of the files trained on; a resumed run must have the same.
        resume: go on from `folder/last`, to the weights that an uninterrupted run would have; from the beginning if
            there is none yet.
    Raises: InputError if the folder holds a run and `resume` is False, if another process trains there, if the run to
        resume had another config or other data (it names the field), or if a term or the deciding score is not finite.
    """
    run = Run(model, state, Path(folder), config, accelerator, card, dict(data_digests or {}))
    require_usable(run.folder, model.system, model.config, resume=resume)
    keep_freed_memory()
    main = accelerator.is_main_process
    with contextlib.ExitStack() as stack:
        if main:
            stack.enter_context(alone(run.folder))
        if (run.folder / "last" / manifest.NAME).exists():
            run.restore()
            begun = "was over" if run.ended(False) else "goes on"
            if main:
                print(f"paraform: {run.folder}: the run {begun} after step {run.progress.step}", file=sys.stderr)
        else:
            from accelerate.utils import set_seed

            set_seed(config.seed, device_specific=True)
            if resume and main:
                print(f"paraform: {run.folder}: a new run begins", file=sys.stderr)
        progress, before = run.progress, run.progress.step
        model.train()
        if config.mixed_precision == "bf16":
            stack.enter_context(bfloat16_products(accelerator.device))
        interrupt = stack.enter_context(Interrupt())
        journal = stack.enter_context(Journal(run.folder, progress.history, config.tensorboard)) if main else None
        bar = stack.enter_context(Bar(config.steps, config.progress, progress.step)) if main else None

        def record(split: str, values: Mapping[str, float]) -> None:
            progress.history.append(as_record(progress.step, split, values))
            if journal:
                journal.write(progress.history[-1])

        while not (ended := run.ended(bool(interrupt.name))):
            batch = batches(progress.step)
            with quick_dropout(model, accelerator.device):
                terms = update(batch, progress.step)
            run.count(terms)
            if bar:
                bar.step(progress.step, terms)
            final = progress.step == config.steps
            if final or window_ends(progress.step, config.log_every, epoch):
                record("train", run.means())
            if evaluate is not None and (final or progress.step % config.evaluate_every == 0):
                with run.average.in_model():
                    record("validation", scores := run.validate(evaluate))
                    run.judge(scores)
                if journal:
                    journal.draw(progress.history, at_most_every=10.0)
                run.save("last")  # a run on a small corpus may have fewer steps than `checkpoint_every`
            elif progress.step % config.checkpoint_every == 0:
                run.save("last")
        if progress.step != run.saved:
            run.save("last")
        if journal:
            journal.draw(progress.history)
    if ended == "interrupted" and main:
        print(
            f"paraform: {interrupt.name or 'interrupted'}: stopped after step {progress.step}, saved in"
            f" {run.folder / 'last'}; resume it with resume=True (--resume)",
            file=sys.stderr,
        )
    elif main and before < progress.step and progress.best_step is not None and progress.best_step < progress.step / 2:
        logging.getLogger("paraform").warning(
            "the best validation was at step %d of %d, and %s has its weights; those of the end are in %s",
            progress.best_step,
            progress.step,
            run.folder / "best",
            run.folder / "last",
        )
    return Result(progress.step, ended, progress.best_score, progress.best_step, progress.history, interrupt.name)
