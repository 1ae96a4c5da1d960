"""Train sp-average on pairs: a vector for each subword, a sentence's the mean of its own; quick on any machine.

OUT/best is the checkpoint with the best validation score, OUT/last what --resume goes on from. A step of the loop is a
mega-batch, of several optimisation steps. A field of the preset is replaced by --config.FIELD VALUE, or by a YAML or
JSON file of fields: --config FILE.

Example:
  paraform train averaged --data pairs.tsv --out runs/averaged --config.epochs 3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Unpack

import numpy as np
import torch

from paraform.batching import Ragged
from paraform.batching.pairs import sides_of
from paraform.records import Pair, texts_of
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.job import Job
from paraform.trainers.reciprocal_rank import mean_reciprocal_rank
from paraform.trainers.source_files import groups_of
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike
from paraform_papers.rivals.averaged import AveragedConfig, AveragedEncoder, make_update
from paraform_papers.rivals.averaged.batches import BagTable, megabatches

METRICS = {"mrr": True, "development": True}  # whether higher is better
BY_MRR = TrainingConfig(metric="mrr", higher_is_better=True, evaluate_every=20, checkpoint_every=20, log_every=5)


def train_averaged(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    shares: Sequence[float] = (),
    development: Callable[[AveragedEncoder], Mapping[str, float]] | None = None,
    **options: Unpack[RunOptions[AveragedConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        shares, development: as `train_disentangled` has them.
        options: as `RunOptions` has them; usually `AveragedConfig()` and `BY_MRR`, whose steps are mega-batches.
    Raises: InputError for too few pairs, what is no pair, or a folder that holds another run.
    """
    usual = AveragedConfig()
    job = Job.of(AveragedEncoder, folder, usual, BY_MRR, METRICS, shares=shares, development=development, **options)
    config: AveragedConfig = job.config
    divided = job.divided(pairs)
    pairs, held = divided.training, divided.validation
    accelerator = job.accelerator  # seeds all draws
    model = AveragedEncoder.start(config, dict.fromkeys(texts_of(pairs))).to(accelerator.device)
    table = bag_table(pairs, model, divided.files)
    batches, steps = megabatches(table, epochs=config.epochs, most=config.megabatch, shares=shares, **job.batching)
    made = make_update(model, config, accelerator)

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        return {"mrr": mean_reciprocal_rank(model.embed, held)}

    return job.run(model, made, batches, evaluate, digests=divided.digests, steps=steps)


def bag_table(pairs: Sequence[Pair], model: AveragedEncoder, files: Mapping[str, int]) -> BagTable:
    """The table of the pairs by the model's subwords; groups are their files, by these numbers."""
    texts, source_M, target_M = sides_of(pairs)
    clusters_M, groups_M = [pair.cluster for pair in pairs], groups_of(pairs, files)
    pieces = Ragged.of(model.pieces(texts))
    return BagTable(pieces, source_M, target_M, np.array(clusters_M, np.int64), np.array(groups_M, np.int64))


TRAINER = Trainer(
    train=train_averaged,
    config=AveragedConfig,
    presets={"default": AveragedConfig, "reference": AveragedConfig.reference},
    loop=BY_MRR,
    best="validation MRR {:.3f}",
    help=__doc__,
)
