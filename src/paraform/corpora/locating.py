"""Where in a folder the files of a set are."""

from __future__ import annotations

from pathlib import Path

from paraform.weights import PathLike


def highest(folder: PathLike, file: str, parent: str = "") -> Path | None:
    """The file of that name anywhere below a folder, the highest of several; None: there is none.

    Args:
        parent: what the name of the folder that it lies in holds, lower-cased.
    """
    found = [path for path in Path(folder).rglob(file) if path.is_file() and parent in folder_name(path)]
    return min(found, key=lambda path: (len(path.parts), str(path)), default=None)


def folder_name(path: Path) -> str:
    """The name of the folder that a file lies in, lower-cased."""
    return path.resolve().parent.name.lower()
