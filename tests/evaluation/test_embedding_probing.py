"""Probing sets, against vectors of which it is known what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform.corpora.probing import ProbingExample, write_probing
from paraform.evaluation.bootstrap import bootstrap_interval, paired_bootstrap
from paraform.evaluation.embedding.probe_rows import ProbeConfig, protocols_of
from paraform.evaluation.embedding.probing import (
    ProbingSet,
    compared,
    information,
    probing_sets,
    probing_table,
    taken_away,
    write_sets,
)
from paraform.evaluation.embedding.space import Vectors, embedded
from paraform.evaluation.embedding.task import Finding
from paraform.records import InputError, Origin

COUNTS = {"tr": 240, "va": 60, "te": 120}
EXAMPLES = [
    ProbingExample(part, "abc"[row % 3], f"{part} {row}" + " and so on" * (row % 3 == 2))
    for part, count in COUNTS.items()
    for row in range(count)
]
LABELS = {example.text: "abc".index(example.label) for example in EXAMPLES}
SET = ProbingSet("BShift", EXAMPLES, "set:made", {"default": ProbeConfig()})


def space(name: str, told: float, *, scale: float = 1.0, seed: int = 0) -> Vectors:
    """Vectors of noise; the share `told` of them has the label in three of their six coordinates."""
    generator = np.random.default_rng(seed)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = generator.normal(size=(len(texts), 6))
        labels = np.eye(3)[[LABELS[text] for text in texts]]
        vectors[:, :3] = np.where(generator.random((len(texts), 1)) < told, 9 * labels, vectors[:, :3])
        return (scale * vectors).astype(np.float32)

    return embedded(embed, SET.texts(), name=name, signature=f"told:{told}")


def metrics(findings: Sequence[Finding]) -> dict[str, float]:
    return {finding.score.name: finding.score.value for finding in findings}


def test_a_label_that_vectors_hold_is_found() -> None:
    findings = SET.measure(space("teller", 1.0))
    found = metrics(findings)
    assert found["accuracy"] == found["validation"] == 100
    assert found["majority"] == found["1/classes"] == pytest.approx(100 / 3)
    assert found["label information"] == 1
    # Sentences of five words are all "c"; of the others, half are "a" and half "b", of which training has as many.
    assert found["length alone"] == pytest.approx(200 / 3)
    assert {finding.score.subset for finding in findings} == {"BShift"}
    accuracy = findings[0]
    assert accuracy.metric and accuracy.score.signature == f"{accuracy.metric.signature}|told:1.0"
    assert "train:240|dev:60|test:120|classes:3|digest:" in accuracy.metric.signature


@pytest.mark.parametrize("classifier", ["mlp", "logistic"])
def test_noise_stays_at_chance(classifier: Literal["mlp", "logistic"]) -> None:
    found = metrics(replace(SET, protocols=protocols_of(classifier, ["default"])).measure(space("noise", 0.0)))
    error = 100 * (1 / 3 * 2 / 3 / COUNTS["te"]) ** 0.5
    assert abs(found["accuracy"] - 100 / 3) < 3 * error
    assert abs(found["label information"]) < 3 * error / (100 * 2 / 3)


def test_shrinking_is_no_forgetting() -> None:
    plain, *others = [metrics(SET.measure(space("s", 0.5, scale=scale))) for scale in (1.0, 0.01, 100.0)]
    for other in others:
        assert abs(other["accuracy"] - plain["accuracy"]) < 3
    assert plain["accuracy"] > 50


def test_vectors_that_are_all_the_same_say_nothing() -> None:
    constant = embedded(lambda texts: np.ones((len(texts), 4), np.float32), SET.texts(), name="one", signature="")
    found = metrics(SET.measure(constant))
    assert found["accuracy"] == found["majority"]
    assert found["label information"] == 0


def test_protocols_stand_side_by_side() -> None:
    protocols = protocols_of("logistic", ["default", "paper"])
    findings = replace(SET, protocols=protocols).measure(space("teller", 1.0))
    signatures = {one.score.protocol: one.score.signature for one in findings if one.score.name == "accuracy"}
    assert "standardise:yes" in signatures["default"] and "standardise:no" in signatures["paper"]


def test_what_a_change_takes_away_by_hand() -> None:
    majority = np.array([True, True, False, False, False, False, False, False])
    before = information(np.array([True] * 6 + [False] * 2), majority, "x")
    after = information(np.array([True] * 3 + [False] * 5), majority, "x")
    assert before.over() == pytest.approx((6 - 2) / (8 - 2))
    assert taken_away(before, after).over() == pytest.approx((6 - 3) / (6 - 2))
    assert taken_away(before, before).over() == 0
    nothing = information(majority, majority, "x")
    assert np.isnan(taken_away(nothing, before).over())
    with pytest.raises(ValueError, match="expected the same"):
        taken_away(before, replace(after, signature="y"))


def test_one_label_alone_is_told_with_its_place() -> None:
    alone = [replace(one, label="a", origin=Origin("set.txt", at + 1)) for at, one in enumerate(EXAMPLES)]
    with pytest.raises(InputError, match=r"^set\.txt:1: all 420 labels are a; expected two classes or more"):
        replace(SET, examples=alone).measure(space("s", 1.0))


def test_two_spaces_compare_row_by_row() -> None:
    before, after = (SET.measure(space(name, told)) for name, told in (("knows", 1.0), ("half", 0.5)))
    (score,) = compared(before, after)
    assert (score.name, score.system, score.subset) == ("taken away", "knows → half", "BShift")
    assert score.low is not None and score.high is not None
    assert score.low < score.value < score.high < 1
    lost = (100 - metrics(after)["accuracy"]) / (100 - 100 / 3)
    assert score.value == pytest.approx(lost)
    first, second = before[0].metric, after[0].metric
    assert first and second
    assert paired_bootstrap(first, second).low > 0
    assert (before[0].score.low, before[0].score.high) == bootstrap_interval(first)


def test_a_space_without_vectors_is_told(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Floor:
        name: str = "shared words"
        signature: str = ""

        def similarity(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float64]:
            raise AssertionError

        def block(self, queries: Sequence[str], pool: Sequence[str]) -> NDArray[np.float32]:
            raise AssertionError

    with pytest.raises(InputError, match=r"shared words has no vectors; expected some.*BShift"):
        SET.measure(Floor())


def test_sets_of_sentevals_files_and_what_is_written_is_the_same_set(tmp_path: Path) -> None:
    made = [SET, replace(SET, kind="TreeDepth", source="set:re-created|seed:1")]
    written = write_sets(made, tmp_path / "probing")
    names = ["bigram_shift.txt", "tree_depth.txt"]
    assert written == {str(tmp_path / "probing" / name): 420 for name in names}
    for path in (tmp_path, tmp_path / "probing"):
        read = probing_sets(path)
        assert [one.name for one in read] == ["BShift", "TreeDepth (re-created)"]
        assert [one.settings for one in read] == [one.settings for one in made]
        assert all(one.examples == EXAMPLES for one in read)
    (one,) = probing_sets(tmp_path / "probing" / "tree_depth.txt", protocols=["paper"])
    assert (one.name, one.protocols) == ("TreeDepth (re-created)", {"paper": ProbeConfig.paper(50)})
    write_probing(EXAMPLES, tmp_path / "word_content.txt")
    assert probing_sets(tmp_path / "word_content.txt")[0].protocols == {"default": ProbeConfig()}
    (tmp_path / "word_content.txt").unlink()
    (tmp_path / "probing" / "sources.tsv").unlink()
    assert [one.source for one in probing_sets(tmp_path)] == ["set:as-distributed"] * 2
    with pytest.raises(InputError, match="no set 'TopConst'; expected one of BShift, TreeDepth"):
        probing_sets(tmp_path, ["TopConst"])


def test_no_sets(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no probing set; expected SentEval's files \(bigram_shift.txt, .* treebanks"):
        probing_sets(tmp_path)
    with pytest.raises(InputError, match="nowhere: no such file"):
        probing_sets(tmp_path / "nowhere")
    write_probing([replace(one, part="tr") for one in EXAMPLES], tmp_path / "x.txt")
    with pytest.raises(InputError, match=r"x.txt:1: no line of 'va'"):
        probing_sets(tmp_path / "x.txt")


def test_the_table_says_what_stands_in_it() -> None:
    known = space("teller", 1.0)
    text = probing_table([SET], [known], [finding.score for finding in SET.measure(known)])
    header = text.splitlines()[0].split("  ")
    assert [cell.strip() for cell in header if cell.strip()][3:] == [
        *("accuracy", "validation", "majority", "1/classes", "length alone", "label information")
    ]
    for part in ("a probe on the tree itself would find 1", "probe:logistic", SET.settings, "teller: told:1.0"):
        assert part in text
