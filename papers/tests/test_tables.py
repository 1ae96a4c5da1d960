"""The runner of tables, on a table of two rows whose training is counted and whose figure is a file's length."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paraform import manifest
from paraform.records import InputError
from paraform.score import Score
from paraform_papers import tables
from paraform_papers.rows import MARK, Row, digest_of, is_trained, kept, train_row
from paraform_papers.tables import Asked, Figures, Table, printed, run

ROWS = ("long", "short")


@dataclass(frozen=True)
class Config:
    """A model's, with a field that a former version had."""

    width: int = 3
    rate: float = 0.5
    removed: ClassVar[dict[str, object]] = {"old": 0}


@dataclass
class Fake:
    """A table, and what was done for it."""

    trained: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    stops: set[str] = field(default_factory=set)
    config: Config = Config()
    sizes: dict[Any, int] = field(default_factory=lambda: {"smoke": 1, "full": 9})
    every_seed: bool = False

    def row(self, name: str, asked: Asked) -> Row:
        folder = asked.place / f"seed-{asked.seed}" / name

        def train() -> None:
            self.trained.append(name)
            (folder / "last").mkdir(parents=True, exist_ok=True)
            written = folder / "last" / manifest.NAME
            written.write_text((written.read_text() if written.exists() else "") + name)
            if name in self.stops:
                raise KeyboardInterrupt

        return Row(name, folder, train, self.config, lambda: {"seeds": (asked.seed, 1)}, asked.seed)

    def rows(self, asked: Asked) -> list[Row]:
        return [self.row(name, asked) for name in asked.chosen(ROWS, ROWS)]

    def measure(self, asked: Asked, rows: Sequence[Row]) -> Figures:
        self.measured += [row.label for row in rows]
        found = [Score("size", float(len((row.folder / "last" / manifest.NAME).read_text())), "unit:letters", row.label)
                 for row in rows]  # fmt: skip
        beside = {"differences": [], "text": "a sentence", "none": float("nan")}
        return Figures((printed("size", 5.0, "its own", "long"), *found), beside)

    @property
    def table(self) -> Table:
        return Table("some/fake", "A fake", self.sizes, self.rows, self.measure, ("CORPUS",), self.every_seed)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.setattr(manifest, "revision", lambda: "a" * 40)
    (tmp_path / "data" / "words").mkdir(parents=True)
    (tmp_path / "data" / "words" / "train.txt").write_text("a\n")
    return Asked(corpus="words", data=tmp_path / "data", out=tmp_path / "runs")


def test_what_is_missing_is_trained_and_what_is_done_is_kept(asked: Asked) -> None:
    fake = Fake()
    first = run(fake.table, replace(asked, rows=("long",)))
    assert fake.trained == ["long"] and first.text.endswith("\n\ntrained now: long, seed 0")
    whole = run(fake.table, asked)
    assert fake.trained == ["long", "short"] and whole.text.endswith(
        "\n\ntrained before: long, seed 0\ntrained now: short, seed 0"
    )
    assert [score["value"] for score in whole.figures["scores"]] == [5, 4, 5]  # printed; letters that were written
    again = run(fake.table, asked)
    assert fake.trained == ["long", "short"] and again.figures == whole.figures
    assert fake.measured == ["long, seed 0", *(f"{name}, seed 0" for name in ROWS)]  # the last call measured nothing
    assert again.text.endswith("\n\ntrained before: long, seed 0; short, seed 0")
    with pytest.raises(InputError, match="row 'none'; expected one of long, short"):
        run(fake.table, replace(asked, rows=("none",)))
    with pytest.raises(InputError, match="--scale long: some/fake has smoke, full"):
        run(fake.table, replace(asked, scale="long"))


def test_ctrl_c_leaves_a_run_that_the_next_call_goes_on_with(asked: Asked) -> None:
    fake = Fake(stops={"short"})
    with pytest.raises(KeyboardInterrupt):
        run(fake.table, asked)
    assert fake.trained == ["long", "short"] and fake.measured == [] and not list(asked.place.glob("*.json"))
    assert [is_trained(row) for row in fake.rows(asked)] == [True, False]
    fake.stops.clear()
    found = run(fake.table, asked)
    assert fake.trained == ["long", "short", "short"]
    assert [score["value"] for score in found.figures["scores"]] == [5, 4, 10]  # it went on behind what was there


def test_each_thing_that_figures_depend_on_measures_anew(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake()

    def measured() -> bool:
        before = len(fake.measured)
        run(fake.table, asked)
        return len(fake.measured) > before

    def once() -> None:
        assert measured() and not measured()

    once()
    fake.sizes["smoke"] = 2
    once()
    (asked.data / "words" / "train.txt").write_text("b\n")
    once()
    monkeypatch.setenv("PARAFORM_PRODUCTS", "bfloat16")
    once()
    (asked.place / "seed-0" / "long" / "last" / manifest.NAME).write_text("other weights")
    once()
    kept_in = asked.place / "fake.json"
    kept_in.write_text(kept_in.read_text(encoding="utf-8")[:-9], encoding="utf-8")  # no JSON any more
    once()
    monkeypatch.setattr(manifest, "revision", lambda: "b" * 40)
    once()
    monkeypatch.setattr(manifest, "versions", lambda: {"torch": "other"})
    once()
    monkeypatch.setattr(manifest, "revision", lambda: "b" * 40 + "-dirty")
    assert measured() and measured()  # code that no commit has
    assert fake.trained == ["long", "short", "long"]  # the weights that were replaced, and no others


def test_the_figures_are_data(asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with its settings and the paper's beside them; nothing that may be a corpus's text."""
    results = tmp_path / "results" / "fake.json"
    fake = Fake()
    run(fake.table, replace(asked, seed=3), results)
    found = json.loads(results.read_text(encoding="utf-8"))
    assert found["command"] == "paraform reproduce some/fake --scale smoke --corpus words --seed 3"
    assert (found["scale"], found["seed"]) == ("smoke", 3)
    assert found["data"] == {"words": digest_of(asked.data / "words")}
    (long,) = found["rows"]["long, seed 3"]
    assert (long["name"], long["value"], long["signature"]) == ("size", 4, "unit:letters")
    (paper,) = found["paper"]["long"]
    assert (paper["value"], paper["signature"]) == (5, "as printed, of its own")
    assert found["differences"] == [] and not {"text", "figures"} & found.keys()
    assert (asked.place / "fake-seed-3.md").read_text() == fake.measure(
        asked, fake.rows(replace(asked, seed=3))
    ).table() + "\n"
    run(fake.table, replace(asked, seed=3), results)  # the same again
    monkeypatch.setattr(tables, "_results_of", lambda *_: results)
    before = results.read_bytes()
    run(fake.table, asked)  # a smoke run without the option writes no results
    with pytest.raises(InputError, match=r"holds .*some/fake --scale smoke .*, and would get .*full"):
        run(fake.table, replace(asked, scale="full"))
    assert not (asked.out / "words" / "full").exists()  # said before anything was trained
    run(fake.table, replace(asked, scale="full", rows=("long",)))  # nor does a part of the table
    results.write_text("mine")
    with pytest.raises(InputError, match="holds no table's figures, and would get"):
        run(fake.table, asked, results)
    results.write_bytes(before)
    whole = json.loads((asked.place / "fake.json").read_text(), parse_constant=_refuse)  # JSON has no NaN
    run(fake.table, replace(asked, rows=("long",)))  # stands beside the whole
    assert json.loads((asked.place / "fake.json").read_text()) == whole
    assert (asked.place / "fake-long.json").is_file()
    assert whole["figures"]["none"] is None and whole["text"]
    results.unlink()
    run(fake.table, replace(asked, scale="full"))
    assert json.loads(results.read_text())["scale"] == "full"


def test_a_tables_results_lie_in_the_checkout() -> None:
    for seed, name in ((0, "some-fake-words"), (2, "some-fake-words-seed-2")):
        path = tables._results_of(Fake().table, Asked(corpus="words", seed=seed))
        assert path == Path(__file__).parents[1] / "results" / f"{name}.json"


def test_rows_of_every_seed_are_measured_that_are_trained(asked: Asked) -> None:
    fake = Fake(every_seed=True)
    run(fake.table, replace(asked, seed=2))
    fake.measured.clear()
    run(fake.table, replace(asked, rows=("short",)))
    assert fake.measured == ["short, seed 0", "short, seed 2"]


def test_of_many_rows_the_files_name_is_cut_and_no_other_rows() -> None:
    of = [tables.name_of(Fake().table, Asked(rows=("long",) * 60 + last)) for last in ((), ("short",), ("long",))]
    assert len(set(of)) == 3 and all(len(name) < 200 and name.startswith("fake-long-long") for name in of)
    assert tables.name_of(Fake().table, Asked(rows=("a b, c",), seed=2)) == "fake-a_b_c-seed-2"


def test_a_mark_holds_for_what_it_was_set_for(asked: Asked) -> None:
    fake = Fake()
    row = fake.row("long", asked)
    assert not is_trained(row) and train_row(row) and is_trained(row) and not train_row(row)
    mark = row.folder / MARK
    good = mark.read_text()
    assert not is_trained(replace(row, config=Config(4))) and not is_trained(replace(row, about=lambda: {"seeds": 1}))
    for spoilt in (b"", b"{", b"\xff\x00", b"[]", b"{}"):  # a kill, or another hand
        mark.write_bytes(spoilt)
        assert not is_trained(row)
    # A field that the config lost since, or gained, as in resuming.
    value = json.loads(good)
    for config, holds in (({"width": 3, "old": 0}, True), ({"width": 3, "old": 1}, False), ({"width": 9}, False)):
        mark.write_text(json.dumps({**value, "config": config}))
        assert is_trained(row) == holds
    # Marks of version 0.1.0: the config's fields beside the others, and no word of weights.
    mark.write_text(json.dumps({"width": 3, "rate": 0.5, "seeds": [0, 1]}))
    assert is_trained(row)
    with pytest.raises(InputError):
        train_row(replace(row, config=Config(4), train=_refuse))
    assert not mark.exists()  # it could not tell whether the weights are still those
    mark.write_text(good)
    with pytest.raises(InputError):
        train_row(replace(row, config=Config(4), train=_refuse))
    assert is_trained(row)  # what was refused has changed nothing
    (row.folder / "last" / manifest.NAME).write_text("other weights")
    assert not is_trained(row)


def _refuse(*_: object) -> None:
    raise InputError("another run")


def test_each_changed_setting_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "revision", lambda: "a" * 40)
    calls: list[int] = []

    def measured(**of: Any) -> bool:
        before = len(calls)
        found = kept(tmp_path / "kept.json", of, lambda: {"call": calls.append(1) or len(calls), "none": float("nan")})
        assert found["call"] == len(calls) and found["none"] != found["none"]
        return len(calls) > before

    assert measured(samples=128, seed=0) and not measured(seed=0, samples=128)
    for other in ({"samples": 64, "seed": 0}, {"samples": 128, "seed": 1}, {"samples": 128}):
        assert measured(**other) and not measured(**other)
    assert measured(samples=128, seed=0)  # the file has one report


def test_a_column_for_each_set_and_a_line_for_each_system() -> None:
    found = Figures(
        (
            Score("Pearson", 0.5, "rows:3|similarity:cosine|model:a", "a", "mean", "STS"),
            Score("Pearson", 0.7, "rows:3|states:own|model:b", "b", "mean", "SICK"),
        ),
        lines=("a − b",),
        text="to read",
        by_set=True,
    ).table("markdown")
    assert "| Pearson, mean | a | 0.50 |" in found and "- a: `similarity:cosine|model:a`" in found
    assert "- b: `states:own|model:b`" in found and found.endswith("- a − b\n\nto read")
