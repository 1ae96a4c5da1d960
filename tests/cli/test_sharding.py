"""`augment`, `paraphrase` and `same` with `--out FOLDER`: the rows of one process, whole or absent, gone on with."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraform.records import Candidate, InputError, Rewording
from paraform.rewording.reworder import Reworder

Command = Callable[..., Any]

TEXTS = [
    "Can I use my card abroad?",
    "Wo ist meine Karte?",
    "How do I top up my account?",
    "Is it possible to use my card abroad?",
    "The movies were great and the food was good.",
    "Why was I charged twice?",
    "How can I get a new card?",
]
PAIRS = [("A cat sleeps.", "A cat is asleep."), ("A dog.", "It rains."), ("He left.", "He has left."), ("a b", "a b")]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of four rows, made in parts of two."""
    monkeypatch.setattr("paraform.jobs.setting.SHARD", 4)
    monkeypatch.setattr(import_module("paraform.cli.augment"), "PART", 2)
    monkeypatch.setattr("paraform.jobs.rewording.PART", 2)


def table(folder: Path, name: str) -> Path:
    """A table that is not as one would write it: other line ends, quoted line breaks, numbers, no last line end."""
    path = folder / name
    if name.endswith(".csv"):
        rows = [
            f'{number},"{text}",\n' if number != 3 else f'3,"{text[:2]}\n{text[2:]}",x\n'
            for number, text in enumerate(TEXTS)
        ]
        path.write_bytes(("\ufeffid,text,label\n" + "".join(rows)).replace("\n", "\r\n").removesuffix("\r\n").encode())
    elif name.endswith(".tsv"):
        path.write_text("text\tid\n" + "".join(f"{text}\t{number}\n" for number, text in enumerate(TEXTS)))
    else:
        rows = [f'{{"n":0.{number}0, "text": {json.dumps(text)}}}' for number, text in enumerate(TEXTS)]
        path.write_text("\n".join(rows))
    return path


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def joined(folder: Path, suffix: str, header: int) -> bytes:
    """The shards one after another, the header of the first alone."""
    parts = [path.read_bytes() for path in sorted(folder.glob(f"*{suffix}"))]
    return parts[0] + b"".join(part.split(b"\n", header)[-1] for part in parts[1:])


@pytest.mark.parametrize(("name", "header"), [("a.csv", 1), ("a.tsv", 1), ("a.jsonl", 0)])
@pytest.mark.parametrize("more", [[], ["--no-mark", "--per-row", 3, "--wrapped"], ["--no-source", "--seed", 2]])
def test_augment_the_rows_of_one_process(
    name: str, header: int, more: list[Any], tmp_path: Path, command: Command, inline: None
) -> None:
    path, out = table(tmp_path, name), tmp_path / f"one{Path(name).suffix}"
    one = command("augment", path, *more, "--out", out)
    done = command("augment", path, *more, "--out", tmp_path / "shards")
    assert one.status == done.status == 0, one.err + done.err
    assert done.out == f"{tmp_path / 'shards'}: 2 shards ({Path(name).suffix}) of 7 rows and their rewordings\n"
    assert one.err.replace("rewording, part 4\n", "") == done.err and "7 rows, " in done.err
    assert joined(tmp_path / "shards", Path(name).suffix, header) == out.read_bytes()
    before = shards(tmp_path / "shards")
    again = command("augment", path, *more, "--out", tmp_path / "shards")
    assert (again.status, again.out, again.err) == (0, done.out, done.err) and shards(tmp_path / "shards") == before


class Fake:
    """Says of each text what the table has."""

    says: ClassVar[dict[str, list[str]]] = {
        "a b": ["one", "e f"],
        "c d": ["one", "two"],
        "e f": ["two", "three"],
        "g h": ["three", "TWO!", "four"],
    }
    calls: list[tuple[list[str], int]]

    def reword(self, sources: Sequence[str], *, seed: int, **how: Any) -> list[Rewording]:
        self.calls.append((list(sources), seed))
        every = ((source, self.says.get(source, [])) for source in sources)
        return [
            Rewording(source, tuple(Candidate(text, "", {}, 1.0) for text in texts), "" if texts else "nothing")
            for source, texts in every
        ]


@pytest.mark.parametrize("mark", [[], ["--no-mark", "--no-source"]])
def test_no_text_comes_twice_in_different_shards_though_they_are_made_at_different_times(
    mark: list[str], tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was a rewording in a shard before is none in one after, when any of them is made again."""
    fake = Fake()
    fake.calls = []
    augment = import_module("paraform.cli.augment")
    monkeypatch.setattr(augment, "load_reworder", lambda options: fake)
    monkeypatch.setattr("paraform.jobs.augmenting.default_reworder", lambda *_, **__: fake)
    monkeypatch.setattr("paraform.jobs.setting.SHARD", 1)
    monkeypatch.setattr(augment, "PART", 1)
    (tmp_path / "a.csv").write_text("text,label\na b,x\nc d,y\ni j,z\ne f,x\ng h,x\n")
    given = ["augment", tmp_path / "a.csv", "--label-column", "label", *mark]
    one = command(*given, "--out", tmp_path / "one.csv")
    fake.calls.clear()
    first = command(*given, "--out", tmp_path / "shards", "--seed", 0)
    assert "3 rewordings left out" not in first.err and first.err in one.err
    assert fake.calls == [(["a b"], 0), (["c d"], 1), (["i j"], 2), (["e f"], 3), (["g h"], 4)]
    assert joined(tmp_path / "shards", ".csv", 1) == (tmp_path / "one.csv").read_bytes()
    before = shards(tmp_path / "shards")
    for gone in ([1], [0, 3], [4], [0, 1, 2, 3, 4]):
        for number in gone:
            (tmp_path / "shards" / f"{number:06d}.csv").unlink()
        fake.calls.clear()
        assert command(*given, "--out", tmp_path / "shards").err == first.err
        assert [seed for _, seed in fake.calls] == gone and shards(tmp_path / "shards") == before


def test_paraphrase_has_the_fields_of_json(tmp_path: Path, command: Command, inline: None) -> None:
    for path in (tmp_path / "texts.txt", table(tmp_path, "a.csv")):
        if path.suffix == ".txt":
            path.write_text("".join(f"{text}\n" for text in TEXTS))
        for more in (["--num", 2], ["--otherwise", "copy"]):
            one = json.loads(command("paraphrase", path, *more, "--json").out)
            folder, file = tmp_path / f"{path.stem}{more[1]}", tmp_path / f"{path.stem}{more[1]}.jsonl"
            done = command("paraphrase", path, *more, "--out", folder)
            said = command("paraphrase", path, *more, "--out", file)
            assert done.status == 0 and done.err == said.err and "of 7 texts " in done.err
            count = sum(line["source"] != line["paraphrase"] for line in one["paraphrases"])
            assert said.out == f"{file}: {count} paraphrases of 7 texts\n"
            assert done.out == f"{folder}: 2 shards (.jsonl) of {count} paraphrases of 7 texts\n"
            assert joined(folder, ".jsonl", 0) == file.read_bytes()
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            reasons = {line["source"]: line.pop("reason") for line in lines if "reason" in line}
            assert [line for line in lines if "paraphrase" in line] == one["paraphrases"]
            assert reasons == {line["source"]: line["reason"] for line in one["skipped"]} and reasons
            told = json.loads(command("paraphrase", path, *more, "--out", folder, "--json").out)
            assert (told["texts"], told["paraphrases"], told["shards"]) == (7, count, 2)
    assert command("paraphrase", path, *more, "--out", tmp_path / "x.csv").err.endswith(
        "JSON lines are written; expected another name than one in .csv\n"
    )


def test_forms_one_a_text_or_one_for_all(tmp_path: Path, tiny_run: Path, command: Command, inline: None) -> None:
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    (tmp_path / "forms.txt").write_text("".join(f"why does {word} come ?\n" for word in "abcdefg"))
    given = ["paraphrase", tmp_path / "texts.txt", "--model", tiny_run]
    done = command(*given, "--like", tmp_path / "forms.txt", "--out", tmp_path / "each")
    assert done.status == 0 and "paraphrases may say something else or read badly (" in done.err
    lines = [json.loads(line) for line in joined(tmp_path / "each", ".jsonl", 0).splitlines()]
    found = {line["source"]: line["exemplar"] for line in lines if "exemplar" in line}
    assert found and all(found[text] == f"why does {'abcdefg'[TEXTS.index(text)]} come ?" for text in found)
    assert command(*given, "--like", "why does it rain ?", "--out", tmp_path / "one").status == 0
    done = command(*given, "--like", "why does it rain ?", "why not this ?", "--out", tmp_path / "two")
    assert done.status == 2 and "2 exemplars for 7 sources; expected one for all, one a source, or --each" in done.err
    assert not (tmp_path / "two").exists()
    assert command(*given, "--like", "why me and you ?", "--out", tmp_path / "one").err.count("another job's") == 1


def test_same_has_the_fields_of_json(tmp_path: Path, command: Command, inline: None) -> None:
    """Of pairs, and of a table by the names of its columns."""
    (tmp_path / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in [*PAIRS, *PAIRS[:1]]))
    rows = "".join(f"{one},x,{other}\n" for one, other in [*PAIRS, *PAIRS[:1]])
    (tmp_path / "pairs.csv").write_text(f"q1,n,q2\n{rows}")
    given = ["--model", "minilm-judge", "--threshold", 0.5]
    one = json.loads(command("same", tmp_path / "pairs.tsv", *given, "--json").out)["pairs"]
    for name, more in (("pairs.tsv", []), ("pairs.csv", ["--columns", "q1", "q2"])):
        assert json.loads(command("same", tmp_path / name, *more, *given, "--json").out)["pairs"] == one
        folder = tmp_path / name.replace(".", "-")
        done = command("same", tmp_path / name, *more, *given, "--out", folder)
        said = sum(line["says_the_same"] for line in one)
        assert done == (0, f"{folder}: 2 shards (.jsonl) of 5 pairs, {said} of which say the same\n", "")
        lines = [json.loads(line) for line in joined(folder, ".jsonl", 0).splitlines()]
        assert [line["texts"] for line in lines] == [line["texts"] for line in one]
        for found, expected in zip(lines, one, strict=True):
            assert all(found[key] == pytest.approx(expected[key], abs=1e-3) for key in ("same", "forth", "back"))
        assert [line["says_the_same"] for line in lines] == [line["says_the_same"] for line in one]
    assert (
        "no column 'a'; expected one of 'q1', 'n', 'q2'"
        in command("same", tmp_path / "pairs.csv", "--columns", "a", "q2", *given, "--json").err
    )


def test_parquet_comes_back_with_its_columns(tmp_path: Path, command: Command, inline: None) -> None:
    """Nested ones, categories and times too; a row that cannot be used is left out and its number stays."""
    texts: list[str | None] = [*TEXTS]
    texts[1] = None
    seconds = [f"{text} Yes." for text in TEXTS]
    columns = {
        "id": pa.array(range(7), pa.int16()),
        "text": pa.array(texts).dictionary_encode(),
        "tags": pa.array([["a"], None] * 3 + [[]]),
        "when": pa.array(range(7), pa.timestamp("ns")),
        "other": pa.array(seconds),
    }
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    kept = pa.table(columns).take([0, 2, 3, 4, 5, 6])
    done = command("augment", path, "--out", tmp_path / "x")
    assert done.status == 2 and f"{path}:2: column 'text' holds null; expected a text" in done.err
    found = {}
    for name, *more in (
        ("augment", "--per-row", 2, "--label-column", "when"),
        ("paraphrase", "--otherwise", "copy"),
        ("same", "--model", "minilm-judge", "--columns", "text", "other"),
    ):
        done = command(name, path, *more, "--skip-bad-lines", "--out", tmp_path / name)
        assert done.status == 0 and done.err.count("1 bad line skipped") == 1, done.err
        assert "2 shards (.parquet) of " in done.out
        parts = sorted((tmp_path / name).glob("*.parquet"))
        assert command(name, path, *more, "--skip-bad-lines", "--out", tmp_path / name).out == done.out
        found[name] = pa.concat_tables([pq.read_table(part) for part in parts])
    (tmp_path / "b.csv").write_text("id,text\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(TEXTS) if n != 1))
    command("augment", tmp_path / "b.csv", "--per-row", 2, "--no-mark", "--out", tmp_path / "c.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().splitlines()]
    more = found["augment"]
    assert [(str(row["id"]), row["text"]) for row in more.to_pylist()] == [(row["id"], row["text"]) for row in rows]
    assert more["paraform_line"].to_pylist() == [row["id"] + 1 for row in more.to_pylist()]
    sources = more.filter(pa.compute.equal(more["paraform_source"], ""))
    assert sources.select(kept.column_names).to_pylist() == kept.to_pylist()
    types = pq.read_table(path).schema.types
    assert all(found[name].select(kept.column_names).schema.types == types for name in found)
    assert len(more) > len(kept)
    assert found["paraphrase"].select(kept.column_names).to_pylist() == kept.to_pylist()
    assert all(found["paraphrase"]["paraphrase"].to_pylist())
    assert found["same"].select(kept.column_names).to_pylist() == kept.to_pylist()
    assert all(0 <= value <= 1 for value in found["same"]["forth"].to_pylist())
    done = command("paraphrase", tmp_path / "paraphrase" / "000000.parquet", "--out", tmp_path / "again")
    assert done.status == 2 and "a column 'change' is there already; expected none" in done.err
    assert f"{path}: Parquet, which becomes shards; expected --out FOLDER" in command("augment", path).err


def test_a_job_that_was_killed_goes_on(
    tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies over its second shard; the next run makes that one alone."""
    reword, seen = Reworder.reword, list[int]()

    def watched(self: Reworder, texts: list[str], **how: Any) -> Any:
        seen.append(len(texts))
        if len(seen) == 3:
            raise OSError("killed")
        return reword(self, texts, **how)

    monkeypatch.setattr(Reworder, "reword", watched)
    for name in ("augment", "paraphrase"):
        seen.clear()
        given = [name, table(tmp_path, "a.csv"), "--out", tmp_path / name]
        assert command(*given).err == "paraform: error: killed\n"
        (first,) = (
            path
            for path in sorted((tmp_path / name).iterdir())
            if path.name.startswith("000000.") and path.suffix != ".counts"
        )
        assert [path.name[:6] for path in sorted((tmp_path / name).iterdir())] == ["000000", "000000", "shards"]
        written = first.stat().st_mtime_ns
        done = command(*given)
        assert done.status == 0 and seen == [2, 2, 2, 2, 1] and first.stat().st_mtime_ns == written
        assert re.search(r"7 (rows|texts)", done.err + done.out)
        assert command(*given) == done and len(seen) == 5


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--seed", 1], "(seed '0', and this job's is '1')"),
        (["--per-row", 2], "(per_row '1', and this job's is '2')"),
        (["--change", "much"], "(change 'None', and this job's is 'much')"),
        (["--keep", "card"], "(keep '[]', and this job's is \"['card']\")"),
        (["--no-mark"], "(mark 'True', and this job's is 'False')"),
        (["--products", "bfloat16"], "(products 'float32', and this job's is 'bfloat16')"),
        (["--skip-bad-lines"], "(the file changed, or how it is read)"),
    ],
)
def test_another_job_is_refused(
    more: list[Any], said: str, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARAFORM_PRODUCTS", "float32")
    given = ["augment", table(tmp_path, "a.tsv"), "--out", tmp_path / "shards"]
    assert command(*given).status == 0
    before = shards(tmp_path / "shards")
    done = command(*given, *more)
    assert done.status == 2 and f"holds another job's shards {said}" in done.err and done.err.count("\n") == 1
    monkeypatch.setenv("PARAFORM_PRODUCTS", "float32")  # where --products has put another
    (tmp_path / "shards" / "000001.tsv").write_text("text\n")
    assert "000001.tsv: its SHA-256 is not the one in 000001.counts; expected a whole shard; rem" in command(*given).err
    (tmp_path / "shards" / "000001.tsv").unlink()
    assert command(*given).status == 0 and shards(tmp_path / "shards") == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["augment", "FILE", "--engine", "ray"], "--engine ray: of shards; expected --out FOLDER, a name without"),
        (["augment", "FILE", "--workers", "2", "--out", "OUT.csv"], "--workers 2: of shards; expected --out FOLDER"),
        (["paraphrase", "a text", "--workers", "2"], "--workers 2: of shards; expected --out FOLDER"),
        (["paraphrase", "a text", "--out", "OUT"], "a text: no such file; expected one file for the shards in "),
        (["paraphrase", "FILE", "FILE", "--out", "OUT"], "2 texts or files; expected one file for the shards in "),
        (["same", "a text", "another", "--engine", "ray"], "--engine ray: of shards; expected --out FOLDER"),
        (["same", "a text", "another", "--out", "OUT"], "2 texts or files; expected one file for the shards in "),
        (["augment", "-", "--format", "csv", "--out", "OUT"], "-: a pipe; expected one file for the shards in "),
        (["augment", "FILE", "--address", "x:1", "--out", "OUT"], "address 'x:1' for engine 'local'; expected it with"),
        (["augment", "FILE", "--model", "minilm", "--out", "OUT"], "minilm: an encoder; expected a model that para"),
        (["same", "FILE", "--model", "minilm", "--out", "OUT"], "minilm: an encoder; expected a judge of meaning"),
        (["augment", "FILE", "--text-column", "a", "--out", "OUT"], "no column 'a'; expected one of 'text', 'id'"),
        (["augment", "FILE", "--label-column", "a", "--out", "OUT"], "no column 'a'; expected one of 'text', 'id'"),
    ],
)
def test_what_makes_no_shards_is_one_line(
    given: list[str], said: str, tmp_path: Path, command: Command, inline: None
) -> None:
    words = {"FILE": table(tmp_path, "a.tsv"), "OUT": tmp_path / "out", "OUT.csv": tmp_path / "out.csv"}
    done = command(*(words.get(word, word) for word in given))
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1, done.err
    assert os.listdir(tmp_path) == ["a.tsv"]


def test_workers_of_another_model_are_told(
    tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another machine the default model may lack its base, and a folder of that name hold other weights."""
    monkeypatch.setattr("paraform.jobs.setting.weights_of", lambda model: "0123")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraform.jobs.augmenting.run", lambda work, *_, **__: works.append(work) or iter([b"[]"] * 4))
        works: list[Any] = []
        with pytest.raises(ValueError, match="zip"):
            command("augment", table(tmp_path, "a.csv"), "--out", tmp_path / "shards")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"^a worker's rules is ; expected 0123: expected the same on every machine$"):
        works[0].open()
