"""One run: its progress, what it writes into `best/` and `last/`, and how it becomes what `last/` was."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from paraform import manifest
from paraform.checkpoint import folder as checkpoint
from paraform.fields import kept_fields
from paraform.models.update import State
from paraform.records import InputError
from paraform.score import Score
from paraform.training.average import Average
from paraform.training.card import run_card
from paraform.training.config import MAY_DIFFER, TrainingConfig
from paraform.training.progress import NAME as PROGRESS
from paraform.training.progress import Progress, read_saved
from paraform.training.state import pack_optimizers, random_state, random_state_of, set_random_state, unpack_optimizers
from paraform.weights import load_tensors, save_tensors

TENSORS = "training.safetensors"


class Run:
    """The parts of one run, and what the loop does with them."""

    def __init__(
        self,
        model: Any,
        state: State,
        folder: Path,
        config: TrainingConfig,
        accelerator: Any,
        card: str,
        data: dict[str, str],
    ) -> None:
        self.model, self.state, self.folder, self.config = model, state, folder, config
        self.accelerator, self.card, self.data = accelerator, card, data
        self.progress = Progress()
        self.average = Average(model)
        self.saved = 0  # the step of `last/`

    def count(self, terms: Mapping[str, float]) -> None:
        """One more step was done, with these terms."""
        self.progress.count(terms)
        if self.config.averaged(self.progress.step):
            self.average.add()

    def ended(self, interrupted: bool) -> str:
        """Why the run is over; "" while it is not. Every process gets the same answer."""
        if self.progress.step >= self.config.steps:
            return "finished"
        if self.config.patience and self.progress.stale >= self.config.patience:
            return "early"
        asked = interrupted
        if self.accelerator.num_processes > 1:  # a signal may reach the processes in different steps
            flag = torch.tensor(float(asked), device=self.accelerator.device)
            asked = bool(self.accelerator.reduce(flag, reduction="sum") > 0)
        return "interrupted" if asked else ""

    def means(self) -> dict[str, float]:
        """The mean of each term over the window and the processes; the window is empty afterwards."""
        self._share_window()
        terms = {name: total / count for name, (total, count) in self.progress.window.items()}
        self.progress.window = {}
        for name, value in terms.items():
            if not math.isfinite(value):
                raise InputError(
                    f"step {self.progress.step}: {name} is {value}; try a lower learning rate, or clip the gradient;"
                    f" {self.folder / 'last'} is as it was"
                )
        return terms

    def validate(self, evaluate: Callable[[], Mapping[str, float]]) -> dict[str, float]:
        """The scores of the model as it is now, the same in every process."""
        modes: list[tuple[nn.Module, bool]] = [(module, module.training) for module in self.model.modules()]
        self.model.eval()
        with torch.no_grad():
            scores = dict(evaluate())
        for module, training in modes:  # not model.train(): a frozen part may have stayed in evaluation mode
            module.training = training
        if self.accelerator.num_processes > 1:
            values = torch.tensor(list(scores.values()), dtype=torch.float64, device=self.accelerator.device)
            torch.distributed.broadcast(values, src=0)
            scores = dict(zip(scores, values.tolist(), strict=True))
        return scores

    def judge(self, scores: Mapping[str, float]) -> None:
        """Tell the system; replace `best/` if the deciding score is the best so far."""
        if self.config.metric not in scores:
            raise InputError(f"metric {self.config.metric!r} is no validation score; there are {', '.join(scores)}")
        score = scores[self.config.metric]
        if not math.isfinite(score):
            raise InputError(f"step {self.progress.step}: validation {self.config.metric} is {score}; cannot choose")
        self.state.on_validation(scores)
        progress, sign = self.progress, 1 if self.config.higher_is_better else -1
        if progress.best_score is None or sign * score > sign * progress.best_score:
            progress.best_score, progress.best_step, progress.stale = score, progress.step, 0
            self.save("best", scores)
        else:
            progress.stale += 1

    def save(self, name: str, scores: Mapping[str, float] | None = None) -> None:
        """Replace `best/` (weights only) or `last/` (all that resuming needs). Every process must call it."""
        weights = checkpoint.whole_weights(self.model)
        tensors: dict[str, Tensor] = {}
        extra: dict[str, manifest.Writer] = {}
        if name == "last":
            self._share_window()
            tensors |= self.average.pack()
            for key, value in random_state(self.accelerator.device).items():
                tensors[key] = self._of_every_process(value)
            # No deep copy of the progress, which takes longer than a small step.
            saved = {
                "training": dataclasses.asdict(self.config),
                "processes": self.accelerator.num_processes,
                "progress": vars(self.progress),
                "optimizers": pack_optimizers(self.state.optimizers, tensors),
            }
            text = json.dumps(saved, ensure_ascii=False)
            extra = {TENSORS: lambda path: save_tensors(tensors, path), PROGRESS: manifest.write_text(text)}
            self.saved = self.progress.step
        if not self.accelerator.is_main_process:
            return
        step, system = self.progress.step, self.model.system
        written = run_card(system, self.model.config, name, step, self.config, scores or {}, self.data)
        checkpoint.save(
            self.model,
            self.folder / name,
            card=self.card or written,
            scores=[Score(key, value, f"validation|step:{step}") for key, value in (scores or {}).items()],
            data_digests=self.data,
            seed=self.config.seed,
            weights=weights,
            extra=extra,
        )

    def restore(self) -> None:
        """Be where `last/` was saved. Raises: InputError, naming the field, if it was another run's."""
        last = self.folder / "last"
        found = manifest.read(last)
        saved = read_saved(manifest.located(last, found, PROGRESS))
        # First: where a run validates, for one, follows from how much data there is.
        _same(found.data, self.data, "the data changed: ", self.folder)
        own = dataclasses.asdict(self.config)
        # A field newer than the run had its default, which means what was before it (as when a checkpoint is loaded).
        begun = defaults(self.config) | saved.training
        begun = {key: value for key, value in begun.items() if key not in MAY_DIFFER}
        _same(begun, {key: value for key, value in own.items() if key not in MAY_DIFFER}, "", self.folder)
        processes = {"processes": self.accelerator.num_processes}
        _same({"processes": saved.processes}, processes, "", self.folder)
        path = manifest.located(last, found, TENSORS)
        tensors = load_tensors(path)
        mine = self.accelerator.process_index
        drawn = random_state_of(tensors, saved.processes, mine, self.accelerator.device, path)
        checkpoint.load_weights(self.model, last)
        self.progress = saved.progress
        self.saved = self.progress.step
        if self.progress.best_score is not None and not (self.folder / "best" / manifest.NAME).is_file():
            logging.getLogger("paraform").warning(
                "%s: its best/ is gone; the best validation from here on counts", self.folder
            )
            self.progress.best_score, self.progress.best_step, self.progress.stale = None, None, 0
        for record in self.progress.history:  # what listens to scores hears them again, and stands where it stood
            if "validation" in record:
                scores = record["validation"].items()
                self.state.on_validation({name: math.nan if value is None else value for name, value in scores})
        unpack_optimizers(self.state.optimizers, saved.optimizers, tensors)
        self.average.unpack(self.config.averaged(self.progress.step), tensors)
        set_random_state(drawn, self.accelerator.device)

    def _share_window(self) -> None:
        """Replace the window's sums by their means over the processes."""
        window = self.progress.window
        if self.accelerator.num_processes > 1 and window:
            sums = torch.tensor([window[name][0] for name in window], dtype=torch.float64)
            shared = self.accelerator.reduce(sums.to(self.accelerator.device), reduction="mean")
            for name, total in zip(window, shared.tolist(), strict=True):
                window[name][0] = total

    def _of_every_process(self, tensor: Tensor) -> Tensor:
        """[…] → [W, …] of all W processes."""
        if self.accelerator.num_processes == 1:
            return tensor[None]
        gathered: Tensor = self.accelerator.gather(tensor.to(self.accelerator.device)[None])
        return gathered.cpu()


def text_digest(texts: Iterable[str]) -> str:
    """SHA-256 of texts in their order: what a run was trained on, where no file says it (a pipe, a part of a file)."""
    key = hashlib.sha256()
    for text in texts:
        key.update(text.encode(errors="surrogatepass") + b"\0")
    return key.hexdigest()


def defaults(config: Any) -> dict[str, Any]:
    """The default of every field of a config that has one."""
    fields = dataclasses.fields(config)
    return {field.name: field.default for field in fields if field.default is not dataclasses.MISSING}


def require_same_model(begun: manifest.Manifest, system: str, config: Any, folder: Path) -> None:
    """Raises: InputError, naming the field, if the checkpoint is of another system or config."""
    _same({"system": begun.system}, {"system": system}, "", folder)
    stored = kept_fields(type(config), begun.config, folder / "last" / manifest.NAME)
    _same(defaults(config) | stored, dataclasses.asdict(config), "", folder)


def _same(begun: Mapping[str, Any], now: Mapping[str, Any], kind: str, folder: Path) -> None:
    for name in sorted(begun.keys() | now.keys()):
        if name not in begun or name not in now or begun[name] != now[name]:
            raise InputError(
                f"{folder}: {kind}{name} was {begun.get(name)!r} when the run began and is {now.get(name)!r} now;"
                " resume it as it began, or begin another in a new folder"
            )
