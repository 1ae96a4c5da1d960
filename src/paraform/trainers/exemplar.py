"""Train CRL-EGPG on pairs: tags, exemplars and style features are made on the way and cached by content.

OUT/best is the checkpoint with the best validation BLEU, OUT/last what --resume goes on from. A field of the preset
is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train exemplar --data pairs.tsv --out runs/mine --preset compact --config.epochs 3
  paraform train exemplar --data pairs.tsv --out runs/mine --from compact --config.learning_rate 3e-4
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
import torch

from paraform import encoders
from paraform.batching import Vocabulary, prepare
from paraform.checkpoint.vectors import model_digest
from paraform.encoders.encoder_facts import EncoderFacts
from paraform.evaluation.bleu import bleu
from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser, make_update
from paraform.models.exemplar.batches import by_length
from paraform.models.exemplar.triples import mining_rules, triple_table
from paraform.models.exemplar.warm_start import carry_over, grown, require_same_build
from paraform.models.exemplar.word_vectors import initialize_words
from paraform.records import InputError, Pair, texts_of
from paraform.syntax import load_tagger
from paraform.syntax.mining import why_none
from paraform.syntax.running import DEFAULT
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.exemplar_bank import BANK_SIZE, exemplar_bank
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike

METRICS = {"bleu": True, "nll": False, "perplexity": False}  # whether higher is better
BY_BLEU = TrainingConfig(metric="bleu", higher_is_better=True)
FEW = 5_000  # pairs, from which no model learns a language


def train_exemplar(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    tagger: str = DEFAULT,
    start: ExemplarParaphraser | None = None,
    validation_rows: int = 500,
    progress: bool = False,
    **options: Unpack[RunOptions[ExemplarConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none. Those
            without an exemplar are not trained on.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        tagger: a name that `load_tagger` knows; tags choose the exemplars.
        start: a model whose weights the training goes on from, with its vocabulary, which grows by words seen
            `config.min_count` times, and its bank, which stands behind that of the pairs. None: random weights.
        validation_rows: pairs that are paraphrased for the validation's BLEU.
        progress: say on stderr how far it is while pairs are tagged.
        options: as `RunOptions` has them; usually the config of `start`, or `ExemplarConfig.compact()`, and `BY_BLEU`.
    Raises: InputError for too few pairs, what is no pair, a folder that holds another run, or a `start` that is built
        otherwise than the config says.
    """
    if start is not None and not isinstance(start, ExemplarParaphraser):
        raise InputError(f"start is a {type(start).__name__}; expected an exemplar model, such as load gives")
    usual = start.config if start else ExemplarConfig.compact()
    job = Job.of(ExemplarParaphraser, folder, usual, BY_BLEU, METRICS, validation_rows=validation_rows, **options)
    config: ExemplarConfig = job.config
    seed = job.loop.seed
    if start is not None:
        require_same_build(config, start.config)
    divided = job.divided(pairs)
    pairs, validation = divided.training, divided.validation
    if start is None and len(pairs) < FEW:
        logging.getLogger("paraform").warning(
            "%d pairs teach a model little of a language; expected %d or more, or a model to go on from (--from)",
            len(pairs), FEW,
        )  # fmt: skip
    digests = {**({"start": model_digest(start)} if start else {}), **divided.digests}
    with job.accelerator.main_process_first():  # the others find its cache
        if config.both_directions:
            pairs = both_ways(pairs)
        vocabulary = _more_words(start, pairs, config) if start else None
        table, vocabulary, mined = triple_table(pairs, config, vocabulary, tagger=tagger, seed=seed, progress=progress)
    if not (mined.exemplars >= 0).any():
        raise InputError(f"training: no pair has an exemplar: {why_none(mined.pairs, mining_rules(config, seed))}")
    torch.manual_seed(seed)
    load_tagger(tagger)  # its head draws weights before it is filled: without it a seed would give other models
    model = _model(pairs, config, vocabulary, start).to(job.accelerator.device)
    batches, epoch = by_length(table, **job.batching)
    made = make_update(model, config, job.accelerator, steps_per_epoch=epoch)
    evaluate = validator(model, validation, tagger=tagger, rows=validation_rows, seed=seed)
    return job.run(model, made, batches, evaluate, digests=digests, epoch=epoch)


def _more_words(start: ExemplarParaphraser, pairs: Sequence[Pair], config: ExemplarConfig) -> Vocabulary:
    """The vocabulary of `start`, grown; says by how much."""
    sides = Counter(texts_of(pairs))
    words = {text: prepare(text, config.max_tokens) for text in sides}
    found = grown(start.vocabulary, [words[text] for text in sides.elements()], config)
    logging.getLogger("paraform").warning(
        "the model to start from knows %d words; %d more stand %d times in these pairs",
        len(start.vocabulary), len(found) - len(start.vocabulary), config.min_count,
    )  # fmt: skip
    return found


def _model(
    pairs: Sequence[Pair], config: ExemplarConfig, vocabulary: Vocabulary, start: ExemplarParaphraser | None
) -> ExemplarParaphraser:
    """A model before its first step, with the bank of these pairs, and behind it that of `start`."""
    bank = exemplar_bank(pairs)
    if start is not None:
        bank = list(dict.fromkeys([*bank, *start.bank]))[:BANK_SIZE]
    facts = EncoderFacts.of(encoders.load(config.style_encoder)) if config.content_input != "words" else None
    model = ExemplarParaphraser(config, vocabulary, bank, facts=facts)
    if start is not None:
        carry_over(model, start)
    else:
        initialize_words(model)
    return model


def validator(
    model: ExemplarParaphraser, pairs: Sequence[Pair], *, tagger: str, rows: int, seed: int
) -> Callable[[], dict[str, float]]:
    """The validation's figures: `nll` (nats a token), `perplexity`, and `bleu` of the first `rows` pairs.

    Greedy; the exemplar is the first one mined, fixed before decoding.
    """
    config = replace(model.config, exemplar_deals=1)
    table, _, mined = triple_table(pairs, config, model.vocabulary, tagger=tagger, seed=seed)
    usable = np.flatnonzero(mined.exemplars[:, 0] >= 0)  # a pair without an exemplar is never drawn, nor paraphrased
    if not len(usable):
        raise InputError(
            f"validation: none of {len(pairs)} pairs has an exemplar among the others:"
            f" {why_none(mined.pairs, mining_rules(config, seed))} (there: validation=, --validation), or more in all"
        )
    batches, steps = by_length(table, batch_size=min(config.batch_size, len(usable)), seed=seed)
    chosen = [mined.pairs[row] for row in usable[:rows]]
    sources, references = [pair.source.text for pair in chosen], [pair.target.text for pair in chosen]
    likes = [mined.pool[mined.exemplars[row, 0]].text for row in usable[:rows]]

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        losses: list[float] = []
        for step in range(steps):
            out = model.network(batches(step).to(model.device))
            per_row = -torch.segment_reduce(out.log_probs_N, "mean", lengths=out.lengths_B, axis=0)
            losses += per_row.tolist()
        kept = np.array(losses)
        if config.drop_perplexity:
            kept = kept[np.exp(kept) < config.drop_perplexity]
        nll = float(kept.mean())
        score = bleu(model.decode(sources, likes), references)
        return {"nll": nll, "perplexity": float(np.exp(nll)), "bleu": score.value}

    return evaluate


def both_ways(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, and behind them the same from target to source."""
    return [*pairs, *(replace(pair, source=pair.target, target=pair.source) for pair in pairs)]


TRAINER = Trainer(
    train=train_exemplar,
    config=ExemplarConfig,
    presets={
        "compact": ExemplarConfig.compact,
        "fixed": ExemplarConfig,
        "paper": ExemplarConfig.paper,
        "reference": ExemplarConfig.reference,
    },
    loop=BY_BLEU,
    best="validation BLEU {:.2f}",
    help=__doc__,
)
