"""Train SCPN on pairs: parses are made on the way and cached by content; generator and paraphraser learn side by side.

OUT/best is the checkpoint with the best validation BLEU, OUT/last what --resume goes on from. A field of the preset
is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train scpn --data pairs.tsv --out runs/mine --preset compact --config.epochs 2
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import torch

from paraform.evaluation.bleu import bleu
from paraform.models.by_tree import trees_to_train_on, vocabulary_of
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.records import InputError, Pair, require_count
from paraform.syntax.parsing import parser_digest
from paraform.syntax.trees import Tree, template
from paraform.trainers import Trainer
from paraform.trainers.arguments import require_given
from paraform.trainers.exemplar import paraphrases
from paraform.trainers.held_out import digests_of, divided
from paraform.training import Result, TrainingConfig, fit, make_accelerator, require_metric, require_usable
from paraform.weights import PathLike
from paraform_papers.rivals.scpn import ScpnConfig, ScpnParaphraser, make_update
from paraform_papers.rivals.scpn.batches import PairTable, pair_batches, parts_of
from paraform_papers.rivals.scpn.table import below_same_root, commonest_templates, different_parses, pair_table

METRICS = {"bleu": True, "nll": False, "parse_nll": False}  # whether higher is better
BY_BLEU = TrainingConfig(metric="bleu", higher_is_better=True)


def train_scpn(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    validation: Iterable[Pair] | None = None,
    config: ScpnConfig | None = None,
    loop: TrainingConfig = BY_BLEU,
    against: Iterable[str] = (),
    card: str = "",
    data_digests: Mapping[str, str] | None = None,
    resume: bool = False,
    validation_rows: int = 500,
    progress: bool = False,
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Ctrl-C or SIGTERM saves the run and ends it; with `resume` it goes on as if it had not been stopped.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning, and so are those whose sides have one parse
            (`config.drop_same_parse`); all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        validation: pairs of other clusters. None: about a twentieth of the pairs, at most 1,000, by whole clusters.
        config: None: `ScpnConfig.compact()`.
        loop: best `replace(BY_BLEU, …)`. Its `steps` are overridden: `config.epochs` passes over the pairs.
        against, card, data_digests, resume: as `train_exemplar` has them.
        validation_rows: pairs that are paraphrased for the validation's BLEU, each in its target's template.
        progress: say on stderr how far it is while pairs are parsed.
    Raises: InputError for too few pairs, what is no pair, a parser that is not to be had, or a folder that holds
        another run.
    """
    config = ScpnConfig.compact() if config is None else config
    texts = require_given(folder, config, ScpnConfig, loop, against=against, card=card, data_digests=data_digests)
    require_count(validation_rows, "validation_rows", 1)
    require_metric(loop, METRICS)
    require_usable(folder, ScpnParaphraser.system, config, resume=resume)
    digest = parser_digest(config.parser)
    others = None if validation is None else paraphrases(validation)
    pairs, validation = divided(paraphrases(pairs), others, texts, seed=loop.seed)
    digests = digests_of(pairs, validation)
    accelerator = make_accelerator(loop)
    with accelerator.main_process_first():  # the others find its cache
        trees = trees_to_train_on([*pairs, *validation], config.parser, progress=progress)
    kept = different_parses(pairs, trees, config)
    if len(kept) < len(pairs):
        logging.getLogger("paraform").warning(
            "%d of %d pairs have one parse on both sides, or a side of fewer than %d words; left out",
            len(pairs) - len(kept), len(pairs), config.min_tokens,
        )  # fmt: skip
    if not kept:
        raise InputError(f"none of {len(pairs)} pairs has sides of different parses; expected some")
    torch.manual_seed(loop.seed)
    model = new_model(kept, trees, config, digest)
    model.to(accelerator.device)
    batches, steps_per_epoch = pair_batches(
        pair_table(kept, trees, config, model.vocabulary, model.symbols),
        batch_size=config.batch_size,
        seed=loop.seed,
        swap=config.swap_directions,
        rank=accelerator.process_index,
        world=accelerator.num_processes,
    )
    update, state = make_update(model, config, accelerator, steps_per_epoch=steps_per_epoch)
    held = pair_table(validation, trees, config, model.vocabulary, model.symbols)
    return fit(
        model,
        update,
        state,
        batches,
        folder=folder,
        config=replace(loop, steps=config.epochs * steps_per_epoch),
        accelerator=accelerator,
        evaluate=validator(model, validation[:validation_rows], trees, held),
        epoch=steps_per_epoch,
        card=card,
        data_digests={**(data_digests or {}), **digests},
        resume=resume,
    )


def new_model(
    pairs: Sequence[Pair], trees: Mapping[str, Tree], config: ScpnConfig, digest: str = ""
) -> ScpnParaphraser:
    """A model before its first step.

    Args:
        trees: of every text.
        digest: of the parser that they are from.
    """
    sides = [side.text for pair in pairs for side in (pair.source, pair.target)]
    symbols = TreeSymbols.of((trees[text] for text in dict.fromkeys(sides)), brackets=config.brackets)
    templates = commonest_templates([pair.target.text for pair in pairs], trees, config.template_levels)
    return ScpnParaphraser(config, vocabulary_of(sides, config), symbols, templates, digest)


def validator(
    model: ScpnParaphraser, pairs: Sequence[Pair], trees: Mapping[str, Tree], table: PairTable
) -> Callable[[], dict[str, float]]:
    """The validation's figures: `nll`, nats a unit, and `parse_nll`, nats a symbol, of the table; `bleu` of the pairs,
    greedy, each in the template of its target."""
    sources, references = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    own = [trees[text] for text in sources]
    levels = model.config.template_levels + 1
    forms = [template(below_same_root(trees[text]), levels) for text in references]

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
    presets={
        "compact": ScpnConfig.compact,
        "default": ScpnConfig,
        "paper": ScpnConfig.paper,
        "reference": ScpnConfig.reference,
    },
    loop=BY_BLEU,
    reads="pairs",
    held_out="pairs of other clusters; null: a twentieth of the clusters, at most 1,000 pairs, is held out",
    best="validation BLEU {:.2f}",
    help=__doc__,
)
