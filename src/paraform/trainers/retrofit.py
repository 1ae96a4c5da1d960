"""Train PAR on pairs: one matrix before a frozen encoder, by which words stay put when a sentence is reworded.

OUT/best is the checkpoint with the best validation score, OUT/last what --resume goes on from. Pairs labelled 0 are no
paraphrases; of files without labels such pairs are mined. A field of the preset is replaced by --config.FIELD VALUE, or
by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train retrofit --data pairs.tsv --out runs/mine --config.epochs 3
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import torch

from paraform import checkpoint
from paraform.batching.pairs import parts_of_rows
from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder, make_update
from paraform.models.retrofit.config import ELMO_DISTANCE
from paraform.models.retrofit.contexts import ContextTable, context_batches
from paraform.models.retrofit.whitening import within_word_whitening
from paraform.records import InputError, Pair, counted, texts_of
from paraform.score import Score
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.held_out import digests_of
from paraform.trainers.job import Job
from paraform.trainers.retrofit_tables import AT_ONCE, training_table
from paraform.trainers.retrofit_validation import validator
from paraform.trainers.source_files import require_some_of_each
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike

METRICS = {"accuracy": True, "ratio": False, "paraphrased": False, "other": True, "development": True}
"""Whether higher is better."""
BY_ACCURACY = TrainingConfig(
    metric="accuracy", higher_is_better=True, patience=5, evaluate_every=100, checkpoint_every=100, log_every=10
)
BY_RATIO = replace(BY_ACCURACY, metric="ratio", higher_is_better=False)
MEASURED = 16  # batches whose negatives say what the margin's unit is: thousands of shared words


def train_retrofit(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    shares: Sequence[float] = (),
    development: Callable[[RetrofittedEncoder], Mapping[str, float]] | None = None,
    **options: Unpack[RunOptions[RetrofitConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Warnings count the pairs without a shared word, and the shared words that stand in no sentence of another cluster:
    both are left out.

    Args:
        pairs: paraphrases and, labelled 0, others; all get new clusters if one has none. Without any labelled 0 the
            classifier learns from mined ones: sentences of two clusters that share a word.
        folder: the run's; `paraform.load(folder)` reads the best weights, and the encoder that the config names.
        shares, development: as `train_disentangled` has them.
        options: as `RunOptions` has them; usually `RetrofitConfig()` and `BY_RATIO`, which keeps the lowest ratio of
            distances; with `BY_ACCURACY`, as in the paper, the classifier's best is kept.
    Raises: InputError for too few pairs, pairs that share no word, what is no pair, an encoder that M cannot be put
        before, or a folder that holds another run.
    """
    job = Job.of(
        RetrofittedEncoder, folder, RetrofitConfig(), BY_RATIO, METRICS,
        shares=shares, development=development, **options,
    )  # fmt: skip
    config: RetrofitConfig = job.config
    loop, seed = job.loop, job.loop.seed
    divided = job.divided(pairs, labelled=True)
    held, files = divided.validation, divided.files
    pairs = drawn(divided.training, config, seed=seed)
    accelerator = job.accelerator  # seeds all draws
    torch.manual_seed(seed)
    model = RetrofittedEncoder.start(config).to(accelerator.device)
    table = training_table(pairs, model, files)
    if shares:
        there = set(table.group_N.tolist())
        require_some_of_each(files, [path for path, number in files.items() if number in there])
    batches, epoch = context_batches(table, negatives=config.negatives, shares=shares, **job.batching)
    log = logging.getLogger("paraform")
    if config.fit == "descent":
        apart = negative_distance(model, table, seed=seed)
        if not apart:
            raise InputError(f"{config.encoder}: a word is the same in every sentence; expected a layer from 1 on")
        model.network.margin.fill_(config.margin * apart / ELMO_DISTANCE)
        resolved = (config.margin, apart, ELMO_DISTANCE, float(model.network.margin))
        log.info("margin: %g × %.4g / %g = %.4g, in the unit of the states", *resolved)
    digests = {
        "encoder": model.facts.weights,  # a run does not go on with another one
        **digests_of(pairs, held, texts=lambda pair: [*texts_of([pair]), str(pair.label != 0)]),
    }
    evaluate = validator(model, table, pairs, held, seed=seed)
    if config.fit == "whitening":
        return whitened(model, table, job.scoring(model, evaluate), job, digests)
    before = job.scoring(model, evaluate)()
    log.info("before training: %s", ", ".join(f"{name} {value:.4g}" for name, value in before.items()))
    made = make_update(model, config, accelerator)
    patience = loop.patience if config.early_stop else 0
    result = job.run(model, made, batches, evaluate, digests=digests, epoch=epoch, patience=patience)
    sign = 1 if loop.higher_is_better else -1
    if result.best_score is not None and sign * result.best_score <= sign * before[loop.metric]:
        said = (loop.metric, result.best_score, before[loop.metric])
        log.warning("validation %s is %.4g at best, and was %.4g before training: M has not helped it", *said)
    return result


def drawn(pairs: list[Pair], config: RetrofitConfig, *, seed: int) -> list[Pair]:
    """The pairs with as many paraphrases as the config says, in their order; those labelled 0 stay."""
    places = [place for place, pair in enumerate(pairs) if pair.label != 0]
    if not config.most_pairs or len(places) <= config.most_pairs:
        return pairs
    first = config.sample == "first"
    chosen = places[: config.most_pairs] if first else random.Random(seed).sample(places, config.most_pairs)
    kept = set(chosen)
    return [pair for place, pair in enumerate(pairs) if pair.label == 0 or place in kept]


@torch.no_grad()
def negative_distance(model: RetrofittedEncoder, table: ContextTable, *, seed: int) -> float:
    """The mean distance to negatives, as the encoder comes, of the first batches: the margin's unit."""
    size = min(model.config.batch_size, len(table))
    batches, steps = context_batches(table, batch_size=size, negatives=model.config.negatives, seed=seed)
    found = [model.network(batches(step).to(model.device)).other_W for step in range(min(steps, MEASURED))]
    return float(torch.cat(found).mean())


@torch.no_grad()
def whitened(
    model: RetrofittedEncoder,
    table: ContextTable,
    evaluate: Callable[[], Mapping[str, float]],
    job: Job,
    digests: Mapping[str, str],
) -> Result:
    """M in closed form from the scatter of all shared words in paraphrases; there is a best checkpoint and no last."""
    scatter_DD, count = torch.zeros(model.facts.width, model.facts.width, dtype=torch.float64), 0
    for part_W in parts_of_rows(len(table.source_W), AT_ONCE):
        source_W, target_W = table.source_W[part_W], table.target_W[part_W]
        batch = table.batch(part_W, source_W, target_W).to(model.device)  # negatives have no part in it
        vectors_OD = model.network.vectors(batch, model.network.transform()).double()
        apart_WD = vectors_OD[batch.source_W] - vectors_OD[batch.target_W]
        scatter_DD += (apart_WD.T @ apart_WD).cpu()
        count += len(apart_WD)
    try:
        matrix_DD = within_word_whitening(scatter_DD / count)
    except ValueError as error:
        raise InputError(f"{counted(count, 'shared word')}: {error}") from error
    model.network.transform.weight.copy_(matrix_DD)
    scores = evaluate()
    if job.accelerator.is_main_process:
        checkpoint.save(
            model,
            Path(job.folder) / "best",
            card=job.card or f"# {model.system}\n\nWhitened by the scatter of {counted(count, 'shared word')}.\n",
            scores=[Score(name, value, "validation|closed form") for name, value in scores.items()],
            data_digests={**job.data_digests, **digests},
            seed=job.loop.seed,
        )
    return Result(0, "finished", scores[job.loop.metric], 0, [{"step": 0, "validation": scores}])


TRAINER = Trainer(
    train=train_retrofit,
    config=RetrofitConfig,
    presets={
        "default": RetrofitConfig,
        "paper": RetrofitConfig.paper,
        "reference": RetrofitConfig.reference,
    },
    loop=BY_RATIO,
    reads="labelled pairs",
    best="validation ratio {:.3f}",
    help=__doc__,
)
