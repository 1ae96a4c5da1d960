"""Train SGCP on pairs: parses are made on the way and cached by content.

OUT/best is the checkpoint with the best validation BLEU, OUT/last what --resume goes on from. A field of the preset
is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train sgcp --data pairs.tsv --out runs/mine --preset compact --config.epochs 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Unpack

import torch

from paraform.evaluation.bleu import bleu
from paraform.models.by_tree import trees_to_train_on, vocabulary_of
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import Pair, texts_of
from paraform.syntax.parsing import parser_digest
from paraform.syntax.trees import Tree
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike
from paraform_papers.rivals.sgcp import SgcpConfig, SgcpParaphraser, make_update
from paraform_papers.rivals.sgcp.batches import PairTable, pair_batches, parts_of
from paraform_papers.rivals.sgcp.table import pair_table

METRICS = {"bleu": True, "nll": False, "pop_nll": False}  # whether higher is better
BY_BLEU = TrainingConfig(metric="bleu", higher_is_better=True)


def train_sgcp(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    validation_rows: int = 500,
    progress: bool = False,
    **options: Unpack[RunOptions[SgcpConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        validation_rows: pairs that are paraphrased for the validation's BLEU, each in its target's whole tree.
        progress: say on stderr how far it is while pairs are parsed.
        options: as `RunOptions` has them; usually `SgcpConfig.compact()` and `BY_BLEU`.
    Raises: InputError for too few pairs, what is no pair, a parser that is not to be had, or a folder that holds
        another run.
    """
    usual = SgcpConfig.compact()
    job = Job.of(SgcpParaphraser, folder, usual, BY_BLEU, METRICS, validation_rows=validation_rows, **options)
    config: SgcpConfig = job.config
    digest = parser_digest(config.parser)
    divided = job.divided(pairs)
    pairs, validation = divided.training, divided.validation
    with job.accelerator.main_process_first():  # the others find its cache
        trees = trees_to_train_on([*pairs, *validation], config.parser, progress=progress)
    torch.manual_seed(job.loop.seed)
    model = new_model(pairs, trees, config, digest).to(job.accelerator.device)
    table, held = (pair_table(some, trees, config, model.vocabulary, model.symbols) for some in (pairs, validation))
    batches, epoch = pair_batches(table, **job.batching)
    made = make_update(model, config, job.accelerator, steps_per_epoch=epoch)
    evaluate = validator(model, validation[:validation_rows], trees, held)
    return job.run(model, made, batches, evaluate, digests=divided.digests, epoch=epoch)


def new_model(
    pairs: Sequence[Pair], trees: Mapping[str, Tree], config: SgcpConfig, digest: str = ""
) -> SgcpParaphraser:
    """A model before its first step.

    Args:
        trees: of every text.
        digest: of the parser that they are from.
    """
    sides = texts_of(pairs)
    symbols = TreeSymbols.of((trees[text] for text in dict.fromkeys(sides)), brackets=False)
    return SgcpParaphraser(config, vocabulary_of(sides, config), symbols, digest)


def validator(
    model: SgcpParaphraser, pairs: Sequence[Pair], trees: Mapping[str, Tree], table: PairTable
) -> Callable[[], dict[str, float]]:
    """The validation's figures, of targets' whole trees: `nll`, nats a unit, and `pop_nll`, nats a place between units,
    of the table; `bleu` of the pairs, greedy."""
    sources, references = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    forms = [trees[text] for text in references]

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        found = [model.network(part.to(model.device)) for part in parts_of(table, model.config.batch_size)]
        nll, pop_nll = (
            -sum(each[side].sum().item() for each in found) / max(1, sum(each[side].numel() for each in found))
            for side in (0, 1)
        )
        said = model.decode_trees(sources, forms, strict=False)
        return {"nll": nll, "pop_nll": pop_nll, "bleu": bleu(said, references).value}

    return evaluate


TRAINER = Trainer(
    train=train_sgcp,
    config=SgcpConfig,
    presets={"compact": SgcpConfig.compact, "default": SgcpConfig, "paper": SgcpConfig.paper},
    loop=BY_BLEU,
    best="validation BLEU {:.2f}",
    help=__doc__,
)
