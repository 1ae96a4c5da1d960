"""What a folder holds, by families: found wherever it lies, left out and named if it is not there, wrong files told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from paraform.evaluation.embedding.detection import PairSet
from paraform.evaluation.embedding.families import read_families
from paraform.evaluation.embedding.matching import ContentMatching, StyleRetrieval
from paraform.evaluation.embedding.probing import ProbingSet
from paraform.evaluation.embedding.regression import RegressionSet
from paraform.evaluation.embedding.report import command_of, embedding_report
from paraform.evaluation.embedding.report_page import report_page
from paraform.evaluation.embedding.retrieval import RetrievalSet
from paraform.evaluation.embedding.similarity import SimilaritySet
from paraform.evaluation.embedding.space import Space, embedded
from paraform.evaluation.embedding.task import Choices, Family, Finding, Headline, holding, signed_finding
from paraform.evaluation.embedding.transfer import TransferSet
from paraform.evaluation.metrics import row_mean
from paraform.records import InputError


@pytest.fixture
def folder(tmp_path: Path, question_pairs: Path) -> Path:
    """The STS Benchmark's test part, a probing set, and Quora's test pairs, each in a folder of its own."""
    for name in ("sts", "probes", "quora"):
        (tmp_path / "data" / name).mkdir(parents=True)
    (tmp_path / "data/sts/stsb-en-test.csv").write_text("a cat,the cat,4.5\na dog,a tree,0.5\nwe sing,they sing,3\n")
    rows = [f"{part}\t{'IO'[at % 2]}\tword {at} of {part}\n" for part in ("tr", "va", "te") for at in range(20)]
    (tmp_path / "data/probes/bigram_shift.txt").write_text("".join(rows))
    (tmp_path / "data/quora/test.tsv").write_text("".join(question_pairs.read_text().splitlines(True)[:60]))
    (tmp_path / "data/quora/dev.tsv").write_text("".join(question_pairs.read_text().splitlines(True)[60:90]))
    return tmp_path / "data"


def test_every_family_is_found_where_it_lies(folder: Path) -> None:
    ours = ("similarity", "transfer", "probing", "robustness", "retrieval", "style")
    found = read_families(folder, ours, Choices(size=10))
    names = {one.family.name: [task.name for task in one.tasks] for one in found.found}
    assert names.pop("robustness")[0] == "Quora"  # easy and hard halves, if the pairs have both
    assert names == {
        "similarity": ["STS-B"],
        "probing": ["BShift"],
        "retrieval": ["Quora retrieval"],
        "style": ["Quora", "Quora"],
    }
    assert found.left_out == {"transfer": "expected SentEval's files, such as rt-polarity.pos"}
    assert len(found.tasks) >= 6
    data = {one.family.name: Path(one.data).relative_to(folder) for one in found.found}
    assert data["style"] == Path("quora/test.tsv") and data["probing"] == Path("probes")


def test_the_trained_regression_where_there_is_something_to_train_on(folder: Path) -> None:
    test = folder / "sts/stsb-en-test.csv"
    for part in ("train", "dev"):
        test.with_name(f"stsb-en-{part}.csv").write_text(test.read_text())
    (family,) = read_families(folder, ["similarity"]).found
    assert [task.name for task in family.tasks] == ["STS-B", "STS-B, trained"]
    assert command_of(family, ["minilm"]).endswith(" --trained default")
    (family,) = read_families(folder, ["similarity"], Choices(trained=False)).found
    assert [task.name for task in family.tasks] == ["STS-B"]
    assert not command_of(family, ["minilm"]).endswith("default")


def test_the_commands_give_the_metrics_of_the_page(folder: Path) -> None:
    for choices, options in (
        (Choices(size=10, seed=3), ["--size 10 --seed 3", "--seed 3", "--seed 3"]),
        (Choices(), [""] * 3),
    ):
        found = {one.family.name: one for one in read_families(folder, choices=choices).found}
        for name, expected in zip(("robustness", "probing", "style"), options, strict=True):
            family = found[name]
            end = f"--data {family.data} {expected}".rstrip()
            assert command_of(family, ["a"]) == f"paraform {family.family.command} --model a {end}"
        assert found["retrieval"].options == found["robustness"].options
    given = command_of(found["style"], ["v.npy"], given=["--vectors texts.txt v.npy"])
    assert given == f"paraform evaluate style --vectors texts.txt v.npy --data {found['style'].data}"
    assert command_of(found["similarity"], ["a"], 20).endswith(" --resamples 20")
    assert "resamples" not in command_of(found["probing"], ["a"], 20)  # which has no such option


def test_a_file_of_another_corpus_is_no_robustness(tmp_path: Path) -> None:
    (tmp_path / "multi30k").mkdir()
    (tmp_path / "multi30k/test.tsv").write_text("a\tb\n")
    (tmp_path / "rt-polarity.pos").write_text("good\n")  # one half of MR
    with pytest.raises(InputError, match="nothing for similarity, transfer, probing, robustness, retrieval, style"):
        read_families(tmp_path)


def test_a_wrong_file_is_not_left_out_in_silence(folder: Path) -> None:
    (folder / "sts/stsb-en-test.csv").write_text("a cat,the cat,much\n")
    with pytest.raises(InputError, match=r"stsb-en-test\.csv:1: "):
        read_families(folder, ["similarity"])


def test_wrong_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no family 'form'; expected some of similarity, "):
        read_families(tmp_path, ["form"])
    with pytest.raises(InputError, match="no such folder"):
        read_families(tmp_path / "none")


def test_a_limited_task_has_so_many_rows_of_each_part(folder: Path) -> None:
    for part in ("train", "dev"):
        test = folder / "sts/stsb-en-test.csv"
        test.with_name(f"stsb-en-{part}.csv").write_text(test.read_text())
    for name in ("custrev.pos", "custrev.neg"):
        (folder / name).write_text("".join(f"{name} of number {at}\n" for at in range(20)))
    sets = read_families(folder, choices=Choices(size=10)).limited(2)
    tasks = {one.family.name: one.tasks for one in sets.found}
    (similar, trained), (probed,), (matched, styled) = (tasks[name] for name in ("similarity", "probing", "style"))
    assert isinstance(similar, SimilaritySet) and [len(pairs) for pairs in similar.domains.values()] == [2]
    assert (
        isinstance(probed, ProbingSet) and [one.part for one in probed.examples] == ["tr"] * 2 + ["va"] * 2 + ["te"] * 2
    )
    assert isinstance(matched, ContentMatching) and len(matched.pairs) == 2
    assert isinstance(styled, StyleRetrieval) and len(styled.pool.queries) == 2
    assert isinstance(trained, RegressionSet) and [len(part) for part in trained.parts] == [2] * 3
    (rated,), (asked,), (told, *_) = (tasks[name] for name in ("transfer", "retrieval", "robustness"))
    assert isinstance(rated, TransferSet) and [row.label for row in rated.rows] in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert isinstance(asked, RetrievalSet) and len(asked.pairs) == 2
    assert isinstance(told, PairSet)
    assert [pair.label for pair in told.pairs] == [pair.label for pair in told.tuning] == [1, 1, 0, 0]


def test_a_family_of_ones_own_is_found_measured_and_shown(tmp_path: Path) -> None:
    """Lines of a file, each to be nearer to itself than to nothing: no module of the library knows of it."""

    @dataclass(frozen=True)
    class Lines:
        name: str
        lines: list[str]
        needs_vectors: ClassVar[bool] = False

        def texts(self) -> list[str]:
            return self.lines

        def measure(self, space: Space) -> list[Finding]:
            own = row_mean("own", 100 * space.similarity(self.lines, self.lines), "unit:percent", digits=1)
            return [signed_finding(own, space, self.name)]

        def limited(self, most: int) -> Lines:
            return replace(self, lines=self.lines[:most])

    mine = Family(
        name="lines",
        title="Lines",
        about="Each & itself.",
        headlines=(Headline("own"),),
        expected="some.lines",
        find=lambda folder: holding(folder, "*.lines"),
        read=lambda place, choices: [Lines(file.stem, file.read_text().split()) for file in place.glob("*.lines")],
    )
    with pytest.raises(InputError, match="nothing for similarity, lines; expected "):
        read_families(tmp_path, [mine, "similarity"])
    (tmp_path / "some.lines").write_text("one two three")
    families = read_families(tmp_path, [mine, "similarity"])
    assert list(families.left_out) == ["similarity"] and len(families.limited(2).tasks[0].texts()) == 2
    space = embedded(
        lambda texts: np.ones((len(texts), 2), np.float32), families.tasks[0].texts(), name="a", signature="b"
    )
    report = embedding_report(families, [space], ["a"], resamples=5)
    (section,) = report.sections
    (score,) = section.scores
    assert (score.name, score.subset, score.value) == ("own", "some", pytest.approx(100))
    assert section.command == f"paraform evaluate report --model a --data {tmp_path} --families lines --resamples 5"
    assert "<h2>Lines</h2>" in (page := report_page(report)) and "Each &amp; itself." in page


def test_everything_of_the_real_data_is_found(data: Path) -> None:
    found = read_families(data, ["similarity"], Choices(trained=False))
    assert [task.name for task in found.tasks] == ["STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R"]
