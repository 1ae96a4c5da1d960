"""`paraform paraphrase` without exemplars: what it says, what it leaves alone, and rows that stay rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paraform.jobs.rewording import drifted
from paraform.records import Candidate, Rewording

Command = Callable[..., Any]
QUESTION = "Can I use my card abroad?"
MOVIE, FILM = "The movies were great and the food was good.", "The films were great and the food was good."
OTHERS = ("??? !!", "Wo ist meine Karte geblieben?", "SELECT name FROM users; DROP TABLE users;", "BUY NOW CHEAP PILLS")


def object_of(done: Any) -> Any:
    assert done.status == 0, done.err
    return json.loads(done.out)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "intents.csv"
    path.write_text(f'id,text,intent\n7,"{QUESTION}",abroad\n8,Wo ist meine Karte geblieben?,lost\n')
    return path


def test_a_question_is_reworded_and_its_checks_are_shown(command: Command) -> None:
    found = object_of(command("paraphrase", QUESTION, "--num", "3", "--json"))
    rows = found["paraphrases"]
    assert 1 <= len(rows) <= 3 and found["skipped"] == []
    for row in rows:
        assert row["source"] == QUESTION and row["paraphrase"] not in (QUESTION, "")
        assert {"numbers", "names", "negation", "kind", "roles", "changed", "meaning", "fluent"} <= set(row["checks"])
        assert row["content"] == row["figures"]["content"] > 0.75 and all(row["checks"].values())
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    plain = command("paraphrase", QUESTION, "--num", "3")
    assert plain.out.splitlines() == [row["paraphrase"] for row in rows] and plain.err == ""


def test_another_model_is_asked_beside_the_rules(command: Command, tiny_run: Path) -> None:
    """What it decodes in the forms of its bank is nonsense, which the checks drop: the rules' rewordings are left."""
    rules = object_of(command("paraphrase", QUESTION, "--num", "99", "--json"))
    found = object_of(command("paraphrase", QUESTION, "--num", "99", "--model", tiny_run, "--beam", "2", "--json"))
    assert found["model"] == str(tiny_run) and rules["model"] == "rules"
    assert all(row in found["paraphrases"] for row in rules["paraphrases"])
    done = command("paraphrase", QUESTION, "--model", "minilm")
    assert done.status == 2 and "--model minilm: an encoder; expected a model that paraphrases" in done.err


def test_what_cannot_be_reworded_is_left_out_with_the_reason(command: Command) -> None:
    done = command("paraphrase", QUESTION, *OTHERS)
    assert [line.split(" → ")[0] for line in done.out.splitlines()] == [QUESTION]
    assert done.err.startswith("paraform: 4 of 5 texts left out: ")
    assert all(reason in done.err for reason in ("no words", "another language", "code", "shouting"))
    copied = command("paraphrase", QUESTION, *OTHERS, "--otherwise", "copy")
    assert [line.split(" → ")[1] for line in copied.out.splitlines()][1:] == list(OTHERS)
    assert "4 of 5 texts copied" in copied.err
    found = object_of(command("paraphrase", OTHERS[0], QUESTION, "--otherwise", "copy", "--json"))
    assert [row["source"] for row in found["paraphrases"]] == [OTHERS[0], QUESTION]
    assert (
        found["paraphrases"][0]["paraphrase"] == OTHERS[0]
        and found["paraphrases"][0].keys() == found["paraphrases"][1].keys()
    )
    assert [row["source"] for row in found["skipped"]] == [OTHERS[0]]


def test_a_text_whose_rewordings_are_dropped_is_left_out_with_the_reason(command: Command) -> None:
    done = command("paraphrase", QUESTION, "--min-content", 1, "--json", "--otherwise", "copy")
    found = object_of(done)
    assert [row["reason"] for row in found["skipped"]] == ["content below 1.0"]
    assert [row["paraphrase"] for row in found["paraphrases"]] == [QUESTION]
    assert "1 of 1 paraphrases dropped: 1 × content below 1.0" in done.err


def test_what_may_say_something_else_in_a_given_form_is_counted() -> None:
    outputs = [
        Candidate("Is it in Rome?", "", {"names": False, "numbers": True, "asked": False}, 0.9, {"content": 0.9}),
        Candidate("Who?", "", {"names": False}, 0.2, {"content": 0.2}),
        Candidate("Is Paris nice?", "", {"names": True}, 0.9, {"content": 0.75}),
        Candidate("Is is it in Paris?", "", {"fluent": False}, 0.9, {"content": 0.9}),
    ]
    found = drifted([Rewording("Is it in Paris?", tuple(outputs))])
    assert found == (3, {"names": 2, "content below 0.75": 1, "fluent": 1})
    assert drifted([Rewording("Is it in Paris?", (outputs[2],))]) == (0, {})


def test_rows_keep_their_line_and_their_other_columns(command: Command, table: Path) -> None:
    found = object_of(command("paraphrase", table, "--text-column", "text", "--json"))
    assert [(row["line"], row["row"]) for row in found["paraphrases"]] == [(2, {"id": "7", "intent": "abroad"})]
    assert [(row["line"], row["reason"]) for row in found["skipped"]] == [(3, "another language, or no sentence")]
    done = command("paraphrase", table, "--text-column", "utterance")
    assert done.status == 2 and "'id', 'text', 'intent'" in done.err


def test_a_cell_of_several_lines(command: Command, tmp_path: Path) -> None:
    """As it stands in JSON, in one line where a line is a row."""
    (tmp_path / "a.csv").write_text('text,id\n"Dear Bob,\n\nCan I pay by card?",1\nCan I go?,2\n')
    (row, _) = object_of(command("paraphrase", tmp_path / "a.csv", "--json"))["paraphrases"]
    assert (row["source"], row["paraphrase"][:11]) == ("Dear Bob,\n\nCan I pay by card?", "Dear Bob,\n\n")
    done = command("paraphrase", tmp_path / "a.csv")
    assert [line.split(" → ")[0] for line in done.out.splitlines()] == ["Dear Bob, Can I pay by card?", "Can I go?"]


def test_how_much_changes(command: Command) -> None:
    """A synonym is enough; of "much" there are four words at least."""
    for given in ([], ["--change", "little"]):
        done = command("paraphrase", MOVIE, *given)
        assert (done.status, done.out, done.err) == (0, f"{FILM}\n", "")
    done = command("paraphrase", MOVIE, "--change", "much")
    assert (done.status, done.out) == (0, "") and "1 its only rewording is hardly another" in done.err
    rows = {
        change: object_of(command("paraphrase", QUESTION, "--num", 9, "--change", change, "--json"))["paraphrases"]
        for change in ("little", "much")
    }
    edits = {change: [row["figures"]["edits"] for row in some] for change, some in rows.items()}
    assert min(edits["little"]) == 3 and min(edits["much"]) >= 4
    done = command("paraphrase", MOVIE, "--change", "tiny")
    assert (done.status, done.out) == (2, "") and "--change: tiny; expected one of little, much" in done.err


def test_terms_are_kept_that_are_given_or_stand_in_a_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("food\nMovies\n")
    (tmp_path / "free.txt").write_text("food\nmov\n")
    lost = "1 its only rewording lacks a term that was to be kept"
    for terms in (["movies"], ["food", "MOVIES"], [tmp_path / "kept.txt"], ["good", tmp_path / "kept.txt"]):
        done = command("paraphrase", MOVIE, "--change", "little", "--keep", *terms)
        assert (done.status, done.out) == (0, "") and lost in done.err, terms
    for terms in (["food"], ["food", "mov"], [tmp_path / "free.txt"]):
        assert command("paraphrase", MOVIE, "--change", "little", "--keep", *terms).out == f"{FILM}\n", terms
    for terms, said in (([""], "term 1: the text is empty"), ([tmp_path], "a folder"), (["no.txt"], "no such file")):
        done = command("paraphrase", MOVIE, "--keep", *terms)
        assert (done.status, done.out) == (2, "") and said in done.err


@pytest.mark.parametrize("given", [["--text-column", "said"], ["--format", "csv", "--text-column", "said"]])
def test_terms_in_a_file_are_lines_whatever_the_texts_are(command: Command, tmp_path: Path, given: list[str]) -> None:
    (tmp_path / "a.csv").write_text(f"id,said\n1,{MOVIE}\n")
    (tmp_path / "kept.txt").write_text("movies\n")
    done = command("paraphrase", tmp_path / "a.csv", *given, "--change", "little")
    assert done.out == f"{FILM}\n"
    done = command("paraphrase", tmp_path / "a.csv", *given, "--change", "little", "--keep", tmp_path / "kept.txt")
    assert (done.status, done.out) == (0, "") and "a term that was to be kept" in done.err, done.err
