"""What trains each system: texts or pairs in, a folder with a trained model out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

from paraform.training import Result, TrainingConfig

PAIRS_HELD_OUT = "pairs of other clusters; null: a twentieth of the clusters, at most 1,000 pairs, is held out"
Config = TypeVar("Config")
Record = TypeVar("Record")


class RunOptions(TypedDict, Generic[Config, Record], total=False):
    """What every training takes by name, beside what is its own.

    Ctrl-C or SIGTERM saves the run and ends it; with `resume` it goes on as if it had not been stopped.

    Args:
        config: sizes and choices; None: the system's usual ones.
        loop: when the loop does what; best the trainer's own with some fields replaced: `replace(BY_BLEU, …)`. Its
            `steps` are overridden: `config.epochs` passes over what is trained on. Its seed is set for torch, NumPy and
            `random`.
        validation: what chooses the weights; of pairs those of other clusters. None: about a twentieth of the pairs, at
            most 1,000, by whole clusters; one cluster if all are larger.
        against: texts that the model is to be measured by: pairs with one, and the rest of their clusters, are left
            out of training and validation, with a warning that counts them.
        card: README.md of the checkpoints; "": a line that says what they are.
        data_digests: SHA-256 of the files that the data are from; those of the data themselves are added.
        resume: go on with the run in the folder, if there is one.
    """

    config: Config | None
    loop: TrainingConfig
    validation: Iterable[Record] | None
    against: Iterable[str]
    card: str
    data_digests: Mapping[str, str] | None
    resume: bool


class Trainer(NamedTuple):
    """What `paraform train NAME` has to know of a system; `trainers/NAME` has it as `TRAINER`.

    Args:
        train: (data, folder, **options) → how the run ended. The command gives `validation`, `config`, `loop`,
            `data_digests` and `resume`, and what else it `takes`; one that takes `tagger` or `parser` takes `progress`
            as well.
        config: the class of the model's config, a frozen dataclass.
        presets: configs by name, the usual one first.
        loop: the usual loop.
        reads: the data in words; of "pairs" those labelled 0 are left out. What is none of "pairs", "labelled pairs"
            and "sentences" needs `read`.
        held_out: the help of `--validation`.
        best: how the best validation's score is printed.
        help: the help of the command, with an example: the module's docstring.
        objectives: names that `config.with_objective` knows.
        read: (path, skip_bad_lines=) → records of its own; None: pairs or sentences, in any of `--format`.
        loop_of: (config, loop) → the loop, where the config decides something of it; None: as it is given.
    """

    train: Callable[..., Result]
    config: type[Any]
    presets: Mapping[str, Callable[[], Any]]
    loop: TrainingConfig
    reads: str = "pairs"
    held_out: str = PAIRS_HELD_OUT
    best: str = "validation score {:.3f}"
    help: str = ""
    objectives: tuple[str, ...] = ()
    read: Callable[..., Iterable[Any]] | None = None
    loop_of: Callable[[Any, TrainingConfig], TrainingConfig] | None = None

    @property
    def takes(self) -> set[str]:
        """The names of what `train` takes, those of its `**options` too."""
        parameters = inspect.signature(self.train).parameters.values()
        shared = RunOptions.__annotations__.keys() if any(each.kind is each.VAR_KEYWORD for each in parameters) else ()
        return {each.name for each in parameters}.union(shared)
