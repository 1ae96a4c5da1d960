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
from paraform.records import Pair
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.disentangled import reciprocal_ranks, texts_of
from paraform.trainers.held_out import digests_of, paraphrases
from paraform.trainers.job import Job
from paraform.trainers.source_files import file_of, files_of, require_some_of_each
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

    Ctrl-C or SIGTERM saves the run and ends it; with `resume` it goes on as if it had not been stopped.

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
    given = paraphrases(pairs)
    pairs, held = job.divided(given)
    numbers = files_of(pairs)
    if shares:
        require_some_of_each(files_of(given), numbers)
    digests = digests_of(pairs, held)
    accelerator = job.accelerator  # seeds all draws
    model = AveragedEncoder.start(config, dict.fromkeys(texts_of(pairs))).to(accelerator.device)
    batches, steps = megabatches(
        bag_table(pairs, model, numbers),
        batch_size=config.batch_size,
        epochs=config.epochs,
        most=config.megabatch,
        seed=job.loop.seed,
        shares=shares,
        world=accelerator.num_processes,
    )
    made = make_update(model, config, accelerator)
    return job.run(model, made, batches, validator(model, held, development), digests=digests, steps=steps)


def bag_table(pairs: Sequence[Pair], model: AveragedEncoder, files: Mapping[str, int]) -> BagTable:
    """The table of the pairs by the model's subwords; groups are the files by these numbers."""
    place: dict[str, int] = {}
    rows = [[place.setdefault(side.text, len(place)) for side in (pair.source, pair.target)] for pair in pairs]
    source_M, target_M = np.array(rows, np.int64).T
    return BagTable(
        Ragged.of(model.pieces(list(place))),
        source_M,
        target_M,
        np.array([pair.cluster for pair in pairs], np.int64),
        np.array([files[file_of(pair)] for pair in pairs], np.int64),
    )


def validator(
    model: AveragedEncoder,
    pairs: Sequence[Pair],
    development: Callable[[AveragedEncoder], Mapping[str, float]] | None,
) -> Callable[[], dict[str, float]]:
    """It gives `mrr`, of each target among all by its source, and what `development` gives."""
    sources, targets = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    clusters = np.array([pair.cluster for pair in pairs])

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        scores = {"mrr": reciprocal_ranks(model.embed(sources), model.embed(targets), clusters)}
        return scores | (dict(development(model)) if development is not None else {})

    return evaluate


TRAINER = Trainer(
    train=train_averaged,
    config=AveragedConfig,
    presets={"default": AveragedConfig, "reference": AveragedConfig.reference},
    loop=BY_MRR,
    best="validation MRR {:.3f}",
    help=__doc__,
)
