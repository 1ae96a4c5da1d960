"""SQuAD's JSON and the adversarial lines, as they are distributed, and what is none of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paraform.records import InputError
from paraform_papers.par.squad import Answer, Question, drawn, each_once, read_squad

CONTEXT = "The dog “Rex” ran home. It slept."


def squad(**changes: Any) -> dict[str, Any]:
    """One question in SQuAD's layout; changes are of the question."""
    asked = {"id": "a1", "question": "Who ran?", "answers": [{"text": "The dog", "answer_start": 0}]} | changes
    return {"version": "1.1", "data": [{"title": "Dogs", "paragraphs": [{"context": CONTEXT, "qas": [asked]}]}]}


def line(**changes: Any) -> dict[str, Any]:
    """The same question as a line."""
    answers = {"text": ["The dog", "dog"], "answer_start": [0, 4]}
    return {"id": "a1", "title": "Dogs", "context": CONTEXT, "question": "Who ran?", "answers": answers} | changes


def write(path: Path, *values: object) -> Path:
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return path


def test_both_layouts(tmp_path: Path) -> None:
    one = Question("a1", "Dogs", "Who ran?", CONTEXT, (Answer("The dog", 0),))
    assert list(read_squad(write(tmp_path / "a.json", squad()))) == [one]
    hostile = line(id="a1-high-conf-turk0", context=CONTEXT + " The cat sat.")
    found = list(read_squad(write(tmp_path / "a.jsonl", line(), hostile)))
    assert [question.original for question in found] == ["a1", "a1"]
    assert found[0].answers == (Answer("The dog", 0), Answer("dog", 4)) and found[1].context.endswith("sat.")
    bare = squad()
    del bare["data"][0]["title"]  # as some versions have it
    assert next(read_squad(write(tmp_path / "b.json", bare))).article == "article 0"
    (tmp_path / "bom.json").write_text("\ufeff" + json.dumps(squad()), encoding="utf-8")
    assert list(read_squad(tmp_path / "bom.json")) == [one]


def without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: field for key, field in value.items() if key != name}


IN_JSON: dict[str, tuple[object, str]] = {
    "no object": ([], "bad.json: '[]'; expected an object with 'data'"),
    "no data": ({}, "bad.json: no 'data'; expected a list"),
    "nothing": ({"data": []}, "bad.json: no question; expected SQuAD's"),
    "article": ({"data": [3]}, "bad.json: data[0]: '3'; expected an object with 'paragraphs'"),
    "title": ({"data": [{"title": 3, "paragraphs": []}]}, "bad.json: data[0]: title is '3'; expected a text"),
    "id": (squad(id=7), "data[0].paragraphs[0].qas[0]: id is '7'; expected a text"),
    "no id": (squad(id=""), "data[0].paragraphs[0].qas[0]: the id is empty"),
    "place": (squad(answers=[{"text": "The dog", "answer_start": 1}]), "answer 'The dog' at character 1; expected a"),
    "before": (squad(answers=[{"text": "slept.", "answer_start": -6}]), "answer 'slept.' at character -6"),
    "behind": (squad(answers=[{"text": "home", "answer_start": 10**30}]), "answer 'home' at character 1000000"),
    "white": (squad(answers=[{"text": " ", "answer_start": 3}]), "answer ' ' at character 3"),
    "true": (
        squad(answers=[{"text": "The", "answer_start": False}]),
        "answer_start is 'False'; expected a whole number",
    ),
    "squad 2": (squad(answers=[], is_impossible=True), "no answers; expected at least one, as SQuAD 1.1 has"),
    "NUL": (squad(question="who\0"), "the question holds a NUL"),
    "surrogate": (squad(question="who\ud800"), "the question holds a NUL or half a surrogate pair"),
    "long": (squad(question="who " * 9000), "the question has 36,000 characters; expected at most 20,000"),
}
IN_LINES: dict[str, tuple[list[object], str]] = {
    "twice": ([line(), line()], "bad.jsonl:2: id 'a1' a second time"),
    "starts": ([line(answers={"text": ["a"], "answer_start": []})], "bad.jsonl:1: 1 answers with 0 starts"),
    "none": ([line(answers={"text": [], "answer_start": []})], "bad.jsonl:1: no answers"),
    "number": ([line(answers={"text": [3], "answer_start": [0]})], "bad.jsonl:1: answer '3' at character 0"),
    "true": ([line(answers={"text": ["The"], "answer_start": [False]})], "answer 'The' at character False"),
    "list": ([[1]], "bad.jsonl:1: '[1]'; expected an object with 'answers'"),
    "no title": ([without(line(), "title")], "bad.jsonl:1: no 'title'; expected a text"),
}


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(read_squad(path))
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("case", IN_JSON)
def test_json_that_is_none_of_squads(case: str, tmp_path: Path) -> None:
    value, said = IN_JSON[case]
    assert said in refused(write(tmp_path / "bad.json", value))


@pytest.mark.parametrize("case", IN_LINES)
def test_lines_that_are_none_of_squads(case: str, tmp_path: Path) -> None:
    values, said = IN_LINES[case]
    assert said in refused(write(tmp_path / "bad.jsonl", *values))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "bad.json:1: not JSON"),
        (b'{"data": [', "bad.json:1: not JSON"),
        (b"\xff\xfe{}", "expected SQuAD's JSON"),
        (b"[" * 100_000, "expected SQuAD's JSON"),
        (b'{"data": ' + b"9" * 10_000 + b"}", "expected SQuAD's JSON"),
    ],
)
def test_files_that_cannot_be_read(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    assert said in refused(tmp_path / "bad.json")


def test_no_file(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "no.json")
    assert "no such file" in refused(tmp_path / "no.jsonl")
    (tmp_path / "folder.json").mkdir()
    assert "expected SQuAD's JSON" in refused(tmp_path / "folder.json")


def test_originals_are_drawn_with_their_variants() -> None:
    questions = [
        Question(f"q{at % 5}{more}", "a", "who", "x", (Answer("x", 0),)) for at in range(5) for more in ("", "-b")
    ]
    some = drawn(questions, 2)
    assert len(some) == 4 and len({one.original for one in some}) == 2
    assert some == [one for one in questions if one in some] and some == drawn(questions, 2)
    assert drawn(questions, 0) == drawn(questions, 9) == questions


def test_questions_of_several_files_come_once() -> None:
    first, second = (Question(name, "a", "who", "x", (Answer("x", 0),)) for name in ("q1", "q1-b"))
    assert each_once([[second], [first, second]]) == [second, first]
    elsewhere = Question("q1", "a", "who", "x y", (Answer("x", 0),))
    with pytest.raises(InputError, match="question 'q1' is on two contexts"):
        each_once([[first], [elsewhere]])


def test_the_distributed_files(data: Path) -> None:
    """As many as their README says; 1,000 questions have 2,560 adversarial variants, or 787."""
    counts = {"train-part.json": 11_877, "dev-part.json": 4_961, "add_sent.jsonl": 3_560, "add_one_sent.jsonl": 1_787}
    for name, count in counts.items():
        found = list(read_squad(data / "squad" / name))
        assert len(found) == count
        if name.endswith(".jsonl"):
            assert len({one.original for one in found}) == sum(one.name == one.original for one in found) == 1_000
