"""The sets that choose: their metrics by peers, the halves of PAWS without a common sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from paraform.evaluation.embedding.detection import roc_auc
from paraform.evaluation.embedding.development import paws_halves, read_development
from paraform.records import InputError

HEADER = "id\tsentence1\tsentence2\tlabel\n"
# four components: a-b-c and others of two; the label connects, whatever it is
ROWS = [("a", "b", 1), ("b", "c", 0), ("d", "e", 1), ("f", "g", 0), ("h", "i", 0), ("i", "h!", 1)]


class Letters:
    """A model whose vectors are counts of letters."""

    kind = "letters"
    vector_names = ("letters",)
    device = torch.device("cpu")

    def embed(
        self, texts: Sequence[str], name: str = "", *, batch_size: int = 0, seed: int = 0, progress: bool = False
    ) -> NDArray[np.float32]:
        return np.array([[1 + text.count(letter) for letter in "abcdefghi"] for text in texts], np.float32)


@pytest.mark.parametrize("ties", [False, True])
def test_auc_is_scikit_learn_s_and_the_count_of_pairs(ties: bool) -> None:
    generator = np.random.default_rng(0)
    found_N = generator.integers(0, 4, 40).astype(float) if ties else generator.normal(size=40)
    labels_N = generator.random(40) < 0.4
    metric = roc_auc(found_N, labels_N)
    assert metric.value(np.ones(40)) == pytest.approx(100 * roc_auc_score(labels_N, found_N))
    right, wrong = found_N[labels_N], found_N[~labels_N]
    share = np.mean((right[:, None] > wrong) + (right[:, None] == wrong) / 2)
    assert metric.value(np.ones(40)) == pytest.approx(100 * share)
    times_N = generator.integers(0, 3, 40)  # a resample is the same as its rows written out
    weighted = roc_auc_score(labels_N, found_N, sample_weight=times_N)
    assert metric.value(times_N) == pytest.approx(100 * weighted)
    assert metric.value(np.zeros(40)) == 50


def write_paws(path: Path, rows: Sequence[tuple[str, str, int]]) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(HEADER + "".join(f"{n}\t{one}\t{other}\t{label}\n" for n, (one, other, label) in enumerate(rows)))
    return path


def test_halves_share_no_sentence_whatever_the_order(tmp_path: Path) -> None:
    many = [(f"{one} {n}", f"{other} {n}".upper(), label) for n in range(8) for one, other, label in ROWS]
    found = paws_halves(write_paws(tmp_path / "paws.tsv", many))
    assert sum(map(len, found)) == len(many) and min(map(len, found)) > 8
    texts = [
        {side.text.casefold().strip("!") for pair in half for side in (pair.source, pair.target)} for half in found
    ]
    assert not texts[0] & texts[1]
    again = paws_halves(write_paws(tmp_path / "paws.tsv", many[::-1]))
    assert [{pair.source.text for pair in half} for half in again] == [
        {pair.source.text for pair in half} for half in found
    ]
    with pytest.raises(InputError, match="label 1, as of all"):
        paws_halves(write_paws(tmp_path / "paws.tsv", [(one, other, 1) for one, other, _ in many]))


def test_each_set_has_its_metric_and_the_mean_is_of_those_that_are_there(tmp_path: Path) -> None:
    many = [(f"{one} {n}", f"{other} {n}", label) for n in range(8) for one, other, label in ROWS]
    choosing = paws_halves(write_paws(tmp_path / "paws" / "dev.tsv", many)).choosing
    model = Letters()
    found = read_development(tmp_path)(model)
    assert list(found) == ["PAWS dev, choosing half", "development"]
    sides = [[pair.source.text for pair in choosing], [pair.target.text for pair in choosing]]
    near_N = [
        float(u @ v / np.linalg.norm(u) / np.linalg.norm(v)) for u, v in zip(*map(model.embed, sides), strict=True)
    ]
    auc = 100 * roc_auc_score([pair.label for pair in choosing], np.round(near_N, 6))
    assert found["development"] == pytest.approx(auc, abs=0.5)

    rows = [("a b", "a c", 3.0), ("d", "d", 5.0), ("e", "f", 0.5), ("g g", "h", 1.0)]
    header = "sentence1,sentence2,score\n"
    for part in ("train", "dev", "test"):  # of which the second is measured on
        text = header + "".join(
            f"{one},{other},{score if part == 'dev' else 5 - score}\n" for one, other, score in rows
        )
        (tmp_path / f"stsb-en-{part}.csv").write_text(text)
    (tmp_path / "quora").mkdir()
    (tmp_path / "quora" / "dev.tsv").write_text("a b\ta b b\nc d\tc\ne f\tg h\n")
    sets = read_development(tmp_path)
    found = sets(model)
    assert list(found) == ["STS-B dev", "PAWS dev, choosing half", "Quora dev", "development"]
    u, v = model.embed([row[0] for row in rows]), model.embed([row[1] for row in rows])
    cosines = (u * v).sum(1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
    assert found["STS-B dev"] == pytest.approx(100 * pearsonr(cosines, [row[2] for row in rows]).statistic, abs=1e-3)
    assert found["development"] == pytest.approx(np.mean(list(found.values())[:-1]))
    assert 50 < found["Quora dev"] < 100
    assert len(sets.texts()) == len(set(sets.texts())) and "a b b" in sets.texts()


def test_no_set_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no development set; expected some of .*SICK_trial.txt, paws/dev.tsv, quora"):
        read_development(tmp_path)


def test_the_real_sets(data: Path) -> None:
    """3,458 of PAWS's 4,972 second sentences are first ones too; the halves are of about one size all the same."""
    halves = paws_halves(data / "paws" / "dev.tsv")
    assert sum(map(len, halves)) == 8000 and min(map(len, halves)) > 3500
    names = [task.name for task, _ in read_development(data).sets]
    assert names == ["STS-B dev", "SICK-R dev", "PAWS dev, choosing half", "Quora dev"]
