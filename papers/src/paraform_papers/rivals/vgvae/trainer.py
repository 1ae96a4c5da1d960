"""Train VGVAE or CGEN on pairs: what a sentence says, a direction, apart from how it says it, a Gaussian.

The preset "compact" is CGEN's network, which paraphrases in the form of an exemplar; those of "averages" are VGVAE's,
which is quick and gives vectors alone. OUT/best is the checkpoint with the best validation score, OUT/last what
--resume goes on from. A field of the preset is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields:
--config FILE.

Example:
  paraform train vgvae --data pairs.tsv --out runs/mine --preset compact --config.epochs 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np
import torch

from paraform.evaluation.bleu import bleu
from paraform.models.exemplar.word_vectors import start_words
from paraform.models.writing import BATCH
from paraform.records import InputError, Pair, texts_of
from paraform.syntax.mining import mined_exemplars, why_none
from paraform.syntax.rules import MiningConfig
from paraform.syntax.running import DEFAULT
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.job import Job
from paraform.trainers.reciprocal_rank import mean_reciprocal_rank
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike
from paraform_papers.rivals.vgvae import Vgvae, VgvaeConfig, make_update
from paraform_papers.rivals.vgvae.batches import PairTable, megabatches
from paraform_papers.rivals.vgvae.table import pair_table, vocabulary_of

METRICS = {"bleu": True, "mrr": True, "nll": False, "development": True}  # whether higher is better
BY_BLEU = TrainingConfig(metric="bleu", higher_is_better=True)


def train_vgvae(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    tagger: str = DEFAULT,
    development: Callable[[Vgvae], Mapping[str, float]] | None = None,
    validation_rows: int = 500,
    progress: bool = False,
    **options: Unpack[RunOptions[VgvaeConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        tagger: a name that `load_tagger` knows; tags choose the validation's exemplars and, with `word_noise`, the
            words that replace others.
        development: as `train_averaged` has it.
        validation_rows: pairs that are paraphrased for the validation's BLEU.
        progress: say on stderr how far it is while pairs are tagged.
        options: as `RunOptions` has them; usually `VgvaeConfig.compact()` and `BY_BLEU`. A step of the loop is a
            mega-batch; and its metric "bleu" is "mrr" for the form "averages", which writes no sentence.
    Raises: InputError for too few pairs, what is no pair, a tagger that is not to be had, a validation without any
        exemplar, or a folder that holds another run.
    """
    job = Job.of(
        Vgvae, folder, VgvaeConfig.compact(), BY_BLEU, metrics_of, loop_of=loop_of,
        development=development, validation_rows=validation_rows, **options,
    )  # fmt: skip
    config: VgvaeConfig = job.config
    seed = job.loop.seed
    divided = job.divided(pairs)
    pairs, held = divided.training, divided.validation
    with job.accelerator.main_process_first():  # the others find its cache
        vocabulary = vocabulary_of(texts_of(pairs), config)
        table = pair_table(pairs, config, vocabulary, tagger=tagger, progress=progress)
        likes = {} if config.form == "averages" else exemplars_of(held, config, tagger=tagger, seed=seed)
    torch.manual_seed(seed)
    model = Vgvae(config, vocabulary)
    start_words([each.weight for each in model.network.embeddings()], vocabulary.words, config.word_vectors)
    model.to(job.accelerator.device)
    batches, steps = megabatches(table, config, seed=seed, world=job.accelerator.num_processes)
    made = make_update(model, config, job.accelerator)
    plain = pair_table(held, replace(config, word_noise=0.0), vocabulary)
    evaluate = validator(model, held, plain, [*likes.items()][:validation_rows])
    return job.run(model, made, batches, evaluate, digests=divided.digests, steps=steps)


def metrics_of(config: VgvaeConfig) -> dict[str, bool]:
    """What a validation gives; averages write nothing."""
    return {name: higher for name, higher in METRICS.items() if name != "bleu" or config.form != "averages"}


def loop_of(config: VgvaeConfig, loop: TrainingConfig) -> TrainingConfig:
    """The loop, whose metric "bleu" is "mrr" for averages, which write no sentence."""
    return replace(loop, metric="mrr") if config.form == "averages" and loop.metric == "bleu" else loop


def exemplars_of(pairs: Sequence[Pair], config: VgvaeConfig, *, tagger: str, seed: int) -> dict[Pair, str]:
    """The first exemplar that is mined for each pair, of those that have one.

    Raises: InputError if none has.
    """
    rules = MiningConfig(keep=1, seed=seed)
    mined = mined_exemplars(pairs, rules, config.max_tokens, tagger=tagger)
    first = mined.exemplars[:, 0].tolist()
    found = {pair: mined.pool[row].text for pair, row in zip(mined.pairs, first, strict=True) if row >= 0}
    if not found:
        raise InputError(
            f"validation: none of {len(pairs)} pairs has an exemplar among the others:"
            f" {why_none(mined.pairs, rules)} (there: validation=, --validation), or more in all"
        )
    return found


def validator(
    model: Vgvae,
    pairs: Sequence[Pair],
    table: PairTable,
    exemplars: Sequence[tuple[Pair, str]],
) -> Callable[[], dict[str, float]]:
    """The validation's figures: `nll`, nats a word of each side by the other's meaning and its own form, without noise;
    `mrr`, of each target among all by its source's direction; and of the pairs with exemplars `bleu`, greedy.

    Args:
        table: of these pairs.
    """

    def nll(start: int) -> torch.Tensor:
        part = slice(start, start + BATCH)
        batch = table.sentences(np.concatenate([table.source[part], table.target[part]])).to(model.device)
        posterior = model.network.posterior(batch, batch)
        own_BM, other_BM = posterior.semantic.direction_BM.chunk(2)
        nll_B = model.network.reconstruction(batch, torch.cat([other_BM, own_BM]), posterior.syntax.mean_BZ)
        return nll_B / model.network.counted(batch)

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        scores = {"nll": torch.cat([nll(start) for start in range(0, len(pairs), BATCH)]).mean().item()}
        scores["mrr"] = mean_reciprocal_rank(model.embed, pairs)
        if exemplars:
            said = model.decode([pair.source.text for pair, _ in exemplars], [like for _, like in exemplars])
            scores["bleu"] = bleu(said, [pair.target.text for pair, _ in exemplars]).value
        return scores

    return evaluate


TRAINER = Trainer(
    train=train_vgvae,
    config=VgvaeConfig,
    presets={
        "compact": VgvaeConfig.compact,
        "compact-averages": partial(VgvaeConfig.compact, "averages"),
        "default": VgvaeConfig,
        "paper": VgvaeConfig.paper,
        "paper-averages": partial(VgvaeConfig.paper, "averages"),
    },
    loop=BY_BLEU,
    best="validation score {:.3f}",
    help=__doc__,
    loop_of=loop_of,
)
