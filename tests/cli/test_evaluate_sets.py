"""`evaluate similarity` and `evaluate robustness`: what they print, and one line for what they cannot use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_judge import new_judge, write_base

import paraform

Command = Callable[..., Any]

COLUMNS = ("--columns", "left", "right", "gold")
SCORED = "left,right,gold\n" + "".join(
    f"{left},{right},{score}\n"
    for left, right, score in (
        ("a cat sat", "the cat sat down", 4.5),
        ("dogs bark", "a tree grows", 0.5),
        ("we sing songs", "they sing a song", 3.0),
        ("a red car", "the car is red", 4),
        ("nobody came", "no one is unscored", ""),
    )
)
LABELLED = "left,right,same\n" + "".join(
    f"how do i {verb} {topic} ?,{other} {topic} ?,{label}\n"
    for topic in ("chess", "yoga", "piano", "physics", "poker", "java")
    for verb, other, label in (
        ("learn", "how do i study", 1),
        ("play", "what is the best way to play", 1),
        ("learn", "who invented", 0),
        ("stop", "who invented", 0),
    )
)


def written(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def test_similarity_of_a_table(tmp_path: Path, command: Command) -> None:
    given = ["evaluate", "similarity", "--data", written(tmp_path, "own.csv", SCORED), "--resamples", 50]
    columns = ["--columns", "left", "right", "gold"]
    done = command(*given, *columns)
    assert (done.status, done.err) == (0, "")
    assert "own: pairs:4|domains:1|unscored:1\n" in done.out
    for system in ("minilm", "minilm@weights=random", "shared words", "TF-IDF"):
        assert f"Pearson, mean over domains   {system} " in done.out and f"\n{system}: similarity:" in done.out
    found = json.loads(command(*given, *columns, "--json").out)["scores"]
    assert len(found) == 4 * 6  # systems; Pearson and Spearman, in three ways
    assert all(score["low"] <= score["high"] and "unscored:1|similarity:" in score["signature"] for score in found)


def test_a_floor_that_there_is_none_of_is_told(tmp_path: Path, command: Command) -> None:
    words = written(tmp_path, "words.txt", "a 1 2\n")
    given = ["--data", written(tmp_path, "own.csv", SCORED), "--columns", "left", "right", "gold", "--resamples", 0]
    done = command("evaluate", "similarity", *given, "--model", words)
    assert done.status == 0 and done.err.count("\n") == 1
    assert done.err.startswith(f"paraform: no network with random weights beside {words}: weights=random: ")


def test_a_regression_is_trained_on_a_set_s_own_pairs(tmp_path: Path, command: Command) -> None:
    rows = [line.rsplit(",", 1)[0] + f",{place % 6}" for place, line in enumerate(SCORED.splitlines()[1:5])]
    for part in ("train", "dev", "test"):
        written(tmp_path, f"stsb-en-{part}.csv", "\n".join(rows) + "\n")
    given = ["evaluate", "similarity", "--data", tmp_path, "--floors", "words", "--resamples", 0, "--json"]
    found = json.loads(command(*given, "--trained", "default", "paper").out)["scores"]
    trained = {(score["system"], score["protocol"]): score for score in found if score["subset"] == "STS-B, trained"}
    assert {place for place in trained} == {
        (name, how) for name in ("minilm", "TF-IDF") for how in ("default", "paper")
    }
    assert "|loss:mse|" in trained["minilm", "paper"]["signature"]
    done = command(
        "evaluate", "similarity", "--data", written(tmp_path, "own.csv", SCORED), "--trained", "default", *COLUMNS
    )
    assert done.status == 2 and "no train, dev and test part of STS-B or SICK below" in done.err
    for content, said in (
        ("a,b,3\nc,d,\n", "1: no two scores"),
        ("a,b,1\nc,d,6\n", "2: the score is 6.0; expected 0 to 5"),
    ):
        written(tmp_path, "stsb-en-dev.csv", content)
        done = command(*given, "--trained", "default")
        assert done.status == 2 and f"stsb-en-dev.csv:{said}" in done.err


def test_robustness_of_a_table(tmp_path: Path, command: Command) -> None:
    path = written(tmp_path, "own.csv", LABELLED)
    given = ["--data", path, "--columns", "left", "right", "same", "--resamples", 20, "--floors", "words", "--json"]
    done = command("evaluate", "robustness", *given)
    assert (done.status, done.err) == (0, "")
    scores = json.loads(done.out)["scores"]
    found = {(score["subset"], score["system"], score["name"]): score for score in scores}
    subsets = ["own", "own-Easy", "own-Hard", "own retrieval", "own retrieval, least overlap"]
    assert list(dict.fromkeys(subset for subset, *_ in found)) == subsets
    assert len(found) == 3 * (3 + 3 + 3 + 3 + 3)
    hard = found["own-Hard", "TF-IDF", "AP"]
    assert 0 <= hard["low"] <= hard["value"] <= hard["high"] <= 100
    assert "|ties:one threshold|" in hard["signature"] and "|trees:syntax-" in hard["signature"]


def test_a_judge_reads_pairs_and_has_no_place_in_retrieval(tmp_path: Path, command: Command) -> None:
    model = new_judge(write_base(tmp_path / "base", "encoder"))
    paraform.save(model, tmp_path / "judge")
    path = written(tmp_path, "own.csv", LABELLED)
    given = ["evaluate", "robustness", "--data", path, "--columns", "left", "right", "same", "--resamples", 0]
    done = command(*given, "--floors", "words", "--json", "--judge", tmp_path / "judge")
    assert done.status == 0, done.err
    scores = [one for one in json.loads(done.out)["scores"] if one["system"] == str(tmp_path / "judge")]
    assert {one["subset"] for one in scores} == {"own", "own-Easy", "own-Hard"}
    assert all("similarity:says the same|" in one["signature"] for one in scores)
    wrong = command(*given, "--judge", "minilm")
    assert wrong.status == 2 and "--judge minilm: an encoder; expected a judge of meaning" in wrong.err


@pytest.mark.parametrize(
    ("kind", "name", "content", "columns", "said"),
    [
        ("similarity", "a.csv", "a,b,c\nx,y,nan\n", "a b c", "a.csv:2: the score is 'nan'; expected a finite number"),
        ("similarity", "a.csv", "a,b,c\nx,y,1\n", "a b d", "a.csv:1: no column 'd'; expected one of 'a', 'b', 'c'"),
        ("similarity", "a.csv", "a,b,c\nx,y,\n", "a b c", "a.csv:2: no two scores are different"),
        ("similarity", "a.csv", "a,b,c\nx,y,1\n", "a a c", "a.csv:1: column 'a' is named twice; expected columns that"),
        ("similarity", "none", "", "", "none: no such file"),
        ("robustness", "a.csv", "a,b,c\nx,y,1\n", "a b d", "a.csv:1: no column 'd'; expected one of 'a', 'b', 'c'"),
        ("robustness", "a.csv", "a,b,c\nx,y,1\n", "a b b", "a.csv:1: column 'b' is named twice; expected columns that"),
        ("robustness", "a.csv", "a,b,c\nx,y,1\nx,z,1\n", "a b c", "a.csv:2: label 1, as of all 2 pairs; expected"),
        ("robustness", "a.csv", "a,b,c\nx,y,2\n", "a b c", "a.csv:2: the label is '2'; expected 0 or 1"),
        ("robustness", "a.csv", "a,b,c\nx,y,1\n", "a b c", "a.csv:2: label 1 of the only pair; expected pairs of both"),
        ("robustness", "a.tsv", "a b\tc d\n", "", "a.tsv:1: 1 pair of paraphrases, all of one cluster; expected two"),
        ("robustness", "a.tsv", "a b\tA B!\na b\tc d\n", "", "a.tsv:1: 2 pairs of paraphrases, all of one cluster"),
        ("robustness", "a.csv", "a,b,c\nx,y,1\nx,z,1\nx,w,0\n", "a b c", "a.csv:2: 2 pairs of paraphrases, all of one"),
        ("robustness", "a.csv", "a,b,c\nx,x,1\nx,w,0\n", "a b c", "a.csv:2: no paraphrases but sentences with them"),
    ],
)
def test_bad_files(
    tmp_path: Path, command: Command, kind: str, name: str, content: str, columns: str, said: str
) -> None:
    path = written(tmp_path, name, content) if content else tmp_path / name
    done = command("evaluate", kind, "--data", path, *(["--columns", *columns.split()] if columns else []))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("paraform: error: ") and done.err.count("\n") == 1 and said in done.err


@pytest.mark.parametrize("kind", ["similarity", "robustness"])
def test_columns_are_those_of_a_file(tmp_path: Path, command: Command, kind: str) -> None:
    done = command("evaluate", kind, "--data", tmp_path, "--columns", "a", "b", "c")
    assert done.status == 2 and f"{tmp_path}: a folder; expected a file, if columns" in done.err


def test_two_sets_of_one_name(tmp_path: Path, command: Command) -> None:
    path = written(tmp_path, "own.csv", SCORED)
    done = command("evaluate", "similarity", "--data", path, path, "--columns", "left", "right", "gold")
    assert done.status == 2 and f"two sets are called 'own', of {path} and of {path}; expected" in done.err
    years = [tmp_path / name for name in ("STS12-en-test", "STS12-en-train")]
    for year in years:
        year.mkdir()
        written(year, "STS.input.a.txt", "a\tb\nc\td\n")
        written(year, "STS.gs.a.txt", "1\n2\n")
    done = command("evaluate", "similarity", "--data", tmp_path)
    assert done.status == 2 and f"two sets are called 'STS12', of {years[0]} and of {years[1]}; expected" in done.err


def test_tables_say_what_the_model_has_seen(tmp_path: Path, command: Command) -> None:
    given = ["evaluate", "similarity", "--data", written(tmp_path, "own.csv", SCORED), *COLUMNS, "--resamples", 0]
    done = command(*given, "--model", "minilm", "latent-compact", "--floors", "none")
    (note,) = [line for line in done.out.splitlines() if "not unseen" in line]
    assert note.startswith("minilm: trained, its card says")
