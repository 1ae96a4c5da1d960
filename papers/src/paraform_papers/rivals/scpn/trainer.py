"""Train SCPN on pairs: parses are made on the way and cached by content; generator and paraphraser learn side by side.

OUT/best is the checkpoint with the best validation BLEU, OUT/last what --resume goes on from. A field of the preset
is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train scpn --data pairs.tsv --out runs/mine --preset compact --config.epochs 2
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Unpack

import torch

from paraform.evaluation.bleu import bleu
from paraform.models.by_tree import trees_to_train_on, vocabulary_of
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError, Pair, texts_of
from paraform.syntax.parsing import parser_digest
from paraform.syntax.trees import Tree
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig
from paraform.weights import PathLike
from paraform_papers.rivals.scpn import ScpnConfig, ScpnParaphraser, make_update
from paraform_papers.rivals.scpn.batches import PairTable, pair_batches, parts_of
from paraform_papers.rivals.scpn.table import commonest_templates, different_parses, pair_table, template_of

METRICS = {"bleu": True, "nll": False, "parse_nll": False}  # whether higher is better
BY_BLEU = TrainingConfig(metric="bleu", higher_is_better=True)


def train_scpn(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    validation_rows: int = 500,
    progress: bool = False,
    **options: Unpack[RunOptions[ScpnConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning, and so are those whose sides have one parse;
            all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        validation_rows: pairs that are paraphrased for the validation's BLEU, each in its target's template.
        progress: say on stderr how far it is while pairs are parsed.
        options: as `RunOptions` has them; usually `ScpnConfig.compact()` and `BY_BLEU`.
    Raises: InputError for too few pairs, what is no pair, a parser that is not to be had, or a folder that holds
        another run.
    """
    usual = ScpnConfig.compact()
    job = Job.of(ScpnParaphraser, folder, usual, BY_BLEU, METRICS, validation_rows=validation_rows, **options)
    config: ScpnConfig = job.config
    digest = parser_digest(config.parser)
    divided = job.divided(pairs)
    pairs, validation = divided.training, divided.validation
    with job.accelerator.main_process_first():  # the others find its cache
        trees = trees_to_train_on([*pairs, *validation], config.parser, progress=progress)
    kept = different_parses(pairs, trees)
    if len(kept) < len(pairs):
        logging.getLogger("paraform").warning(
            "%d of %d pairs have one parse on both sides; left out", len(pairs) - len(kept), len(pairs)
        )
    if not kept:
        raise InputError(f"none of {len(pairs)} pairs has sides of different parses; expected some")
    torch.manual_seed(job.loop.seed)
    model = new_model(kept, trees, config, digest).to(job.accelerator.device)
    table, held = (pair_table(some, trees, config, model.vocabulary, model.symbols) for some in (kept, validation))
    batches, epoch = pair_batches(table, **job.batching)
    made = make_update(model, config, job.accelerator, steps_per_epoch=epoch)
    evaluate = validator(model, validation[:validation_rows], trees, held)
    return job.run(model, made, batches, evaluate, digests=divided.digests, epoch=epoch)


def new_model(
    pairs: Sequence[Pair], trees: Mapping[str, Tree], config: ScpnConfig, digest: str = ""
) -> ScpnParaphraser:
    """A model before its first step.

    Args:
        trees: of every text.
        digest: of the parser that they are from.
    """
    sides = texts_of(pairs)
    symbols = TreeSymbols.of((trees[text] for text in dict.fromkeys(sides)), brackets=config.brackets)
    templates = commonest_templates([pair.target.text for pair in pairs], trees)
    return ScpnParaphraser(config, vocabulary_of(sides, config), symbols, templates, digest)


def validator(
    model: ScpnParaphraser, pairs: Sequence[Pair], trees: Mapping[str, Tree], table: PairTable
) -> Callable[[], dict[str, float]]:
    """The validation's figures: `nll`, nats a unit, and `parse_nll`, nats a symbol, of the table; `bleu` of the pairs,
    greedy, each in the template of its target."""
    sources, references = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    own = [trees[text] for text in sources]
    forms = [template_of(trees[text]) for text in references]

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        found = [model.network(part.to(model.device)) for part in parts_of(table, model.config.batch_size)]
        nll, parse_nll = (
            -sum(each[side].log_probs_N.sum().item() for each in found)
            / sum(each[side].log_probs_N.numel() for each in found)
            for side in (0, 1)
        )
        said = model.decode_trees(sources, forms, source_trees=own, strict=False)
        return {"nll": nll, "parse_nll": parse_nll, "bleu": bleu(said, references).value}

    return evaluate


TRAINER = Trainer(
    train=train_scpn,
    config=ScpnConfig,
    presets={"compact": ScpnConfig.compact, "default": ScpnConfig, "paper": ScpnConfig.paper},
    loop=BY_BLEU,
    best="validation BLEU {:.2f}",
    help=__doc__,
)
