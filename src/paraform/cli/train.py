"""`train NAME` for every system of the table: the options are the fields of its config and of the loop."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.config_options import bad_values, early, field_help
from paraform.cli.messages import tell
from paraform.cli.mine import pair_of
from paraform.cli.models import training_device
from paraform.cli.options import add_reading, add_skipping
from paraform.cli.output import print_json
from paraform.cli.parse import add_parser
from paraform.cli.reading import read_pairs, sentences_of
from paraform.cli.tag import add_tagger
from paraform.models.systems import named_by, system_named
from paraform.records import InputError

if TYPE_CHECKING:  # its import takes longer than a short answer
    from paraform.evaluation.embedding.development import Development
    from paraform.trainers import Trainer
    from paraform.training import Result

ANNOTATORS = {"tagger": add_tagger, "parser": add_parser}
OWN = {"steps", "seed", "device", "metric", "higher_is_better"}  # of TrainingConfig; set by other options


class Command:
    """`train NAME`; its docstring is the trainer's help."""

    def __init__(self, name: str) -> None:
        place = system_named(name.removeprefix("train ")).trainer
        if not place:
            raise InputError(f"{name}: a system without a trainer; expected one that is trained here")
        self.trainer: Trainer = named_by(place)
        arguments = self.trainer.takes
        self.several, self.against = "shares" in arguments, "against" in arguments
        self.develops, self.starts = "development" in arguments, "start" in arguments
        self.start: Any = None
        self.from_folder = "model" in arguments
        self.annotates = [(name, add) for name, add in ANNOTATORS.items() if name in arguments]
        self.__doc__ = self.trainer.help

    def add_arguments(self, parser: ArgumentParser, given: Sequence[str]) -> None:
        """The options of this command: every field of the system's config, and most of `TrainingConfig`."""
        from paraform.training import TrainingConfig

        trainer, presets = self.trainer, tuple(self.trainer.presets)
        if self.several:
            parser.add_argument(
                "--data", nargs="+", type=str, required=True, metavar="PATH", help=f"the {trainer.reads}"
            )
            parser.add_argument(
                "--shares", nargs="+", type=float, default=[], help="of an epoch, how many are from each file of --data"
            )
        else:
            parser.add_argument("--data", type=str, required=True, metavar="PATH", help=f"the {trainer.reads}")
        if self.against:
            parser.add_argument(
                "--against", nargs="+", type=str, default=[], metavar="PATH",
                help="evaluation sets, files or folders: what shares a sentence with one is not trained on",
            )  # fmt: skip
        if self.develops:
            parser.add_argument(
                "--development", type=str | None, default=None, metavar="FOLDER",
                help="public development sets that choose the best checkpoint; what shares a sentence with them is not"
                " trained on",
            )  # fmt: skip
        parser.add_argument("--validation", type=str | None, default=None, metavar="PATH", help=trainer.held_out)
        parser.add_argument("--out", type=str, required=True, metavar="DIR", help="the run's folder")
        if trainer.objectives:
            parser.add_argument("--objective", choices=trainer.objectives, help="the model; else the preset's")
        parser.add_argument("--preset", choices=presets, default=presets[0], help="where the fields of --config start")
        if self.starts:
            parser.add_argument(
                "--from", type=str | None, default=None, metavar="MODEL",
                help="an embedded model, or one of yours, to go on from; the fields of --config start at its own",
            )  # fmt: skip
        if self.from_folder:
            parser.add_argument(
                "--model", type=str, required=True, metavar="FOLDER",
                help="a Hugging Face model on this machine, whose weights the training goes on from",
            )  # fmt: skip
        parser.add_argument("--resume", action="store_true", help="go on with the run in DIR")
        if trainer.read is not None:  # files of its own kind, which need no --format
            add_skipping(parser)
        else:
            add_reading(parser, "text" if trainer.reads == "sentences" else "pairs")
        for _, add in self.annotates:
            add(parser)
        parser.add_class_arguments(trainer.config, "config")
        parser.add_class_arguments(TrainingConfig, "loop", skip=OWN)
        field_help(parser, trainer.config, "config.")
        field_help(parser, TrainingConfig, "loop.")
        chosen = trainer.presets.get(early(given, "--preset", presets[0]), trainer.presets[presets[0]])()
        if self.starts and (name := early(given, "--from", "")):
            self.start = self._start(name, preset=early(given, "--preset", ""))
            chosen = self.start.config
        if trainer.objectives:
            # The preset's own may have more to it than the name.
            objective = early(given, "--objective", chosen.objective)
            if objective in trainer.objectives and objective != chosen.objective:
                chosen = chosen.with_objective(objective)
            parser.set_defaults({"objective": chosen.objective})
        parser.set_defaults({f"config.{name}": value for name, value in dataclasses.asdict(chosen).items()})
        loop = {name: value for name, value in dataclasses.asdict(trainer.loop).items() if name not in OWN}
        parser.set_defaults({f"loop.{name}": value for name, value in loop.items()})

    def run(self, options: Namespace) -> int:
        """Train, and say how it ended."""
        trainer = self.trainer
        fields = {field.name: options.config[field.name] for field in dataclasses.fields(trainer.config)}
        if trainer.objectives and fields["objective"] != options.objective:  # a name alone would change only the label
            raise InputError(
                f"--config.objective {fields['objective']} with --objective {options.objective}; name it by --objective"
            )
        if options.batch_size:
            fields["batch_size"] = options.batch_size
        loop = {name: value for name, value in dataclasses.asdict(trainer.loop).items() if name in OWN}
        loop |= {name: options.loop[name] for name in dataclasses.asdict(trainer.loop).keys() - OWN}
        loop |= {"seed": options.seed, "device": training_device(options)}
        more: dict[str, Any] = {name: options[name] for name, _ in self.annotates}
        more |= {"model": options.model} if self.from_folder else {}
        more |= {"progress": True} if more else {}
        if self.start is not None:
            more["start"] = self.start
        development = self._development(options) if self.develops else None
        if development is not None:
            from paraform.evaluation.embedding.development import MEAN

            more["development"], loop["metric"], loop["higher_is_better"] = development, MEAN, True
        with bad_values():
            config, settings = trainer.config(**fields), dataclasses.replace(trainer.loop, **loop)
        settings = settings if trainer.loop_of is None else trainer.loop_of(config, settings)
        paths = options.data if self.several else [options.data]
        data = self._read(paths, options)
        validation = None if options.validation is None else self._read([options.validation], options)
        if self.several:
            more["shares"] = options.shares
        if self.against:
            more["against"] = [*self._evaluation_texts(options), *(development.texts() if development else [])]
        with bad_values():
            result = trainer.train(
                data,
                options.out,
                validation=validation,
                config=config,
                loop=settings,
                data_digests={name: digest for path in paths for name, digest in digests(path).items()},
                resume=options.resume,
                **more,
            )
        about = {"objective": config.objective} if trainer.objectives else {}
        return tell_end(options, result, trainer, settings.metric, **about)

    def _read(self, paths: Sequence[str], options: Namespace) -> Sequence[Any]:
        """What the trainer reads: pairs with their clusters, which may reach over files, or sentences."""
        if self.trainer.reads == "sentences":
            return sentences_of(paths[0], options)
        if (read := self.trainer.read) is not None:
            return [one for path in paths for one in read(path, skip_bad_lines=options.skip_bad_lines)]
        from paraform.corpora import clusters

        others = self.trainer.reads == "labelled pairs"
        return clusters(pair_of(record) for path in paths for record in read_pairs(path, options, others=others))

    def _start(self, name: str, *, preset: str) -> Any:
        """The model to go on from. Raises: InputError for one of another system, or a preset beside it."""
        from paraform import checkpoint

        if preset:
            raise InputError(f"--preset {preset} with --from {name}, whose fields are its own; leave one out")
        model = checkpoint.load(name, device="cpu")
        if not isinstance(getattr(model, "config", None), self.trainer.config):
            raise InputError(f"--from {name}: {getattr(model, 'kind', 'no such model')}; expected one trained by this")
        return model

    @staticmethod
    def _development(options: Namespace) -> Development | None:
        if options.development is None:
            return None
        from paraform.evaluation.embedding.development import read_development

        return read_development(options.development)

    def _evaluation_texts(self, options: Namespace) -> list[str]:
        if not options.against:
            if self.several:  # what is trained for its vectors is mostly measured by public sets
                tell("no evaluation sets named (--against): what is trained on may stand in them")
            return []
        from paraform.corpora.evaluation_sets import read_evaluation_sets

        return [text for some in read_evaluation_sets(options.against).values() for text in some]


command = Command


def tell_end(options: Namespace, result: Result, trainer: Trainer, metric: str, **about: object) -> int:
    """Say how a run ended, in the first of the processes that accelerate started; returns the exit status.

    Args:
        metric: what the best score is of.
        about: more to say with --json.
    """
    best = None if result.best_score is None else os.path.join(options.out, "best")
    ended = f"{result.ended} after step {result.step}"
    if int(os.environ.get("RANK", "0")) == 0:
        if options.json:
            about |= {"metric": metric, "best_score": result.best_score, "best_step": result.best_step}
            print_json({"model": best, **about, "ended": result.ended, "step": result.step})
        elif best is None:
            print(f"{options.out}: no validation yet; {ended}")
        else:
            said = trainer.best if metric == trainer.loop.metric else f"{metric} {{:.3f}}"
            print(f"{best}: {said.format(result.best_score)} at step {result.best_step}; {ended}")
    return result.status


def digests(path: str) -> dict[str, str]:
    """SHA-256 of the file, or of each file of the folder, by name."""
    from paraform.weights import sha256

    if os.path.isdir(path):
        files = sorted(entry.path for entry in os.scandir(path) if entry.is_file())
    else:
        files = [path] if os.path.isfile(path) else []  # stdin has been read
    return {os.path.basename(file): sha256(file) for file in files}
