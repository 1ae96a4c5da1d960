"""A table augmented in shards, workers killed meanwhile: no row is lost; rows a second of workers and of one process.

    python benchmarks/cluster.py [--rows 496] [--kills 30]

The first rows of a table (Banking77), by rules: in one process, then in shards by one worker, by two, and by two of a
Ray cluster on this machine; rows a second are those from the first shard on, so that starts do not count. Then once
more by Ray, a worker drawn by a seed being killed with SIGKILL each time that another shard is there, `--kills` times.
Parts are small, so that there are as many. Bounds: every row is there, and the bytes of all four are those of one
process. The seconds are the clock's: other programs count.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import torch
from _measure import arguments_of, report

from paraform.corpora.columns import write_columns
from paraform.corpora.table_lines import write_table
from paraform.corpora.tables import Row
from paraform.engines import Engine
from paraform.engines.shards import Folder
from paraform.jobs.augmenting import Wanted, augment_shards
from paraform.jobs.rewording import default_reworder
from paraform.jobs.setting import Setting
from paraform.jobs.table_files import LineTable
from paraform.rewording.augmentation import MARKS, Tally, Texts

PART, SHARD = 8, 16  # rows


class Watch(threading.Thread):
    """Kills a worker each time that another shard has come, up to so many times."""

    def __init__(self, folder: Path, workers: Callable[[], Sequence[psutil.Process]], kills: int) -> None:
        super().__init__(daemon=True)
        self.folder, self.workers, self.most = folder, workers, kills
        self.draw, self.kills, self.over = random.Random(0), 0, False

    def run(self) -> None:
        while not self.over:
            if self.kills < min(len(shards_in(self.folder)), self.most) and (found := self.workers()):
                with contextlib.suppress(psutil.NoSuchProcess):
                    self.draw.choice(found).kill()
                    self.kills += 1
            time.sleep(0.01)


def shards_in(folder: Path) -> list[Path]:
    """Those that are there, in their order."""
    return sorted(folder.glob("*.csv"))


def ray_workers() -> list[psutil.Process]:
    """The actors of a cluster that this process has started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if " ".join(process.cmdline()).startswith("ray::Worker"):
                found.append(process)
    return found


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/banking77/train.csv"))
    parser.add_argument("--text-column", default="text")
    parser.add_argument("--rows", type=int, default=496)
    parser.add_argument("--kills", type=int, default=30)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # as workers have

    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        source = cut(arguments.data, arguments.text_column, arguments.rows, place / "table.csv")
        wanted = wanted_of(arguments.text_column)
        write_columns(source.columns(), place / "table.arrow")
        rates = {"one process": in_one_process(source, wanted, place / "one.csv")}
        whole = lines_of([place / "one.csv"])
        figures: dict[str, object] = {"rows": arguments.rows, "lines": len(whole)}
        differ = 0
        runs = {
            "one worker": (Engine("local", 1), 0),
            "two workers": (Engine("local", 2), 0),
            "two workers of Ray": (Engine("ray", 2, "local"), 0),
            "workers killed": (Engine("ray", 2, "local"), arguments.kills),
        }
        for name, (engine, kills) in runs.items():
            folder = place / name.replace(" ", "-")
            begin = time.perf_counter()
            killed, rows = in_shards(source, wanted, place / "table.arrow", folder, engine, kills)
            seconds = time.perf_counter() - begin
            came = [path.stat().st_mtime_ns for path in shards_in(folder)]
            rates[name] = (arguments.rows - SHARD) / ((came[-1] - came[0]) / 1e9)
            found = lines_of(shards_in(folder))
            differ += found != whole
            if kills:
                figures |= {"kills": killed, "rows lost": arguments.rows - rows, "seconds with kills": seconds}
    figures |= {f"{name}, rows a second": rate for name, rate in rates.items()}
    figures |= {f"{name} × one process": rates[name] / rates["one process"] for name in list(runs)[:-1]}
    figures["runs whose bytes differ"] = differ
    bounds = {"rows lost": ("at most", 0.0), "runs whose bytes differ": ("at most", 0.0)}
    return report(figures, bounds, as_json=arguments.json)


def wanted_of(column: str) -> Wanted:
    """As `paraform augment` has it without options, but for the size of a part."""
    return Wanted(
        per_row=1,
        spans=None,
        keep_source=True,
        mark=True,
        wrapped=False,
        force=False,
        change=None,
        keep=(),
        seed=0,
        batch_size=None,
        part=PART,
        text_column=column,
        label_column=None,
    )


def cut(data: Path, column: str, rows: int, path: Path) -> LineTable:
    """A table of the first rows of one."""
    table = LineTable(str(data), column, "csv", False, mark=False).read(warn=False)
    write_table(itertools.islice(table.rows, rows), path, table.columns, table.dialect, read=table)
    return LineTable(str(path), column, "csv", False, mark=True)


def in_one_process(source: LineTable, wanted: Wanted, path: Path) -> float:
    """Rows a second from the second shard's first row on; the table is written."""
    reworder, texts, tally, table = (
        default_reworder("rules", "cpu"),
        all_texts(source),
        Tally(),
        source.read(warn=False),
    )
    began: list[float] = []

    def parts() -> Iterator[list[Row]]:
        while part := list(itertools.islice(table.rows, PART)):
            if tally.rows == SHARD:
                began.append(time.perf_counter())
            yield part

    rows = wanted.augmented(parts(), lambda some, part: wanted.reworded(some, reworder, part), table, tally, texts)
    write_table(rows, path, [*table.columns, *MARKS], table.dialect, read=table)
    return (tally.rows - SHARD) / (time.perf_counter() - began[0])


def in_shards(
    source: LineTable, wanted: Wanted, arrow: Path, folder: Path, engine: Engine, kills: int
) -> tuple[int, int]:
    """How many workers were killed, and how many rows were counted."""
    count = sum(1 for _ in source.read(warn=False).rows)
    shards = Folder(str(folder), count, SHARD, ".csv")
    setting = Setting(str(arrow), "", shards, "rules", "", "cpu", "float32")
    watch = Watch(folder, ray_workers, kills)
    watch.start()
    try:
        told = augment_shards(setting, wanted, source, all_texts(source), engine=engine)
    finally:
        watch.over = True
        watch.join()
    return watch.kills, told["rows"]


def all_texts(source: LineTable) -> Texts:
    """The texts of a table."""
    texts = Texts()
    for row in source.read(warn=False).rows:
        texts.add(row.text, row)
    return texts


def lines_of(paths: Sequence[Path]) -> list[bytes]:
    """The lines of tables one after another, without their headers."""
    return [line for path in paths for line in path.read_bytes().splitlines(keepends=True)[1:]]


if __name__ == "__main__":
    sys.exit(main())
