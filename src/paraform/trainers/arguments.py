"""What every trainer looks at before it reads a corpus: nothing is made or computed for arguments that cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paraform.records import InputError, require_callable, require_kind, require_text, require_texts
from paraform.training import TrainingConfig
from paraform.weights import PathLike, require_path


def require_given(
    folder: PathLike,
    config: object,
    kind: type[Any],
    loop: TrainingConfig,
    *,
    against: Iterable[str],
    card: str,
    data_digests: Mapping[str, str] | None,
    shares: Sequence[float] = (),
    development: object = None,
) -> list[str]:
    """The evaluation texts, `against`, once all arguments have been looked at; see `train_exemplar`.

    Args:
        kind: the class of the config.
    Raises: InputError for the first that cannot be.
    """
    require_path(folder)
    require_kind(config, kind, "config")
    require_kind(loop, TrainingConfig, "loop")
    require_text(card, "card")
    require_kind(data_digests, (Mapping, type(None)), "data_digests")
    for name, digest in (data_digests or {}).items():
        require_text(name, "a name in data_digests")
        require_text(digest, f"the digest of {name}")
    require_kind(shares, Sequence, "shares")
    for share in shares:
        if isinstance(share, bool) or not isinstance(share, (int, float)):
            raise InputError(f"a share is of type {type(share).__name__}; expected a number")
    if development is not None:
        require_callable(development, "development")
    return require_texts(against)
