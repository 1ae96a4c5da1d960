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

import numpy as np
import torch

from paraform.evaluation.bleu import bleu
from paraform.models.exemplar.word_vectors import start_words
from paraform.models.writing import BATCH
from paraform.records import InputError, Pair, require_count
from paraform.syntax.mining import mined_exemplars, why_none
from paraform.syntax.rules import MiningConfig
from paraform.syntax.running import DEFAULT
from paraform.trainers import Trainer
from paraform.trainers.arguments import require_given
from paraform.trainers.disentangled import reciprocal_ranks, texts_of
from paraform.trainers.exemplar import paraphrases
from paraform.trainers.held_out import digests_of, divided
from paraform.training import Result, TrainingConfig, fit, make_accelerator, require_metric, require_usable
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
    validation: Iterable[Pair] | None = None,
    config: VgvaeConfig | None = None,
    loop: TrainingConfig = BY_BLEU,
    tagger: str = DEFAULT,
    against: Iterable[str] = (),
    development: Callable[[Vgvae], Mapping[str, float]] | None = None,
    card: str = "",
    data_digests: Mapping[str, str] | None = None,
    resume: bool = False,
    validation_rows: int = 500,
    progress: bool = False,
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Ctrl-C or SIGTERM saves the run and ends it; with `resume` it goes on as if it had not been stopped.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        validation: pairs of other clusters. None: about a twentieth of the pairs, at most 1,000, by whole clusters.
        config: None: `VgvaeConfig.compact()`.
        loop: best `replace(BY_BLEU, …)`; a step is a mega-batch. Its `steps` are overridden: `config.epochs` passes
            over the pairs; and its metric "bleu" is "mrr" for the form "averages", which writes no sentence.
        tagger: a name that `load_tagger` knows; tags choose the validation's exemplars and, with `word_noise`, the
            words that replace others.
        against, card, data_digests, resume: as `train_exemplar` has them.
        development: as `train_averaged` has it.
        validation_rows: pairs that are paraphrased for the validation's BLEU.
        progress: say on stderr how far it is while pairs are tagged.
    Raises: InputError for too few pairs, what is no pair, a tagger that is not to be had, a validation without any
        exemplar, or a folder that holds another run.
    """
    config = VgvaeConfig.compact() if config is None else config
    texts = require_given(
        folder,
        config,
        VgvaeConfig,
        loop,
        against=against,
        card=card,
        data_digests=data_digests,
        development=development,
    )
    require_count(validation_rows, "validation_rows", 1)
    loop = loop_of(config, loop)
    without = {"development"} if development is None else set()
    without |= {"bleu"} if config.form == "averages" else set()
    require_metric(loop, {name: higher for name, higher in METRICS.items() if name not in without})
    require_usable(folder, Vgvae.system, config, resume=resume)
    others = None if validation is None else paraphrases(validation)
    pairs, held = divided(paraphrases(pairs), others, texts, seed=loop.seed)
    digests = digests_of(pairs, held)
    accelerator = make_accelerator(loop)
    with accelerator.main_process_first():  # the others find its cache
        vocabulary = vocabulary_of(texts_of(pairs), config)
        table = pair_table(pairs, config, vocabulary, tagger=tagger, progress=progress)
        likes = {} if config.form == "averages" else exemplars_of(held, config, tagger=tagger, seed=loop.seed)
    torch.manual_seed(loop.seed)
    model = Vgvae(config, vocabulary)
    start_words([each.weight for each in model.network.embeddings()], vocabulary.words, config.word_vectors)
    model.to(accelerator.device)
    batches, steps = megabatches(table, config, seed=loop.seed, world=accelerator.num_processes)
    update, state = make_update(model, config, accelerator)
    plain = pair_table(held, replace(config, word_noise=0.0), vocabulary)
    return fit(
        model,
        update,
        state,
        batches,
        folder=folder,
        config=replace(loop, steps=steps),
        accelerator=accelerator,
        evaluate=validator(model, held, plain, [*likes.items()][:validation_rows], development),
        card=card,
        data_digests={**(data_digests or {}), **digests},
        resume=resume,
    )


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
    development: Callable[[Vgvae], Mapping[str, float]] | None,
) -> Callable[[], dict[str, float]]:
    """The validation's figures: `nll`, nats a word of each side by the other's meaning and its own form, without noise;
    `mrr`, of each target among all by its source's direction; of the pairs with exemplars `bleu`, greedy; and what
    `development` gives.

    Args:
        table: of these pairs.
    """
    sources, targets = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    clusters = np.array([pair.cluster for pair in pairs])

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
        scores["mrr"] = reciprocal_ranks(model.embed(sources), model.embed(targets), clusters)
        if exemplars:
            said = model.decode([pair.source.text for pair, _ in exemplars], [like for _, like in exemplars])
            scores["bleu"] = bleu(said, [pair.target.text for pair, _ in exemplars]).value
        return scores | (dict(development(model)) if development is not None else {})

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
        "reference": VgvaeConfig.reference,
        "reference-averages": partial(VgvaeConfig.reference, "averages"),
    },
    loop=BY_BLEU,
    reads="pairs",
    held_out="pairs of other clusters; null: a twentieth of the clusters, at most 1,000 pairs, is held out",
    best="validation score {:.3f}",
    help=__doc__,
    loop_of=loop_of,
)
