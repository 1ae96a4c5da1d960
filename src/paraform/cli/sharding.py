"""What commands that write shards have in common: the file that workers read, and where, and on what, they run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jsonargparse import Namespace

from paraform.cli.reading import digest_of
from paraform.records import InputError
from paraform.version import __version__

if TYPE_CHECKING:
    from paraform.corpora.columns import Columns
    from paraform.jobs.setting import Setting

PARQUET = ".parquet"  # of corpora.columns, which would bring torch along


def is_parquet(path: str) -> bool:
    """Whether a file is Parquet, by its name."""
    return path.lower().endswith(PARQUET)


def require_no_parquet(paths: Sequence[str]) -> None:
    """Raises: InputError for a Parquet file, which is read for shards alone."""
    for path in paths:
        if is_parquet(path) and os.path.isfile(path):
            raise InputError(f"{path}: Parquet, which becomes shards; expected --out FOLDER, a name without an ending")


def arrow_of(path: str, options: Namespace, how: object, columns: Callable[[], Columns]) -> tuple[str, Path]:
    """The digest of a file and of how it is read, and where it is for the workers, once it is read.

    Args:
        how: of the command, what the rows depend on besides `--format` and `--skip-bad-lines`.
        columns: reads it.
    """
    from paraform.corpora.columns import write_columns
    from paraform.weights import cache_folder

    digest = hashlib.sha256(
        f"{__version__} {digest_of(path, options)} {how!r}".encode(errors="surrogatepass")
    ).hexdigest()
    arrow = (cache_folder() / "columns" / f"{digest[:32]}.arrow").resolve()
    if not arrow.is_file():
        write_columns(columns(), arrow)
    return digest, arrow


def setting_of(source: str, arrow: Path, suffix: str, options: Namespace, added: Sequence[str] = ()) -> Setting:
    """Where a job runs, and on what; `options.model` is what workers call it.

    Args:
        source, arrow: as `arrow_of` has them.
        suffix: of the shards.
        added: columns that shards of Parquet get.
    Raises: InputError if the file has one of these already.
    """
    import torch

    from paraform.corpora.columns import ArrowColumns
    from paraform.encoders.torch_settings import products_on
    from paraform.engines.shards import Folder
    from paraform.jobs.setting import SHARD, Setting, weights_of

    data = ArrowColumns(arrow)
    if suffix == PARQUET and (there := sorted({*data.names} & {*added})):
        raise InputError(f"a column {there[0]!r} is there already; expected none, since shards have their own")
    folder = Folder(os.path.abspath(options.out), len(data), SHARD, suffix)
    products = products_on(torch.device(options.device))
    return Setting(str(arrow), source, folder, options.model, weights_of(options.model), options.device, products)


def shards_in_words(setting: Setting) -> str:
    """How many there are, of which kind."""
    count = len(setting.folder)
    return f"{count:,} shards ({setting.folder.suffix})" if count > 1 else f"1 shard ({setting.folder.suffix})"
