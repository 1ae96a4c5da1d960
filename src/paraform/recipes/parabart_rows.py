"""Training and measuring the rows of ParaBART's tables, each in a folder of its own that is kept."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from paraform import checkpoint, corpora
from paraform.corpora.evaluation_sets import read_evaluation_sets
from paraform.evaluation.embedding.development import MEAN, read_development
from paraform.evaluation.embedding.families import limited
from paraform.evaluation.embedding.kept_vectors import kept
from paraform.evaluation.embedding.measuring import System, bounded, measured, spaces_of, system_of
from paraform.evaluation.embedding.task import Finding, Task
from paraform.recipes.parabart_configs import ERASED, SIZES, STARTS, Scale, config_of, corpora_of, name_of, rows_of
from paraform.records import InputError, Pair
from paraform.score import Score, table
from paraform.trainers.disentangled import BY_MRR, texts_of, train_disentangled
from paraform.trainers.erasing import erase
from paraform.trainers.held_out import unseen_pairs
from paraform.weights import atomic_path

FILES = {  # of each corpus, and how it is read
    "quora": ("quora/train.tsv", "pairs"),
    "tatoeba": ("tatoeba/pairs.tsv", "pairs"),
    "paranmt": ("paranmt/train.tsv", "paranmt"),
    "multi30k": ("multi30k/train.tsv", "captions"),
}
EVALUATION = ("sts", "stsb", "sick", "senteval", "mrpc", "pan", "paws", "quora/dev.tsv", "quora/test.tsv")
"""What no row is trained on."""

Keep = Callable[[Score], bool]


@dataclass(frozen=True)
class Table:
    """A table's figures, and what its examples say, if it has any."""

    scores: tuple[Score, ...]
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object: `scores`, each with its settings, and `examples`."""
        return {"scores": [score.to_json() for score in self.scores], "examples": self.text}

    def table(self, style: Literal["plain", "markdown"] = "markdown") -> str:
        """The figures, with a column for each set."""
        turned, systems = [], dict[str, str]()
        for one in self.scores:
            of_set, _, of_system = one.signature.partition("|similarity:")
            protocol = ", ".join(part for part in (one.name, one.protocol) if part)
            turned.append(replace(one, name=one.subset, subset="all", protocol=protocol, signature=of_set))
            systems[one.system] = f"similarity:{of_system}"
        mark = "- {}: `{}`" if style == "markdown" else "{}: {}"
        notes = "\n".join(mark.format(*note) for note in systems.items())
        return "\n\n".join(part for part in (table(turned, style) if turned else "", notes, self.text) if part)


def pairs_of(data: Path, sizes: Mapping[str, int], seed: int = 0) -> list[Pair]:
    """The pairs of corpora, one after the other, in an order drawn by seed; of an image one pair of captions."""
    out: list[Pair] = []
    for corpus, most in sizes.items():
        file, layout = FILES[corpus]
        read = [record for record in corpora.read(data / file, layout) if isinstance(record, Pair)]
        random.Random(seed).shuffle(read)
        if layout == "captions":
            read = list({pair.cluster: pair for pair in read}.values())
        out += read[: most or None]
    return corpora.clusters(replace(pair, cluster=None) for pair in out)


def train_row(row: str, scale: Scale, data: Path, out: Path, *, seed: int, device: str) -> Path:
    """Train one row, or go on with it; returns its folder. Raises: KeyboardInterrupt if interrupted, and saved."""
    folder = folder_of(row, scale, out, seed)
    config = config_of(row, scale)
    trained, about = folder / "trained.json", {} if config is None else asdict(config)
    if trained.is_file() and json.loads(trained.read_text(encoding="utf-8")) == about:
        return folder  # nothing is parsed again
    texts = read_evaluation_sets([data / name for name in EVALUATION if (data / name).exists()])
    sets = read_development(data)
    against = [*(text for some in texts.values() for text in some), *sets.texts()]
    if config is None:
        erase_row(row, scale, data, out, against, seed=seed, device=device)
    else:
        loop = replace(
            BY_MRR, metric=MEAN, seed=seed, evaluate_every=SIZES[scale].evaluate_every, checkpoint_every=100,
            log_every=50, device=device, mixed_precision="bf16",
        )  # fmt: skip
        pairs = pairs_of(data, corpora_of(row, scale))
        result = train_disentangled(
            pairs, folder, config=config, loop=loop, against=against, development=sets, resume=True
        )
        if result.ended == "interrupted":
            raise KeyboardInterrupt
    with atomic_path(trained) as unfinished:
        unfinished.write_text(json.dumps(about), encoding="utf-8")
    return folder


def erase_row(row: str, scale: Scale, data: Path, out: Path, against: Sequence[str], *, seed: int, device: str) -> None:
    """Make an encoder, FOLDER/encoder, of another row's or of the start, from which form is erased."""
    start, _, part = row.partition(" ")
    of, erased = ERASED[part]
    folder = folder_of(row, scale, out, seed)
    shutil.rmtree(folder, ignore_errors=True)  # what a kill has left
    folder.mkdir(parents=True)
    encoder = name_of(start)
    if of:
        before = train_row(f"{start} {of}", scale, data, out, seed=seed, device=device)
        encoder = str(checkpoint.load(str(before)).export(folder / "before"))
    texts = texts_of(unseen_pairs(pairs_of(data, corpora_of(row, scale)), against))
    erase(encoder, texts, folder / "encoder", erased=erased, seed=seed, device=None if device == "auto" else device)


def folder_of(row: str, scale: Scale, out: Path, seed: int) -> Path:
    """A row's folder."""
    return out / scale / f"seed-{seed}" / row.replace(", ", "+").replace(" ", "-")


def systems_of(rows: Iterable[str], scale: Scale, out: Path, device: str | None) -> list[System]:
    """The starts of these rows, and the rows of every seed that are trained; vectors are kept."""
    chosen = list(rows)
    known: dict[str, str | Path] = {}
    for start in STARTS:
        if any(row.startswith(f"{start} ") for row in chosen):
            known[f"{start} as it comes"] = name_of(start)
    for seed in sorted(int(place.name.removeprefix("seed-")) for place in (out / scale).glob("seed-*")):
        there = {row: folder_of(row, scale, out, seed) for row in chosen}
        known |= {f"{row}, seed {seed}": place for row, place in there.items() if (place / "trained.json").is_file()}
    systems = []
    for name, place in known.items():
        encoder = Path(place) / "encoder"
        model: Any = checkpoint.load(str(encoder if encoder.is_dir() else place), device=device)
        system = system_of(name, model)
        systems.append(system._replace(embed=kept(system.embed, system.signature, out / "vectors")))
    return systems


def run_table(
    tasks: Callable[[Path, int], Sequence[Task]],
    keep: Keep,
    *,
    more: Callable[[list[Finding]], list[Finding]] = lambda findings: [],
    text: Callable[[Sequence[Task], Sequence[Any]], str] = lambda tasks, spaces: "",
    scale: Scale = "smoke",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/parabart"),
    rows: Sequence[str] = (),
    seed: int = 0,
    device: str | None = None,
    name: str = "table",
) -> Table:
    """Train rows of one seed (those begun go on), measure them and those of other seeds, and write NAME.md.

    Args:
        tasks: what is measured, of the data's folder and so many paraphrases a set.
        keep: the figures that the table has.
        more: figures made of others.
        text: examples to read.
        rows: some of `ROWS`; (): the paper's own.
    Raises: InputError for no scale or row, or data that cannot be read; KeyboardInterrupt if interrupted, and saved.
    """
    if scale not in SIZES:
        raise InputError(f"--scale {scale}: ParaBART's tables have {', '.join(SIZES)}")
    chosen = tuple(rows) or rows_of(scale)
    for row in chosen:
        config_of(row, scale)  # all are known, before the first is trained
    for row in chosen:
        train_row(row, scale, data, out, seed=seed, device=device or "auto")
    size = SIZES[scale]
    sets = list(tasks(data, size.size))
    if size.most is not None:
        sets = [limited(task, size.most) for task in sets]
    spaces = spaces_of(sets, systems_of(chosen, scale, out, device), words=False)
    findings = measured(sets, spaces)
    findings += more(findings)
    kept_scores = bounded([one for one in findings if keep(one.score)], size.resamples)
    found = Table(tuple(kept_scores), text(sets, spaces))
    with atomic_path(out / scale / f"{name}.md") as unfinished:
        unfinished.write_text(found.table() + "\n", encoding="utf-8")
    return found
