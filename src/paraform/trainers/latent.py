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

import logging
import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import torch

from paraform.batching import Ragged, SentenceBatch, Vocabulary, sentence_batches
from paraform.evaluation.latent import alarms, draw_collapse, is_implicit, validate, validations
from paraform.evaluation.latent.report import MANY_UNKNOWN
from paraform.models.latent import OBJECTIVES, LatentConfig, LatentLanguageModel, make_update
from paraform.models.latent.causal import Base
from paraform.models.latent.texts import read_words, short_enough
from paraform.records import require_texts
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.held_out import digests_of, hold_out_texts, unseen_texts
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike

METRICS = {"loss": False, "reconstruction": False, "mi": True, "au": True}  # whether higher is better
SAMPLES = 8  # of z, of each sentence of a validation
PICTURES_APART = 10.0  # seconds: drawing one takes half a second
EACH_EPOCH = TrainingConfig(evaluate_every=10**9, checkpoint_every=200, mixed_precision="bf16")


def train_latent(texts: Iterable[str], folder: PathLike, **options: Unpack[RunOptions[LatentConfig, str]]) -> Result:
    """Train and validate; `folder/best` is chosen by the loop's metric, `folder/collapse.png` is the paper's Figure 3.

    Args:
        texts: one sentence each.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        options: as `RunOptions` has them; usually `LatentConfig.compact()` and `EACH_EPOCH`: validations are one an
            epoch if the loop's `evaluate_every` is above an epoch's steps. `validation` is of other sentences; None: a
            twentieth of the different ones, at most 1,000.
    Raises: InputError for too few sentences, what is no string, a folder that holds another run, or figures that are
        not finite.
    """
    job = Job.of(LatentLanguageModel, folder, LatentConfig.compact(), EACH_EPOCH, metrics_of, **options)
    config: LatentConfig = job.config
    seed = job.loop.seed
    folder = Path(folder)
    accelerator = job.accelerator  # seeds all draws
    base = Base.of(config.base) if config.network == "lm" else None
    read = partial(read_words, how=config.text) if base is None else base.pieces.split

    def readable(some: Sequence[str], name: str) -> list[str]:
        return short_enough(some, read, config.max_tokens, name)

    texts, validation = unseen_texts(require_texts(texts), job.against), job.validation
    if validation is None:  # of those that are read, or what is held out might be none
        texts, validation = hold_out_texts(
            readable(texts, "training"), seed=seed, key=lambda text: " ".join(read(text)).lower()
        )
    validation = unseen_texts(require_texts(validation), job.against)
    digests = digests_of(texts, validation, "sentences", lambda text: [text])
    digests |= {f"base's {name}": digest for name, digest in (base.digests if base else {}).items()}
    texts, validation = readable(texts, "training"), readable(validation, "validation")
    words = [read(text) for text in texts]
    of = base or Vocabulary.build(words, min_count=config.min_count, size=config.vocabulary_size)
    torch.manual_seed(seed)
    model = LatentLanguageModel(config, of).to(accelerator.device)
    table = Ragged.of([model.units.encode(row) for row in words])
    if accelerator.is_main_process:
        warn_of_unknown(model, validation)
    batches, steps_per_epoch = sentence_batches(table, **job.batching)
    others = job.batching
    others["seed"] += 1
    further, _ = sentence_batches(table, **others)

    def draw(count: int) -> list[SentenceBatch]:
        return [further(step) for step in torch.randint(steps_per_epoch, (count,)).tolist()]

    made = make_update(model, config, accelerator, draw=draw, steps_per_epoch=steps_per_epoch)
    result = job.run(
        model,
        made,
        batches,
        monitor(model, validation, folder, seed=seed, warns=accelerator.is_main_process),
        digests=digests,
        epoch=steps_per_epoch,
        evaluate_every=min(job.loop.evaluate_every, steps_per_epoch),
    )
    if accelerator.is_main_process:
        draw_collapse({"": folder}, folder / "collapse.png")
    return result


def metrics_of(config: LatentConfig) -> dict[str, bool]:
    """What a validation gives; of an autoencoder no information."""
    return {name: higher for name, higher in METRICS.items() if name != "mi" or config.posterior != "point"}


def warn_of_unknown(model: LatentLanguageModel, texts: Sequence[str]) -> None:
    """One warning if the model does not know many of the words: sentences of `<unk>` are likely, and mean nothing."""
    unknown, words = model.unknown(texts), sum(model.lengths(texts)) - len(texts)  # without `</s>`
    if unknown > MANY_UNKNOWN * words:
        logging.getLogger("paraform").warning(
            "%d of %d words of the validation sentences are unknown: all figures are those of a text which says <unk>"
            " so often; a smaller min_count or a larger vocabulary_size knows more",
            unknown,
            words,
        )


def monitor(
    model: LatentLanguageModel, texts: Sequence[str], folder: Path, *, seed: int, warns: bool
) -> Callable[[], dict[str, float]]:
    """The validation of a run: figures; in the process that warns, alarms, and the picture of those before.

    An alarm is logged when it is new, and when it is over; none at a run's first validation, where nothing is learned
    yet: what it finds is said at the second, if it is still so.
    """
    known: dict[str, tuple[int, str]] = {}  # the validation that said it, and its words
    drawn = -math.inf

    def evaluate() -> dict[str, float]:
        nonlocal drawn, known
        figures = validate(model, texts, samples=SAMPLES, seed=seed)
        if warns:
            lines = alarms(figures, len(texts), at_least=is_implicit(model))
            found = {re.sub(r"[\d.,-]+", "#", line): line for line in lines}
            which = len(validations(folder / "log.jsonl")) + 1
            if which > 1:
                news = [f"validation {which}: {line}" for kind, line in found.items() if kind not in known]
                news += [
                    f"validation {which}: recovered; at validation {since}: {line}"
                    for kind, (since, line) in known.items()
                    if kind not in found
                ]
                for line in news:
                    logging.getLogger("paraform").warning("%s", line)
                known = {kind: known.get(kind, (which, line)) for kind, line in found.items()}
            if time.monotonic() - drawn >= PICTURES_APART:
                draw_collapse({"": folder}, folder / "collapse.png")
                drawn = time.monotonic()
        return figures

    return evaluate


TRAINER = Trainer(
    train=train_latent,
    config=LatentConfig,
    presets={
        "compact": LatentConfig.compact,
        "fixed": LatentConfig,
        "lm": LatentConfig.lm,
        "paper": LatentConfig.paper,
        "reference": LatentConfig.reference,
        "reference-yahoo": partial(LatentConfig.reference, "yahoo"),
        "reference-yelp": partial(LatentConfig.reference, "yelp"),
    },
    loop=EACH_EPOCH,
    reads="sentences",
    held_out="other sentences; null: a twentieth of the different ones, at most 1,000, is held out",
    best="{:.2f} nats a sentence",
    help=__doc__,
    objectives=tuple(OBJECTIVES),
)
