"""Train a reader on questions, over the frozen vectors of an encoder's words: a measuring stick, not a product.

The encoder's vectors are computed once and kept on disk; only the reader is trained.
"""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from paraform import checkpoint
from paraform.capabilities import ReadsWords
from paraform.evaluation.embedding.distances import WordSystem, word_system
from paraform.records import InputError, counted, require_kind
from paraform.trainers.held_out import digests_of
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig, require_metric, text_digest
from paraform.weights import PathLike
from paraform_papers.par.reader import Reader, ReaderConfig, make_update
from paraform_papers.par.reader.batches import ReaderTable, Word, placed_words
from paraform_papers.par.reader.vectors import kept_vectors
from paraform_papers.par.reading import read_metrics
from paraform_papers.par.squad import Question

METRICS = {"f1": True, "exact": True}  # whether higher is better
BY_F1 = TrainingConfig(
    metric="f1", higher_is_better=True, patience=4, evaluate_every=250, checkpoint_every=250, log_every=10
)
MOST_WORDS = 300  # a longer context is not trained on
HELD_OUT = 0.1  # of the articles
MOST_HELD_OUT = 500  # questions that a validation answers
AT_ONCE = 32  # questions that are answered together
ROWS_AT_ONCE = 4096  # words whose numbers are squared together


@final
@dataclass(frozen=True)
class Prepared:
    """Questions as a reader reads them.

    Args:
        words: of each different text, with their places.
    """

    questions: Sequence[Question]
    words: dict[str, list[Word]]
    table: ReaderTable

    @classmethod
    def of(cls, questions: Sequence[Question], system: WordSystem, folder: PathLike) -> Prepared:
        """With the vectors of their words, which are kept in that folder."""
        texts = dict.fromkeys(text for one in questions for text in (one.context, one.text))
        words = {text: placed_words(text) for text in texts}
        vectors = kept_vectors(system, [[word.text for word in some] for some in words.values()], folder)
        return cls(questions, words, ReaderTable.of(questions, words, vectors))


def train_reader(
    questions: Iterable[Question],
    folder: PathLike,
    *,
    validation: Iterable[Question] | None = None,
    config: ReaderConfig | None = None,
    loop: TrainingConfig = BY_F1,
    vectors: PathLike | None = None,
    resume: bool = False,
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation F1, which `load_reader` reads.

    Args:
        validation: questions of other articles. None: a tenth of the articles, 500 questions of them at most.
        config: None: `ReaderConfig()`; `inputs` is filled in.
        loop: best `replace(BY_F1, …)`. Its `steps` are overridden: `config.epochs` passes over the questions.
        vectors: the folder that the words' vectors are kept in, which runs may share; None: `folder/vectors`.
        resume: go on with the run in the folder.
    Raises: InputError for too few questions, an encoder that gives words no states, or a folder with another run.
    """
    config = ReaderConfig() if config is None else config
    require_kind(config, ReaderConfig, "config")
    require_metric(loop, METRICS)
    questions = list(questions)
    if validation is None:
        questions, held = held_out(questions, seed=loop.seed)
    else:
        held = list(validation)
    system = reading_system(config, device=None if loop.device == "auto" else loop.device)
    vectors = Path(folder) / "vectors" if vectors is None else vectors
    tested = Prepared.of(held, system, vectors)
    short = [one for one in questions if len(placed_words(one.context)) <= MOST_WORDS]
    if len(short) < len(questions):
        logging.getLogger("paraform").warning(
            "%s of %s are on a context of more than %d words; left out",
            f"{len(questions) - len(short):,}", counted(len(questions), "question"), MOST_WORDS,
        )  # fmt: skip
    if not short:
        raise InputError(f"no question on a context of at most {MOST_WORDS} words; expected some to train on")
    table = Prepared.of(short, system, vectors).table
    config = replace(config, inputs=int(table.vectors.values.shape[1]))
    job = Job.of(Reader, folder, config, loop, METRICS, resume=resume)
    accelerator = job.accelerator  # seeds all draws
    torch.manual_seed(loop.seed)
    model = Reader(config)
    model.network.scale.fill_(1 / root_mean_square(table))
    model.to(accelerator.device)
    batches, steps_per_epoch = table.batches(**job.batching)
    made = make_update(model, config, accelerator)

    def evaluate() -> dict[str, float]:
        exact, f1 = read_metrics(held, answers_of(model, tested))
        return {"f1": f1.over(), "exact": exact.over()}

    digests = {"encoder": text_digest([system.signature]), **digests_of(short, held, "questions", all_that_is_read)}
    return job.run(model, made, batches, evaluate, digests=digests, epoch=steps_per_epoch)


def load_reader(folder: PathLike, *, device: str | None = None) -> Reader:
    """A trained reader. Raises: InputError as `checkpoint.load`."""
    found: Reader = checkpoint.load(folder, device=device, systems={Reader.system: Reader})
    return found


def reading_system(config: ReaderConfig, *, device: str | None = None) -> WordSystem:
    """The encoder whose words the reader reads. Raises: InputError if it gives words no states."""
    model: Any = checkpoint.load(config.encoder, device=device)
    # of a retrofitted encoder its own words, which M maps wherever it stands; of a paraphraser its encoder's
    own = model if isinstance(model, ReadsWords) else getattr(model, "encoder", model)
    if not isinstance(own, ReadsWords):
        raise InputError(f"{config.encoder}: {getattr(model, 'kind', 'a model')}; expected an encoder with word states")
    return word_system(Path(config.encoder).name, own)


def held_out(questions: Sequence[Question], *, seed: int) -> tuple[list[Question], list[Question]]:
    """Questions to train on, and some of other articles. Raises: InputError if there are fewer than two articles."""
    articles = sorted({one.article for one in questions})
    if len(articles) < 2:
        raise InputError(f"questions on {counted(len(articles), 'article')}; expected two or more, or a validation set")
    count = max(1, round(HELD_OUT * len(articles)))
    chosen = set(random.Random(seed).sample(articles, count))
    held = [one for one in questions if one.article in chosen]
    if len(held) > MOST_HELD_OUT:
        held = random.Random(seed).sample(held, MOST_HELD_OUT)
    return [one for one in questions if one.article not in chosen], held


def answers_of(model: Reader, prepared: Prepared) -> dict[str, str]:
    """What the reader answers, by the questions' ids: a part of each context."""
    model.eval()
    order = np.argsort(prepared.table.lengths(), kind="stable")
    given: dict[str, str] = {}
    for at in range(0, len(order), AT_ONCE):
        rows = order[at : at + AT_ONCE]
        for row, first, last in zip(rows, *model.spans(prepared.table.batch(rows)), strict=True):
            one = prepared.questions[row]
            words = prepared.words[one.context]
            given[one.name] = one.context[words[int(first)].start : words[int(last)].end]
    return given


def all_that_is_read(one: Question) -> list[str]:
    """What training or validation reads of a question, its answers too."""
    return [one.name, one.text, one.context, *(f"{answer.start} {answer.text}" for answer in one.answers)]


def root_mean_square(table: ReaderTable) -> float:
    """Of all numbers of the vectors of up to 4,096 texts, by which they are divided: encoders differ in scale."""
    values_ND = table.vectors.values[: int(table.vectors.offsets[:4097][-1])]
    # block by block: all squares at once, in float64, are gigabytes where all layers of an ELMo stand side by side
    blocks = (values_ND[at : at + ROWS_AT_ONCE] for at in range(0, len(values_ND), ROWS_AT_ONCE))
    total = sum(float(np.square(block_ND, dtype=np.float64).sum()) for block_ND in blocks)
    return math.sqrt(total / values_ND.size) or 1.0
