"""PAR's Table 3: exact match and F1 on adversarial SQuAD, of a reader over an encoder as it comes, and with PAR.

    paraform reproduce par/table3 --scale small --data ../shared/data --out runs/par

Partial SQuAD: the reader is trained on SQUAD/train-part.json, 44 of 442 articles, so that figures do not compare to
published ones, which stand beside them. Tested on AddSent and AddOneSent (Jia and Liang 2017), on their questions
unchanged, and on dev-part.json: the last two tell robustness from accuracy. PAR is trained as the row `mrpc default` of
the other tables. A tenth of the training articles chooses the epoch; the test files choose nothing. Three seeds of the
reader; M is trained anew by each of them at scale full, below it once.
Running time at scale small: five to ten minutes a reader on one core, six readers. Figures: docs/results/par.md.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paraform.models.retrofit import RetrofitConfig
from paraform.records import InputError
from paraform.score import Score, signature
from paraform.trainers.retrofit import BY_RATIO, train_retrofit
from paraform.weights import atomic_path
from paraform_papers.par.configs import SIZES as PAR_SIZES
from paraform_papers.par.configs import Scale, config_of
from paraform_papers.par.reader import ReaderConfig
from paraform_papers.par.reader.trainer import (
    BY_F1,
    Prepared,
    answers_of,
    held_out,
    load_reader,
    reading_system,
    train_reader,
)
from paraform_papers.par.reading import Reading, read_metrics
from paraform_papers.par.reading_table import ReadingTable, reading_table
from paraform_papers.par.rows import pairs_of
from paraform_papers.par.squad import Question, read_squad

ROWS = ("plain", "par")
PAR = "mrpc default"  # the row of PAR's other tables by which M is trained
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
        matrices: whether M is trained anew by each seed.
        reader: fields of its config.
    """

    questions: int = 0
    tested: int = 0
    seeds: int = 3
    matrices: bool = False
    evaluate_every: int = 250
    resamples: int = 1000
    reader: Mapping[str, Any] = field(default_factory=dict)


SMALLER = {"width": 64, "linear": 128, "batch_size": 32, "epochs": 5}
SIZES: dict[Scale, Size] = {
    "smoke": Size(
        40, 4, 2, evaluate_every=4, resamples=20,
        reader={"width": 8, "linear": 16, "batch_size": 8, "epochs": 1},
    ),
    "small": Size(4_000, evaluate_every=125, reader=SMALLER),
    "full": Size(matrices=True, reader={"epochs": 20}),
}  # fmt: skip


def drawn(questions: Sequence[Question], most: int) -> list[Question]:
    """Of more originals than that some, drawn by a seed, each with all its variants, in their order; 0: all."""
    originals = list(dict.fromkeys(one.original for one in questions))
    kept = set(originals if not most or most >= len(originals) else random.Random(0).sample(originals, most))
    return [one for one in questions if one.original in kept]


def test_sets(data: Path, most: int) -> dict[str, list[Question]]:
    """The questions of each test file, and those of AddSent without an adversary."""
    found = {name: drawn(list(read_squad(data / "squad" / file)), most) for name, file in TESTS.items()}
    return {**found, UNCHANGED: [one for one in found["AddSent"] if one.name == one.original]}


def train_par(scale: Scale, data: Path, folder: Path, *, seed: int, device: str, encoder: str) -> Path:
    """M on MRPC, or the run that is there. Raises: KeyboardInterrupt if interrupted, and saved."""
    config, every = config_of(PAR, scale), PAR_SIZES[scale].evaluate_every
    assert isinstance(config, RetrofitConfig)  # those of contrast are another kind
    loop = replace(BY_RATIO, seed=seed, device=device, evaluate_every=every, checkpoint_every=every)
    pairs = pairs_of(PAR, scale, data)
    result = train_retrofit(pairs, folder, config=replace(config, encoder=encoder), loop=loop, resume=True)
    result.require_over()
    return folder


def run(
    *,
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/par"),
    rows: Sequence[str] = (),
    seed: int = 0,
    device: str | None = None,
    encoder: str = "minilm",
) -> ReadingTable:
    """Train the rows, by the seed and those after it, measure them, and write table3.md.

    Args:
        rows: some of `ROWS`; (): all.
        encoder: what is read, as it comes and with M before it.
    Raises: InputError for no scale or row, or data that cannot be read; KeyboardInterrupt if interrupted, and saved.
    """
    if scale not in SIZES:
        raise InputError(f"--scale {scale}: par/table3 has {', '.join(SIZES)}")
    if unknown := [row for row in rows if row not in ROWS]:
        raise InputError(f"no row {unknown[0]!r}; expected some of {', '.join(ROWS)}")
    size, where = SIZES[scale], out / scale
    asked = drawn(list(read_squad(data / "squad" / "train-part.json")), size.questions)
    training, held = held_out(asked, seed=0)  # the same for all seeds, whose vectors are then the same file
    tests = test_sets(data, size.tested)
    names = {"plain": encoder, "par": f"{encoder}, PAR (MRPC)"}
    found: dict[tuple[str, int, str], Reading] = {}
    matrices: dict[int, Path] = {}
    for number in range(seed, seed + size.seeds):
        for row in rows or ROWS:
            name, of = encoder, number if size.matrices else seed
            if row == "par":
                if of not in matrices:
                    place = where / f"seed-{of}" / "table3-par"
                    matrices[of] = train_par(scale, data, place, seed=of, device=device or "auto", encoder=encoder)
                name = str(matrices[of])
            config = replace(ReaderConfig(encoder=name), **size.reader)
            loop = replace(BY_F1, seed=number, device=device or "auto", evaluate_every=size.evaluate_every)
            folder, vectors = where / f"seed-{number}" / f"table3-reader-{row}", where / "vectors"
            given: dict[str, Any] = {"validation": held, "vectors": vectors, "resume": True}
            train_reader(training, folder, config=config, loop=loop, **given).require_over()
            answered = answers_of(load_reader(folder, device=device), prepared(config, tests, vectors, device))
            for test, some in tests.items():
                found[names[row], number, test] = read_metrics(some, answered)
    settings = signature(trained=f"partial SQuAD, {len(training)} questions", encoder=encoder, epochs=config.epochs)
    made = reading_table(found, settings, against=(names["par"], names["plain"]), resamples=size.resamples)
    made = replace(made, scores=(*made.scores, *published()))
    with atomic_path(where / "table3.md") as unfinished:
        unfinished.write_text(made.table() + "\n", encoding="utf-8")
    return made


def prepared(
    config: ReaderConfig, tests: Mapping[str, Sequence[Question]], vectors: Path, device: str | None
) -> Prepared:
    """The questions of all test files, each once: AddSent has those of the two others, or some of them."""
    every: dict[str, Question] = {}
    for one in (one for some in tests.values() for one in some):
        if every.setdefault(one.name, one).context != one.context:
            raise InputError(f"question {one.name!r} is on two contexts; expected one in all test files")
    return Prepared.of(list(every.values()), reading_system(config, device=device), vectors)


def published() -> list[Score]:
    """The paper's, of ELMo and all of SQuAD."""
    return [
        Score(name, value, "as printed, of all of SQuAD", system, subset=test)
        for system, sets in PRINTED.items()
        for test, figures in zip(("AddOneSent", "AddSent"), sets, strict=True)
        for name, value in zip(("EM", "F1"), figures, strict=True)
    ]
