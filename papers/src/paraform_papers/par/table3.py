"""PAR's Table 3: exact match and F1 on adversarial SQuAD, of a reader over an encoder as it comes, and with PAR.

    paraform reproduce par/table3 --scale small --data ../shared/data --out runs/par

Partial SQuAD: the reader is trained on SQUAD/train-part.json, 44 of 442 articles, so that figures do not compare to
published ones, which stand beside them. Tested on AddSent and AddOneSent (Jia and Liang 2017), on their questions
unchanged, and on dev-part.json: the last two tell robustness from accuracy. PAR is trained as rows of the other tables
(`ROWS`). A tenth of the training articles chooses the epoch; the test files choose nothing. Three seeds of the
reader; M is trained anew by each of them at scale full, below it once. Of a language model two seeds, each with its M:
--row "smollm2 plain" "smollm2 par" "smollm2 par, further".
Running time at scale small: five to ten minutes a reader on one core, six readers; of the language model, tested on 400
originals of each file, as many, and half an hour to read the words of each row and seed. Figures: docs/results/par.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from paraform.score import Score, signature
from paraform_papers.par.reader import ReaderConfig
from paraform_papers.par.reader import trainer as readers
from paraform_papers.par.reader.trainer import BY_F1, Prepared, answers_of, held_out, load_reader, train_reader
from paraform_papers.par.reading import Reading, read_metrics
from paraform_papers.par.reading_table import reading_table
from paraform_papers.par.rows import row_of, train
from paraform_papers.par.squad import Question, drawn, each_once, read_squad
from paraform_papers.rows import Row, digest_of, train_row
from paraform_papers.tables import Asked, Figures, Scale, Table, printed


@dataclass(frozen=True)
class Words:
    """What a reader reads.

    Args:
        label: behind the encoder's name.
        matrix: the row of PAR's other tables by which M is trained; "": none.
        encoder: "": that of the table.
        seeds: at most so many, each with its M; 0: as the scale says.
    """

    label: str = ""
    matrix: str = ""
    encoder: str = ""
    seeds: int = 0


LM: dict[str, Any] = {"encoder": "smollm2", "seeds": 2}
ROWS = {
    "plain": Words(),
    "par": Words(", PAR (MRPC)", "mrpc default"),
    "smollm2 plain": Words(**LM),
    "smollm2 par": Words(", PAR (MRPC)", "smollm2 before mrpc default", **LM),
    "smollm2 par, further": Words(", PAR (MRPC), further", "smollm2 before mrpc further", **LM),
}
PAPER = ("plain", "par")
TRAINED_ON = "train-part.json"
TESTS = {"AddSent": "add_sent.jsonl", "AddOneSent": "add_one_sent.jsonl", "dev-part": "dev-part.json"}
UNCHANGED = "AddSent, unchanged"
PRINTED = {  # EM and F1: AddOneSent, AddSent
    "BiSAE, printed": ((47.7, 53.7), (36.1, 41.7)),
    "BiSAE-PAR (MRPC), printed": ((51.6, 57.9), (40.8, 47.1)),
}


@dataclass(frozen=True)
class Size:
    """What a scale means.

    Args:
        questions: trained and validated on, at most; 0: all.
        tested: original questions of each test file, at most, with their variants; 0: all.
        seeds: of the reader.
        matrices: whether M is trained anew by each seed, where the row does not say so.
        tested_by: `tested` of encoders that read slowly, by their names.
        reader: fields of its config.
    """

    questions: int = 0
    tested: int = 0
    seeds: int = 3
    matrices: bool = False
    tested_by: Mapping[str, int] = field(default_factory=dict)
    evaluate_every: int = 250
    resamples: int = 1000
    reader: Mapping[str, Any] = field(default_factory=dict)


SMALLER = {"width": 64, "linear": 128, "batch_size": 32, "epochs": 5}
SIZES: dict[Scale, Size] = {
    "smoke": Size(
        40, 4, 2, evaluate_every=4, resamples=20,
        reader={"width": 8, "linear": 16, "batch_size": 8, "epochs": 1},
    ),
    "small": Size(4_000, tested_by={"smollm2": 400}, evaluate_every=125, reader=SMALLER),
    "full": Size(matrices=True, reader={"epochs": 20}),
}  # fmt: skip


def test_sets(data: Path, most: int) -> dict[str, list[Question]]:
    """The questions of each test file, and those of AddSent without an adversary."""
    found = {name: drawn(list(read_squad(data / "squad" / file)), most) for name, file in TESTS.items()}
    return {**found, UNCHANGED: [one for one in found["AddSent"] if one.name == one.original]}


def matrix_row(name: str, asked: Asked, encoder: str) -> Row:
    """M of this encoder, by the seed: the row of that name of the other tables, or as that."""
    row = row_of(name, asked)
    if row.config.encoder == encoder:
        return row
    config: Any = replace(row.config, encoder=encoder)
    folder = asked.folder("table3-par")
    return replace(row, folder=folder, config=config, train=lambda: train(name, config, folder, asked))


def reading_row(name: str, asked: Asked, encoder: str, *, matrices: Asked) -> Row:
    """A reader by the seed, over the encoder as it comes or with M before it.

    Args:
        matrices: by which M is trained.
    """
    size = SIZES[asked.scale]
    matrix = matrix_row(ROWS[name].matrix, matrices, encoder) if ROWS[name].matrix else None
    config = replace(ReaderConfig(encoder=encoder if matrix is None else str(matrix.folder)), **size.reader)
    loop = replace(BY_F1, seed=asked.seed, device=asked.trained_on, evaluate_every=size.evaluate_every)
    folder = asked.folder(f"table3-reader-{name.replace(' ', '-')}")

    def go() -> None:
        if matrix is not None:
            train_row(matrix)
        training, held = questions(asked)
        given: dict[str, Any] = {"validation": held, "vectors": asked.place / "vectors", "resume": True}
        train_reader(training, folder, config=config, loop=loop, **given).require_over()

    def about() -> dict[str, Any]:
        file = asked.data / "squad" / TRAINED_ON
        found = {"loop": asdict(loop), "questions": size.questions, "data": digest_of(file)}
        if matrix is not None:
            found |= {"matrix": asdict(matrix.config), "of": matrix.folder.is_dir() and digest_of(matrix.folder)}
        return found

    return Row(name, folder, go, config, about, asked.seed)


def questions(asked: Asked) -> tuple[list[Question], list[Question]]:
    """To train on, and of other articles; the same for all seeds, whose vectors are then the same file."""
    read = list(read_squad(asked.data / "squad" / TRAINED_ON))
    return held_out(drawn(read, SIZES[asked.scale].questions), seed=0)


def reading(encoder: str = "minilm") -> Table:
    """The table, of this encoder, as it comes and with M before it; and of a language model."""

    def rows(asked: Asked) -> list[Row]:
        """By the seed and those after it."""
        size, chosen = SIZES[asked.scale], asked.chosen(ROWS, PAPER, between="; ")
        found = []
        for more in range(size.seeds):
            by = replace(asked, seed=asked.seed + more)
            for name in chosen:
                words = ROWS[name]
                if not words.seeds or more < words.seeds:
                    matrices = by if words.seeds or size.matrices else asked
                    found.append(reading_row(name, by, words.encoder or encoder, matrices=matrices))
        return found

    def measure(asked: Asked, rows: Sequence[Row]) -> Figures:
        size = SIZES[asked.scale]
        of = {name: words.encoder or encoder for name, words in ROWS.items()}
        names = {name: f"{of[name]}{words.label}" for name, words in ROWS.items()}
        against = {names[name]: of[name] for name, words in ROWS.items() if words.matrix}
        sets = {most: test_sets(asked.data, most) for most in {size.tested, *size.tested_by.values()}}
        found: dict[tuple[str, int, str], Reading] = {}
        for row in rows:
            tests = sets[size.tested_by.get(of[row.name], size.tested)]
            words = prepared(row.config, tests, asked.place / "vectors", asked.device)
            answered = answers_of(load_reader(row.folder, device=asked.device), words)
            for test, some in tests.items():
                found[names[row.name], row.seed, test] = read_metrics(some, answered)
        trained = f"partial SQuAD, {len(questions(asked)[0])} questions"
        shared: dict[str, Any] = {"trained": trained, "epochs": rows[0].config.epochs}
        settings = {names[name]: signature(encoder=of[name], M=ROWS[name].matrix or "none", **shared) for name in ROWS}
        made = reading_table(found, settings, against=against, resamples=size.resamples)
        return replace(made, scores=(*made.scores, *published()))

    return Table("par/table3", "PAR's Table 3: adversarial SQuAD", SIZES, rows, measure, ("squad", "mrpc"))


def prepared(
    config: ReaderConfig, tests: Mapping[str, Sequence[Question]], vectors: Path, device: str | None
) -> Prepared:
    """The questions of all test files, each once."""
    return Prepared.of(each_once(tests.values()), readers.reading_system(config, device=device), vectors)


def published() -> list[Score]:
    """The paper's, of ELMo and all of SQuAD."""
    return [
        printed(name, value, "all of SQuAD", system, subset=test)
        for system, sets in PRINTED.items()
        for test, figures in zip(("AddOneSent", "AddSent"), sets, strict=True)
        for name, value in zip(("EM", "F1"), figures, strict=True)
    ]


TABLE = reading()
