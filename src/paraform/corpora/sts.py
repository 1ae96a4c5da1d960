"""SemEval's similarity pairs in SentEval's layout: `STS.input.X.txt` with the pairs of domain X, `STS.gs.X.txt` with
their scores (Agirre et al. 2012 to 2016)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

from paraform.corpora.lines import lines, sentence
from paraform.records import InputError, Origin, Pair, Sentence
from paraform.weights import PathLike

INPUT, GOLD = "STS.input.", "STS.gs."


def sts_domains(folder: PathLike) -> dict[str, tuple[Path, Path]]:
    """The pairs' file and the scores' file of every domain of a folder, by the domain's name, in order.

    Raises: InputError if it has none, or a domain's scores are missing.
    """
    inputs = sorted(Path(folder).glob(f"{INPUT}*.txt"))
    if not inputs:
        raise InputError(f"{folder}: no {INPUT}*.txt; expected a year's pairs as SentEval lays them out")
    names = [path.name.removeprefix(INPUT).removesuffix(".txt") for path in inputs]
    found = {name: (path, path.with_name(f"{GOLD}{name}.txt")) for name, path in zip(names, inputs, strict=True)}
    for path, gold in found.values():
        if not gold.is_file():
            raise InputError(f"{gold}: no such file; expected the scores of {path.name}")
    return found


def read_sts(pairs: PathLike, gold: PathLike) -> Iterator[Pair]:
    """The pairs of one domain; `score` is None where the line of the scores is blank, as of most pairs since 2015.

    SemEval's own files of 2016 have further columns behind the two sentences, which are passed over.
    Raises: InputError, naming file and line, for a pair without two sentences, a score that is no finite number, or
        files of different lengths.
    """
    for pair, scored in itertools.zip_longest(lines(pairs, blanks=True), lines(gold, blanks=True)):
        if scored is None:
            raise pair.origin.error(f"a pair beyond the last line of {gold}; expected a line there, blank or a score")
        if pair is None:
            raise scored.origin.error(f"a line beyond the last pair of {pairs}; expected as many lines")
        columns = pair.text.split("\t")
        if len(columns) < 2:
            raise pair.origin.error("1 column; expected 2 (sentence1 TAB sentence2)")
        score = score_of(scored.text, scored.origin)
        first, second = columns[:2]
        if score is None:  # nothing is made of what no one scored, so that it may be blank
            yield Pair(Sentence(first.strip()), Sentence(second.strip()), origin=pair.origin)
        else:
            sides = sentence(first, "sentence1", pair.origin), sentence(second, "sentence2", pair.origin)
            yield Pair(*sides, score=score, origin=pair.origin)


def score_of(text: str, origin: Origin) -> float | None:
    """The number, None of a blank. Raises: InputError for anything else, NaN and infinity too."""
    if not text.strip():
        return None
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise origin.error(
            f"the score is {text.strip()[:40]!r}; expected a finite number, or a blank where there is none"
        )
    return score
