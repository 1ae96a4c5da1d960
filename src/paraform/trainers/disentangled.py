"""Train ParaBART on pairs: trees are parsed on the way and cached by content.

OUT/best is the checkpoint with the best validation score, OUT/last what --resume goes on from. A field of the preset
is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train disentangled --data pairs.tsv --out runs/mine --preset compact --config.epochs 1
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

import numpy as np
import torch

from paraform import encoders
from paraform.batching import Vocabulary, prepare
from paraform.encoders.transformers_modules import config_of, decoder_of, sizes_of
from paraform.models.adapters import digests_of
from paraform.models.disentangled import DisentangledConfig, DisentangledParaphraser, make_update
from paraform.models.disentangled.decoder_start import start_decoder
from paraform.models.disentangled.erasure import LEAST_A_FEATURE, MOST, concepts
from paraform.models.disentangled.pairs import PairTable, pair_batches, parts_of
from paraform.models.disentangled.paraphraser import piece_rows
from paraform.models.disentangled.start import require_ends, semantic_module, with_ends
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.disentangled.table import hard_negatives, pair_table, trees_of
from paraform.records import InputError, Pair, texts_of
from paraform.syntax.running import DEFAULT
from paraform.syntax.trees import Tree
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.job import Job
from paraform.trainers.reciprocal_rank import mean_reciprocal_rank
from paraform.trainers.source_files import groups_of
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike

METRICS = {"mrr": True, "nll": False, "development": True}  # whether higher is better
BY_MRR = TrainingConfig(metric="mrr", higher_is_better=True)
CASED = 4  # a word's usual case is kept if it was seen as often


def train_disentangled(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    parser: str = DEFAULT,
    shares: Sequence[float] = (),
    development: Callable[[DisentangledParaphraser], Mapping[str, float]] | None = None,
    progress: bool = False,
    **options: Unpack[RunOptions[DisentangledConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        parser: a name that `load_parser` knows.
        shares: of pairs that were read from several files, in the order of the files, how many of an epoch's pairs are
            from each, up to a factor; (): as many as there are.
        development: further validation scores of the model, "development" among them; higher is better. Those of public
            sets: `read_development`. The loop's metric may name it.
        progress: say on stderr how far it is while pairs are parsed.
        options: as `RunOptions` has them; usually `DisentangledConfig.compact()` and `BY_MRR`.
    Raises: InputError for too few pairs, what is no pair, or a folder that holds another run.
    """
    job = Job.of(
        DisentangledParaphraser, folder, DisentangledConfig.compact(), BY_MRR, METRICS,
        shares=shares, development=development, **options,
    )  # fmt: skip
    config: DisentangledConfig = job.config
    seed = job.loop.seed
    divided = job.divided(pairs)
    pairs, validation = divided.training, divided.validation
    with job.accelerator.main_process_first():  # the others find its cache
        trees = trees_of(divided.whole, parser=parser, progress=progress)
    torch.manual_seed(seed)
    model = new_model(pairs, trees, config).to(job.accelerator.device)
    groups = groups_of(pairs, divided.files)
    negatives = hard_negatives(pairs, trees, config, seed=seed)
    table = pair_table(pairs, trees, config, model.tokenizer, model.symbols, groups=groups, negatives=negatives)
    if model.adversary is not None:
        sides = np.concatenate([table.source, table.target])
        model.adversary.prior_C.copy_(torch.from_numpy(table.bags[sides].mean(0)))
    if config.distance_weight:
        # of what pairs are told apart from, which stands behind them in the table, no vector is read
        table = replace(table, start=model.embed(list(dict.fromkeys(texts_of(pairs)))))
    batches, epoch = pair_batches(table, shares=shares, **job.batching)
    made = make_update(model, config, job.accelerator, steps_per_epoch=epoch)
    held = pair_table(validation, trees, config, model.tokenizer, model.symbols)
    erase = eraser(model, trees, texts_of(pairs), seed=seed)
    evaluate = validator(model, validation, held, erase)
    digests = {**{f"base's {name}": digest for name, digest in model.digests.items()}, **divided.digests}
    return job.run(model, made, batches, evaluate, digests=digests, epoch=epoch)


def new_model(pairs: Sequence[Pair], trees: Mapping[str, Tree], config: DisentangledConfig) -> DisentangledParaphraser:
    """A model that starts from `config.encoder`."""
    folder = encoders.ModelFolder(encoders.locate(config.encoder))
    tokenizer = with_ends(folder.tokenizer(), config_of(folder), config.encoder)
    require_ends(tokenizer, config, config_of(folder))
    module: Any = semantic_module(config)
    longest = sizes_of(cast(Any, module).config).tokens
    if longest is not None and config.max_tokens + 2 > longest:
        raise InputError(f"max_tokens {config.max_tokens}; {config.encoder} takes {longest - 2} at most")
    if config.freeze_embeddings:
        for part in (found for found in module.modules() if isinstance(found, torch.nn.Embedding)):
            part.requires_grad_(False)
    texts = list(dict.fromkeys(texts_of(pairs)))
    pieces: list[int] = []
    if config.output_pieces == "seen":
        pieces = sorted({0, *(piece for row in piece_rows(tokenizer, texts, config.max_tokens) for piece in row)})
    cased = Vocabulary.build((prepare(text, config.max_tokens) for text in texts), min_count=CASED).cased
    symbols = TreeSymbols.of((trees[text] for text in texts), brackets=config.brackets)
    digests = digests_of(folder) if config.adapters else None
    model = DisentangledParaphraser(
        config, tokenizer, module.config.to_json_string(), symbols, pieces, dict(cased), module, digests
    )
    start_decoder(model.network, decoder_of(folder) if config.generation_weight else None)
    return model


def eraser(
    model: DisentangledParaphraser, trees: Mapping[str, Tree], texts: Sequence[str], *, seed: int
) -> Callable[[], None]:
    """What fits the model's erasure to its vectors of at most 20,000 training sentences; nothing if it has none."""
    if model.erasure is None:
        return lambda: None
    different = list(dict.fromkeys(texts))
    some = random.Random(seed).sample(different, min(len(different), MOST))
    if len(some) < (least := LEAST_A_FEATURE * model.erasure.in_features):
        logging.getLogger("paraform").warning(
            "form is erased by %d sentences only, which takes meaning too; better %d, or --config.erased nothing",
            len(some), least,
        )  # fmt: skip
    concepts_NC = concepts([trees[text] for text in some], model.symbols, model.config.erased)
    return lambda: model.erase(some, concepts_NC)


def validator(
    model: DisentangledParaphraser,
    pairs: Sequence[Pair],
    table: PairTable,
    erase: Callable[[], None] = lambda: None,
) -> Callable[[], dict[str, float]]:
    """It erases anew; gives `mrr`, of each target among all by its source, and `nll`, nats a piece."""

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        erase()
        scores = {"mrr": mean_reciprocal_rank(model.embed, pairs)}
        if model.config.generation_weight:
            found = [model.network(part.to(model.device)).written for part in parts_of(table, model.config.batch_size)]
            each = [(one.nll.item(), one.pieces.item()) for written in found for one in written]
            scores["nll"] = sum(nll for nll, _ in each) / sum(pieces for _, pieces in each)
        return scores

    return evaluate


TRAINER = Trainer(
    train=train_disentangled,
    config=DisentangledConfig,
    presets={
        "compact": DisentangledConfig.compact,
        "compact-paper": DisentangledConfig.compact_paper,
        "default": DisentangledConfig,
        "paper": DisentangledConfig.paper,
        "reference": DisentangledConfig.reference,
    },
    loop=BY_MRR,
    best="validation MRR {:.3f}",
    help=__doc__,
)
