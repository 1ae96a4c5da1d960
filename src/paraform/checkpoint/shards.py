"""A corpus's vectors as a folder of shards, computed on all cores or on a Ray cluster.

`engines.shards` says how they are made. Their bytes are the same whatever makes them, on processors of one kind. On a
cluster all machines must share the corpus's Arrow file, the folder, and the model's files.
"""

from __future__ import annotations

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
from paraform.engines import Engine
from paraform.engines.shards import Folder, make_shards
from paraform.memory import keep_freed_memory
from paraform.records import InputError
from paraform.weights import map_array

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
    """The work: of a shard is told how many vectors it has, and how wide they are, as int64.

    Args:
        arrow: the corpus, a file of `columns.write_columns`.
        folder: where the shards are.
        name: the model's, as `checkpoint.load` takes it on every machine.
        vectors: their kind; "": the model's first.
        device: where it computes.
        rows: a .npy file, which rows of the corpus the job's are; "": all.
    """

    arrow: str
    folder: str
    name: str
    vectors: str
    device: str
    job: Job
    rows: str = ""

    @property
    def shards(self) -> Folder:
        """Where they are."""
        return Folder(self.folder, self.job.rows, self.job.size, self.job.suffix)

    def open(self) -> Callable[[int, Path], None]:
        """What writes a shard in this process."""
        os.environ[PRODUCTS] = self.job.products  # the driver's choice, on every machine
        keep_freed_memory()
        corpus, model, where = ArrowColumns(self.arrow), self._model(), self.shards
        how: dict[str, Any] = {"batch_size": self.job.batch_size, "seed": self.job.seed}

        def shard(number: int, path: Path) -> None:
            first, last = where.rows_of(number)
            rows = np.array(map_array(self.rows)[first:last]) if self.rows else np.arange(first, last)
            texts = corpus.take(rows, "text")["text"] if self.rows else corpus.texts(first, last)
            vectors = np.ascontiguousarray(model.embed(texts, self.vectors, **how), dtype="<f4")
            if not (finite := np.isfinite(vectors).all(axis=1)).all():
                at = int(finite.argmin())
                came = f"text {int(rows[at]) + 1:,}, {texts[at][:40]!r}: NaN or infinity in its vector"
                raise InputError(f"{came} of {self.name}; expected finite numbers")
            _write(vectors, corpus.columns(first, last), path, self.job.suffix)

        return shard

    def told(self, number: int) -> bytes:
        """Rows and width of a shard that is there. Raises: InputError if it is none."""
        first, last = self.shards.rows_of(number)
        return np.array(_shape(self.shards.path(number), last - first), np.int64).tobytes()

    def _model(self) -> Any:
        return load_same(self.name, self.device, self.vectors, self.job.model)


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
    where, dimension = work.shards, 0
    for number, result in enumerate(make_shards(work, asdict(work.job), engine=engine, progress=progress)):
        _, width = np.frombuffer(result, np.int64).tolist()
        dimension = dimension or width
        if width != dimension:
            raise InputError(f"{where.path(number)}: {width:,} features a row; expected {dimension:,}; remove it")
    return Shards(work.job.rows, dimension, len(where))


def load_same(name: str, device: str, vectors: str, wanted: str) -> Any:
    """The model in a worker. Raises: InputError if its signature is not the driver's."""
    model = load(name, device=device)
    if (found := signature_of(model, name, vectors)) != wanted:
        raise InputError(f"a worker's model is {found}; expected {wanted}: the same files on every machine")
    return model


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
