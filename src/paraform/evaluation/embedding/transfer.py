"""What a probe finds in vectors: SentEval's eight classification sets (Conneau and Kiela 2018).

Shape key: N rows, T test rows, F folds, D features of a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from paraform.corpora.leaks import normalised
from paraform.corpora.senteval import LAYOUTS, LabelledText, read_transfer_sets
from paraform.evaluation.embedding.probe_rows import ProbeConfig, pair_features
from paraform.evaluation.embedding.probes import (
    Folds,
    Masks,
    UnusableLabels,
    cross_validate,
    fit_probes,
    stratified_folds,
)
from paraform.evaluation.embedding.space import Space, VectorSpace
from paraform.evaluation.embedding.task import Family, Finding, Headline, first_of_each, holding, signed_finding
from paraform.evaluation.metrics import RowMetric, row_mean
from paraform.records import InputError
from paraform.score import Score, signature
from paraform.weights import PathLike

DEFAULT = {"default": ProbeConfig()}
SEEN = "test-rows:text-in-training|text:normalised"


@final
@dataclass(frozen=True, eq=False, slots=True)
class TransferSet:
    """Texts, or pairs of texts, with labels; a `Task`.

    A pair's features are |u − v| and u ∗ v. A set without a split is measured by ten stratified folds, each row by the
    probe that has not seen it; one with train and test rows by one probe, whose L2 the training rows choose; one with
    dev rows by these.

    Args:
        rows: in the order of the files.
        protocols: the probes to train, by name.
    """

    needs_vectors: ClassVar[bool] = True

    name: str
    rows: Sequence[LabelledText]
    protocols: Mapping[str, ProbeConfig] = field(default_factory=lambda: DEFAULT)

    def texts(self) -> list[str]:
        """All texts; of pairs both."""
        return [text for row in self.rows for text in (row.text, row.other) if text is not None]

    def measure(self, space: Space) -> list[Finding]:
        """Accuracy by each protocol (of MRPC F1, too), the commonest label's, and how many test rows training holds.

        Raises: InputError if the space has no vectors; naming file and line, if there is too little of a label.
        """
        if not isinstance(space, VectorSpace):
            raise InputError(f"{self.name}: {space.name} has no vectors; expected some to train a probe on")
        vectors_ND = self.features(space)
        findings = []
        for protocol, config in self.protocols.items():
            try:
                test_FN = self.test_rows(config)
                findings += self._metrics(protocol, config, space, self.predictions(vectors_ND, config), test_FN)
            except UnusableLabels as error:
                raise InputError(f"{self.rows[error.row].origin or self.name}: {error}") from error
            except ValueError as error:
                raise InputError(f"{self.name}: {error}") from error
        return findings

    def limited(self, most: int) -> TransferSet:
        """So many rows of each part and label."""
        return replace(self, rows=first_of_each(self.rows, most, lambda row: (row.part, row.label)))

    def features(self, space: VectorSpace) -> NDArray[np.float32]:
        """What the probes are trained on: [N, D], of pairs [N, 2 D]."""
        lefts_ND = space.vectors([row.text for row in self.rows])
        if self.rows[0].other is None:
            return lefts_ND
        return pair_features(lefts_ND, space.vectors([row.other or "" for row in self.rows]))

    def labels(self) -> NDArray[np.int64]:
        """The class of each row, [N]."""
        return np.array([row.label for row in self.rows])

    def test_rows(self, config: ProbeConfig) -> Masks:
        """[F, N]: the rows that each fold's probe is measured on."""
        parts_N = np.array([row.part for row in self.rows])
        test_FN: Masks = (parts_N == "test")[None]
        if not parts_N.astype(bool).any():
            test_FN = stratified_folds(self.labels(), config.folds, config.seed) == np.arange(config.folds)[:, None]
        return test_FN

    def predictions(self, vectors_ND: NDArray[np.float32], config: ProbeConfig) -> NDArray[np.int64]:
        """What the probes say, [N]; of rows that no probe is measured on −1."""
        test_FN, parts_N = self.test_rows(config), np.array([row.part for row in self.rows])
        if (parts_N == "dev").any():
            probed = fit_probes(vectors_ND, self.labels(), Folds.split(parts_N), config)
        else:
            probed = cross_validate(vectors_ND, self.labels(), test_FN, config)
        found_N = np.full(len(parts_N), -1)
        for fold_N, test_N in zip(probed.predictions_FN, test_FN, strict=True):
            found_N[test_N] = fold_N[test_N]
        return found_N

    def seen(self, test_FN: Masks) -> int:
        """How many test rows have the text (of pairs, both texts) of a row that their probe was trained or tuned on.

        By text without case, punctuation and spacing (`leaks.normalised`).
        """
        texts = [(normalised(row.text), normalised(row.other or "")) for row in self.rows]
        count = 0
        for test_N in test_FN:
            others = {text for text, test in zip(texts, test_N, strict=True) if not test}
            count += sum(text in others for text, test in zip(texts, test_N, strict=True) if test)
        return count

    def _metrics(
        self, protocol: str, config: ProbeConfig, space: VectorSpace, found_N: NDArray[np.int64], test_FN: Masks
    ) -> list[Finding]:
        labels_N, test_N = self.labels(), test_FN.any(0)
        gold_T, found_T = labels_N[test_N], found_N[test_N]
        settings = f"{config.signature}|{signature(features='|u-v|,u*v' if self.rows[0].other else 'u')}"
        metrics = [row_mean("accuracy", 100 * (found_T == gold_T), settings)]
        if self.name == "MRPC":
            metrics.append(f1(found_T, gold_T, settings))
        majority = row_mean("majority", 100 * (gold_T == self._commonest(test_FN)), "commonest:training-label")
        chance = majority.score(system=space.name, protocol=protocol, subset=self.name)
        seen = Score("seen", self.seen(test_FN), SEEN, space.name, protocol, self.name, digits=0)
        return [
            *(signed_finding(metric, space, self.name, protocol) for metric in metrics),
            Finding(chance, majority, reference=True),
            Finding(seen, reference=True),
        ]

    def _commonest(self, test_FN: Masks) -> int:
        training = ~test_FN.any(0) if len(test_FN) == 1 else np.ones(len(self.rows), dtype=np.bool_)
        return int(np.bincount(self.labels()[training]).argmax())


def transfer_sets(
    folder: PathLike, names: Sequence[str] = (), protocols: Mapping[str, ProbeConfig] | None = None
) -> list[TransferSet]:
    """The sets of these names, or all that a folder has: MR, CR, MPQA, SUBJ, SST-2, TREC, MRPC, SICK-E.

    Raises: InputError as `read_transfer_sets` does.
    """
    found = read_transfer_sets(folder, names)
    return [TransferSet(name, rows, protocols or DEFAULT) for name, rows in found.items()]


def f1(found_T: NDArray[np.int64], gold_T: NDArray[np.int64], settings: str) -> RowMetric:
    """F1 of label 1, × 100: 2 hits / (found + gold); 0 where neither has one."""
    rows_T3 = np.stack([(found_T == 1) & (gold_T == 1), found_T == 1, gold_T == 1], axis=1).astype(np.float64)
    return RowMetric("F1", rows_T3, settings, _f1)


def _f1(sums: NDArray[np.float64]) -> float:
    hits, found, gold = sums
    return float(200 * hits / (found + gold)) if found + gold else 0.0


def _find(folder: Path) -> Path | None:
    """The folder, if all files of a set are below it."""
    complete = ([file for file, _ in layout] for layouts in LAYOUTS.values() for layout in layouts)
    return next((folder for files in complete if all(holding(folder, file) for file in files)), None)


FAMILIES = (
    Family(
        name="transfer",
        title="Transfer",
        about="What a probe trained on the vectors gets right, in percent.",
        headlines=(Headline("accuracy", ("majority",), "default"),),
        expected="SentEval's files, such as rt-polarity.pos",
        find=_find,
        read=lambda place, choices: transfer_sets(place),
        command="evaluate transfer",
    ),
)
