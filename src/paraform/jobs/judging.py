"""Whether two texts say the same, of pairs in shards: what `paraform same` does, on all cores or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraform import checkpoint
from paraform.capabilities import JudgesMeaning
from paraform.corpora.arrow import pyarrow_or_error
from paraform.corpora.columns import PARQUET
from paraform.corpora.tables import text_in
from paraform.engines import Engine
from paraform.engines.shards import Folder, make_shards
from paraform.jobs.counts import Counts, read_counts, summed, write_counts
from paraform.jobs.rewording import write_lines
from paraform.jobs.setting import Setting
from paraform.records import Origin

TARGET = "target"  # the column of the second texts in what workers read
FIGURES = ("same", "forth", "back")
SAYS = "says_the_same"


@dataclass(frozen=True)
class Wanted:
    """How pairs are to be judged.

    Args:
        batch_size: pairs computed at once.
        threshold: from it on a pair says the same; None: that is not told.
        columns: of Parquet, those of both texts.
    """

    batch_size: int
    threshold: float | None = None
    columns: tuple[str, str] | None = None

    @property
    def names(self) -> list[str]:
        """What is told of a pair."""
        return [*FIGURES, *([] if self.threshold is None else [SAYS])]


def judged(
    model: JudgesMeaning, pairs: Sequence[tuple[str, str]], wanted: Wanted, *, progress: bool = False
) -> Iterator[dict[str, Any]]:
    """What is told of each pair, as JSON objects."""
    found = model.judge(pairs, batch_size=wanted.batch_size, progress=progress)
    for pair, same, forth, back in zip(pairs, *found, strict=True):
        figures = zip(FIGURES, (same, forth, back), strict=True)
        item = {"texts": [*pair], **{name: round(float(value), 4) for name, value in figures}}
        if wanted.threshold is not None:
            item[SAYS] = bool(same >= wanted.threshold)
        yield item


@dataclass(frozen=True)
class Verdicts:
    """The work: a shard has what is told of its pairs, of which `Counts` are told."""

    setting: Setting
    wanted: Wanted

    @property
    def shards(self) -> Folder:
        """Where they are."""
        return self.setting.folder

    def open(self) -> Callable[[int, Path], None]:
        """What writes a shard in this process."""
        rows, wanted, parquet = self.setting.open(), self.wanted, self.shards.suffix == PARQUET
        model: JudgesMeaning = checkpoint.load(self.setting.model, device=self.setting.device)

        def shard(number: int, path: Path) -> None:
            first, last = self.shards.rows_of(number)
            columns = rows.columns(first, last)
            name = wanted.columns[1] if wanted.columns else TARGET
            seconds = [text_in(text, name, Origin(name, 1)) for text in columns.column(name).to_pylist()]
            items = list(judged(model, list(zip(rows.texts(first, last), seconds, strict=True)), wanted))
            if parquet:
                write_parquet(columns, items, wanted.names, path)
            else:
                write_lines(items, path)
            said = {SAYS: sum(item[SAYS] for item in items)} if wanted.threshold is not None else {}
            write_counts(self.shards, number, path, {"pairs": len(items), **said})

        return shard

    def told(self, number: int) -> bytes:
        """The counts of a shard that is there."""
        return read_counts(self.shards, number)


def write_parquet(columns: Any, items: Sequence[dict[str, Any]], names: Sequence[str], path: Path) -> None:
    """A Parquet file of rows, and what is told of each."""
    arrow = pyarrow_or_error()
    import pyarrow.parquet

    for name in names:
        kind = arrow.bool_() if name == SAYS else arrow.float64()
        columns = columns.append_column(name, arrow.array([item[name] for item in items], kind))
    pyarrow.parquet.write_table(columns, path)


def judge_shards(work: Verdicts, *, engine: Engine, progress: str | None = None) -> Counts:
    """Make the shards that are not there yet; the counts of all. Raises: InputError as `make_shards`."""
    return summed(make_shards(work, work.setting.job("same", work.wanted), engine=engine, progress=progress))
