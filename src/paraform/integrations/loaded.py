"""Models by name, as what is sent between processes or cloned wants them: loaded once a process, when first asked."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from paraform.capabilities import Embedder, JudgesMeaning
from paraform.checkpoint import load
from paraform.checkpoint.folder import checkpoint_digest
from paraform.encoders import parse_name
from paraform.records import InputError


def embedder(name: str, device: str | None = None) -> Embedder:
    """The model of that name. Raises: InputError if there is none, or it has no vectors."""
    found = _loaded(name, device, _state(name))
    if not isinstance(found, Embedder):
        raise InputError(f"{name}: {found.kind}; expected a model that embeds")
    return found


def judge(name: str, device: str | None = None) -> JudgesMeaning:
    """The judge of that name. Raises: InputError if there is none, or it does not judge."""
    found = _loaded(name, device, _state(name))
    if not isinstance(found, JudgesMeaning):
        raise InputError(f"{name}: {found.kind}; expected a judge of meaning")
    return found


def _state(name: str) -> str:
    """Of a folder, which may be trained anew, its digest; the hub is not asked again."""
    return checkpoint_digest(name) if Path(parse_name(name)[0]).is_dir() else ""


@functools.lru_cache(maxsize=4)
def _loaded(name: str, device: str | None, state: str) -> Any:
    return load(name, device=device)
