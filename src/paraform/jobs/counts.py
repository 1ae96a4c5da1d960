"""What came of a shard's rows, beside the shard: `NNNNNN.counts`, JSON, with the shard's SHA-256.

It is written before the shard takes its place, so that a shard that is there has its counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from paraform.engines.shards import Folder
from paraform.json_text import parse_json
from paraform.records import InputError
from paraform.weights import atomic_path, sha256

Counts: TypeAlias = dict[str, Any]
"""By name a number, or numbers by reason."""
SUFFIX = ".counts"


def write_counts(folder: Folder, number: int, shard: Path, counts: Mapping[str, Any]) -> None:
    """Those of a shard that is written and not yet in its place.

    Args:
        shard: where it is.
    """
    with atomic_path(folder.path(number).with_suffix(SUFFIX)) as unfinished:
        unfinished.write_text(json.dumps({"sha256": sha256(shard), **counts}, ensure_ascii=False), encoding="utf-8")


def read_counts(folder: Folder, number: int) -> bytes:
    """Those of a shard that is there, as JSON. Raises: InputError if it is not what was written."""
    shard = folder.path(number)
    path = shard.with_suffix(SUFFIX)
    if not path.is_file():
        raise InputError(f"{shard}: no {path.name} beside it; expected a shard with its counts; remove it")
    content = path.read_bytes()
    found = parse_json(content, path, "the counts of a shard; remove both")
    if not isinstance(found, dict) or found.pop("sha256", "") != sha256(shard):
        raise InputError(f"{shard}: its SHA-256 is not the one in {path.name}; expected a whole shard; remove it")
    return json.dumps(found, ensure_ascii=False).encode()


def summed(every: Iterable[bytes]) -> Counts:
    """The counts of all shards together; reasons in the order in which they come."""
    total: Counts = {}
    for counts in map(json.loads, every):
        for name, value in counts.items():
            if isinstance(value, dict):
                reasons = total.setdefault(name, {})
                reasons |= {reason: reasons.get(reason, 0) + count for reason, count in value.items()}
            else:
                total[name] = total.get(name, 0) + value
    return total
