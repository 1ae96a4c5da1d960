"""Do alike sentences lie near each other: STS 2012 to 2016, the STS Benchmark, SICK-R, and any scored pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple, final

import numpy as np

from paraform.corpora.locating import highest
from paraform.corpora.scored import read_scored
from paraform.corpora.sts import INPUT, read_sts, sts_domains
from paraform.evaluation.embedding.correlation import correlation_signature, correlations, mean_metric
from paraform.evaluation.embedding.space import Space
from paraform.evaluation.embedding.task import (
    Finding,
    distinct,
    signed_finding,
)
from paraform.records import InputError, Pair, texts_of
from paraform.score import Score, signature, table
from paraform.weights import PathLike

FILES = {  # the name of a set: its train, dev and test files, as SentEval or others call them
    "STS-B": (
        ("sts-train.csv", "sts-dev.csv", "sts-test.csv"),
        ("stsb-en-train.csv", "stsb-en-dev.csv", "stsb-en-test.csv"),
    ),
    "SICK-R": (("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"),),
}
TESTS = tuple(kind[-1] for kinds in FILES.values() for kind in kinds)
SIX = ("STS12", "STS13", "STS14", "STS15", "STS16", "STS-B")
MEANS = {"mean of 6": SIX, "mean of 7": (*SIX, "SICK-R")}
"""ParaBART's mean, and that of SimCSE's tables."""


@final
@dataclass(frozen=True, eq=False, slots=True)
class SimilaritySet:
    """Scored pairs in one domain or several; a `Task`.

    Args:
        domains: the scored pairs of each.
        unscored: pairs without a score, which are left out.
    """

    needs_vectors: ClassVar[bool] = False

    name: str
    domains: Mapping[str, Sequence[Pair]]
    unscored: int = 0

    @property
    def settings(self) -> str:
        """What its metrics' signatures say of the set."""
        pairs = sum(map(len, self.domains.values()))
        return signature(pairs=pairs, domains=len(self.domains), unscored=self.unscored)

    def texts(self) -> list[str]:
        """Both sentences of every scored pair."""
        pairs = [pair for domain in self.domains.values() for pair in domain]
        return texts_of(pairs)

    def measure(self, space: Space) -> list[Finding]:
        """Pearson and Spearman of the space's similarities with the scores, in each way that `correlations` knows."""
        found, gold = [], []
        for pairs in self.domains.values():
            found.append(space.similarity([pair.source.text for pair in pairs], [pair.target.text for pair in pairs]))
            gold.append(np.array([pair.score for pair in pairs], dtype=np.float64))
        made = correlations(found, gold, self.settings).items()
        return [signed_finding(metric, space, self.name, average) for (_, average), metric in made]

    def limited(self, most: int) -> SimilaritySet:
        """So many pairs of each domain."""
        return replace(self, domains={name: list(pairs)[:most] for name, pairs in self.domains.items()})


class Splits(NamedTuple):
    """The scored pairs of a set that has some to train on."""

    train: Sequence[Pair]
    dev: Sequence[Pair]
    test: Sequence[Pair]


def similarity_set(name: str, domains: Mapping[str, Iterable[Pair]], path: PathLike) -> SimilaritySet:
    """A set of what was read from that path.

    Raises: InputError, naming the file, for a domain without two different scores, of which nothing correlates.
    """
    pairs = {domain: list(read) for domain, read in domains.items()}
    scored = {domain: _scored(read, path) for domain, read in pairs.items()}
    return SimilaritySet(name, scored, sum(len(read) - len(scored[domain]) for domain, read in pairs.items()))


def similarity_sets(path: PathLike, columns: Sequence[str] | None = None) -> list[SimilaritySet]:
    """Every set that a path holds.

    Args:
        path: a file that `read_scored` knows; one year's folder as SentEval lays it out; or a folder that has such
            folders anywhere below it, the STS Benchmark's files or SICK's, of which the test part is taken.
        columns: those of a table, as `read_scored` takes them.
    Raises: InputError if there is none, a file cannot be used, or two sets have one name.
    """
    if not Path(path).is_dir():
        known = {file: name for name, kinds in FILES.items() for kind in kinds for file in kind}
        name = known.get(Path(path).name, Path(path).stem)
        return [similarity_set(name, {name: read_scored(path, columns)}, path)]
    if columns:
        raise InputError(f"{path}: a folder; expected a file, if columns are named")
    read: list[tuple[Path, SimilaritySet]] = []
    for folder in sorted({file.parent for file in Path(path).rglob(f"{INPUT}*.txt")}):
        domains = {name: read_sts(*files) for name, files in sts_domains(folder).items()}
        read.append((folder, similarity_set(folder.name.split("-")[0], domains, folder)))
    for name, files in _parts(path).items():
        read.append((files[-1], similarity_set(name, {name: read_scored(files[-1])}, files[-1])))
    if not read:
        raise InputError(f"{path}: no scored pairs; expected {INPUT}*.txt, {', '.join(TESTS)} in it, or a file")
    return distinct(read)


def similarity_splits(path: PathLike) -> dict[str, Splits]:
    """The STS Benchmark and SICK below a folder with their train and dev parts, scored pairs only, where all are.

    Raises: InputError as `similarity_set` does.
    """
    return {
        name: Splits(*(_scored(list(read_scored(file)), file) for file in files))
        for name, files in _parts(path).items()
        if all(file.is_file() for file in files)
    }


def set_means(findings: Sequence[Finding]) -> list[Finding]:
    """The mean over sets of each metric of each system, for those of `MEANS` whose sets were all measured."""
    by_place = {
        (finding.score.system, finding.score.name, finding.score.protocol, finding.score.subset): finding
        for finding in findings
    }
    means = []
    for name, sets in MEANS.items():
        for system, metric, average in dict.fromkeys(place[:3] for place in by_place):
            parts = [by_place.get((system, metric, average, subset)) for subset in sets]
            found = [(part.metric, part.score) for part in parts if part and part.metric]
            if len(found) < len(sets):
                continue
            pairs = sum(len(part.rows) for part, _ in found)
            settings = f"{correlation_signature(metric, average)}|{signature(sets=', '.join(sets), pairs=pairs)}"
            mean = mean_metric([part for part, _ in found], settings)
            of_space = found[0][1].signature.removeprefix(found[0][0].signature)
            score = mean.score(system=system, protocol=average, subset=name)
            means.append(Finding(replace(score, signature=settings + of_space), mean))
    return means


def similarity_table(sets: Sequence[SimilaritySet], spaces: Sequence[Space], scores: Sequence[Score]) -> str:
    """A column a set, a row for each metric of each space; below it what each set, metric and space is."""
    about = {one.name: one.settings for one in sets}
    about |= {name: signature(sets=", ".join(known)) for name, known in MEANS.items()}
    # `table` has a column for each name, and papers one for each set.
    ranked = sorted(scores, key=lambda score: score.name)
    turned = [
        Score(score.subset, score.value, about[score.subset], score.system, f"{score.name}, {score.protocol}", "all", 1)
        for score in ranked
    ]
    metrics = dict.fromkeys((score.name, score.protocol) for score in ranked)
    notes = [f"{name}, {average}: {correlation_signature(name, average)}" for name, average in metrics]
    return "\n".join([table(turned), *notes, *(f"{space.name}: {space.signature}" for space in spaces)])


def _scored(pairs: Sequence[Pair], path: PathLike) -> list[Pair]:
    """Those with a score. Raises: InputError, naming file and line, if no two of these differ."""
    scored = [pair for pair in pairs if pair.score is not None]
    if len({pair.score for pair in scored}) < 2:
        origin = next((pair.origin for pair in [*scored, *pairs] if pair.origin), path)
        raise InputError(f"{origin}: no two scores are different; expected pairs with at least two")
    return scored


def _parts(path: PathLike) -> dict[str, list[Path]]:
    """Train, dev and test file of each set whose test file is below the folder; the first two may not be there."""
    found: dict[str, list[Path]] = {}
    for name, kinds in FILES.items():
        for kind in kinds:
            if test := highest(path, kind[-1]):
                found.setdefault(name, [test.with_name(file) for file in kind])
    return found
