"""A report of several spaces: intervals of known differences, sentences of the metrics, a page that is only text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from paraform.evaluation.embedding.correlation import MEAN, correlations
from paraform.evaluation.embedding.families import Families, Found, family_named
from paraform.evaluation.embedding.measuring import SEEN
from paraform.evaluation.embedding.probing import information
from paraform.evaluation.embedding.report import EmbeddingReport, command_of, embedding_report
from paraform.evaluation.embedding.report_page import report_page, write_report
from paraform.evaluation.embedding.similarity import SIX
from paraform.evaluation.embedding.space import Space, embedded
from paraform.evaluation.embedding.task import Finding
from paraform.evaluation.metrics import RowMetric, row_mean

ROWS = 400
HOSTILE = "<script>alert(1)</script>"
Make = Callable[[str], RowMetric]


class Fake:
    """A set whose metric of each system is given."""

    needs_vectors: ClassVar[bool] = False

    def __init__(self, name: str, make: Make, protocol: str = "") -> None:
        self.name, self.make, self.protocol = name, make, protocol

    def texts(self) -> list[str]:
        return ["a text"]

    def measure(self, space: Space) -> list[Finding]:
        metric = self.make(space.name)
        score = metric.score(system=space.name, protocol=self.protocol, subset=self.name)
        score = replace(score, signature=f"{metric.signature}|{space.signature}")
        return [Finding(score, metric, reference=metric.name == "majority")]

    def limited(self, most: int) -> Fake:
        return self


def of_family(name: str, *tasks: Fake, data: str = "data") -> Found:
    return Found(family_named(name), tasks, data)


def right(share: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """That share of the rows, mixed, the same rows first whatever the share."""
    order = np.random.default_rng(0).permutation(ROWS)
    return order < share * ROWS


def accuracy(shares: dict[str, float]) -> Make:
    return lambda system: row_mean("accuracy", 100.0 * right(shares[system]), "unit:percent", digits=1)


def form(shares: dict[str, float]) -> Make:
    majority = np.arange(ROWS) % 2 == 0  # chance is 50 %
    return lambda system: information(right(shares[system]), majority, "set:fake")


def pearson(noise: dict[str, float]) -> Make:
    def make(system: str) -> RowMetric:
        draw = np.random.default_rng(1)
        gold = draw.normal(size=ROWS)
        found = gold + noise[system] * draw.normal(size=ROWS)
        return correlations([found], [gold], "pairs:400")["Pearson", MEAN]

    return make


def spaces(*names: str) -> list[Space]:
    return [
        embedded(lambda texts: np.ones((len(texts), 2), np.float32), ["a text"], name=name, signature=f"model:{name}")
        for name in names
    ]


def families(one: str = "one", two: str = "two") -> Families:
    """`two` is nearer to the scores, and has more form; 10 points better on MRPC-Hard, 20 worse on PAWS."""
    floor = {"floor": 0.5}
    found = (
        of_family("similarity", Fake("STS12", pearson({one: 1.0, two: 0.5, "floor": 9.0}), MEAN)),
        of_family("probing", Fake("BShift (re-created)", form({one: 0.6, two: 0.8} | floor), "default")),
        of_family(
            "robustness",
            Fake("MRPC-Hard", accuracy({one: 0.6, two: 0.7} | floor)),
            Fake("PAWS", accuracy({one: 0.8, two: 0.6} | floor)),
            data="a folder",
        ),
    )
    return Families(found, {"transfer": "expected SentEval's files"})


@pytest.fixture(scope="module")
def report() -> EmbeddingReport:
    return embedding_report(families(), spaces("one", "two", "floor"), ["one", "two"], resamples=400)


def test_the_interval_of_a_known_difference(report: EmbeddingReport) -> None:
    """40 rows of 400 are right in one system and wrong in the other: the difference has the variance 0.1 − 0.1²."""
    differences = [one for section in report.sections for one in section.differences]
    hard = next(one for one in differences if one.subset == "MRPC-Hard")
    half = 1.96 * 100 * math.sqrt((0.1 - 0.1**2) / ROWS)
    assert hard.difference == pytest.approx(-10)
    assert (hard.low, hard.high) == (pytest.approx(-10 - half, abs=0.6), pytest.approx(-10 + half, abs=0.6))
    assert {(one.first, one.second) for one in differences} == {("one", "two")}  # no floor


def test_summary_and_points(report: EmbeddingReport) -> None:
    found = {(score.name, score.system): score for score in report.summary}
    # 60 % right where 50 % is chance: a fifth of what is above chance.
    assert found["form", "one"].value == pytest.approx(20) and found["form", "two"].value == pytest.approx(60)
    assert found["hard", "two"].value == pytest.approx(70) and found["paws", "one"].value == pytest.approx(80)
    by_name = {point.system: point for point in report.points}
    assert [point.floor for point in by_name.values()] == [False, False, True]
    x = np.random.default_rng(1)
    gold = x.normal(size=ROWS)
    assert by_name["two"].meaning.value == pytest.approx(
        100 * np.corrcoef(gold, gold + 0.5 * x.normal(size=ROWS))[0, 1]
    )
    low, high = found["hard", "one"].low, found["hard", "one"].high
    assert low is not None and high is not None and low < 60 < high


def test_sentences_are_made_of_the_metrics(report: EmbeddingReport) -> None:
    meaning, form, cost = report.findings
    values = {(score.name, score.system): f"{score.value:.1f}" for score in report.summary}
    assert meaning.startswith(f"Meaning: two keeps most, with a mean Pearson of {values['meaning', 'two']} (95 %: ")
    assert "one is next, " in meaning and f"the best floor, floor, has {values['meaning', 'floor']} (" in meaning
    assert form.startswith("Form: of what is above chance in BShift (re-created), a probe")
    assert "finds 20.0 % (95 %: " in form and "in one, the least, and 60.0 % (95 %: " in form
    assert "in two, the most; the difference is 40.0 (95 %: " in form
    assert "(MRPC-Hard) are told best by two, with an accuracy of 70.0 (" in cost
    assert "it has 60.0 (" in cost and ", 20.0 (95 %: " in cost and cost.endswith("below one.")


def test_what_was_not_measured_is_said() -> None:
    only = replace(families(), found=families().found[:1])
    report = embedding_report(only, spaces("one", "two"), ["one", "two"], resamples=0)
    assert report.points == () and all("not measured" in sentence for sentence in report.findings[1:])
    page = report_page(report)
    assert "transfer: not measured; expected SentEval&#x27;s files" in page and "No picture" in page
    assert report.sections[0].differences == () and "(95 %" not in report.findings[0]
    assert [score.low for score in report.sections[0].scores] == [None, None]


class Seen(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_hostile_name_is_text_and_the_page_loads_nothing() -> None:
    report = embedding_report(families(one=HOSTILE), spaces(HOSTILE, "two", "floor"), [HOSTILE, "two"], resamples=10)
    page = report_page(report)
    seen = Seen()
    seen.feed(page)
    assert "script" not in seen.tags and not {"link", "img", "iframe", "object"} & seen.tags
    assert not [name for name in seen.attributes if name in ("src", "href", "style") or name.startswith("on")]
    assert seen.text.count(HOSTILE) > 5 and "default-src 'none'; style-src 'sha256-" in page and "@body@" not in page


def test_the_best_model_of_a_column_is_bold_and_no_floor_is(report: EmbeddingReport) -> None:
    page = report_page(report)
    assert "<b>70.0</b>" in page and "<b>80.0</b>" in page
    assert "<b>60.0</b>" not in page and "<b>50.0</b>" not in page


def measured_names(made: EmbeddingReport) -> set[tuple[str, str]]:
    return {(one.name, one.subset) for section in made.sections for one in section.differences}


def test_what_is_compared_bold_unsure_and_of_no_system() -> None:
    """`two` has the lower edit distance, and as much of MR as `one`; the majority is no system's."""
    similar = tuple(Fake(name, pearson({"one": 1.0, "two": 0.5, "floor": 9.0}), MEAN) for name in SIX)
    probes = (
        Fake("MR", accuracy({"one": 0.75, "two": 0.75, "floor": 0.5}), "default"),
        Fake("MR", lambda system: row_mean("majority", 100.0 * right(0.3), "of:labels", digits=1), "default"),
    )
    edits = {"one": 3.0, "two": 2.0, "floor": 1.0}
    style = Fake("Quora", lambda system: row_mean("style retrieval ED", edits[system] * np.ones(ROWS), "top:5"))
    found = (of_family("similarity", *similar), of_family("transfer", *probes), of_family("style", style))
    report = embedding_report(Families(found, {}), spaces("one", "two", "floor"), ["one", "two"], resamples=20)
    of_six = [score for score in report.sections[0].scores if score.subset == "mean of 6"]
    assert {score.system: round(score.value, 6) for score in of_six} == {
        score.system: round(score.value, 6) for score in report.summary if score.name == "meaning"
    }
    assert measured_names(report) == {
        *(("Pearson", name) for name in (*SIX, "mean of 6")), ("accuracy", "MR"), ("style retrieval ED", "Quora")
    }  # fmt: skip
    page = report_page(report)
    assert "<b>2.00</b>" in page and "<b>3.00</b>" not in page and "<b>1.00</b>" not in page
    table = next(part for part in page.split("</table>") if "<h3>accuracy, default</h3>" in part)
    assert '<tr class="reference"><th scope="row">majority</th><td>30.0<small>' in table
    assert '<td class="unsure">+0.0<small>+0.0 to +0.0</small></td>' in page
    assert "<td>+1.00<small>+1.00 to +1.00</small></td>" in page  # the edit distance
    assert report.settings(of_six[0]).endswith("|pairs:2400") and of_six[0].signature.endswith("|pairs:2400|model:one")
    alone = report_page(embedding_report(Families(found, {}), spaces("one"), ["one"], resamples=0))
    assert "<td>3.00</td>" in alone and "<b>3.00</b>" not in alone and "Differences from" not in alone


def test_summaries_are_of_these_sets_and_of_systems_that_have_them_all() -> None:
    """Not of SICK-R, of PAWS's halves or of a second protocol; PAWS-Hard counts among the hard halves."""
    shares = {"one": 0.6, "two": 0.7, "floor": 0.5}

    def absent(system: str) -> RowMetric:
        return form({"one": 0.6, "two": 0.8, "floor": 0.5})(system) if system != "two" else accuracy(shares)(system)

    noise = {"one": 0.5, "two": 1.0, "floor": 9.0}
    similar = (Fake("STS12", pearson(noise), MEAN), Fake("SICK-R", pearson(dict.fromkeys(noise, 9.0)), MEAN))
    probes = (
        Fake("BShift", form(shares), "default"),
        Fake("BShift", form(dict.fromkeys(shares, 1.0)), "paper"),
        Fake("TopConst", absent, "default"),
    )
    robust = (Fake("PAWS", accuracy(shares)), Fake("PAWS-Easy", accuracy(dict.fromkeys(shares, 1.0))))
    hard = Fake("PAWS-Hard", accuracy(shares))
    found = (of_family("similarity", *similar), of_family("probing", *probes), of_family("robustness", *robust, hard))
    report = embedding_report(Families(found, {}), spaces("one", "two", "floor"), ["one", "two"], resamples=0)
    summary = {(score.name, score.system): (score.value, score.subset) for score in report.summary}
    assert summary["meaning", "one"][1] == "STS12" and summary["meaning", "one"][0] > 80
    assert summary["form", "one"] == (pytest.approx(20), "BShift, TopConst") and ("form", "two") not in summary
    assert summary["paws", "two"] == (pytest.approx(70), "PAWS")
    assert summary["hard", "two"] == (pytest.approx(70), "PAWS-Hard")
    assert report.findings[2].endswith(
        "with an accuracy of 70.0; on PAWS, where the order of words decides, it has 70.0."
    )


def test_equal_models_differ_by_luck() -> None:
    equal = Families((of_family("similarity", Fake("STS12", pearson({"one": 1.0, "two": 1.0}), MEAN)),), {})
    report = embedding_report(equal, spaces("one", "two"), ["one", "two"], resamples=20)
    assert "two is next, 0.0 (95 %: 0.0 to 0.0, which may be luck) below" in report.findings[0]


def test_colours_of_text_are_told_from_their_ground(report: EmbeddingReport) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 or more, light and dark; names and tables can be reached by keys."""
    page = report_page(report)
    schemes = [dict(re.findall(r"--(\w+): #(\w+)", block)) for block in re.findall(r":root \{(.*?)\}", page, re.DOTALL)]
    assert len(schemes) == 2

    def luminance(colour: str) -> float:
        digits = colour if len(colour) == 6 else "".join(digit * 2 for digit in colour)
        values = np.array([int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)])
        linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    for colours in schemes:
        for text in ("ink", "soft", "model", "floor"):
            for ground in ("back", "box"):
                low, high = sorted(luminance(colours[name]) for name in (text, ground))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)
    assert page.count('<div class="box" tabindex="0" role="region" aria-label="') == page.count("<table>") > 5


def test_a_long_name_breaks_between_its_parts() -> None:
    names = ("minilm@layer=3,pooling=cls", "two", "floor")
    report = embedding_report(families(one=names[0]), spaces(*names), list(names[:2]), resamples=0)
    assert '<th scope="row">minilm@<wbr>layer=<wbr>3,<wbr>pooling=<wbr>cls</th>' in report_page(report)


def test_files_and_json(report: EmbeddingReport, tmp_path: Path) -> None:
    beside = write_report(report, tmp_path / "page.html")
    assert beside == tmp_path / "page.json" and (tmp_path / "page.html").read_text("utf-8") == report_page(report)
    found = json.loads(beside.read_text("utf-8"))
    assert found["findings"] == list(report.findings) and found["left_out"]["transfer"].startswith("expected")
    assert found["families"][2]["command"] == (
        "paraform evaluate robustness --model one --model two --data 'a folder' --resamples 400"
    )
    assert found["families"][2]["scores"][0]["signature"] == "unit:percent|model:one"
    assert found["families"][2]["differences"][0]["low"] < -5


def test_what_is_no_number_is_null_in_json() -> None:
    nothing = Fake("BShift", lambda system: row_mean("accuracy", np.full(4, np.nan), "a:b"), "default")
    given = Families((of_family("probing", nothing),), {})
    report = embedding_report(given, spaces("one"), ["one"], resamples=0)
    assert report.to_json()["families"][0]["scores"][0]["value"] is None


def test_what_a_model_has_seen_is_said() -> None:
    given = Families((of_family("robustness", Fake("PAWS", accuracy({"one": 0.5, "two": 0.5}))),), {})
    seen = embedded(
        lambda texts: np.ones((len(texts), 2), np.float32), ["a text"], name="one", signature=next(iter(SEEN))
    )
    report = embedding_report(given, [seen, *spaces("two")], ["one", "two"], resamples=0)
    assert (
        [note.partition(":")[0] for note in report.notes]
        == ["one"]
        == [x.split(":")[0] for x in report.to_json()["notes"]]
    )
    assert "sentences of STS15-images" in report_page(report)
    assert embedding_report(given, [*spaces("two"), seen], ["two"], resamples=0).notes == ()  # of a floor none


def test_style_takes_a_model_a_call_and_names_must_differ() -> None:
    family = of_family("style", data="quora/test.tsv")
    assert command_of(family, ["a", "b c"]).splitlines() == [
        "paraform evaluate style --model a --data quora/test.tsv",
        "paraform evaluate style --model 'b c' --data quora/test.tsv",
    ]
    with pytest.raises(ValueError, match="expected different names, all measured"):
        embedding_report(families(), spaces("one", "one"), ["one"])
    for models in (["two"], []):
        with pytest.raises(ValueError, match="expected different names, all measured"):
            embedding_report(families(), spaces("one"), models)
