"""How much form, length and content a classifier reads off frozen vectors: SentEval's probing tasks (Conneau 2018)."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from paraform.corpora.lines import lines, sentences
from paraform.corpora.probing import FILES, ProbingExample, read_probing, write_probing
from paraform.evaluation.bootstrap import with_interval
from paraform.evaluation.embedding.probe_rows import ProbeConfig, protocols_of
from paraform.evaluation.embedding.probes import Folds, Probed, UnusableLabels, fit_probes
from paraform.evaluation.embedding.recreated import recreate, recreated_signature
from paraform.evaluation.embedding.space import Space, VectorSpace
from paraform.evaluation.embedding.task import Family, Finding, Headline, first_of_each, holding
from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.records import InputError
from paraform.score import Score, signature, table
from paraform.weights import PathLike, atomic_path
from paraform.words import tokenize

INFORMATION = "label information"
TAKEN_AWAY = "taken away"
FORM = ("BShift", "TreeDepth", "TopConst")
"""The sets that ask for form."""

PART_NAMES = {"tr": "train", "va": "dev", "te": "test"}
DEFAULT = {"default": ProbeConfig.mlp()}

SOURCES = "sources.tsv"
ABOUT = {
    "accuracy": "% of test sentences whose label the probe gives (95 % of resamples of them)",
    "validation": "% of the validation sentences, by which L2 and epoch are chosen",
    "majority": "% of the test, by the commonest label of training",
    "1/classes": "% by drawing one of the labels",
    "length alone": "% of the test, by the commonest label that training has for so many words",
    INFORMATION: "(accuracy − majority) / (100 − majority); a probe on the tree itself would find 1; none: all of"
    " the test has the commonest label",
    TAKEN_AWAY: "(before − after) / (before − majority) (95 % of resamples of the test sentences); none: nothing was"
    " above chance, before or in one of these resamples",
}
"""The metrics, as the table explains them."""


@final
@dataclass(frozen=True, eq=False, slots=True)
class ProbingSet:
    """Sentences with a label each, in a training, a validation and a test part; a `Task`.

    Args:
        kind: the set's name in papers, "BShift".
        examples: of all parts.
        source: where it is from, with every setting: a signature. One that begins with `re-created` is called so
            wherever its name stands.
        protocols: the probes to train, by name.
    """

    needs_vectors: ClassVar[bool] = True

    kind: str
    examples: Sequence[ProbingExample]
    source: str
    protocols: Mapping[str, ProbeConfig] = field(default_factory=lambda: DEFAULT)

    @property
    def name(self) -> str:
        """ "BShift (re-created)", or "BShift" of SentEval's own file."""
        return f"{self.kind} (re-created)" if self.source.startswith("set:re-created") else self.kind

    @property
    def settings(self) -> str:
        """What its metrics' signatures say of the set: its source, sizes, labels and digest."""
        digest = hashlib.sha256()
        for example in self.examples:
            digest.update(f"{example.part}\t{example.label}\t{example.text}\n".encode())
        counts = Counter(example.part for example in self.examples)
        sizes = {PART_NAMES[part]: counts[part] for part in PART_NAMES}
        classes = len({example.label for example in self.examples})
        return f"{self.source}|{signature(**sizes, classes=classes, digest=digest.hexdigest()[:12])}"

    def texts(self) -> list[str]:
        """All sentences."""
        return [example.text for example in self.examples]

    def to_json(self) -> dict[str, Any]:
        """Name, settings and each label's share of the sentences, the commonest first."""
        counts = Counter(example.label for example in self.examples)
        shares = {label: count / len(self.examples) for label, count in counts.most_common()}
        return {"name": self.name, "settings": self.settings, "shares": shares}

    def measure(self, space: Space) -> list[Finding]:
        """The metrics of `ABOUT` by each protocol.

        Raises: InputError if the space has no vectors; naming file and line, if all labels are one.
        """
        if not isinstance(space, VectorSpace):
            raise InputError(f"{space.name} has no vectors; expected some, to train a probe of {self.name} on")
        vectors_ND = space.vectors(self.texts())
        findings = []
        for protocol, config in self.protocols.items():
            probed = self._probed(vectors_ND, config, space.name)
            for finding in self._findings(probed, config):
                score = replace(finding.score, system=space.name, protocol=protocol, subset=self.name)
                settings = f"{score.signature}|{space.signature}"
                findings.append(replace(finding, score=replace(score, signature=settings)))
        return findings

    def limited(self, most: int) -> ProbingSet:
        """So many sentences of each part."""
        kept = first_of_each(self.examples, most, lambda example: example.part)
        return replace(self, examples=kept, source=f"{self.source}|first:{most} of a part")

    def _probed(self, vectors_ND: NDArray[np.float32], config: ProbeConfig, name: str) -> Probed:
        folds = Folds.split([PART_NAMES[example.part] for example in self.examples])
        try:
            return fit_probes(vectors_ND, [example.label for example in self.examples], folds, config)
        except UnusableLabels as error:
            raise InputError(f"{self.examples[error.row].origin or self.name}: {error}") from error
        except ValueError as error:
            raise InputError(f"{name}, {self.name}: {error}") from error

    def _findings(self, probed: Probed, config: ProbeConfig) -> list[Finding]:
        labels = np.array([example.label for example in self.examples])
        parts = np.array([example.part for example in self.examples])
        trained, test = labels[parts == "tr"], parts == "te"
        commonest = Counter(trained.tolist()).most_common(1)[0][0]
        right = probed.predictions_FN[0] == labels
        majority = labels[test] == commonest
        length = self._by_length() == labels[test]
        settings = f"{self.settings}|{config.signature}"
        accuracy = row_mean("accuracy", 100 * right[test], settings, digits=1)
        chance = row_mean("majority", 100 * majority, self.settings, digits=1)
        by_length = row_mean("length alone", 100 * length, self.settings, digits=1)
        drawn = Score("1/classes", 100 / len(set(labels.tolist())), self.settings, digits=1)
        validation = row_mean("validation", 100 * right[parts == "va"], settings, digits=1)
        found = information(right[test], majority, settings)
        return [
            Finding(with_interval(accuracy.score(), accuracy), accuracy),
            Finding(validation.score(), validation),
            Finding(chance.score(), chance, reference=True),
            Finding(drawn, reference=True),
            Finding(by_length.score(), by_length, reference=True),
            Finding(found.score(), found),
        ]

    def _by_length(self) -> NDArray[Any]:
        """The label that training has most often for each test sentence's number of words, or for the nearest one."""
        known: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for example in self.examples:
            if example.part == "tr":
                known[_words(example.text)][example.label] += 1
        best = {length: labels.most_common(1)[0][0] for length, labels in known.items()}
        lengths = [_words(example.text) for example in self.examples if example.part == "te"]
        return np.array([best[min(best, key=lambda one: (abs(one - length), one))] for length in lengths])


def probing_sets(
    path: PathLike,
    kinds: Iterable[str] = (),
    *,
    protocols: Sequence[Literal["default", "paper"]] = ("default",),
    seed: int = 0,
) -> list[ProbingSet]:
    """Every probing set of a path, in the order of `FILES`.

    Args:
        path: a file of SentEval's format; a folder with some of SentEval's files, in it or in `probing` in it; or one
            with treebanks (.mrg files anywhere below it), from which sets are re-created.
        kinds: keys of `FILES`; none: all there are.
        protocols: "default": standardised coordinates; "paper": SentEval as its code behaves today.
        seed: of the re-created sets' split and draws.
    Raises: InputError if there is none, or not one of a kind that was asked for.
    """
    found = _read(Path(path), seed)
    wanted = list(kinds) or list(found)
    for kind in wanted:
        if kind not in found:
            raise InputError(f"{path}: no set {kind!r}; expected one of {', '.join(found)}")
    # SentEval's WordContent has logistic regression.
    probes = {kind: protocols_of("logistic" if kind == "WordContent" else "mlp", protocols) for kind in found}
    return [ProbingSet(kind, *found[kind], probes[kind]) for kind in found if kind in wanted]


def _read(path: Path, seed: int) -> dict[str, tuple[list[ProbingExample], str]]:
    if not path.is_dir() and path.suffix != ".mrg":
        kind = next((kind for kind, name in FILES.items() if name == path.name), path.stem)
        return {kind: (list(read_probing(path)), _source(path))}
    places = {kind: [folder / name for folder in (path, path / "probing")] for kind, name in FILES.items()}
    files = {kind: file for kind, either in places.items() for file in reversed(either) if file.is_file()}
    if files:
        return {kind: (list(read_probing(file)), _source(file)) for kind, file in files.items()}
    if path.is_dir() and next(path.rglob("*.mrg"), None) is None:
        names = ", ".join(list(FILES.values())[:3])
        raise InputError(f"{path}: no probing set; expected SentEval's files ({names} …), or treebanks (.mrg)")
    source = f"{signature(set='re-created')}|{recreated_signature(seed)}"
    return {kind: (examples, source) for kind, examples in recreate(path, seed=seed).items()}


def explained(scores: Iterable[Score]) -> str:
    """A table of such metrics with what `ABOUT` says of each in the place of its signature."""
    return table([replace(score, signature=ABOUT.get(score.name, score.signature)) for score in scores])


def _source(file: Path) -> str:
    """What `write_sets` noted of the file; any other is as someone else distributes it."""
    sources = file.with_name(SOURCES)
    noted = {}
    for line in lines(sources) if sources.is_file() else ():
        name, source = sentences(line, "file", "source")
        noted[name.text] = source.text
    return noted.get(file.name, signature(set="as-distributed"))


def write_sets(sets: Iterable[ProbingSet], folder: PathLike) -> dict[str, int]:
    """Write the sets as SentEval's files, and beside them where they are from (`SOURCES`), which reading goes by.

    Returns: how many sentences of each path.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = {Path(folder) / FILES.get(one.kind, f"{one.kind}.txt"): one for one in sets}
    written = {str(path): write_probing(one.examples, path) for path, one in paths.items()}
    with atomic_path(Path(folder) / SOURCES) as unfinished:
        notes = [f"{path.name}\t{one.source}\n" for path, one in paths.items()]
        unfinished.write_text("".join(notes), encoding="utf-8")
    return written


def probing_table(sets: Sequence[ProbingSet], spaces: Sequence[Space], scores: Sequence[Score]) -> str:
    """A row for each set, protocol and space; below it what the metrics, the probes, the sets and the spaces are."""
    probes = dict.fromkeys(f"{name}: {config.signature}" for one in sets for name, config in one.protocols.items())
    return "\n".join(
        [
            explained(scores),
            *probes,
            *(f"{one.name}: {one.settings}" for one in sets),
            *(f"{space.name}: {space.signature}" for space in spaces),
        ]
    )


@functools.lru_cache(maxsize=1 << 16)  # a treebank's sentence stands in most of the sets made from it
def _words(text: str) -> int:
    return len(tokenize(text))


def information(right_N: NDArray[np.bool_], majority_N: NDArray[np.bool_], settings: str) -> RowMetric:
    """The share of the labels that a probe finds beyond chance: (accuracy − majority) / (1 − majority).

    Args:
        right_N, majority_N: [N], whether the probe is right, and whether the commonest label is.
        settings: a signature.
    """
    rows_N3 = np.stack([right_N, majority_N, np.ones_like(right_N)], 1).astype(np.float64)
    return RowMetric(INFORMATION, rows_N3, settings, _beyond_chance, digits=3)


def taken_away(before: RowMetric, after: RowMetric) -> RowMetric:
    """The share of the accuracy above chance that a change takes away: (before − after) / (before − majority).

    1: nothing is left; 0: all of it; NaN where there was nothing to take. Its interval: `bootstrap_interval`.

    Args:
        before, after: of the same test rows by the same probe, made by `information`.
    Raises: InputError for metrics of different sets or probes, or others.
    """
    same = (before.name, before.signature) == (after.name, after.signature)
    if not same or before.name != INFORMATION or before.rows.shape != after.rows.shape:
        raise InputError(f"{before.name} ({before.signature}) and {after.name} ({after.signature}); expected the same")
    rows_N3 = np.stack([before.rows[:, 0], after.rows[:, 0], before.rows[:, 1]], 1)
    return RowMetric(TAKEN_AWAY, rows_N3, before.signature, _lost, digits=3)


def compared(before: Sequence[Finding], after: Sequence[Finding]) -> list[Score]:
    """`taken_away` of each set and protocol that both have, with its interval; of the system `before → after`."""
    known = {(one.score.subset, one.score.protocol): one for one in before if one.score.name == INFORMATION}
    scores = []
    for finding in after:
        other = known.get((finding.score.subset, finding.score.protocol))
        if finding.score.name == INFORMATION and other and other.metric and finding.metric:
            metric = taken_away(other.metric, finding.metric)
            system = f"{other.score.system} → {finding.score.system}"
            score = metric.score(system=system, protocol=finding.score.protocol, subset=finding.score.subset)
            scores.append(with_interval(score, metric))
    return scores


def _beyond_chance(sums: NDArray[Any]) -> float:
    right, majority, rows = map(float, sums)
    return (right - majority) / (rows - majority) if rows > majority else float("nan")


def _lost(sums: NDArray[Any]) -> float:
    before, after, majority = map(float, sums)
    return (before - after) / (before - majority) if before > majority else float("nan")


def _find(folder: Path) -> Path | None:
    files = sorted(file for kind in FILES.values() for file in folder.rglob(kind))
    return files[0].parent if files else holding(folder, "*.mrg")


FAMILIES = (
    Family(
        name="probing",
        title="Probing",
        about="Form (BShift, TreeDepth, TopConst), length and content that a probe reads off, in percent.",
        headlines=(Headline("accuracy", ("majority", "length alone"), "default"),),
        expected="SentEval's probing files, such as bigram_shift.txt, or treebanks (.mrg)",
        find=_find,
        read=lambda place, choices: probing_sets(place, seed=choices.seed),
        command="evaluate probing",
        options=lambda tasks, choices: choices.typed("seed"),
        resampled=False,  # the accuracy has its interval always
        counts=lambda score: "form" if score.name == INFORMATION and score.subset.partition(" (")[0] in FORM else "",
    ),
)
