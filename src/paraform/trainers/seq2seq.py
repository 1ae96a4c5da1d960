"""Train a seq2seq model of your own (BART, T5 …) on pairs, AESOP's way: source, its tree and the target's, cut, in;
the target's tree and the paraphrase out. Parses are made on the way and cached by content.

--model names a folder on this machine with Hugging Face's files: config.json, model.safetensors, and tokenizer.json or
a SentencePiece model. OUT/best is the checkpoint with the best validation BLEU, OUT/last what --resume goes on from. A
field of the preset is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train seq2seq --data pairs.tsv --model ../bart-base --out runs/mine
  paraform train seq2seq --data pairs.tsv --model ../t5-small --out runs/mine --preset compact --config.epochs 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Unpack

import torch

from paraform.batching import Vocabulary
from paraform.encoders.folder import CONFIG, ModelFolder
from paraform.encoders.seq2seq import add_piece, load_seq2seq, seq2seq_folder
from paraform.evaluation.bleu import bleu
from paraform.models.by_tree import trees_to_train_on
from paraform.models.disentangled.symbols import TreeSymbols
from paraform.models.seq2seq import Seq2SeqConfig, Seq2SeqParaphraser, make_update
from paraform.models.seq2seq.batches import PairBatch, PairTable, pair_batches, pair_table, parts_of
from paraform.models.seq2seq.network import StepDecoder
from paraform.models.writing import numbers_batch
from paraform.records import InputError, Pair, texts_of
from paraform.syntax.parsing import parser_digest
from paraform.syntax.trees import Tree, below_one_root, template
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig, text_digest
from paraform.weights import PathLike, sha256

METRICS = {"bleu": True, "nll": False, "unsaid": False}  # whether higher is better
BY_BLEU = TrainingConfig(metric="bleu", higher_is_better=True)
CASED = 4  # a word's usual case is kept if it was seen as often


def train_seq2seq(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    model: PathLike,
    validation_rows: int = 500,
    progress: bool = False,
    **options: Unpack[RunOptions[Seq2SeqConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        model: the folder of a Hugging Face seq2seq model, whose weights the training goes on from.
        validation_rows: pairs that are paraphrased for the validation's BLEU, each in its target's tree, cut.
        progress: say on stderr how far it is while pairs are parsed.
        options: as `RunOptions` has them; usually `Seq2SeqConfig()` and `BY_BLEU`.
    Raises: InputError for too few pairs, what is no pair, a folder without such a model, a parser that is not to be
        had, or a folder that holds another run.
    """
    usual = Seq2SeqConfig()
    job = Job.of(Seq2SeqParaphraser, folder, usual, BY_BLEU, METRICS, validation_rows=validation_rows, **options)
    config: Seq2SeqConfig = job.config
    start = seq2seq_folder(model)
    digest = parser_digest(config.parser)
    made = started(start, config, digest)  # before pairs are parsed, which may take hours
    divided = job.divided(pairs)
    pairs, validation = divided.training, divided.validation
    digests = {**digests_of_start(start, made), **divided.digests}
    with job.accelerator.main_process_first():  # the others find its cache
        trees = trees_to_train_on([*pairs, *validation], config.parser, progress=progress)
    torch.manual_seed(job.loop.seed)
    give_words(made, pairs, trees)
    made.to(job.accelerator.device)
    batches, epoch = pair_batches(pair_table(pairs, trees, config, made.pieces, tell=made.kind), **job.batching)
    update = make_update(made, config, job.accelerator, steps_per_epoch=epoch)
    held = pair_table(validation, trees, config, made.pieces)
    evaluate = validator(made, validation[:validation_rows], trees, held)
    return job.run(made, update, batches, evaluate, digests=digests, epoch=epoch)


def started(folder: ModelFolder, config: Seq2SeqConfig, digest: str = "") -> Seq2SeqParaphraser:
    """A model before its first step, which has seen no text yet (`give_words`).

    Args:
        folder: of the seq2seq that it starts from.
        digest: of the parser that trees are from.
    Raises: InputError as `load_seq2seq` and `read_tokenizer`, and for a model that takes less than the config says.
    """
    tokenizer = folder.tokenizer()
    module = load_seq2seq(folder)
    try:
        add_piece(module)  # the separator
        made = Seq2SeqParaphraser(config, tokenizer, module, TreeSymbols.of((), brackets=False), digest)
        require_restored(made)
    except InputError as error:
        raise InputError(f"{folder.path}: {error}") from error
    return made


def give_words(model: Seq2SeqParaphraser, pairs: Sequence[Pair], trees: Mapping[str, Tree]) -> None:
    """Tell it the labels of the pairs' trees, and how their words are cased.

    Args:
        trees: of every text.
    """
    texts = dict.fromkeys(texts_of(pairs))
    model.cased = dict(Vocabulary.build((trees[text].words() for text in texts), min_count=CASED).cased)
    model.symbols = TreeSymbols.of((trees[text] for text in texts), brackets=False)


def digests_of_start(folder: ModelFolder, model: Seq2SeqParaphraser) -> dict[str, str]:
    """What a run keeps of what it began from, so that it does not go on from another: dropout stands in the config, and
    a tokenizer that makes other pieces has as many."""
    return {
        "model": folder.weights_digest,
        "model's config": sha256(folder.path / CONFIG),
        "model's tokenizer": text_digest([model.pieces.tokenizer.to_str()]),
    }


@torch.no_grad()
def require_restored(model: Seq2SeqParaphraser) -> None:
    """Asked before long training: transformers makes of some configs another network than it read.

    Raises: InputError if what a checkpoint would hold says something else than the model, or the model is not asked as
        BART is.
    """
    again = Seq2SeqParaphraser.restore(asdict(model.config), model.assets())
    weights = model.state_dict()
    same = {name: tensor.shape for name, tensor in again.state_dict().items()}
    if same == {name: tensor.shape for name, tensor in weights.items()}:
        again.load_state_dict(weights)
        rows = numbers_batch([[*model.pieces.of(["a b c"])[0], model.pieces.stop]], torch.device("cpu"))
        try:
            found = [one.eval().network(PairBatch(rows, rows)) for one in (model, again)]
            both, step = torch.tensor([0, 0]), StepDecoder(model.network, ()).step
            memory = model.network.begin(rows)
            for _ in range(3):
                memory = step(memory.select(both), torch.full_like(both, model.network.start))[1]
        except Exception as error:  # whatever an architecture trips over
            raise InputError(f"config.json: {' '.join(str(error).split())[:300]}; expected such as BART's") from error
        if torch.allclose(found[0], found[1], atol=1e-4):
            return
    raise InputError("config.json makes another network than its weights are of; expected an architecture that is kept")


def validator(
    model: Seq2SeqParaphraser, pairs: Sequence[Pair], trees: Mapping[str, Tree], table: PairTable
) -> Callable[[], dict[str, float]]:
    """The validation's figures: `nll`, nats a piece, of the table; `bleu` of the pairs, greedy, each in its target's
    tree, cut; and `unsaid`, the share of outputs that lack the separator or say nothing."""
    sources, references = [pair.source.text for pair in pairs], [pair.target.text for pair in pairs]
    own = [trees[text] for text in sources]
    forms = [template(below_one_root(trees[text]), model.config.height) for text in references]
    rows = max(1, model.config.batch_size // model.config.accumulation)

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        found = [model.network(part.to(model.device)) for part in parts_of(table, rows)]
        nll = -sum(each.sum().item() for each in found) / sum(each.numel() for each in found)
        said = model.said(sources, forms, own)
        unsaid = sum(not (one.whole and one.text) for one in said) / len(said)
        return {"nll": nll, "bleu": bleu([one.text for one in said], references).value, "unsaid": unsaid}

    return evaluate


TRAINER = Trainer(
    train=train_seq2seq,
    config=Seq2SeqConfig,
    presets={"default": Seq2SeqConfig, "paper": Seq2SeqConfig.paper, "compact": Seq2SeqConfig.compact},
    loop=BY_BLEU,
    best="validation BLEU {:.2f}",
    help=__doc__,
)
