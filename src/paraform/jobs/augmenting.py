"""A table's rows and their rewordings in shards: what `paraform augment` does, on all cores or on a Ray cluster.

Workers reword parts of the texts. What is left out of it, because another row says the same, depends on all rows
before: the driver does that, in order, and writes the shards. So no worker holds the texts of a table, and none needs
the folder of the shards.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraform.corpora.tables import Row, Table
from paraform.engines import Engine, run
from paraform.engines.shards import Folder, require_job
from paraform.jobs.counts import Counts, read_counts, summed, write_counts
from paraform.jobs.rewording import default_reworder
from paraform.jobs.setting import Setting
from paraform.jobs.table_files import TableFile
from paraform.records import MOST_COUNT, Candidate, Rewording
from paraform.rewording.augmentation import Tally, Texts, augmented
from paraform.rewording.reworder import Reworder
from paraform.rewording.standards import Change
from paraform.weights import atomic_path


@dataclass(frozen=True)
class Wanted:
    """What is to be made of a table.

    Args:
        per_row, spans, keep_source, mark, wrapped: as `augmented` has them.
        force: try texts too that look like another language, code, shouting or junk.
        change, keep: as `Reworder.default` has them.
        seed: of the first part; each has its own, else every part would draw the same.
        batch_size: sentences computed at once; None: the model's own number.
        part: rows whose rewordings are made at once.
        text_column, label_column: of the table.
    """

    per_row: int
    spans: tuple[str, str] | None
    keep_source: bool
    mark: bool
    wrapped: bool
    force: bool
    change: Change | None
    keep: tuple[str, ...]
    seed: int
    batch_size: int | None
    part: int
    text_column: str
    label_column: str | None

    def reworded(self, texts: Sequence[str], reworder: Reworder, part: int) -> list[Rewording]:
        """The rewordings of a part.

        More than are wanted, which cost next to nothing: some are left out, because they say the same or another's.
        """
        how: dict[str, Any] = {"batch_size": self.batch_size} if self.batch_size else {}
        num = min(2 * self.per_row + 3, MOST_COUNT)
        return reworder.reword(texts, num=num, force=self.force, seed=(self.seed + part) % 2**32, **how)

    def augmented(
        self,
        parts: Iterator[list[Row]],
        reword: Callable[[Sequence[str], int], Sequence[Rewording]],
        table: Table,
        tally: Tally,
        texts: Texts,
    ) -> Iterator[Row]:
        """The rows and their rewordings."""
        return augmented(
            parts,
            reword,
            table,
            tally,
            per_row=self.per_row,
            texts=texts,
            spans=self.spans,
            keep_source=self.keep_source,
            mark=self.mark,
            wrapped=self.wrapped,
        )


@dataclass(frozen=True)
class Rewordings:
    """The work: chunk i is the i-th of some parts, its result their rewordings as JSON, as `as_json` writes them."""

    setting: Setting
    wanted: Wanted
    parts: tuple[int, ...]

    def open(self) -> Callable[[int], bytes]:
        """What rewords a part in this process."""
        rows, wanted = self.setting.open(), self.wanted
        reworder = default_reworder(self.setting.model, self.setting.device, change=wanted.change, keep=wanted.keep)

        def reworded(chunk: int) -> bytes:
            part = self.parts[chunk]
            texts = rows.texts(part * wanted.part, min((part + 1) * wanted.part, len(rows)))
            return as_json(wanted.reworded(texts, reworder, part))

        return reworded


def as_json(found: Sequence[Rewording]) -> bytes:
    """What `augmented` looks at of rewordings."""
    rows = [[one.source, one.reason, [[each.text, each.wrapped] for each in one.candidates]] for one in found]
    return json.dumps(rows, ensure_ascii=False).encode()


def from_json(content: bytes) -> list[Rewording]:
    """Those rewordings."""
    return [
        Rewording(source, tuple(Candidate(text, "", {}, 0.0, wrapped=wrapped) for text, wrapped in said), reason)
        for source, reason, said in json.loads(content)
    ]


def augment_shards(
    setting: Setting, wanted: Wanted, source: TableFile, texts: Texts, *, engine: Engine, progress: str | None = None
) -> Counts:
    """Make the shards that are not there yet; the counts of all.

    Args:
        texts: all of the table, with their labels.
        progress: what stderr is told is done, in parts; None: nothing.
    Raises: InputError for a folder of another job's, or of other files, and for a shard that is damaged.
    """
    folder: Folder = setting.folder
    require_job(Path(folder.folder), setting.job("augment", wanted))
    missing = {*folder.missing()}
    told = {number: read_counts(folder, number) for number in range(len(folder)) if number not in missing}
    parts = [
        range(first // wanted.part, -(-last // wanted.part)) for first, last in map(folder.rows_of, sorted(missing))
    ]
    work = Rewordings(setting, wanted, tuple(itertools.chain(*parts)))
    made = map(from_json, run(work, len(work.parts), engine=engine, progress=progress))
    table = source.read(warn=True)
    for number in range(len(folder)):
        first, last = folder.rows_of(number)
        rows = list(itertools.islice(table.rows, last - first))
        path = folder.path(number)
        if number in told:
            if json.loads(told[number])["rewordings"]:  # else there is nothing new in it, and perhaps not a row
                for row in source.read_shard(path, table):
                    texts.add(row.text, row)
            continue
        tally = Tally()
        some = (rows[at : at + wanted.part] for at in range(0, len(rows), wanted.part))
        out = wanted.augmented(some, lambda *_: next(made), table, tally, texts)
        with atomic_path(path) as unfinished:
            source.write(out, unfinished, table, rows, first)
            write_counts(folder, number, unfinished, vars(tally))
        told[number] = read_counts(folder, number)
    for _ in table.rows:  # of which bad ones at the end are told by the reader, when it gets there
        pass
    return summed(told[number] for number in range(len(folder)))
