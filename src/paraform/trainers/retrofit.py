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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from paraform import checkpoint
from paraform.corpora import clusters
from paraform.evaluation.embedding.probe_rows import pair_features
from paraform.evaluation.embedding.probes import Folds, ProbeConfig, fit_probes
from paraform.losses.orthogonality import orthogonality_penalty
from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder, make_update
from paraform.models.retrofit.config import ELMO_DISTANCE
from paraform.models.retrofit.contexts import ContextTable, Rows, context_batches, context_table
from paraform.models.retrofit.whitening import within_word_whitening
from paraform.records import InputError, Pair, counted
from paraform.score import Score
from paraform.trainers import Trainer
from paraform.trainers.exemplar import pairs_of_texts
from paraform.trainers.files import file_of, files_of, require_some_of_each
from paraform.trainers.given import require_given
from paraform.trainers.held_out import hold_out_pairs, require_pairs, unseen_pairs
from paraform.training import Result, TrainingConfig, fit, make_accelerator, require_metric, require_usable, text_digest
from paraform.weights import PathLike

METRICS = {"accuracy": True, "ratio": False, "paraphrased": False, "other": True, "development": True}
"""Whether higher is better."""
BY_ACCURACY = TrainingConfig(
    metric="accuracy", higher_is_better=True, patience=5, evaluate_every=100, checkpoint_every=100, log_every=10
)
BY_RATIO = replace(BY_ACCURACY, metric="ratio", higher_is_better=False)
AT_ONCE = 512  # shared words that are measured together
MEASURED = 16  # batches whose negatives say what the margin's unit is: thousands of shared words
CLASSIFIER = replace(ProbeConfig.mlp(), l2=(1e-3,))
DEV = 10  # every tenth training pair chooses the classifier's epoch


class Example(NamedTuple):
    """Two texts of the paraphrase classifier's."""

    first: str
    second: str
    paraphrases: bool


def train_retrofit(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    validation: Iterable[Pair] | None = None,
    config: RetrofitConfig | None = None,
    loop: TrainingConfig = BY_RATIO,
    shares: Sequence[float] = (),
    against: Iterable[str] = (),
    development: Callable[[RetrofittedEncoder], Mapping[str, float]] | None = None,
    card: str = "",
    data_digests: Mapping[str, str] | None = None,
    resume: bool = False,
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Ctrl-C or SIGTERM saves the run and ends it; with `resume` it goes on as if it had not been stopped. Warnings count
    the pairs without a shared word, and the shared words that stand in no sentence of another cluster: both are left
    out.

    Args:
        pairs: paraphrases and, labelled 0, others; all get new clusters if one has none. Without any labelled 0 the
            classifier learns from mined ones: sentences of two clusters that share a word.
        folder: the run's; `paraform.load(folder)` reads the best weights, and the encoder that the config names.
        validation: pairs of other clusters. None: about a twentieth of the pairs, at most 1,000, by whole clusters.
        config: None: `RetrofitConfig()`.
        loop: best `replace(BY_RATIO, …)`: the lowest ratio of distances is kept; with `BY_ACCURACY`, as in the paper,
            the classifier's best. Its `steps` are overridden: `config.epochs` passes over the pairs.
        shares: of pairs that were read from several files, in the order of the files, how many of an epoch's pairs are
            from each, up to a factor; (): as many as there are.
        against: texts that the model is to be measured by: pairs with one, and the rest of their clusters, are left
            out of training and validation, with a warning that counts them.
        development: further validation scores of the model, "development" among them; higher is better. Those of public
            sets: `read_development`. `loop`'s metric may name it.
        card, data_digests, resume: as `train_exemplar` has them.
    Raises: InputError for too few pairs, pairs that share no word, what is no pair, an encoder that M cannot be put
        before, or a folder that holds another run.
    """
    config = RetrofitConfig() if config is None else config
    texts = require_given(
        folder,
        config,
        RetrofitConfig,
        loop,
        against=against,
        card=card,
        data_digests=data_digests,
        shares=shares,
        development=development,
    )
    require_metric(loop, {name: higher for name, higher in METRICS.items() if name != "development" or development})
    require_usable(folder, RetrofittedEncoder.system, config, resume=resume)
    given = pairs_of_texts(pairs)
    pairs = unseen_pairs(given, texts)
    if validation is None:
        pairs, held = held_out(pairs, seed=loop.seed)
    else:
        held = unseen_pairs(pairs_of_texts(validation), texts)
        require_pairs(pairs, held)
    pairs = drawn(pairs, config, seed=loop.seed)
    accelerator = make_accelerator(loop)
    torch.manual_seed(loop.seed)
    model = RetrofittedEncoder.start(config)
    model.to(accelerator.device)
    files = files_of([pair for pair in given if pair.label != 0])  # of those labelled 0 none is drawn
    table = training_table(pairs, model, files)
    if shares:
        there = set(table.group_N.tolist())
        require_some_of_each(files, [path for path, number in files.items() if number in there])
    batches, steps_per_epoch = context_batches(
        table,
        batch_size=config.batch_size,
        negatives=config.negatives,
        seed=loop.seed,
        shares=shares,
        rank=accelerator.process_index,
        world=accelerator.num_processes,
    )
    log = logging.getLogger("paraform")
    if config.relative_margin and config.fit == "descent":
        apart = negative_distance(model, table, seed=loop.seed)
        model.network.margin.fill_(config.margin * apart / ELMO_DISTANCE)
        resolved = (config.margin, apart, ELMO_DISTANCE, float(model.network.margin))
        log.info("margin: %g × %.4g / %g = %.4g, in the unit of the states", *resolved)
    digests = {
        "encoder": model.facts.weights,  # a run does not go on with another one
        **{
            f"{split} pairs": text_digest(
                text for pair in some for text in (pair.source.text, pair.target.text, str(pair.label != 0))
            )
            for split, some in (("training", pairs), ("validation", held))
        },
    }
    evaluate = validator(model, table, pairs, held, development, seed=loop.seed)
    digests = {**(data_digests or {}), **digests}
    if config.fit == "whitening":
        main = accelerator.is_main_process
        return whitened(model, table, evaluate, Path(folder), loop, main=main, card=card, data_digests=digests)
    before = evaluate()
    log.info("before training: %s", ", ".join(f"{name} {value:.4g}" for name, value in before.items()))
    update, state = make_update(model, config, accelerator, steps_per_epoch=steps_per_epoch)
    if not config.early_stop:
        loop = replace(loop, patience=0)
    result = fit(
        model,
        update,
        state,
        batches,
        folder=folder,
        config=replace(loop, steps=config.epochs * steps_per_epoch),
        accelerator=accelerator,
        evaluate=evaluate,
        epoch=steps_per_epoch,
        card=card,
        data_digests=digests,
        resume=resume,
    )
    sign = 1 if loop.higher_is_better else -1
    if result.best_score is not None and sign * result.best_score <= sign * before[loop.metric]:
        said = (loop.metric, result.best_score, before[loop.metric])
        log.warning("validation %s is %.4g at best, and was %.4g before training: M has not helped it", *said)
    return result


def held_out(pairs: Sequence[Pair], *, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on, and others; no sentence is in both, those of pairs labelled 0 neither.

    Raises: InputError as `hold_out_pairs`.
    """
    joined = clusters([replace(pair, label=None) for pair in pairs])  # a pair labelled 0 ties its sides together, too
    _, held = hold_out_pairs(joined, seed=seed)
    kept = {pair.cluster for pair in held}
    sides = [pair.cluster in kept for pair in joined]
    return (
        [pair for pair, out in zip(pairs, sides, strict=True) if not out],
        [pair for pair, out in zip(pairs, sides, strict=True) if out],
    )


def drawn(pairs: list[Pair], config: RetrofitConfig, *, seed: int) -> list[Pair]:
    """The pairs with as many paraphrases as the config says, in their order; those labelled 0 stay."""
    places = [place for place, pair in enumerate(pairs) if pair.label != 0]
    if not config.most_pairs or len(places) <= config.most_pairs:
        return pairs
    first = config.sample == "first"
    chosen = places[: config.most_pairs] if first else random.Random(seed).sample(places, config.most_pairs)
    kept = set(chosen)
    return [pair for place, pair in enumerate(pairs) if pair.label == 0 or place in kept]


def training_table(
    pairs: Sequence[Pair], model: RetrofittedEncoder, files: Mapping[str, int] | None = None
) -> ContextTable:
    """The table of the pairs; warnings say what is left out. Raises: InputError if nothing is left."""
    config = model.config
    table = table_of_pairs(pairs, model, files)
    asked = sum(pair.label != 0 for pair in pairs)
    log = logging.getLogger("paraform")
    if not asked:
        raise InputError(f"{counted(len(pairs), 'pair')}, all labelled 0; expected paraphrases to train on")
    if table.without_words == asked:
        limits = f" ({config.min_tokens} to {config.max_tokens} words a side)" if config.max_tokens else ""
        raise InputError(
            f"none of {counted(asked, 'pair')} has a word in both sides{limits}; expected paraphrases that share words"
        )
    if not len(table):
        raise InputError(
            f"no shared word of {counted(asked, 'pair')} stands in a sentence of another cluster, to be told from;"
            " expected more pairs"
        )
    if table.without_words:
        log.warning(
            "%s of %s have no word to compare in both sides; left out", table.without_words, counted(asked, "pair")
        )
    if table.without_negatives:
        total = table.without_negatives + len(table.source_W)
        log.warning(
            "%s of %s stand in no sentence of another cluster; left out",
            f"{table.without_negatives:,}",
            counted(total, "shared word"),
        )
    return table


def table_of_pairs(
    pairs: Sequence[Pair], model: RetrofittedEncoder, files: Mapping[str, int] | None = None
) -> ContextTable:
    """The table of the pairs by the model's tokenizer and config; groups are the files by these numbers."""
    config = model.config
    return context_table(
        pairs,
        model.tokenizer,
        skip_stopwords=config.skip_stopwords,
        min_tokens=config.min_tokens,
        max_tokens=config.max_tokens,
        groups=[files.get(file_of(pair), 0) for pair in pairs] if files else (),
    )


@torch.no_grad()
def negative_distance(model: RetrofittedEncoder, table: ContextTable, *, seed: int) -> float:
    """The mean distance to negatives, as the encoder comes, of the first batches: the margin's unit."""
    size = min(model.config.batch_size, len(table))
    batches, steps = context_batches(table, batch_size=size, negatives=model.config.negatives, seed=seed)
    found = [model.network(batches(step).to(model.device)).other_W for step in range(min(steps, MEASURED))]
    return float(torch.cat(found).mean())


def validator(
    model: RetrofittedEncoder,
    table: ContextTable,
    pairs: Sequence[Pair],
    held: Sequence[Pair],
    development: Callable[[RetrofittedEncoder], Mapping[str, float]] | None = None,
    *,
    seed: int,
) -> Callable[[], dict[str, float]]:
    """What gives the scores by which a run ends and its weights are chosen.

    `accuracy`, 0 to 1, of the paraphrase classifier (section 4.1): a network of 50 hidden units on |u − v| and u ∗ v of
    the sentences' vectors, trained anew on training pairs, on the held-out ones; and of these `paraphrased` and
    `other`, the mean distances of their shared words, `ratio`, the first by the second; `orthogonality`, ‖I − MᵀM‖_F;
    and what `development` gives.
    """
    config = model.config
    own = table_of_pairs(held, model)
    training = examples(pairs, table, seed=seed)
    if config.classifier_pairs and len(training) > config.classifier_pairs:
        training = random.Random(seed).sample(training, config.classifier_pairs)
    testing = examples(held, own, seed=seed)
    if any(len({one.paraphrases for one in some}) < 2 for some in (training, testing)):
        raise InputError(
            f"{counted(len(training), 'training pair')} and {counted(len(testing), 'validation pair')} for the"
            " classifier; expected paraphrases and others in each: more pairs, or others (validation=, --validation)"
        )
    both = [*training, *testing]
    parts = ["dev" if row % DEV == 0 else "train" for row in range(len(training))] + ["test"] * len(testing)
    folds, labels = Folds.split(parts), np.array([one.paraphrases for one in both])
    texts = list(dict.fromkeys(text for one in both for text in (one.first, one.second)))
    place = {text: row for row, text in enumerate(texts)}
    first, second = ([place[getattr(one, side)] for one in both] for side in ("first", "second"))

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        vectors_ND = model.embed(texts)
        features = pair_features(vectors_ND[first], vectors_ND[second])
        with torch.inference_mode(False), torch.enable_grad():
            accuracy = fit_probes(features, labels, folds, replace(CLASSIFIER, seed=seed)).test_accuracy_F[0]
        scores = {"accuracy": float(accuracy)}
        if len(own):
            near, far = distances(model, own, seed=seed)
            scores |= {"paraphrased": near, "other": far, "ratio": near / far}
        scores["orthogonality"] = float(orthogonality_penalty(model.matrix))
        return scores | (dict(development(model)) if development is not None else {})

    return evaluate


@torch.no_grad()
def distances(model: RetrofittedEncoder, table: ContextTable, *, seed: int) -> tuple[float, float]:
    """Mean distances of all shared words: in paraphrases, and to a substitute that is the same at each validation."""
    every_W = np.arange(len(table.source_W))
    kept_W, other_W = table.negatives(every_W, "substitute", np.random.default_rng([seed, 4]))
    found = [
        model.network(table.batch(part_W, kept_W[part_W], other_W[part_W]).to(model.device))
        for part_W in parts_of(len(every_W))
    ]
    near, far = (torch.cat(each).mean().item() for each in zip(*found, strict=True))
    return near, far


def parts_of(words: int) -> Iterator[Rows]:
    """The numbers of all shared words in their order, some at once."""
    for start in range(0, words, AT_ONCE):
        yield np.arange(start, min(start + AT_ONCE, words))


def examples(pairs: Sequence[Pair], table: ContextTable, *, seed: int) -> list[Example]:
    """What the classifier tells: paraphrases, and pairs labelled 0; without any of these as many mined ones."""
    found = [Example(pair.source.text, pair.target.text, pair.label != 0) for pair in pairs]
    if all(one.paraphrases for one in found) and len(table):
        draw = np.random.default_rng([seed, 3])
        sizes = table.shared.lengths(np.arange(len(table)))
        one_W = table.shared.offsets[:-1] + (draw.random(len(table)) * sizes).astype(np.int64)
        kept_W, other_W = table.negatives(one_W, "substitute", draw)
        for kept, other in zip(table.sentence_R[kept_W].tolist(), table.sentence_R[other_W].tolist(), strict=True):
            found.append(Example(table.texts[kept], table.texts[other], False))
    return found


@torch.no_grad()
def whitened(
    model: RetrofittedEncoder,
    table: ContextTable,
    evaluate: Callable[[], dict[str, float]],
    folder: Path,
    loop: TrainingConfig,
    *,
    main: bool,
    card: str,
    data_digests: Mapping[str, str],
) -> Result:
    """M in closed form from the scatter of all shared words in paraphrases; there is a best checkpoint and no last."""
    scatter_DD, count = torch.zeros(model.facts.width, model.facts.width, dtype=torch.float64), 0
    for part_W in parts_of(len(table.source_W)):
        source_W, target_W = table.source_W[part_W], table.target_W[part_W]
        batch = table.batch(part_W, source_W, target_W).to(model.device)  # negatives have no part in it
        vectors_OD = model.network.vectors(batch, model.network.transform()).double()
        apart_WD = vectors_OD[batch.source_W] - vectors_OD[batch.target_W]
        scatter_DD += (apart_WD.T @ apart_WD).cpu()
        count += len(apart_WD)
    try:
        matrix_DD = within_word_whitening(scatter_DD / count, shrinkage=model.config.shrinkage)
    except ValueError as error:
        raise InputError(f"{counted(count, 'shared word')}: {error}") from error
    model.network.transform.weight.copy_(matrix_DD)
    scores = evaluate()
    if main:
        checkpoint.save(
            model,
            folder / "best",
            card=card or f"# {model.system}\n\nWhitened by the scatter of {counted(count, 'shared word')}.\n",
            scores=[Score(name, value, "validation|closed form") for name, value in scores.items()],
            data_digests=data_digests,
            seed=loop.seed,
        )
    return Result(0, "finished", scores[loop.metric], 0, [{"step": 0, "validation": scores}])


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
    held_out="pairs of other clusters; null: a twentieth of the clusters, at most 1,000 pairs, is held out",
    best="validation ratio {:.3f}",
    help=__doc__,
)
