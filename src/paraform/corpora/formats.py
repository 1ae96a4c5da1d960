"""One door to all the readers: a path and the name of its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from paraform.corpora.captions import read_captions
from paraform.corpora.jsonl import read_jsonl
from paraform.corpora.labelled import read_labelled
from paraform.corpora.labelled_pairs import read_labelled_pairs
from paraform.corpora.pairs import read_pairs
from paraform.corpora.paranmt import read_paranmt
from paraform.corpora.qqp_pos import read_qqp_pos
from paraform.corpora.quora import read_quora
from paraform.corpora.text import read_text
from paraform.corpora.triples import read_triples
from paraform.records import InputError, Record
from paraform.weights import PathLike, require_path

FORMATS: dict[str, Callable[..., Iterator[Record]]] = {
    "pairs": read_pairs,
    "quora": read_quora,
    "labelled-pairs": read_labelled_pairs,
    "paranmt": read_paranmt,
    "qqp-pos": read_qqp_pos,
    "captions": read_captions,
    "triples": read_triples,
    "text": read_text,
    "labelled": read_labelled,
    "jsonl": read_jsonl,
}


def read(path: PathLike, format: str = "pairs", *, skip_bad_lines: bool = False) -> Iterator[Record]:
    """The records of a file (for "qqp-pos": of a folder), read as they are asked for, each with its file and line.

    Args:
        format: a key of `FORMATS`; each reader's own docstring describes its files.
        skip_bad_lines: leave out what cannot be used and, at the end, log one warning that counts it; otherwise the
            first bad line is an error. A file without a single good line is an error either way.
    Raises: InputError `FILE:LINE: what is wrong; what is expected`, when iteration gets there.
    """
    require_path(path)
    if not isinstance(format, str) or format not in FORMATS:
        raise InputError(f"format {str(format)[:40]!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[format](path, skip_bad_lines=skip_bad_lines)
