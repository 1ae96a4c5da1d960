"""What the jobs have in common: what is read, where shards are, which model, and how a worker process begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from paraform.checkpoint.folder import checkpoint_of
from paraform.corpora.columns import ArrowColumns
from paraform.default_call import MODEL, RULES, default_model
from paraform.encoders.names import parse_name
from paraform.encoders.torch_settings import PRODUCTS
from paraform.engines.shards import Folder
from paraform.manifest import NAME
from paraform.memory import keep_freed_memory
from paraform.records import InputError
from paraform.version import __version__
from paraform.weights import sha256

SHARD = 512  # rows: by rules twenty seconds of a core
EVERYWHERE = "expected the same on every machine"


@dataclass(frozen=True)
class Setting:
    """Where a job runs, and on what.

    Args:
        arrow: what is read, as `columns.write_columns` has written it; on a cluster every machine has it.
        input: SHA-256 of what that was read from, and how.
        folder: where the shards are.
        model: as `checkpoint.load` takes it on every machine, or "rules".
        weights: what `weights_of` says of it.
        device: where it computes.
        products: the numbers of matrix products, as `$PARAFORM_PRODUCTS` has them.
    """

    arrow: str
    input: str
    folder: Folder
    model: str
    weights: str
    device: str
    products: str

    def job(self, kind: str, wanted: Any, **more: Any) -> Mapping[str, Any]:
        """All that the shards depend on.

        Args:
            kind: of the job, a word.
            wanted: a dataclass with the settings of such a job.
        """
        about = {"job": kind, "paraform": __version__, "model": self.model, "weights": self.weights}
        rows = {"rows": self.folder.rows, "size": self.folder.size, "suffix": self.folder.suffix}
        device = self.device.partition(":")[0]  # whose sums are rounded in their own way
        return {
            **about,
            "device": device,
            "products": self.products,
            "input": self.input,
            **rows,
            **asdict(wanted),
            **more,
        }

    def open(self) -> ArrowColumns:
        """What is read, in a process that multiplies as the driver does.

        Raises: InputError if it would have another model.
        """
        os.environ[PRODUCTS] = self.products
        keep_freed_memory()
        if (found := weights_of(self.model)) != self.weights:
            raise InputError(f"a worker's {self.model} is {found}; expected {self.weights}: {EVERYWHERE}")
        return ArrowColumns(self.arrow)


def weights_of(model: str) -> str:
    """What tells models of one name apart: twelve digits of the digest of the manifest, which has all files' digests.

    Raises: InputError if there is no such model, or, of the default one, no base.
    """
    if model == RULES:
        return ""
    if model == MODEL and default_model() == RULES:
        return "without its base (paraform fetch smollm2)"
    folder = checkpoint_of(parse_name(model)[0])
    return "" if folder is None else sha256(folder / NAME)[:12]
