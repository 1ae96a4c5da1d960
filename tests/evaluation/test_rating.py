"""A sheet hides whose the outputs are; answers survive a kill; metrics are those that hand and peer libraries give."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import math
import os
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from paraform.evaluation.rating import (
    Item,
    Key,
    Output,
    copies,
    make_sheet,
    read_key,
    read_outputs,
    read_sheet,
    write_key,
    write_outputs,
    write_sheet,
)
from paraform.evaluation.rating_answers import (
    ACCEPTABLE,
    SCALES,
    Answer,
    AnswerFile,
    parse_answer,
    read_answers,
    read_ratings,
)
from paraform.evaluation.rating_page import rating_page
from paraform.evaluation.rating_report import RatingReport, krippendorff_alpha, rating_report, spearman
from paraform.records import InputError
from paraform.score import Score

HOSTILE = "</script><script>alert('@sheet@')</script><img src=x onerror=alert(1)>&amp;\u2028"
# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", parts C and D: 4 observers, 12 units
PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def outputs(name: str, sources: int, of_each: int = 1) -> list[Output]:
    return [Output(f"s{i} ?", f"{name} {i} {j}", f"like {j} ?") for i in range(sources) for j in range(of_each)]


def answer(
    number: str, rater: str = "r", meaning: int = 3, fluency: int = 3, form: int | None = 3, **rest: str
) -> Answer:
    return Answer(number, rater, meaning, fluency, form, **({"acceptable": "no"} | rest))  # type: ignore[arg-type]  # its texts


def published() -> np.ndarray:
    rows = [line.split() for line in PUBLISHED.strip().splitlines()]
    return np.array([[float(mark.replace(".", "nan")) for mark in row] for row in rows])


def keyed(systems: dict[str, Sequence[Output]]) -> tuple[list[Item], Key]:
    return make_sheet(systems, seed=0)


def score_of(report: RatingReport, name: str, system: str) -> Score:
    scores = (*report.scores, *report.agreement)
    return next(score for score in scores if (score.name, score.system) == (name, system))


def test_outputs_come_as_lines_or_as_the_object_that_paraphrase_prints(tmp_path: Path) -> None:
    rows = [{"source": " a b ", "paraphrase": "c d", "content": 0.5}, {"source": "e", "skipped": True}]
    rows += [{"source": "a", "paraphrase": "b", "exemplar": "c"}]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "object.json").write_text(json.dumps({"paraphrases": rows, "model": "m"}) + "\n")
    expected = [Output("a b", "c d"), Output("e", None), Output("a", "b", "c")]
    assert read_outputs(tmp_path / "lines.jsonl") == read_outputs(tmp_path / "object.json") == expected
    write_outputs(expected, tmp_path / "again.jsonl")
    assert read_outputs(tmp_path / "again.jsonl") == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "a list; expected an object such as"),
        ('{"paraphrase": "a"}', "no 'source'; expected a text"),
        ('{"source": "a"}', "no 'paraphrase'; expected a text"),
        ('{"source": "a", "paraphrase": " "}', "the paraphrase is empty"),
        ('{"source": 3, "paraphrase": "a"}', "source is no text"),
        ('{"source": "a", "paraphrase": "\\ud800"}', "half a surrogate pair"),
        ('{"source": "a", "paraphrase": "b", "skipped": 1}', "skipped is '1'; expected true or false"),
        ('{"paraphrases": 3}', "paraphrases is '3'; expected a list"),
        ('{"paraphrases": [], "skipped": true}', "skipped is 'True'; expected a list"),
        ('{"paraphrases": [], "skipped": [{"reason": "code"}]}', "no 'source'; expected a text"),
    ],
)
def test_a_bad_line_of_outputs_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"source": "a", "paraphrase": "b"}\n' + line + "\n")
    with pytest.raises(InputError, match=f"^{path}:2: ") as error:
        read_outputs(path)
    assert message in str(error.value)


def test_a_sheet_does_not_say_whose_an_output_is(tmp_path: Path) -> None:
    systems = {"ours": outputs("x", 20), "rivals": outputs("y", 20)}
    orders = []
    for seed in (0, 0, 1):
        items, key = make_sheet(systems, controls={"copies": copies(systems)}, seed=seed)
        write_sheet(items, tmp_path / "sheet.jsonl")
        write_key(key, tmp_path / "sheet.key.json")
        for text in ((tmp_path / "sheet.jsonl").read_text(), rating_page(items)):
            assert not any(name in text for name in ("ours", "rivals", '"copies"', "systems"))
        assert read_sheet(tmp_path / "sheet.jsonl") == items and read_key(tmp_path / "sheet.key.json") == key
        orders.append([item.id for item in items])
    assert orders[0] == orders[1] != orders[2] and sorted(orders[1]) == sorted(orders[2]) != orders[1]
    swapped = make_sheet(dict(reversed(systems.items())), controls={"copies": copies(systems)}, seed=0)[0]
    assert [item.id for item in swapped] == orders[0]  # the order of the files does not show


def test_exemplars_are_shown_if_every_output_of_the_source_has_one(caplog: pytest.LogCaptureFixture) -> None:
    """Else form would be asked of one system's items alone, which says whose they are, and count in its quality."""
    ours = [Output("s ?", "a", "e ?"), Output("t ?", "b", "f ?"), Output("u ?", "c", "g ?")]
    rival = [Output("s ?", "x"), Output("t ?", "y", "h ?"), Output("u ?", None)]  # what was skipped hides nothing
    people = [Output("s ?", "p", "own ?"), Output("t ?", "q", "own ?"), Output("u ?", "r")]
    for systems in ({"ours": ours, "rival": rival}, {"rival": rival, "ours": ours}):
        items, key = make_sheet(systems, controls={"people": people})
        shown = {item.output: item.exemplar for item in items}
        assert shown == dict(a=None, x=None, p=None, b="f ?", y="h ?", q="own ?", c="g ?", r="g ?")
        assert "exemplars of 1 of 3 sources are not shown" in caplog.messages[-1]
    report = rating_report([answer(i.id, form=1 if i.exemplar else None) for i in items if "s" in i.source], key)
    assert score_of(report, "quality", "ours").value == score_of(report, "quality", "rival").value == 3
    caplog.clear()
    make_sheet({"ours": ours}, controls={"people": people})
    make_sheet({"rival": rival[:1]}, controls={"people": people[:1]})
    assert not caplog.messages
    assert make_sheet({"rival": rival[:1]}, controls={"people": people[:1]})[0][0].exemplar is None


def test_equal_outputs_are_rated_once_and_count_for_each_who_wrote_them() -> None:
    twice = [Output("s ?", "same"), Output("s ?", "same"), Output("t ?", "one")]
    items, key = keyed({"a": twice, "b": [Output("s ?", "same"), Output("t ?", None)]})
    assert len(items) == 2 and len(key.systems["a"]) == 3 and key.skipped == {"a": 0, "b": 1}
    marks = {"same": 2, "one": 5}
    report = rating_report([answer(i.id, meaning=marks[i.output], form=None) for i in items], key)
    assert score_of(report, "meaning", "a").value == pytest.approx((2 + 2 + 5) / 3)
    assert [score_of(report, name, "b").value for name in ("meaning", "rated", "skipped")] == [2, 1, 1]


def test_a_control_does_not_stand_out_and_shares_the_sample() -> None:
    systems = {"a": outputs("x", 9, 2), "b": outputs("y", 12)}
    people = [Output(f"s{i} ?", f"person {i}") for i in range(20)]
    items, key = make_sheet(systems, controls={"people": people, "copies": copies(systems)}, sample=4, seed=3)
    assert len({item.source for item in items}) == 4
    assert {name: len(ids) for name, ids in key.systems.items()} == {"a": 8, "b": 4, "people": 4, "copies": 4}
    assert all(item.exemplar for item in items)
    with pytest.raises(InputError, match="a sample of 10 sources; every system has 9"):
        make_sheet(systems, sample=10)
    with pytest.raises(InputError, match="none of c's 1 sources is another system's"):
        make_sheet({**systems, "c": [Output("other", "x")]})
    with pytest.raises(InputError, match="a control has the name of a system"):
        make_sheet(systems, controls={"a": people})
    _, whole = make_sheet(systems, controls={"people": people[15:]}, sample=4)  # other sentences' paraphrases
    assert len(whole.systems["people"]) == 5
    with pytest.raises(InputError, match="nobody has no output of the sources that are rated"):
        make_sheet(systems, controls={"nobody": []})
    with pytest.raises(InputError, match="every source was skipped by every system"):
        make_sheet({"a": [Output("s", None)], "b": [Output("s", None)]})
    assert copies({"a": [Output("s", "x")], "b": [Output("s", None, "like"), Output("s", "y", "later")]}) == [
        Output("s", "s", "like")
    ]


def test_a_sheet_or_key_that_was_changed_is_refused(tmp_path: Path) -> None:
    items, key = keyed({"a": outputs("x", 2)})
    write_sheet(items, tmp_path / "sheet.jsonl")
    text = (tmp_path / "sheet.jsonl").read_text()
    (tmp_path / "sheet.jsonl").write_text(text.replace('"x 0 0"', '"y 0 0"'))
    with pytest.raises(InputError, match=r"an item's id is '\w+'; expected the digest of its texts, '\w+'"):
        read_sheet(tmp_path / "sheet.jsonl")
    write_key(Key(key.items, {"a": (*key.systems["a"], "0123")}, key.skipped), tmp_path / "key.json")
    with pytest.raises(InputError, match="no item '0123'; expected each that a system names"):
        read_key(tmp_path / "key.json")


def test_what_a_rater_types_is_read_or_refused() -> None:
    item, plain = Item("1", "s", "o", "e"), Item("2", "s", "o")
    assert parse_answer(" 4 5 3 s\n", item, "r") == Answer("1", "r", 4, 5, 3, "strictly")
    assert parse_answer("453L two words", item, "r") == Answer("1", "r", 4, 5, 3, "leniently", "two words")
    assert parse_answer("15 no", plain, "r") == Answer("2", "r", 1, 5, None, "no")
    assert parse_answer("15 STRICTLY", plain, "r") == Answer("2", "r", 1, 5, None, "strictly")
    for words in ("4 5 s", "4 5 6 s", "453", "453sure", "0 5 3 s", "453 x", "4 5 3 ſ", "4 5 3 ſtrictly"):
        with pytest.raises(ValueError, match=r"expected meaning, fluency, form from 1 to 5, then s"):
            parse_answer(words, item, "r")
    with pytest.raises(ValueError, match="as in 4 5 s"):
        parse_answer("453s", plain, "r")


GOOD = {"id": "1", "rater": "r", "meaning": 4, "fluency": 5, "form": 3, "acceptable": "no"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"id": "9"}, "no item '9' in the sheet; expected one of its 2 ids"),
        ({"meaning": 6}, "meaning is 6; expected a whole number from 1 to 5"),
        ({"fluency": True}, "fluency is True; expected"),
        ({"form": None}, "form is None; expected"),
        ({"id": "2"}, "form of an item without an exemplar"),
        ({"acceptable": "yes"}, "acceptable is 'yes'; expected strictly, leniently or no"),
        ({"rater": ""}, "the rater is empty"),
        ({"colour": 1}, "unknown field 'colour'"),
    ],
)
def test_a_bad_answer_is_named(changed: dict[str, object], message: str, tmp_path: Path) -> None:
    path, items = tmp_path / "ratings.jsonl", {"1": Item("1", "s", "o", "e"), "2": Item("2", "s", "o")}
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD | changed) + "\n")
    with pytest.raises(InputError, match=f"^{path}:2: ") as error:
        read_answers(path, items)
    assert message in str(error.value)


@pytest.mark.parametrize("rest", ["", "\n\n", '{"id": "2", "rat', '{"id": "2", "rat\n\n', '{"id": "2"\0\0\n', "\0\0\n"])
def test_half_a_line_at_the_end_costs_no_answer(rest: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With no rest, only the end of the last line is missing: that answer is whole, and kept. Empty lines are none."""
    path, items = tmp_path / "ratings.jsonl", {"1": Item("1", "s", "o", "e"), "2": Item("2", "s", "o", "e")}
    path.write_text(json.dumps(GOOD) + ("\n" if rest else "") + rest)
    with AnswerFile(path, items) as answers:
        assert list(answers.answers) == [("r", "1")]
        answers.write(answer("2"))
        answers.write(answer("1", meaning=1, comment="long " * 3_999))
    assert len(caplog.records) == bool(rest.strip()) and all(
        "the last line, and left out" in r.message for r in caplog.records
    )
    assert read_answers(path, items) == [
        answer("2"),
        answer("1", meaning=1, comment="long " * 3_998 + "long"),
    ]  # the later answer counts
    path.write_text('{"id"\n' + json.dumps(GOOD) + "\n")
    with pytest.raises(InputError, match=f"^{path}:1: not JSON"):
        read_answers(path, items)


def test_a_file_that_holds_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    path, items = tmp_path / "notes.txt", {"1": Item("1", "s", "o", "e")}
    for notes in ("buy milk", "buy milk\n", json.dumps(GOOD) + "\n[1", "buy milk\n{"):
        path.write_text(notes)
        with pytest.raises(InputError, match=r"notes.txt:\d: not JSON"):
            AnswerFile(path, items)
        assert path.read_text() == notes
    path.write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"notes.txt:1: byte 4 is 0xE9"):
        AnswerFile(path, items)
    assert path.read_bytes() == b"caf\xe9"


def test_a_line_of_spaces_and_an_empty_file_hold_no_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, items = tmp_path / "ratings.jsonl", {"1": Item("1", "s", "o", "e")}
    path.write_text(json.dumps(GOOD) + "\n   ")
    with AnswerFile(path, items) as answers:
        answers.write(answer("1"))
    assert read_answers(path, items) == [answer("1")]
    path.write_text("")
    assert read_answers(path, items) == [] and not caplog.messages
    with AnswerFile(path, items) as answers:
        assert not answers.answers


def test_half_an_answer_may_end_within_a_character(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, items = tmp_path / "ratings.jsonl", {"1": Item("1", "s", "o", "e")}
    whole = json.dumps(GOOD).encode() + b"\n"
    path.write_bytes(whole + '{"id": "1", "rater": "é'.encode()[:-1])
    with AnswerFile(path, items):
        assert len(caplog.messages) == 1
    assert path.read_bytes() == whole


def test_an_answer_is_on_the_disk_or_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, synced = tmp_path / "ratings.jsonl", []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append((number, path.read_bytes().count(b"\n"))))
    with AnswerFile(path, {}) as answers:
        answers.write(answer("1"))
        answers.write(answer("2"))
        assert synced == [(answers._file.fileno(), 1), (answers._file.fileno(), 2)]
        answers._file.close()
        monkeypatch.setattr(answers, "_file", Full())
        with pytest.raises(OSError) as error:
            answers.write(answer("3"))
        assert error.value.errno == errno.ENOSPC and error.value.filename == str(path)
        assert ("r", "3") not in answers.answers and len(synced) == 2


class Full:
    """A file on a disk that has room for one byte."""

    def write(self, line: bytes) -> int:
        return 1

    def close(self) -> None:
        pass


def test_two_files_of_one_rater_are_refused(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(json.dumps(GOOD) + "\n")
    items = {"1": Item("1", "s", "o", "e")}
    with pytest.raises(InputError, match=r"rater 'r' is in .*a too; expected a name for each rater"):
        read_ratings([tmp_path / "a", tmp_path / "b"], items)
    assert len(read_ratings([tmp_path / "a", tmp_path / "a"], items)) == 1


def test_means_and_shares_are_those_made_by_hand() -> None:
    items, key = keyed({"a": outputs("x", 2, 2), "b": outputs("y", 2)})
    by_text = {item.output: item.id for item in items}
    answers = [
        answer(by_text["x 0 0"], meaning=1, fluency=2, form=3, acceptable="strictly"),
        answer(by_text["x 0 1"], meaning=2, fluency=4, form=3, acceptable="leniently"),
        answer(by_text["x 1 0"], meaning=5, fluency=5, form=5, acceptable="no"),
        answer(by_text["x 1 0"], "q", meaning=4, fluency=5, form=5, acceptable="strictly"),
        answer(by_text["y 1 0"], meaning=2, fluency=5, form=5, acceptable="no"),
    ]
    report = rating_report(answers, key, bad="b", good="b")
    expected = {
        "meaning": (1 + 2 + 4.5) / 3,
        "quality": (2 + 3 + (5 + 14 / 3) / 2) / 3,
        "strictly acceptable": (1 + 0 + 0.5) / 3,
        "acceptable": (1 + 1 + 0.5) / 3,
        "rated": 3,
        "not rated": 1,
    }
    for name, value in expected.items():
        assert score_of(report, name, "a").value == pytest.approx(value), name
    (difference,) = (found for found in report.comparisons if found.name == "meaning")
    assert difference.difference == pytest.approx(4.5 - 2)  # source 1 alone has an answer of both
    assert report.alarms == (
        "the sheet is no good: 0.00 of b is acceptable; expected 0.5 at least",
        "not every rater has rated every item",
    )
    assert {"raters: r: 4 of 6 items, q: 1 of 6 items"} <= set(report.table().splitlines())
    with pytest.raises(InputError, match="no system 'c' in the sheet; expected one of a, b"):
        rating_report(answers, key, bad="c")
    with pytest.raises(InputError, match="no answers"):
        rating_report([], key)


def test_copies_that_are_found_acceptable_are_an_alarm() -> None:
    items, key = keyed({"copies": outputs("x", 9)})
    one = [answer(item.id, acceptable="leniently" if at else "no") for at, item in enumerate(items)]
    assert "the sheet is no good: 0.89 of copies" in rating_report(one, key, bad="copies").alarms[0]
    assert rating_report(one, key, good="copies").alarms == ("one rater: how far another would agree is not known",)
    items, key = keyed({"x": outputs("x", 10)})
    for right, bad, good in ((1, False, True), (2, True, True), (4, True, True), (5, True, False)):
        some = [answer(item.id, acceptable="strictly" if at < right else "no") for at, item in enumerate(items)]
        for alarm, control in ((bad, {"bad": "x"}), (good, {"good": "x"})):
            found = rating_report(some, key, resamples=1, **control).alarms
            assert ("the sheet is no good" in found[0]) == alarm, (right, control)


def test_outputs_or_sources_are_drawn_anew() -> None:
    """Two sources, of 20 pairs with an exemplar each, have all 1 or all 5: means of two sources are 1, 3 or 5, and
    those of 40 pairs lie about 3 with a standard error of 2/√40. A pair's two outputs are drawn together."""
    some = [Output(f"s{i}", f"o{i}{j}{k}", f"e{j}") for i in range(2) for j in range(20) for k in range(2)]
    items, key = keyed({"a": some})
    answers = [answer(item.id, meaning=1 if item.source == "s0" else 5) for item in items]
    for unit, low, high, within in (("sources", 1, 5, 1e-9), ("outputs", 3 - 3.92 / 40**0.5, 3 + 3.92 / 40**0.5, 0.1)):
        found = score_of(rating_report(answers, key, resample=unit), "meaning", "a")  # type: ignore[arg-type]  # one of both units
        assert found.low == pytest.approx(low, abs=within) and found.high == pytest.approx(high, abs=within)
        assert f"resample:{unit}" in found.signature


def test_alpha_of_acceptable_is_of_three_verdicts_that_differ_and_no_more() -> None:
    """Two raters of every item, nominal: α = 1 − D_o / D_e, D_e the share of unlike pairs among all 2 I verdicts."""
    items, key = keyed({"a": outputs("x", 8)})
    verdicts = [(0, 0), (0, 1), (1, 1), (1, 0), (2, 2), (2, 2), (0, 2), (0, 0)]
    answers = [
        answer(item.id, rater, acceptable=ACCEPTABLE[verdict])
        for item, pair in zip(items, verdicts, strict=True)
        for rater, verdict in zip("pq", pair, strict=True)
    ]
    (alpha,) = (s for s in rating_report(answers, key, resamples=1).agreement if s.name == "α, acceptable")
    counts = np.bincount(np.ravel(verdicts))
    expected = 1 - (3 / 8) / (1 - (counts * (counts - 1)).sum() / (16 * 15))
    assert alpha.value == pytest.approx(expected) and alpha.signature.startswith("level:nominal")


def test_the_interval_is_that_of_scipys_bootstrap_over_sources() -> None:
    """Sources have one to three outputs, so that the mean is a ratio of two sums."""
    generator = np.random.default_rng(0)
    some = [Output(f"s{i}", f"o{i}{j}") for i in range(15) for j in range(1 + i % 3)]
    items, key = keyed({"a": some})
    marks = {item.id: int(generator.integers(1, 6)) for item in items}
    by_source: dict[str, list[int]] = {}
    for number in key.systems["a"]:
        by_source.setdefault(key.items[number].source, []).append(marks[number])
    sums, counts = (np.array([f(own) for own in by_source.values()]) for f in (sum, len))
    report = rating_report([answer(n, meaning=m, form=None) for n, m in marks.items()], key, seed=5, resamples=999)
    peer = stats.bootstrap(
        (sums, counts),
        lambda s, c: s.sum() / c.sum(),
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=999,
        rng=np.random.default_rng(5),
    ).confidence_interval
    found = score_of(report, "meaning", "a")
    assert (found.low, found.high) == (pytest.approx(peer.low), pytest.approx(peer.high))
    assert found.value == pytest.approx(np.mean(list(marks.values())))


def test_alpha_is_the_published_one() -> None:
    """0.815 ordinal and 0.743 nominal: Krippendorff 2011, parts C and D, through answers and directly."""
    marks = published()
    items, key = keyed({"a": [Output(f"s{i}", f"o{i}") for i in range(12)]})
    answers = [
        answer(items[unit].id, f"rater {row}", meaning=int(mark), form=None)
        for (row, unit), mark in np.ndenumerate(marks)
        if not math.isnan(mark)
    ]
    everyone = ", ".join(dict.fromkeys(a.rater for a in sorted(answers, key=lambda a: a.rater)))
    report = rating_report(answers, key, resamples=10)
    (alpha,) = (score for score in report.agreement if score.name == "α, meaning")
    assert alpha.value == pytest.approx(0.815, abs=5e-4) and sorted(alpha.system.split(", ")) == everyone.split(", ")
    assert krippendorff_alpha(marks, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert math.isnan(krippendorff_alpha(np.array([[3.0, 3.0], [3.0, np.nan]]), "ordinal"))
    one, two = marks[0, :9], marks[1, :9]
    (rho,) = (
        s for s in report.agreement if s.name == "ρ, meaning" and sorted(s.system.split(", ")) == ["rater 0", "rater 1"]
    )
    ranks = [stats.rankdata(side) for side in (one, two)]
    assert rho.value == pytest.approx(np.corrcoef(*ranks)[0, 1])  # Spearman's ρ is Pearson's r of the ranks
    assert math.isnan(spearman(np.array([1.0, 1.0]), np.array([1.0, 2.0])))


class Tags(HTMLParser):
    """The tags of a page, and the content of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open = tag
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open == "script":
            self.scripts.append(data)


def test_a_page_holds_hostile_texts_as_nothing_but_texts_and_loads_nothing() -> None:
    harmless, hostile = (
        Tags(rating_page(make_sheet({"a": [Output(text, text + "!", text)]})[0])) for text in ("a b", HOSTILE)
    )
    assert hostile.tags == harmless.tags and len(hostile.scripts) == 2
    sheet = json.loads(hostile.scripts[0])
    assert sheet["questions"] == {**{name: [1, 2, 3, 4, 5] for name in SCALES}, "acceptable": [*ACCEPTABLE]}
    assert list(sheet["questions"]) == [*SCALES, "acceptable"]
    (row,) = sheet["items"]
    assert (row["source"], row["output"], row["exemplar"]) == (HOSTILE, HOSTILE + "!", HOSTILE)
    assert hostile.scripts[1] == harmless.scripts[1]
    assert not any(word in hostile.scripts[1] for word in ("innerHTML", "insertAdjacent", "document.write", "eval"))
    (made,) = re.findall(r"function lines\(\) {(.*?)\n}", hostile.scripts[1], re.DOTALL)
    keys = {*re.findall(r"(\w+):", made), *re.findall(r"row\.(\w+) =", made), *sheet["questions"]}
    assert "for (const name of wanted(item)) row[name] =" in made and keys == set(Answer.__slots__)
    assert not {"src", "href", "srcset"} & {name for _, attributes in hostile.tags for name in attributes}
    (policy,) = (attributes["content"] for _, attributes in hostile.tags if "http-equiv" in attributes)
    assert policy is not None and policy.startswith("default-src 'none'; script-src 'sha256-") and "@" not in policy
    digest = hashlib.sha256(hostile.scripts[1].encode()).digest()
    assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy
