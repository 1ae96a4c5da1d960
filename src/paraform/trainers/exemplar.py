"""Train CRL-EGPG on pairs: tags, exemplars and style features are made on the way and cached by content.

OUT/best is the checkpoint with the best validation BLEU, OUT/last what --resume goes on from. A field of the preset
is replaced by --config.FIELD VALUE, or by a YAML or JSON file of fields: --config FILE.

Example:
  paraform train exemplar --data pairs.tsv --out runs/mine --preset compact --config.epochs 3
  paraform train exemplar --data pairs.tsv --out runs/mine --from compact --config.learning_rate 3e-4
"""

from __future__ import annotations

import logging
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from paraform import encoders
from paraform.batching import Vocabulary, prepare
from paraform.checkpoint.variants import model_digest
from paraform.corpora import clusters
from paraform.encoders.facts import EncoderFacts
from paraform.evaluation.bleu import bleu
from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser, make_update
from paraform.models.exemplar.batches import by_length
from paraform.models.exemplar.carried_on import carry_over, grown, require_same_build
from paraform.models.exemplar.decoder_start import start_decoder
from paraform.models.exemplar.triples import mining_rules, triple_table
from paraform.models.exemplar.units import needs_encoder
from paraform.models.exemplar.word_vectors import initialize_words
from paraform.records import InputError, Pair, require_count, require_records, require_texts
from paraform.rewording.transformations import Transformation, Transformations
from paraform.syntax import Tagger, load_tagger
from paraform.syntax.mining import why_none
from paraform.syntax.running import DEFAULT
from paraform.trainers import Trainer
from paraform.trainers.arguments import require_given
from paraform.trainers.held_out import digests_of, divided
from paraform.training import Result, TrainingConfig, fit, make_accelerator, require_metric, require_usable
from paraform.weights import PathLike
from paraform_papers.shipped.same_facts import pairs_of_same_facts

METRICS = {"bleu": True, "nll": False, "perplexity": False}  # whether higher is better
BY_BLEU = TrainingConfig(metric="bleu", higher_is_better=True)
BANK_SIZE = 64
TRANSFORMATIONS = 12_000
FEW = 5_000  # pairs, from which no model learns a language
RARE = 4_000  # a word that stands once in so many pairs, or less often, is no common one
UNWANTED = re.compile(
    r"(?i)\b(sex|porn|rap[ei]|kill|suicid|murder|masturb|penis|vagina|nud|naked|muslim|jew|hindu|black|white|die|war"
    r"|virgin|hack|meth\b|drug|weed|abus|cheat|pregnan|abort|hooker|prostitut|breast|boob|hate|hell|damn|shit|fuck|gay|"
    r"lesbian|trans\w*gender|race|racis|terror|bomb|gun|poison|orgasm|erect|period|semen|sperm|pee|poop|fart|ugly|stupid)"
)


def train_exemplar(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    validation: Iterable[Pair] | None = None,
    config: ExemplarConfig | None = None,
    loop: TrainingConfig = BY_BLEU,
    tagger: str = DEFAULT,
    against: Iterable[str] = (),
    card: str = "",
    data_digests: Mapping[str, str] | None = None,
    resume: bool = False,
    start: ExemplarParaphraser | None = None,
    validation_rows: int = 500,
    progress: bool = False,
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score.

    Ctrl-C or SIGTERM saves the run and ends it; with `resume` it goes on as if it had not been stopped.

    Args:
        pairs: paraphrases; those labelled 0 are left out, with a warning; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        validation: pairs of other clusters. None: about a twentieth of the pairs, at most 1,000, by whole clusters; one
            cluster if all are larger.
        config: None: that of `start`, or `ExemplarConfig.compact()`.
        loop: best `replace(BY_BLEU, …)`. Its `steps` are overridden: `config.epochs` passes over the pairs that have an
            exemplar. Its seed is set for torch, NumPy and `random`.
        tagger: a name that `load_tagger` knows; tags choose the exemplars.
        against: texts that the model is to be measured by: pairs with one, and the rest of their
            clusters, are left out, with a warning that counts them.
        card: README.md of the checkpoints; "": a line that says what they are.
        data_digests: SHA-256 of the files that the pairs are from; those of the pairs themselves are added.
        resume: go on with the run in the folder, if there is one.
        start: a model whose weights the training goes on from, with its vocabulary, which grows by words seen
            `config.min_count` times, and its banks, which stand behind those of the pairs. None: random weights.
        validation_rows: pairs that are paraphrased for the validation's BLEU.
        progress: say on stderr how far it is while pairs are tagged.
    Raises: InputError for too few pairs, what is no pair, a folder that holds another run, or a `start` that is built
        otherwise than `config` says.
    """
    if start is not None and not isinstance(start, ExemplarParaphraser):
        raise InputError(f"start is a {type(start).__name__}; expected an exemplar model, such as load gives")
    usual = start.config if start else ExemplarConfig.compact()
    config = usual if config is None else config
    texts = require_given(folder, config, ExemplarConfig, loop, against=against, card=card, data_digests=data_digests)
    require_count(validation_rows, "validation_rows", 1)
    if start is not None:
        require_same_build(config, start.config)
    require_metric(loop, METRICS)
    require_usable(folder, ExemplarParaphraser.system, config, resume=resume)
    others = None if validation is None else paraphrases(validation)
    pairs, validation = divided(paraphrases(pairs), others, texts, seed=loop.seed)
    if start is None and len(pairs) < FEW:
        logging.getLogger("paraform").warning(
            "%d pairs teach a model little of a language; expected %d or more, or a model to go on from (--from)",
            len(pairs), FEW,
        )  # fmt: skip
    digests = {"start": model_digest(start)} if start else {}
    digests |= digests_of(pairs, validation)
    accelerator = make_accelerator(loop)
    with accelerator.main_process_first():  # the others find its cache
        if config.same_facts:
            pairs = pairs_of_same_facts(pairs, max_tokens=config.max_tokens)
        if config.both_directions:
            pairs = both_ways(pairs)
        vocabulary = _more_words(start, pairs, config) if start else None
        table, vocabulary, mined = triple_table(
            pairs, config, vocabulary, tagger=tagger, seed=loop.seed, progress=progress
        )
    if not (mined.exemplars >= 0).any():
        raise InputError(f"training: no pair has an exemplar: {why_none(mined.pairs, mining_rules(config, loop.seed))}")
    torch.manual_seed(loop.seed)
    model = _model(pairs, config, vocabulary, load_tagger(tagger), start, seed=loop.seed)
    model.to(accelerator.device)
    batches, steps_per_epoch = by_length(
        table,
        batch_size=config.batch_size,
        seed=loop.seed,
        rank=accelerator.process_index,
        world=accelerator.num_processes,
    )
    update, state = make_update(model, config, accelerator, steps_per_epoch=steps_per_epoch)
    return fit(
        model,
        update,
        state,
        batches,
        folder=folder,
        config=replace(loop, steps=config.epochs * steps_per_epoch),
        accelerator=accelerator,
        evaluate=validator(model, validation, tagger=tagger, rows=validation_rows, seed=loop.seed),
        epoch=steps_per_epoch,
        card=card,
        data_digests={**(data_digests or {}), **digests},
        resume=resume,
    )


def _more_words(start: ExemplarParaphraser, pairs: Sequence[Pair], config: ExemplarConfig) -> Vocabulary:
    """The vocabulary of `start`, grown; says by how much."""
    sides = Counter(side.text for pair in pairs for side in (pair.source, pair.target))
    words = {text: prepare(text, config.max_tokens) for text in sides}
    found = grown(start.vocabulary, [words[text] for text in sides.elements()], config)
    logging.getLogger("paraform").warning(
        "the model to start from knows %d words; %d more stand %d times in these pairs",
        len(start.vocabulary), len(found) - len(start.vocabulary), config.min_count,
    )  # fmt: skip
    return found


def _model(
    pairs: Sequence[Pair],
    config: ExemplarConfig,
    vocabulary: Vocabulary,
    tag: Tagger,
    start: ExemplarParaphraser | None,
    *,
    seed: int,
) -> ExemplarParaphraser:
    """A model before its first step, with the banks of these pairs, and behind them those of `start`."""
    bank, transformations = exemplar_bank(pairs), transformations_of(pairs, tag, seed=seed)
    if start is not None:
        bank = list(dict.fromkeys([*bank, *start.bank]))[:BANK_SIZE]
        both = dict.fromkeys([*transformations, *start.transformations])
        transformations = Transformations(list(both)[:TRANSFORMATIONS])
    frozen = needs_encoder(config) and not config.style_trainable
    facts = EncoderFacts.of(encoders.load(config.style_encoder)) if frozen else None
    model = ExemplarParaphraser(config, vocabulary, bank, transformations, facts=facts)
    if start is not None:
        carry_over(model, start)
    elif config.decoder_start == "encoder":
        start_decoder(model)
    else:
        initialize_words(model)
    return model


def paraphrases(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs that are not labelled 0, with clusters. Raises: InputError for what is no pair of texts."""
    found = pairs_of_texts(pairs)
    kept = [pair for pair in found if pair.label != 0]
    if len(kept) < len(found):
        left = len(found) - len(kept)
        logging.getLogger("paraform").warning(
            "%d of %d pairs are labelled 0 (no paraphrases); left out", left, len(found)
        )
    return kept


def pairs_of_texts(pairs: Iterable[Pair]) -> list[Pair]:
    """All the pairs, with clusters. Raises: InputError for what is no pair of texts."""
    found = require_records(pairs, Pair)
    for number, pair in enumerate(found, start=1):
        try:
            require_texts([pair.source.text, pair.target.text])
        except InputError as error:
            raise InputError(f"pair {number}: {error}") from None
        if not (pair.source.text.strip() and pair.target.text.strip()):
            raise InputError(f"pair {number} has an empty side; expected two texts")
    if any(pair.cluster is None for pair in found):
        found = clusters(found)
    return found


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


def exemplar_bank(pairs: Sequence[Pair], size: int = BANK_SIZE) -> list[str]:
    """Varied exemplars for users who name none: plain targets that open in different ways, as they were written.

    For each of the commonest openings (three words), the sentence of 6 to 14 words whose rarest word is commonest.
    """
    counts = Counter(word.lower() for pair in pairs for word in prepare(pair.target.text, 30))
    openings: dict[tuple[str, ...], list[str]] = {}
    lowered = {text: tuple(word.lower() for word in prepare(text, 30)) for text in plain_targets(pairs)}
    for text, words in lowered.items():
        if 6 <= len(words) <= 14 and len(set(words)) == len(words):
            openings.setdefault(words[:3], []).append(text)
    common = sorted(openings, key=lambda opening: (-len(openings[opening]), opening))[:size]
    return [max(openings[key], key=lambda text: (min(counts[word] for word in lowered[text]), text)) for key in common]


def transformations_of(
    pairs: Sequence[Pair], tag: Tagger, *, size: int = TRANSFORMATIONS, seed: int = 0
) -> Transformations:
    """What training sources were reworded into, for `ExemplarParaphraser.reword`, of plain targets alone.

    Args:
        tag: gives the tags of sources and targets.
        size: of more, a part is drawn by the seed; about 100 bytes each.
    """
    plain = set(plain_targets(pairs))
    kept = list(dict.fromkeys((pair.source.text, pair.target.text) for pair in pairs if pair.target.text in plain))
    chosen = random.Random(seed).sample(kept, min(size, len(kept)))
    texts = list(dict.fromkeys(text for pair in chosen for text in pair))
    tags = dict(zip(texts, map(tuple, tag([prepare(text, 30) for text in texts])), strict=True))
    return Transformations([Transformation(tags[source], target, tags[target]) for source, target in chosen])


def both_ways(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, and behind them the same from target to source."""
    return [*pairs, *(replace(pair, source=pair.target, target=pair.source) for pair in pairs)]


def plain_targets(pairs: Sequence[Pair]) -> list[str]:
    """The different targets that a stranger may see as a form: well formed, of common words, without names.

    One sentence of 4 to 18 words with a capital at its start and nowhere else, no digit, no word that is rare or mostly
    capitalised inside sentences, single spaces, and nothing that one may not want to see on the screen.
    """
    words = {text: prepare(text, 30) for pair in pairs for text in (pair.source.text, pair.target.text)}
    counts = Counter(word.lower() for row in words.values() for word in row)
    capitals = Counter(word.lower() for row in words.values() for word in row[1:] if word[0].isupper())
    least = max(2, len(pairs) // RARE)
    plain = {
        word
        for word, count in counts.items()
        if count >= least and (word == "i" or capitals[word] <= count / 2) and re.fullmatch(r"[a-z']+|[?.!,]", word)
    }

    def fits(text: str) -> bool:
        if not 4 <= len(words[text]) <= 18 or text != " ".join(text.split()):  # a line each, in a checkpoint
            return False
        first, *inside, last = words[text]
        return (
            first[0].isupper()
            and last in {"?", ".", "!"}
            and plain.issuperset(word.lower() for word in words[text])
            and all(
                word not in {"?", ".", "!"} and (word in {"I", ","} or (word.islower() and word != "i"))
                for word in inside
            )
            and not UNWANTED.search(text)
        )

    return [text for text in dict.fromkeys(pair.target.text for pair in pairs) if fits(text)]


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
    reads="pairs",
    held_out="pairs of other clusters; null: a twentieth of the clusters, at most 1,000 pairs, is held out",
    best="validation BLEU {:.2f}",
    help=__doc__,
)
