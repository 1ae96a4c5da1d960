"""Table 5: the sheet is made once, and the table is printed when there are ratings. The rows are one tiny model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paraform import corpora
from paraform.evaluation.rating import read_key, read_outputs, read_sheet
from paraform.records import InputError, Pair, Sentence
from paraform_papers.crl import table5 as crl_table5
from paraform_papers.rows import Row


@pytest.fixture
def given(question_pairs: Path, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The command line; whatever row is asked for, it is trained already."""
    (tmp_path / "quora").mkdir()
    (tmp_path / "quora" / "test.tsv").write_text(question_pairs.read_text())
    trained = shutil.copytree(tiny_run, tmp_path / "trained")  # which gets a mark
    monkeypatch.setattr(crl_table5, "row_of", lambda name, asked: Row(name, trained, lambda: None))
    return ["reproduce", "crl/table5", "--data", tmp_path, "--out", tmp_path / "runs", "--device", "cpu"]


def test_the_sheet_then_the_table(given: list[object], tmp_path: Path, command: Callable[..., Any]) -> None:
    folder = tmp_path / "runs" / "quora" / "smoke" / "table5-seed-0"
    done = command(*given, "--row", "full", "without CCL")
    assert done.status == 0 and f"paraform rate --sheet {folder / 'sheet.jsonl'} --out" in done.out
    wrote = {name: read_outputs(folder / f"{name}.jsonl") for name in ("full", "without-CCL")}
    assert all(len(own) == 50 and len({output.source for output in own}) == 2 for own in wrote.values())
    key, items = read_key(folder / "sheet.key.json"), read_sheet(folder / "sheet.jsonl")
    assert list(key.systems) == ["full", "without CCL"] and (folder / "sheet.html").is_file()
    made = (folder / "sheet.jsonl").stat().st_mtime_ns
    for rater, shift in (("a", 0), ("b", 1)):
        answers = [
            {"id": x.id, "rater": rater, "meaning": 1 + at % 3 + shift, "fluency": 2, "form": 3, "acceptable": "no"}
            for at, x in enumerate(items)
        ]
        (folder / f"ratings-{rater}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    (folder / "ratings-c.jsonl").touch()  # of a rater who opened the sheet and gave no answer
    found = json.loads(command(*given, "--row", "full", "without CCL", "--json").out)
    figures = [score["signature"] for score in found["scores"] if "low" in score]
    assert figures and all("resample:outputs" in settings for settings in figures)
    assert (folder / "sheet.jsonl").stat().st_mtime_ns == made
    values = {(score["name"], score["system"]): score["value"] for score in found["scores"] + found["agreement"]}
    assert values["ρ, meaning", "a, b"] == pytest.approx(1)
    expected = sum(1 + at % 3 + 0.5 for at, _ in enumerate(items)) / len(items)
    if len(key.systems["full"]) == len(items):  # no output of the tiny model came twice
        assert values["meaning", "full"] == pytest.approx(expected)
    assert values["meaning", "full"] == values["meaning", "without CCL"]  # the rows are one model
    done = command(*given)
    assert (
        done.status == 2 and "of full, without CCL; expected full, without CCL, without SCL, without both" in done.err
    )


def test_sources_are_of_two_clusters_and_exemplars_of_others(question_pairs: Path) -> None:
    pairs = corpora.clusters(pair for pair in corpora.read_pairs(question_pairs) if isinstance(pair, Pair))
    cluster_of = {side.text: pair.cluster for pair in pairs for side in (pair.source, pair.target)}
    drawn = crl_table5.draw(pairs, 0)
    assert len({cluster_of[source] for source, _ in drawn}) == 2 and len(set(drawn)) == 50
    assert all(cluster_of[source] != cluster_of[like] for source, like in drawn)
    assert drawn == crl_table5.draw(pairs, 0) != crl_table5.draw(pairs, 1)
    # A cluster's source is that of its first pair, and an exemplar has three words or more.
    first = {pair.cluster: pair.source.text for pair in reversed(pairs)}
    assert all(source == first[cluster_of[source]] for seed in range(9) for source, _ in crl_table5.draw(pairs, seed))
    short = [Pair(Sentence("s ?"), Sentence("a b"), cluster=0), Pair(Sentence("t ?"), Sentence("a b c"), cluster=1)]
    assert {crl_table5.draw(short, seed)[0] for seed in range(9)} == {("s ?", "a b c")}
    with pytest.raises(InputError, match="1 clusters of test pairs; expected at least two"):
        crl_table5.draw(pairs[:1], 0)
