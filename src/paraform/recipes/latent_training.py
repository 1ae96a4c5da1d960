"""Train a model of the latent-variable family on sentences: vocabulary, batches, the loop, the collapse monitor."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from paraform.batching import Ragged, SentenceBatch, Vocabulary, sentence_batches
from paraform.evaluation.latent import alarms, is_implicit, watch
from paraform.evaluation.latent.report import MANY_UNKNOWN
from paraform.models.latent import LatentConfig, LatentLanguageModel, make_update
from paraform.models.latent.reading import read_words
from paraform.records import InputError
from paraform.training import Result, TrainingConfig, fit, make_accelerator, require_usable, text_digest
from paraform.weights import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WATCHED = {
    "KL, nats": ("kl", "dual_kl"),
    "MI, nats": ("mi",),
    "active units": ("au",),
    "−ln p(x|z)": ("reconstruction",),
}


def train_latent(
    texts: Sequence[str],
    validation: Sequence[str],
    config: LatentConfig,
    loop: TrainingConfig,
    folder: Path,
    *,
    vocabulary: Vocabulary | None = None,
    card: str = "",
    data_digests: Mapping[str, str] | None = None,
    resume: bool = False,
    samples: int = 8,
) -> Result:
    """Train and validate; `folder/best` is chosen by `loop.metric`, `folder/collapse.png` is the paper's Figure 3.

    Args:
        loop: its `steps` are overridden: `config.epochs` passes over the texts; validations are one an epoch if its
            `evaluate_every` is above an epoch's steps.
        vocabulary: None: counted in the texts.
        data_digests: of the files that the texts are from; those of the texts themselves are added.
        samples: of each validation sentence, z.
    """
    require_usable(folder, LatentLanguageModel.system, config, resume=resume)
    accelerator = make_accelerator(loop)
    digests = {"training sentences": text_digest(texts), "validation sentences": text_digest(validation)}
    texts, validation = short_enough(texts, config, "training"), short_enough(validation, config, "validation")
    words = [read_words(text, config.text) for text in texts]
    if vocabulary is None:
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
        evaluate=monitor(
            model, validation, folder, samples=samples, seed=loop.seed, speaks=accelerator.is_main_process
        ),
        card=card,
        data_digests={**(data_digests or {}), **digests},
        resume=resume,
    )
    if accelerator.is_main_process:
        draw_watched({"": folder}, folder / "collapse.png")
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


def short_enough(texts: Sequence[str], config: LatentConfig, name: str) -> list[str]:
    """The texts of 1 to `config.max_tokens` words; one warning counts the others.

    Raises: InputError if none is left.
    """
    kept = [text for text in texts if 1 <= len(read_words(text, config.text)) <= config.max_tokens]
    if len(kept) < len(texts):
        logging.getLogger("paraform").warning(
            "%s: %d of %d sentences are empty or have more than %d words; left out",
            name,
            len(texts) - len(kept),
            len(texts),
            config.max_tokens,
        )
    if not kept:
        raise InputError(f"{name}: no sentence of 1 to {config.max_tokens} words; expected some")
    return kept


def monitor(
    model: LatentLanguageModel, texts: Sequence[str], folder: Path, *, samples: int, seed: int, speaks: bool
) -> Callable[[], dict[str, float]]:
    """The validation of a run: figures; in the process that speaks, alarms, and the picture of those before.

    An alarm is said when it is new, and when it is over.
    """
    said: dict[str, str] = {}

    def evaluate() -> dict[str, float]:
        figures = watch(model, texts, samples=samples, seed=seed)
        if speaks:
            found = {
                re.sub(r"[\d.,-]+", "#", line): line
                for line in alarms(figures, len(texts), at_least=is_implicit(model))
            }
            which = len(validations(folder / "log.jsonl")) + 1
            news = [f"validation {which}: {line}" for kind, line in found.items() if kind not in said]
            news += [f"validation {which}: no longer: {line}" for kind, line in said.items() if kind not in found]
            for line in news:
                logging.getLogger("paraform").warning("%s", line)
            said.clear()
            said.update(found)
            draw_watched({"": folder}, folder / "collapse.png")
        return figures

    return evaluate


def draw_watched(runs: Mapping[str, Path], picture: Path) -> None:
    """Write `watched_figure`, if there is something to draw."""
    figure = watched_figure(runs)
    if figure is not None:
        with atomic_path(picture) as unfinished:
            figure.savefig(unfinished, format="png", dpi=100)


def watched_figure(runs: Mapping[str, Path]) -> Figure | None:
    """Figure 3: KL, MI, active units and reconstruction at every validation in the `log.jsonl` of runs, by name.

    Of a single run the critics' KL stands beside that in closed form. None: no run has been validated yet.
    """
    seen = {name: validations(folder / "log.jsonl") for name, folder in runs.items()}
    if not any(seen.values()):
        return None
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    for number, (title, figures) in enumerate(WATCHED.items(), start=1):
        axes = figure.add_subplot(2, 2, number, title=title, xlabel="step")
        for row, (name, records) in enumerate(seen.items()):
            for which in figures if len(runs) == 1 else figures[:1]:
                points = [(step, found[which]) for step, found in records if which in found]
                if points:
                    # An autoencoder has no KL, so that a panel's own count of colours would not do.
                    looks = {"label": which} if len(runs) == 1 else {"label": name, "color": colormaps["tab20"](row)}
                    axes.plot(*zip(*points, strict=True), marker=".", **looks)
        if axes.lines and len(runs) == 1:
            axes.legend()
    if len(runs) > 1:
        lines = max((axes.get_lines() for axes in figure.axes), key=len)
        figure.legend(handles=lines, loc="outside right upper")
    return figure


def validations(log: Path) -> list[tuple[int, dict[str, float]]]:
    """Step and figures of each validation of a run; [] if it has no log yet."""
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.is_file() else []
    return [(record["step"], record["validation"]) for record in records if "validation" in record]
