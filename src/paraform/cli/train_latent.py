"""Train a model of the latent-variable family on sentences: AE, VAE, β-VAE, CycVAE, SaVAE, LagVAE, iVAE, clVAE …

OUT/best is the checkpoint with the best bound on the likelihood of validation sentences, OUT/last what --resume goes on
from, OUT/collapse.png how much the latent space is used, epoch by epoch. A field of the preset is replaced by
--config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE; the later one counts. Of pairs, both sides are
sentences. Without --objective it is the preset's own, of compact vae+contrast with --config.beta 0.3; other objectives
begin with β = 1 (beta-vae: 0.5). The smaller β, the more a vector says of its sentence; a warning says if it says
nothing.

Example:
  paraform train latent --data sentences.txt --out runs/latent
  paraform train latent --data ptb.txt --out runs/ptb --objective clvae+_mi --preset reference --format text
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jsonargparse import ArgumentParser, Namespace

from paraform.cli.arguments import add_reading, bad_values, early, field_help, training_device
from paraform.cli.reading import sentences_of
from paraform.cli.train_exemplar import digests, tell_end
from paraform.records import InputError

PRESETS = ("compact", "fixed", "paper", "reference", "reference-yahoo", "reference-yelp")
OWN = {"steps", "seed", "device", "metric", "higher_is_better"}  # of TrainingConfig: set here, not by --loop


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command: every field of `LatentConfig`, and most of `TrainingConfig`."""
    from paraform.models.latent import OBJECTIVES, LatentConfig
    from paraform.trainers.latent import EACH_EPOCH
    from paraform.training import TrainingConfig

    parser.add_argument("--data", type=str, required=True, metavar="PATH", help="the sentences")
    parser.add_argument(
        "--validation",
        type=str | None,
        default=None,
        metavar="PATH",
        help="other sentences; null: a twentieth of the different ones, at most 1,000, is held out",
    )
    parser.add_argument("--out", type=str, required=True, metavar="DIR", help="the run's folder")
    parser.add_argument("--objective", choices=tuple(OBJECTIVES), help="the model; else the preset's")
    parser.add_argument("--preset", choices=PRESETS, default="compact", help="where the fields of --config start")
    parser.add_argument("--resume", action="store_true", help="go on with the run in DIR")
    add_reading(parser, "text")
    parser.add_class_arguments(LatentConfig, "config")
    parser.add_class_arguments(TrainingConfig, "loop", skip=OWN)
    field_help(parser, LatentConfig, "config.")
    field_help(parser, TrainingConfig, "loop.")
    preset = early(given, "--preset", "compact")
    chosen = preset_named(preset if preset in PRESETS else "compact")
    objective = early(given, "--objective", chosen.objective)
    if objective in OBJECTIVES and objective != chosen.objective:  # the preset's own may have more to it than the name
        chosen = chosen.with_objective(objective)
    parser.set_defaults({"objective": chosen.objective})
    fields = dataclasses.asdict(chosen)
    parser.set_defaults({f"config.{name}": value for name, value in fields.items()})
    own = {name: value for name, value in dataclasses.asdict(EACH_EPOCH).items() if name not in OWN}
    parser.set_defaults({f"loop.{name}": value for name, value in own.items()})


def preset_named(name: str) -> Any:
    """The configuration of that name."""
    from paraform.models.latent import LatentConfig

    name, _, corpus = name.partition("-")
    return LatentConfig() if name == "fixed" else getattr(LatentConfig, name)(*[corpus] * bool(corpus))


def run(options: Namespace) -> int:
    """Train, and say how it ended."""
    from paraform.models.latent import LatentConfig
    from paraform.trainers.latent import EACH_EPOCH, train_latent
    from paraform.training import TrainingConfig

    fields = {name: options.config[name] for name in LatentConfig.__dataclass_fields__}
    if fields["objective"] != options.objective:  # a name alone would change nothing but the label
        raise InputError(
            f"--config.objective {fields['objective']} with --objective {options.objective}; name it by --objective"
        )
    if options.batch_size:
        fields["batch_size"] = options.batch_size
    loop_fields = {name: options.loop[name] for name in TrainingConfig.__dataclass_fields__ if name not in OWN}
    device = training_device(options)
    with bad_values():
        config = LatentConfig(**fields)
        loop = dataclasses.replace(EACH_EPOCH, **loop_fields, seed=options.seed, device=device)
    texts = sentences_of(options.data, options)
    validation = None if options.validation is None else sentences_of(options.validation, options)
    with bad_values():
        result = train_latent(
            texts,
            options.out,
            validation=validation,
            config=config,
            loop=loop,
            data_digests=digests(options.data),
            resume=options.resume,
        )
    return tell_end(options, result, "{:.2f} nats a sentence", objective=config.objective, best_score=result.best_score)
