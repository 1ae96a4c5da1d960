"""Train CRL-EGPG on pairs: tags, exemplars and style features are made on the way and cached by content.

OUT/best is the checkpoint with the best validation BLEU, OUT/last what --resume goes on from. A field of the preset
is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train exemplar --data pairs.tsv --out runs/mine --preset compact --config.epochs 3
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import add_reading, bad_values, early, field_help, show_progress, training_device
from paraform.cli.mine import pair_of
from paraform.cli.output import print_json
from paraform.cli.reading import read_pairs
from paraform.cli.tag import add_tagger
from paraform.records import Pair

if TYPE_CHECKING:  # its import takes longer than a short answer
    from paraform.training import Result

PRESETS = ("compact", "fixed", "paper", "reference")
OWN = {"steps", "seed", "device", "metric", "higher_is_better"}  # of TrainingConfig; set by other options
INTERRUPTED = 130


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command: every field of `ExemplarConfig`, and most of `TrainingConfig`."""
    from paraform.models.exemplar import ExemplarConfig
    from paraform.trainers.exemplar import BY_BLEU
    from paraform.training import TrainingConfig

    parser.add_argument("--data", type=str, required=True, metavar="PATH", help="the pairs")
    parser.add_argument(
        "--validation",
        type=str | None,
        default=None,
        metavar="PATH",
        help="pairs of other clusters; null: a twentieth of the clusters, at most 1,000 pairs, is held out",
    )
    parser.add_argument("--out", type=str, required=True, metavar="DIR", help="the run's folder")
    parser.add_argument("--preset", choices=PRESETS, default="compact", help="where the fields of --config start")
    parser.add_argument("--resume", action="store_true", help="go on with the run in DIR")
    add_reading(parser)
    add_tagger(parser)
    parser.add_class_arguments(ExemplarConfig, "config")
    parser.add_class_arguments(TrainingConfig, "loop", skip=OWN)
    field_help(parser, ExemplarConfig, "config.")
    field_help(parser, TrainingConfig, "loop.")
    name = early(given, "--preset", "compact")
    preset = preset_named(name if name in PRESETS else "compact")
    parser.set_defaults({f"config.{name}": value for name, value in dataclasses.asdict(preset).items()})
    own = {name: value for name, value in dataclasses.asdict(BY_BLEU).items() if name not in OWN}
    parser.set_defaults({f"loop.{name}": value for name, value in own.items()})


def preset_named(name: str) -> Any:
    """The configuration of that name."""
    from paraform.models.exemplar import ExemplarConfig

    return ExemplarConfig() if name == "fixed" else getattr(ExemplarConfig, name)()


def run(options: Namespace) -> int:
    """Train, and say how it ended."""
    from paraform.models.exemplar import ExemplarConfig
    from paraform.trainers.exemplar import BY_BLEU, train_exemplar
    from paraform.training import TrainingConfig

    fields = {name: options.config[name] for name in ExemplarConfig.__dataclass_fields__}
    if options.batch_size:
        fields["batch_size"] = options.batch_size
    loop_fields = {name: options.loop[name] for name in TrainingConfig.__dataclass_fields__ if name not in OWN}
    device = training_device(options)
    with bad_values():
        config = ExemplarConfig(**fields)
        loop = dataclasses.replace(BY_BLEU, **loop_fields, seed=options.seed, device=device)
    result = train_exemplar(
        read(options.data, options),
        options.out,
        validation=None if options.validation is None else read(options.validation, options),
        config=config,
        loop=loop,
        tagger=options.tagger,
        data_digests=digests(options.data),
        resume=options.resume,
        progress=show_progress(),
    )
    return tell_end(options, result, "validation BLEU {:.2f}", best_bleu=result.best_score)


def tell_end(options: Namespace, result: Result, score: str, **about: object) -> int:
    """Say how a run ended, in the first of the processes that accelerate started; returns the exit status.

    Args:
        score: how the best validation's is printed.
        about: more to say with --json.
    """
    best = None if result.best_score is None else os.path.join(options.out, "best")
    ended = f"{result.ended} after step {result.step}"
    if int(os.environ.get("RANK", "0")) == 0:
        if options.json:
            about |= {"ended": result.ended, "step": result.step, "best_step": result.best_step}
            print_json({"model": best, **about})
        elif best is None:
            print(f"{options.out}: no validation yet; {ended}")
        else:
            print(f"{best}: {score.format(result.best_score)} at step {result.best_step}; {ended}")
    return INTERRUPTED if result.ended == "interrupted" else 0


def read(path: str, options: Namespace) -> list[Pair]:
    """The pairs of a file, with their clusters."""
    from paraform.corpora import clusters

    return clusters(pair_of(record) for record in read_pairs(path, options))


def digests(path: str) -> dict[str, str]:
    """SHA-256 of the file, or of each file of the folder, by name."""
    from paraform.weights import sha256

    if os.path.isdir(path):
        files = sorted(entry.path for entry in os.scandir(path) if entry.is_file())
    else:
        files = [path] if os.path.isfile(path) else []  # stdin has been read
    return {os.path.basename(file): sha256(file) for file in files}
