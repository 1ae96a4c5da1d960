"""A corpus's vectors as a folder of shards, computed on all cores or on a Ray cluster.

Shard i holds the vectors of rows i · size … of the corpus. It is written whole, or not at all, and left alone where it
is there already, so that a job that was killed goes on. `shards.json` says what the shards are of. What a shard holds
depends on that alone: its bytes are the same whatever the engine and the number of workers, on processors of one kind.
On a cluster all machines must share the corpus's Arrow file, the folder, and the model's files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.checkpoint.folder import load
from paraform.checkpoint.vectors import signature_of
from paraform.corpora.columns import ArrowColumns
from paraform.encoders.torch_settings import PRODUCTS
from paraform.engines import Engine, rows_of, run
from paraform.json_text import parse_json
from paraform.memory import keep_freed_memory
from paraform.records import InputError
from paraform.weights import atomic_path, map_array

NAME = "shards.json"
FORMAT = 1
SHARD = 4096  # rows of a shard: some megabytes of vectors
VECTOR = "vector"  # the column of a Parquet shard


@dataclass(frozen=True)
class Job:
    """What the shards of a folder are of; a job with any other may not go on there.

    Args:
        model: the signature of its vectors.
        products: the numbers of matrix products, as `$PARAFORM_PRODUCTS` has them.
        batch_size, seed: `Embedder.embed`'s; other batches may round otherwise.
        input: SHA-256 of what the corpus was read from, and how.
        rows: of the corpus.
        size: rows of a shard; the last one has what is left.
        suffix: ".npy": float32 [rows, D]; ".parquet": the corpus's columns, and `vector`.
    """

    model: str
    products: str
    batch_size: int
    seed: int
    input: str
    rows: int
    size: int
    suffix: str


@dataclass(frozen=True)
class Embedding:
    """The work: chunk i is shard i; its result is how many vectors that has, and how wide they are, as int64.

    Args:
        arrow: the corpus, a file of `columns.write_columns`.
        folder: where the shards are.
        name: the model's, as `checkpoint.load` takes it on every machine.
        vectors: their kind; "": the model's first.
        device: where it computes.
    """

    arrow: str
    folder: str
    name: str
    vectors: str
    device: str
    job: Job

    def open(self) -> Callable[[int], bytes]:
        """What makes a shard in this process."""
        os.environ[PRODUCTS] = self.job.products  # the driver's choice, on every machine
        keep_freed_memory()
        corpus = ArrowColumns(self.arrow)
        models: list[Any] = []  # loaded when a shard is not there yet

        def shard(number: int) -> bytes:
            path = self.path(number)
            first, last = rows_of(number, self.job.size, self.job.rows)
            if not path.is_file():
                if not models:
                    models.append(self._model())
                texts = corpus.texts(first, last)
                how: dict[str, Any] = {"batch_size": self.job.batch_size, "seed": self.job.seed}
                vectors = np.ascontiguousarray(models[0].embed(texts, self.vectors, **how), dtype="<f4")
                with atomic_path(path) as unfinished:
                    _write(vectors, corpus.columns(first, last), unfinished, self.job.suffix)
            return np.array(_shape(path, last - first), np.int64).tobytes()

        return shard

    def path(self, number: int) -> Path:
        """Where a shard is."""
        return Path(self.folder) / f"{number:06d}{self.job.suffix}"

    def _model(self) -> Any:
        model = load(self.name, device=self.device)
        if (found := signature_of(model, self.name, self.vectors)) != self.job.model:
            raise InputError(f"a worker's model is {found}; expected {self.job.model}: the same files on every machine")
        return model


class Shards(NamedTuple):
    """What a finished job has made."""

    rows: int
    dimension: int
    shards: int


def embed_corpus(work: Embedding, *, engine: Engine, progress: str | None = None) -> Shards:
    """Make the shards that are not there yet.

    Args:
        engine: where it runs.
        progress: what stderr is told is done; None: nothing.
    Raises: InputError for a folder of another job's, or of other files, and for a shard that is none.
    """
    _require_job(work.job, Path(work.folder))
    count, dimension = -(-work.job.rows // work.job.size), 0
    for number, result in enumerate(run(work, count, engine=engine, progress=progress)):
        _, width = np.frombuffer(result, np.int64).tolist()
        dimension = dimension or width
        if width != dimension:
            raise InputError(f"{work.path(number)}: {width:,} features a row; expected {dimension:,}; remove it")
    return Shards(work.job.rows, dimension, count)


def _require_job(job: Job, folder: Path) -> None:
    """The folder's `shards.json` is the job's; written if the folder is new or empty."""
    path, mine = folder / NAME, {"format": FORMAT} | asdict(job)
    if not path.is_file():
        if folder.is_dir() and (other := [name for name in sorted(os.listdir(folder)) if not name.startswith(".")]):
            raise InputError(f"{folder}: holds {other[0]} and no {NAME}; expected a new or an empty folder")
        with atomic_path(path) as unfinished:
            unfinished.write_text(json.dumps(mine, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    theirs = parse_json(path.read_bytes(), path, "what paraform embed wrote there")
    if not isinstance(theirs, dict):
        raise InputError(f"{path}: no object; expected what paraform embed wrote there")
    for key, value in mine.items():
        if (found := theirs.get(key)) != value:
            came = f"{key} {str(found)[:200]!r}, and this job's is {str(value)!r}"
            if key == "input":  # a digest says nothing to a person
                came = "the file changed, or how it is read"
            raise InputError(f"{folder}: holds another job's shards ({came}); expected a folder of its own")


def _write(vectors: NDArray[np.float32], columns: Any, path: Path, suffix: str) -> None:
    if suffix == ".npy":
        with open(path, "wb") as out:
            np.save(out, vectors, allow_pickle=False)
        return
    import pyarrow
    import pyarrow.parquet

    flat = pyarrow.array(vectors.reshape(-1))
    rows = pyarrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    pyarrow.parquet.write_table(columns.append_column(VECTOR, rows), path, use_dictionary=False)


def _shape(path: Path, rows: int) -> tuple[int, int]:
    """Rows and width of a shard, from its head. Raises: InputError if that is not what a shard of so many rows has."""
    try:
        found = _npy_shape(path) if path.suffix == ".npy" else _parquet_shape(path)
    except InputError as error:
        raise InputError(f"{error}; remove it") from error
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise InputError(f"{path}: {' '.join(str(error).split())[:200]}; expected a shard; remove it") from error
    if found[0] != rows:
        raise InputError(f"{path}: {found[0]:,} rows; expected a shard of {rows:,}; remove it")
    return found


def _npy_shape(path: Path) -> tuple[int, int]:
    vectors = map_array(path)
    if vectors.ndim != 2 or vectors.dtype != np.dtype("<f4"):
        raise ValueError("no matrix of float32")
    return len(vectors), vectors.shape[1]


def _parquet_shape(path: Path) -> tuple[int, int]:
    import pyarrow
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        kind = file.schema_arrow.field(VECTOR).type
        if not pyarrow.types.is_fixed_size_list(kind):
            raise ValueError(f"no column {VECTOR!r} of vectors")
        return file.metadata.num_rows, kind.list_size
