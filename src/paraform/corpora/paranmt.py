"""ParaNMT-50M: source TAB back-translation TAB score (Wieting and Gimpel 2018)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from paraform.corpora.lines import Line, lines, records, sentences
from paraform.records import Pair
from paraform.weights import PathLike


def read_paranmt(path: PathLike, *, skip_bad_lines: bool = False) -> Iterator[Pair]:
    """The pairs of `para-nmt-50m.txt`; `score` is the published cosine of the two sentences' paraphrastic vectors.

    Samples of the corpus are often passed on without the third column: a line of two columns is a pair without score.
    Raises: InputError, naming file and line, for other columns, an empty side, or a score that is no finite number.
    """
    return records(path, lines(path), _parse, skip_bad_lines)


def _parse(line: Line) -> Iterator[Pair]:
    scored = line.text.count("\t") != 1
    if not scored:
        source, target = sentences(line, "source", "target")
        yield Pair(source, target, origin=line.origin)
        return
    source, target, written = sentences(line, "source", "target", "score")
    try:
        score = float(written.text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise line.origin.error(f"the score is {written.text[:40]!r}; expected a number")
    yield Pair(source, target, score=score, origin=line.origin)
