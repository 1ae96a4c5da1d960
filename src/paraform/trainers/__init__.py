"""What trains each system: texts or pairs in, a folder with a trained model out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from paraform.training import Result, TrainingConfig


class Trainer(NamedTuple):
    """What `paraform train NAME` has to know of a system; `trainers/NAME` has it as `TRAINER`.

    Args:
        train: (data, folder, *, validation, config, loop, data_digests, resume) → how the run ended; one that takes
            `tagger` or `parser` takes `progress` as well.
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
    reads: str
    held_out: str
    best: str
    help: str
    objectives: tuple[str, ...] = ()
    read: Callable[..., Iterable[Any]] | None = None
    loop_of: Callable[[Any, TrainingConfig], TrainingConfig] | None = None
