from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from paraform.corpora.senteval import LabelledText
from paraform.evaluation.bootstrap import paired_bootstrap
from paraform.evaluation.embedding.probe_rows import ProbeConfig, pair_features, protocols_of
from paraform.evaluation.embedding.space import Space, Vectors, embedded
from paraform.evaluation.embedding.task import Finding, Task
from paraform.evaluation.embedding.transfer import TransferSet, f1, transfer_sets
from paraform.records import InputError, Origin

PROBE = {"default": ProbeConfig(folds=4, l2=(1e-3, 1e-1))}


def space_of(task: Task, *, told: bool, seed: int = 0) -> Vectors:
    """Noise, and, if `told`, a coordinate that is 1 for texts with "good"."""
    generator = np.random.default_rng(seed)

    def embed(texts: list[str]) -> np.ndarray:
        noise = generator.normal(size=(len(texts), 3))
        return np.c_[noise, [5.0 * (told and "good" in text) for text in texts]].astype(np.float32)

    return embedded(lambda texts: embed(list(texts)), task.texts(), name="noise", signature="encoder:noise")


def reviews(part: str = "") -> list[LabelledText]:
    parts = {"": [""], "test": ["train", "train", "test"], "dev": ["train", "train", "dev", "test"]}[part]
    return [
        LabelledText(f"{'good' if row % 3 else 'bad'} film {row}", None, int(row % 3 > 0), parts[row // 3 % len(parts)])
        for row in range(120)
    ]


def pairs() -> list[LabelledText]:
    """The label is whether both or none is good."""
    rows = []
    for row in range(200):
        left, right = f"{'good' if row % 2 else 'bad'} a {row}", f"{'good' if row // 2 % 2 else 'bad'} b {row}"
        rows.append(LabelledText(left, right, int(row % 2 == row // 2 % 2), "train" if row < 140 else "test"))
    return rows


def values(findings: list[Finding]) -> dict[str, float]:
    return {finding.score.name: finding.score.value for finding in findings}


@pytest.mark.parametrize("part", ["", "test", "dev"])
def test_what_stands_in_one_coordinate_is_found_in_every_kind_of_split(part: str) -> None:
    task = TransferSet("CR", reviews(part), PROBE)
    found = values(task.measure(space_of(task, told=True)))
    assert found["accuracy"] == 100 and found["majority"] == pytest.approx(200 / 3) and found["seen"] == 0


def test_noise_stays_at_the_commonest_label() -> None:
    task = TransferSet("CR", reviews(), PROBE)
    found = values(task.measure(space_of(task, told=False)))
    assert abs(found["accuracy"] - 200 / 3) < 3 * 100 * np.sqrt(2 / 9 / 120)


def test_of_pairs_the_difference_and_the_product_are_seen() -> None:
    task = TransferSet("MRPC", pairs(), PROBE)
    found = values(task.measure(space_of(task, told=True)))
    assert found["accuracy"] == found["F1"] == 100
    left, right = np.array([[1.0, -2.0]], np.float32), np.array([[3.0, 1.0]], np.float32)
    assert pair_features(left, right).tolist() == [[2.0, 3.0, 3.0, -2.0]]


def test_every_test_row_is_measured_once_and_two_spaces_can_be_compared() -> None:
    task = TransferSet("CR", reviews(), PROBE)
    one, other = (task.measure(space_of(task, told=told))[0].metric for told in (True, False))
    assert one is not None and other is not None and one.rows.shape == (120, 1)
    compared = paired_bootstrap(one, other, resamples=100)
    assert compared.low > 0 and compared.difference == pytest.approx(one.over() - other.over())


def test_f1_is_scikit_learn_s() -> None:
    generator = np.random.default_rng(0)
    found, gold = generator.integers(0, 2, (2, 50))
    assert f1(found, gold, "").over() == pytest.approx(100 * f1_score(gold, found))
    assert f1(np.zeros(3, int), np.zeros(3, int), "").over() == 0


def test_texts_that_a_probe_was_trained_on_are_counted() -> None:
    """Twins across folds count, whatever their case, spacing and punctuation; the same number as pair by pair."""
    rows = [*reviews(), *(replace(row, text=row.text.upper().replace(" ", "  ") + " !") for row in reviews()[:9])]
    task = TransferSet("CR", rows, PROBE)
    test_FN = task.test_rows(PROBE["default"])
    fold = {row: at for at, test in enumerate(test_FN) for row in np.flatnonzero(test).tolist()}
    wanted = sum(2 for row in range(9) if fold[row] != fold[120 + row])
    assert task.seen(test_FN) == wanted > 0


def test_protocols_stand_side_by_side_each_with_its_signature() -> None:
    short = {
        name: replace(config, max_epochs=1, folds=3)
        for name, config in protocols_of("mlp", ["default", "paper"]).items()
    }
    task = TransferSet("CR", reviews(), short)
    scores = [finding.score for finding in task.measure(space_of(task, told=True))]
    signatures = {score.protocol: score.signature for score in scores if score.name == "accuracy"}
    assert "standardise:yes" in signatures["default"] and "standardise:no" in signatures["paper"]
    assert all("mlp-50" in value and value.endswith("encoder:noise") for value in signatures.values())


def test_what_cannot_be_measured() -> None:
    rows = [*reviews()[:20], LabelledText("odd", None, 2, "", Origin("odd.txt", 7))]
    said = r"^odd\.txt:7: the label of this row has 1 of 21 rows; expected one a fold, 4"
    for given in (rows, [replace(row, part="train") for row in rows] + reviews("test")[6:8]):
        task = TransferSet("CR", given, PROBE)
        with pytest.raises(InputError, match=said):
            task.measure(space_of(task, told=True))

    class Floor:
        name, signature = "shared words", ""

    floor: Space = Floor()  # type: ignore[assignment]  # no space on purpose
    with pytest.raises(InputError, match="CR: shared words has no vectors"):
        TransferSet("CR", reviews(), PROBE).measure(floor)


def test_the_sets_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "CR").mkdir()
    (tmp_path / "CR/custrev.pos").write_bytes(b"caf\xe9 is good\n\n" * 2)
    (tmp_path / "CR/custrev.neg").write_text("bad\n", encoding="utf-8")
    (found,) = transfer_sets(tmp_path)
    assert found.name == "CR" and found.texts() == ["café is good", "café is good", "bad"]
    assert found.labels().tolist() == [1, 1, 0]
