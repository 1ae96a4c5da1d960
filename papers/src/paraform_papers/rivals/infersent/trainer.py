"""Train InferSent on pairs judged as entailment, neutral or contradiction: SICK's, SNLI's or MultiNLI's own files.

OUT/best is the checkpoint with the best validation accuracy, OUT/last what --resume goes on from. A field of the preset
is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train infersent --data SICK_train.txt --validation SICK_trial.txt --out runs/infersent
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable, Sequence
from typing import Unpack

import torch

from paraform.corpora.leaks import first_of_each, normalised
from paraform.corpora.senteval import LabelledText
from paraform.records import InputError, require_records, require_texts
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.held_out import digests_of, room_of
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike
from paraform_papers.rivals.infersent import InferSent, InferSentConfig, make_update
from paraform_papers.rivals.infersent.batches import JudgedTable
from paraform_papers.rivals.infersent.entailment import read_entailment
from paraform_papers.rivals.infersent.network import CLASSES

METRICS = {"accuracy": True, "nll": False}  # whether higher is better
BY_ACCURACY = TrainingConfig(metric="accuracy", higher_is_better=True, log_every=20)
AT_ONCE = 64  # pairs of validation together


def train_infersent(
    pairs: Iterable[LabelledText], folder: PathLike, **options: Unpack[RunOptions[InferSentConfig, LabelledText]]
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation accuracy.

    Args:
        pairs: judged ones, as `read_entailment` gives them: label 0 contradiction, 1 neutral, 2 entailment.
        folder: the run's; `paraform.load(folder)` reads the best weights, and the word vectors that the config names.
        options: as `RunOptions` has them; usually `InferSentConfig()` and `BY_ACCURACY`. Validations are one an epoch
            if the loop's `evaluate_every` is above an epoch's steps. `validation` are other judged pairs; None: a
            twentieth of the pairs, at most 1,000, drawn by seed; their sentences may stand in other pairs, too. There
            are no clusters: pairs with a text of `against` are left out.
    Raises: InputError for too few pairs, what is no judged pair, or a folder that holds another run.
    """
    job = Job.of(InferSent, folder, InferSentConfig(), BY_ACCURACY, METRICS, **options)
    config: InferSentConfig = job.config
    loop = job.loop
    if not config.classifier_width:
        raise InputError("classifier_width 0, no head; expected one to train by, such as 512")
    kept = unseen(judged(pairs), job.against)
    if job.validation is None:
        kept, held = held_out(kept, seed=loop.seed)
    else:
        held = unseen(judged(job.validation), job.against)
    if not (kept and held):
        raise InputError(f"{len(kept):,} pairs to train on, {len(held):,} to validate by; expected some of both")
    accelerator = job.accelerator  # seeds all draws
    model = InferSent.start(config).to(accelerator.device)
    digests = {
        "word vectors": model.facts.weights,  # a run does not go on with others
        **digests_of(kept, held, texts=lambda one: map(str, one)),
    }
    batches, epoch = model.table(kept).batches(**job.batching)
    made = make_update(model, config, accelerator, steps_per_epoch=epoch)
    tested = model.table(held)
    return job.run(
        model,
        made,
        batches,
        lambda: figures_of(model, tested),
        digests=digests,
        epoch=epoch,
        evaluate_every=min(loop.evaluate_every, epoch),
    )


Judged = tuple[str, str, int]


def judged(pairs: Iterable[LabelledText]) -> list[Judged]:
    """The pairs as texts with a class. Raises: InputError for what is no judged pair."""
    found: list[Judged] = []
    for number, one in enumerate(require_records(pairs, LabelledText), start=1):
        if one.other is None or one.label not in range(CLASSES):
            raise InputError(f"pair {number}: label {one.label!r}; expected two texts, and 0, 1 or 2 of them")
        first, second = require_texts([one.text, one.other])
        found.append((first, second, one.label))
    return found


def unseen(pairs: list[Judged], evaluation: Sequence[str]) -> list[Judged]:
    """The pairs without an evaluation text, as `leaks.normalised` tells; a warning counts the others."""
    known = first_of_each(evaluation)
    if not known:
        return pairs
    kept = [one for one in pairs if normalised(one[0]) not in known and normalised(one[1]) not in known]
    logging.getLogger("paraform").warning(
        "%s of %s pairs have a sentence of the evaluation sets; left out",
        f"{len(pairs) - len(kept):,}",
        f"{len(pairs):,}",
    )
    return kept


def held_out(pairs: list[Judged], *, seed: int) -> tuple[list[Judged], list[Judged]]:
    """Pairs to train on, and others, drawn by seed; both in their order."""
    chosen = set(random.Random(seed).sample(range(len(pairs)), min(room_of(len(pairs)), len(pairs))))
    return (
        [one for row, one in enumerate(pairs) if row not in chosen],
        [one for row, one in enumerate(pairs) if row in chosen],
    )


@torch.inference_mode()
def figures_of(model: InferSent, table: JudgedTable) -> dict[str, float]:
    """`accuracy`, 0 to 1, and `nll`, nats a pair."""
    right, nll = 0.0, 0.0
    for part in table.parts(AT_ONCE):
        part = part.to(model.device)
        logits_BC = model.network(part)
        right += float((logits_BC.argmax(-1) == part.labels_B).sum())
        nll += float(torch.nn.functional.cross_entropy(logits_BC, part.labels_B, reduction="sum"))
    return {"accuracy": right / len(table.labels), "nll": nll / len(table.labels)}


TRAINER = Trainer(
    train=train_infersent,
    config=InferSentConfig,
    presets={"default": InferSentConfig, "v1": InferSentConfig.first, "v2": InferSentConfig.second},
    loop=BY_ACCURACY,
    reads="judged pairs",
    read=read_entailment,
    held_out="other judged pairs; null: a twentieth, at most 1,000, is held out",
    best="validation accuracy {:.3f}",
    help=__doc__,
)
