"""The folder layout of SGCP's data sets, QQP-Pos and ParaNMT-small (Kumar et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from paraform.corpora.lines import Line, lines, records, sentence
from paraform.records import InputError, Origin, Pair, Triple
from paraform.weights import PathLike


def read_qqp_pos(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Pair | Triple]:
    """The records of one split's folder: `train`, `val` or `test`; line i of its files belongs together.

    What `tgt.txt` holds depends on the split (REFERENCE: CRL-EGPG, item 7). In `train` it is the paraphrase: a Pair of
    `src.txt` and `tgt.txt`. In every other split it is the *exemplar*, and `ref.txt` is the paraphrase: a Triple.
    A folder whose name starts with "train" is the training split; any other must have `ref.txt`.
    The origin is the line of `src.txt`.
    Raises: InputError, naming file and line, if a file is missing or shorter than another, or a line is empty.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{path}: not a folder; expected a split's folder with src.txt and tgt.txt")
    if not (folder / "src.txt").is_file() and (folder / "train").is_dir():
        raise InputError(f"{path}: no src.txt; expected the folder of one split, such as {folder / 'train'}")
    training = folder.resolve().name.startswith("train")
    names = ("src.txt", "tgt.txt") if training else ("src.txt", "tgt.txt", "ref.txt")
    yield from records(path, _rows([folder / name for name in names]), _parse, skip_bad_lines)


def _rows(files: list[Path]) -> Iterator[list[Line]]:
    for number, row in enumerate(zip_longest(*(lines(file, blanks=True) for file in files)), start=1):
        for file, line in zip(files, row, strict=True):
            if line is None:
                longer = next(other.name for other, there in zip(files, row, strict=True) if there is not None)
                raise Origin(str(file), number).error(f"the file ends before this line; {longer} goes on")
        yield list(row)


def _parse(row: list[Line]) -> Iterator[Pair | Triple]:
    source, *others = (sentence(line.text, "line", line.origin) for line in row)
    if len(others) == 1:
        yield Pair(source, others[0], origin=source.origin)
    else:
        exemplar, target = others
        yield Triple(source, exemplar, target, origin=source.origin)
