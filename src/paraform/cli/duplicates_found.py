"""What `paraform duplicates` says of what it has found, in memory or on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from jsonargparse import Namespace

from paraform.cli.messages import tell
from paraform.records import GivenText, InputError, counted


def columns_of(row: GivenText, options: Namespace) -> dict[str, Any]:
    """What of a row goes with its text: "id" and "label". Raises: InputError for a column that is not there."""
    found = {}
    for key, name in (("id", options.id_column), ("label", options.label_column)):
        if name is not None:
            if name not in row.fields:
                known = ", ".join(map(repr, row.fields)) or "none: the texts are no table's (--text-column)"
                raise InputError(f"no column {name!r}; expected one of {known}")
            found[key] = row.fields[name]
    return found


class Summary(NamedTuple):
    """How much was found, for a person and for --json; `first_unread` has the number and the text of the first."""

    texts: int
    different: int
    pairs: int
    clusters: int
    in_clusters: int
    threshold: float
    search: str
    apart: Counter[Any]
    two_labels: int
    unread: int
    first_unread: tuple[int, str]


def told(found: Summary, options: Namespace) -> tuple[dict[str, Any], str]:
    """What --json has of it, and in a line; what a person should know besides is said on stderr."""
    from paraform.neighbours.duplicates import VERIFIED

    about: dict[str, Any] = {
        "model": options.model,
        "threshold": found.threshold,
        "search": found.search,
        "texts": found.texts,
        "different": found.different,
        "pairs": found.pairs,
        "clusters": found.clusters,
        "in_clusters": found.in_clusters,
        "unread_texts": found.unread,
        "kept_apart": dict(found.apart),
    }
    judged = ""
    if options.verify is not None:
        about |= {"verify": options.verify, "verify_threshold": options.verify_threshold or VERIFIED}
        judged = f", same: {about['verify_threshold']:g} or more by {options.verify}"
    if found.apart:
        kinds = ", ".join(f"{count:,} by {kind}" for kind, count in found.apart.most_common())
        tell(f"{counted(found.apart.total(), 'near pair')} kept apart: {kinds} (--keep-apart, --verify)")
    if options.label_column is not None:
        about["two_labels"] = found.two_labels
        if found.two_labels:
            tell(f"{counted(found.two_labels, 'pair')} of two labels")
    if found.unread:
        number, text = found.first_unread
        tell(
            f"{counted(found.unread, 'text')} compared by letters alone, since {options.model} knows few of"
            f" their words; the first is {number:,}, {text[:40]!r}"
        )
    members = f"{counted(found.clusters, 'cluster')} of {found.in_clusters:,} of {found.texts:,} texts"
    settings = f"cosine of {found.threshold:g} or more by {options.model}, search: {found.search}{judged}"
    return about, f"{counted(found.pairs, 'pair')}, {members} ({settings})"


def write_lines(lines: Iterable[str], path: str) -> None:
    """A file of these, each with its line end, or a piece of one; whole or not at all."""
    from paraform.weights import atomic_path

    with atomic_path(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
