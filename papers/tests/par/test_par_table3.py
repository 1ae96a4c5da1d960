"""PAR's Table 3 at scale smoke, on a few questions and a tiny encoder; what it prints of readings, by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_retrofit as tiny

from paraform.evaluation.bootstrap import bootstrap_interval
from paraform.records import InputError
from paraform.training import Result
from paraform_papers.par import rows as par_rows
from paraform_papers.par import table3 as par_table3
from paraform_papers.par.configs import Scale, config_of
from paraform_papers.par.reader.trainer import train_reader
from paraform_papers.par.reading import read_metrics
from paraform_papers.par.reading_table import reading_table
from paraform_papers.par.rows import pairs_of, row_of
from paraform_papers.par.squad import Answer, Question
from paraform_papers.tables import Asked, measured, run

WHO, DOES = ("the dog", "a cat", "my arm", "i"), ("runs", "sleeps", "works", "is big")


def asked(name: str, who: str, does: str) -> dict[str, Any]:
    return {"id": name, "title": who, "context": f"{who} {does} at home .", "question": f"who {does} ?",
            "answers": {"text": [who], "answer_start": [0]}}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "squad").mkdir(parents=True)
    (folder / "mrpc").mkdir()
    lines = [asked(f"q{at}", who, does) for at, (who, does) in enumerate((w, d) for w in WHO for d in DOES)]
    hostile = [{**line, "id": f"{line['id']}-turk{at}", "context": f"{line['context']} what {DOES[at]} ?"}
               for line in lines[:8] for at in range(2)]  # fmt: skip
    whole = []
    for who in WHO:
        paragraphs = [
            {
                "context": line["context"],
                "qas": [
                    {
                        "id": f"{line['id']}{copy}",
                        "question": line["question"],
                        "answers": [{"text": who, "answer_start": 0}],
                    }
                    for copy in "abc"
                ],
            }
            for line in lines
            if line["title"] == who
        ]
        whole.append({"title": who, "paragraphs": paragraphs})
    for name in ("train-part.json", "dev-part.json"):
        (folder / "squad" / name).write_text(json.dumps({"data": whole}), encoding="utf-8")
    for name, rows in (("add_sent.jsonl", [*lines[:8], *hostile]), ("add_one_sent.jsonl", [*lines[:8], *hostile[::2]])):
        (folder / "squad" / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    heads = [(who, does, number) for who in (*WHO, "who", "the big cat") for does in DOES for number in range(8)]
    pairs = [
        f"{int(number % 3 > 0)}\t1\t2\t{who} {does} {number} at home .\tat home , {number} {does} {who} ?\n"
        for who, does, number in heads
    ]
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    (folder / "mrpc" / "msr_paraphrase_train.txt").write_text(header + "".join(pairs), encoding="utf-8")
    return folder


def test_the_table_is_of_every_row_seed_and_set(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = tiny.folder_of(tmp_path / "encoder")
    table, given = par_table3.reading(encoder), Asked(data=data, out=tmp_path / "out", device="cpu")
    asked: list[tuple[list[Question], dict[str, Any]]] = []

    def noted(questions: list[Question], folder: Path, **how: Any) -> Result:
        asked.append((questions, how))
        return train_reader(questions, folder, **how)

    with monkeypatch.context() as patch:
        patch.setattr(par_table3, "train_reader", noted)
        run(table, given)
    made = measured(table, given)
    # Readers of a seed differ in what they read alone, and held-out articles of the training file choose the epoch.
    assert len({replace(how["config"], encoder="") for _, how in asked}) == 1
    assert len({how["config"].encoder for _, how in asked}) == 2
    assert [how["loop"].seed for _, how in asked] == [0, 0, 1, 1]
    assert len({replace(how["loop"], seed=0) for _, how in asked}) == 1
    for questions, how in asked:
        assert (questions, how["validation"]) == (asked[0][0], asked[0][1]["validation"])
        assert len(questions) == 30 and len(how["validation"]) == 10
        assert not {one.article for one in questions} & {one.article for one in how["validation"]}
    sets = {"AddSent", "AddOneSent", "dev-part", "AddSent, unchanged"}
    own = [one for one in made.scores if "printed" not in one.system]
    rows = {f"{encoder}{more}, seed {seed}" for more in ("", ", PAR (MRPC)") for seed in (0, 1)}
    assert {(one.system, one.subset, one.name) for one in own} == {
        (row, subset, name) for row in rows for subset in sets for name in ("EM", "F1")
    }
    assert all("trained:partial SQuAD, 30 questions" in one.signature for one in own)  # 40, less an article's
    adversarial = next(one for one in own if one.subset == "AddSent")
    assert "questions:4|variants:12|counted:worst F1|adversaries:4" in adversarial.signature
    unchanged = next(one for one in own if one.subset == "AddSent, unchanged")
    assert "questions:4|variants:4|counted:each|adversaries:0" in unchanged.signature
    assert [(one.value, one.subset) for one in made.scores if one.system.startswith("BiSAE-PAR")] == [
        (51.6, "AddOneSent"), (57.9, "AddOneSent"), (40.8, "AddSent"), (47.1, "AddSent"),
    ]  # fmt: skip
    assert len(made.more["differences"]) == 2 * 4 * 2 and len(made.more["over_seeds"]) == 2 * 4 * 2
    assert made.table() + "\n" == (tmp_path / "out" / "smoke" / "table3.md").read_text(encoding="utf-8")
    assert json.loads(json.dumps(made.to_json()))["scores"][0]["name"] == "EM"
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("vectors/*.npy")}
    assert len(before) == 2 * 3  # training, validation and test words of two encoders, for both seeds
    again = measured(table, replace(given, rows=("par",)))  # nothing is trained or encoded again
    assert [one for one in again.scores if one in made.scores] == list(again.scores) and not again.more["differences"]
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("vectors/*.npy")}
    size = replace(par_table3.SIZES["smoke"], tested_by={encoder: 2})  # of an encoder that reads slowly
    monkeypatch.setitem(par_table3.SIZES, "smoke", size)
    fewer = [one for one in measured(table, replace(given, rows=("par",))).scores if "printed" not in one.system]
    assert len(fewer) == 2 * 4 * 2 and all("|questions:2|" in one.signature for one in fewer)


def test_m_is_trained_as_a_row_of_the_other_tables(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, Any, int]] = []

    def train(pairs: Any, _: Path, *, config: Any, loop: Any, resume: bool) -> Result:
        asked.append((list(pairs), config, loop.seed))
        return Result(0, "finished", None, None, [])

    monkeypatch.setattr(par_rows, "train_retrofit", train)
    scales: tuple[Scale, ...] = ("smoke", "small", "full")
    for scale in scales:
        given = Asked(scale, data=data, out=data, seed=3, device="cpu")
        row = par_table3.matrix_row("mrpc default", given, "other")
        row.train()
        pairs, config, seed = asked.pop()
        assert config == row.config == replace(config_of("mrpc default", scale), encoder="other") and seed == 3
        assert pairs == pairs_of("mrpc default", scale, data) and len(pairs) == (160 if scale == "smoke" else 192)
        # of the tables' own encoder it is their very row, so that M is trained once for all
        own = par_table3.matrix_row("mrpc default", given, "minilm")
        assert own.folder == row_of("mrpc default", given).folder != row.folder


def test_rows_of_a_language_model_have_an_m_of_their_own_seed_from_the_other_tables(data: Path) -> None:
    names = ("smollm2 plain", "smollm2 par", "smollm2 par, further")
    rows = par_table3.TABLE.rows(Asked("small", data=data, out=data, rows=names, device="cpu"))
    assert [(row.name, row.seed) for row in rows] == [(name, seed) for seed in (0, 1) for name in names]
    folders = [Path(row.config.encoder).parts[-2:] for row in rows]
    for seed in (0, 1):
        before = [(f"seed-{seed}", f"smollm2-before-mrpc-{hinge}") for hinge in ("default", "further")]
        assert folders[3 * seed : 3 * seed + 3] == [("smollm2",), *before]
    assert len({replace(row.config, encoder="") for row in rows}) == 1


def test_rows_and_scales_that_are_none(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--scale long: par/table3 has smoke, small, full"):
        measured(par_table3.TABLE, Asked("long", data=data, out=tmp_path))
    with pytest.raises(InputError, match="row 'elmo'; expected one of plain; par; smollm2 plain"):
        measured(par_table3.TABLE, Asked(data=data, out=tmp_path, rows=("elmo",)))


def test_what_is_said_of_seeds_and_of_two_systems() -> None:
    questions = [Question(f"q{at}", "a", "who", "x", (Answer("x", 0),)) for at in range(4)]
    right = {(system, seed): count for (system, seed), count in zip(
        (("plain", 0), ("plain", 1), ("par", 0), ("par", 1)), (1, 2, 4, 1), strict=True
    )}  # fmt: skip
    found = {
        (system, seed, "set"): read_metrics(questions, {f"q{at}": "x" if at < count else "y" for at in range(4)})
        for (system, seed), count in right.items()
    }
    made = reading_table(found, dict.fromkeys(("plain", "par"), "epochs:3"), against={"par": "plain"}, resamples=50)
    assert made.more["over_seeds"][0] == "EM, set: plain 37.50 (25.00 to 50.00 over 2 seeds)"
    assert made.more["over_seeds"][3] == "F1, set: par 62.50 (25.00 to 100.00 over 2 seeds)"
    assert [(one["name"], one["first"], one["difference"]) for one in made.more["differences"]] == [
        ("EM", "par, seed 0", 75), ("F1", "par, seed 0", 75), ("EM", "par, seed 1", -25), ("F1", "par, seed 1", -25),
    ]  # fmt: skip
    first = made.scores[0]
    assert (first.value, first.system, first.subset) == (25, "plain, seed 0", "set")
    assert (first.low, first.high) == bootstrap_interval(found["plain", 0, "set"].exact, resamples=50)
    assert first.signature.startswith("epochs:3|questions:4")
    assert "- EM, set: plain 37.50" in made.table() and "par, seed 0 − plain, seed 0 = +75.00" in made.table()
