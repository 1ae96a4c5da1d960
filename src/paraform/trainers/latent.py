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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from paraform.batching import Ragged, SentenceBatch, Vocabulary, sentence_batches
from paraform.evaluation.latent import alarms, draw_collapse, is_implicit, validate, validations
from paraform.evaluation.latent.report import MANY_UNKNOWN
from paraform.models.latent import OBJECTIVES, LatentConfig, LatentLanguageModel, make_update
from paraform.models.latent.texts import read_words, short_enough
from paraform.records import require_texts
from paraform.trainers import Trainer
from paraform.trainers.arguments import require_given
from paraform.trainers.held_out import hold_out_texts, unseen_texts
from paraform.training import Result, TrainingConfig, fit, make_accelerator, require_metric, require_usable, text_digest
from paraform.weights import PathLike

METRICS = {"loss": False, "reconstruction": False, "mi": True, "au": True}  # whether higher is better
SAMPLES = 8  # of z, of each sentence of a validation
PICTURES_APART = 10.0  # seconds: drawing one takes half a second
EACH_EPOCH = TrainingConfig(evaluate_every=10**9, checkpoint_every=200, mixed_precision="bf16")


def train_latent(
    texts: Iterable[str],
    folder: PathLike,
    *,
    validation: Iterable[str] | None = None,
    config: LatentConfig | None = None,
    loop: TrainingConfig = EACH_EPOCH,
    against: Iterable[str] = (),
    card: str = "",
    data_digests: Mapping[str, str] | None = None,
    resume: bool = False,
) -> Result:
    """Train and validate; `folder/best` is chosen by `loop.metric`, `folder/collapse.png` is the paper's Figure 3.

    Ctrl-C or SIGTERM saves the run and ends it; with `resume` it goes on as if it had not been stopped.

    Args:
        texts: one sentence each.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        validation: other sentences, which choose the weights. None: a twentieth of the different ones, at most 1,000.
        config: None: `LatentConfig.compact()`.
        loop: best `replace(EACH_EPOCH, …)`. Its `steps` are overridden: `config.epochs` passes over the texts;
            validations are one an epoch if its `evaluate_every` is above an epoch's steps. Its seed is set for torch,
            NumPy and `random`.
        against: texts that the model is to be measured by: they are left out, with a warning that counts them.
        card: README.md of the checkpoints; "": a line that says what they are.
        data_digests: SHA-256 of the files that the texts are from; those of the texts themselves are added.
        resume: go on with the run in the folder, if there is one.
    Raises: InputError for too few sentences, what is no string, a folder that holds another run, or figures that are
        not finite.
    """
    config = LatentConfig.compact() if config is None else config
    unseen = require_given(folder, config, LatentConfig, loop, against=against, card=card, data_digests=data_digests)
    folder = Path(folder)
    require_metric(loop, {name: up for name, up in METRICS.items() if name != "mi" or config.posterior != "point"})
    require_usable(folder, LatentLanguageModel.system, config, resume=resume)
    accelerator = make_accelerator(loop)
    read = partial(read_words, how=config.text)

    def readable(some: Sequence[str], name: str) -> list[str]:
        return short_enough(some, read, config.max_tokens, name)

    texts = unseen_texts(require_texts(texts), unseen)
    if validation is None:  # of those that are read, or what is held out might be none
        texts, validation = hold_out_texts(
            readable(texts, "training"), seed=loop.seed, key=lambda text: " ".join(read(text)).lower()
        )
    validation = unseen_texts(require_texts(validation), unseen)
    digests = {"training sentences": text_digest(texts), "validation sentences": text_digest(validation)}
    texts, validation = readable(texts, "training"), readable(validation, "validation")
    words = [read(text) for text in texts]
    vocabulary = Vocabulary.build(words, min_count=config.min_count, size=config.vocabulary_size)
    table = Ragged.of([vocabulary.encode([word.lower() for word in row]) for row in words])
    torch.manual_seed(loop.seed)
    model = LatentLanguageModel(config, vocabulary).to(accelerator.device)
    if accelerator.is_main_process:
        warn_of_unknown(model, validation)
    share = {"rank": accelerator.process_index, "world": accelerator.num_processes}
    batches, steps_per_epoch = sentence_batches(table, batch_size=config.batch_size, seed=loop.seed, **share)
    further, _ = sentence_batches(table, batch_size=config.batch_size, seed=loop.seed + 1, **share)

    def draw(count: int) -> list[SentenceBatch]:
        return [further(step) for step in torch.randint(steps_per_epoch, (count,)).tolist()]

    update, state = make_update(model, config, accelerator, draw=draw, steps_per_epoch=steps_per_epoch)
    steps = config.epochs * steps_per_epoch
    result = fit(
        model,
        update,
        state,
        batches,
        folder=folder,
        config=replace(loop, steps=steps, evaluate_every=min(loop.evaluate_every, steps_per_epoch)),
        accelerator=accelerator,
        evaluate=monitor(model, validation, folder, seed=loop.seed, warns=accelerator.is_main_process),
        epoch=steps_per_epoch,
        card=card,
        data_digests={**(data_digests or {}), **digests},
        resume=resume,
    )
    if accelerator.is_main_process:
        draw_collapse({"": folder}, folder / "collapse.png")
    return result


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
