"""Train a language model to say sentences in other words, on pairs: adapters on smollm2 (`paraform fetch smollm2`), or
on a causal model of your own; with --config.guide in the form of an exemplar, too.

OUT/best is the checkpoint with the best validation likelihood, OUT/last what --resume goes on from. A field of the
preset is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE. --from goes on from the
adapters of another run: with a thousand pairs of your own domain that takes minutes.

Example:
  paraform train lm --data pairs.tsv --out runs/mine
  paraform train lm --data mine.tsv --out runs/ours --from runs/mine --config.learning_rate 2e-4
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Unpack

import numpy as np
import torch

from paraform.checkpoint.vectors import model_digest
from paraform.models.lm import LMConfig, LMParaphraser, make_update
from paraform.models.lm.batches import LMTable, StyleTable, lm_batches, lm_table, parts_of
from paraform.models.lm.style import style_states
from paraform.records import InputError, Pair
from paraform.syntax.mining import mined_exemplars
from paraform.syntax.rules import MiningConfig
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike

METRICS = {"nll": False}  # whether higher is better
BY_NLL = TrainingConfig(metric="nll", evaluate_every=200, checkpoint_every=100, log_every=20, mixed_precision="bf16")
LONGEST = 60  # words of a sentence that exemplars are searched by


def train_lm(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    start: LMParaphraser | None = None,
    validation_rows: int = 300,
    progress: bool = False,
    **options: Unpack[RunOptions[LMConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        start: a model whose weights the training goes on from; None: the base alone.
        validation_rows: pairs whose likelihood chooses.
        progress: say on stderr how far it is while pairs are tagged.
        options: as `RunOptions` has them; usually the config of `start`, or `LMConfig()`, and `BY_NLL`.
    Raises: InputError for too few pairs, what is no pair, a base that is not to be had, a `start` of other sizes, or a
        folder that holds another run.
    """
    if start is not None and not isinstance(start, LMParaphraser):
        raise InputError(f"start is a {type(start).__name__}; expected a language model, such as load gives")
    usual = start.config if start else LMConfig()
    job = Job.of(LMParaphraser, folder, usual, BY_NLL, METRICS, validation_rows=validation_rows, **options)
    config: LMConfig = job.config
    divided = job.divided(pairs)
    torch.manual_seed(job.loop.seed)
    model = LMParaphraser.of(config)
    digests = {**{f"base's {name}": digest for name, digest in model.digests.items()}, **divided.digests}
    if start is not None:
        if (start.digests, start.config.rank, start.config.layers) != (model.digests, config.rank, config.layers):
            raise InputError("start has another base, rank or layers than the config says; expected the same")
        model.load_state_dict(start.state_dict())
        digests["start"] = model_digest(start)
    model.to(job.accelerator.device)
    with job.accelerator.main_process_first():  # the others find its cache
        table = table_of(model, divided.training, seed=job.loop.seed, tell=model.kind, progress=progress)
        held = table_of(model, divided.validation[:validation_rows], seed=job.loop.seed)
    batches, epoch = lm_batches(table, **job.batching)
    update = make_update(model, config, job.accelerator, steps_per_epoch=epoch)
    return job.run(model, update, batches, validator(model, held), digests=digests, epoch=epoch)


def table_of(
    model: LMParaphraser, pairs: Sequence[Pair], *, seed: int, tell: str = "", progress: bool = False
) -> LMTable:
    """The pairs' table, a share of them without a guide; a pair's exemplar is one with its target's tags, or nearly.

    Args:
        tell: as `lm_table` has it.
    """
    sources, targets = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    config, exemplars, styles = model.config, [""] * len(pairs), None
    if config.guide != "none":
        mined = mined_exemplars(pairs, MiningConfig(seed=seed), LONGEST, progress=progress)
        found = [mined.pool[row].text if row >= 0 else "" for row in mined.exemplars[:, 0]]
        guided = np.random.default_rng(seed).random(len(pairs)) >= config.unguided
        exemplars = [text if there else "" for text, there in zip(found, guided, strict=True)]
    if config.guide == "style":
        others = style_states(model.style_encoder, targets) if config.style_weight else None
        styles = StyleTable(style_states(model.style_encoder, exemplars), others)
    contrast = config.guide == "style" and config.content_weight > 0
    guides = model.guides(exemplars)
    return lm_table(sources, targets, guides, model.prompts, config, contrast=contrast, styles=styles, tell=tell)


def validator(model: LMParaphraser, table: LMTable) -> Callable[[], dict[str, float]]:
    """The validation's figure: `nll`, nats a piece of the table's targets."""

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        network = model.network.eval()
        found = [network(batch.to(model.device)) for _, batch in parts_of(table, model.config.batch_size)]
        nats = [each.log_probs_N for each in found]
        return {"nll": -sum(each.sum().item() for each in nats) / sum(each.numel() for each in nats)}

    return evaluate


TRAINER = Trainer(
    train=train_lm,
    config=LMConfig,
    presets={"default": LMConfig, "whole": LMConfig.whole},
    loop=BY_NLL,
    best="validation likelihood, nats a piece {:.3f}",
    help=__doc__,
)
