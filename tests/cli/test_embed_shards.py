"""`paraform embed --out FOLDER`: the same bytes from each engine; a job that was killed goes on, no other one does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraform.encoders.encoder import Encoder

Command = Callable[..., Any]


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ten texts, in shards of four."""
    monkeypatch.setattr("paraform.checkpoint.shards.SHARD", 4)
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"Text number {number}{' and more' * number}.\n" for number in range(10)))
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray cluster of two cores on this machine."""
    pytest.importorskip("ray")
    from paraform.engines.ray import connected

    with connected("local", 2):
        yield


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_shards_are_the_rows_of_one_file(
    texts: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command("embed", texts, "--out", tmp_path / "shards")
    assert done == (0, f"{tmp_path / 'shards'}: 3 shards (.npy) of float32 [10, 384]\n", "")
    assert sorted(shards(tmp_path / "shards")) == ["000000.npy", "000001.npy", "000002.npy", "shards.json"]
    monkeypatch.setattr(import_module("paraform.cli.embed"), "CHUNK", 4)
    assert command("embed", texts, "--out", tmp_path / "v.npy").status == 0
    rows = np.concatenate([np.load(path) for path in sorted((tmp_path / "shards").glob("*.npy"))])
    np.testing.assert_array_equal(rows, np.load(tmp_path / "v.npy"))


def test_the_same_bytes_whatever_the_engine(texts: Path, tmp_path: Path, command: Command, cluster: None) -> None:
    for engine in ("local", "ray"):
        given = ["--out", tmp_path / engine, "--engine", engine, "--workers", 1, "--json"]
        done = json.loads(command("embed", texts, *given).out)
        about = {"model": "minilm", "rows": 10, "dimension": 384, "shards": 3}
        assert done == {"out": str(tmp_path / engine), **about}
    assert shards(tmp_path / "local") == shards(tmp_path / "ray")


def test_a_killed_job_goes_on(
    texts: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies over its second shard; the next run makes the two that are missing, and no model for one that has all."""
    embed, folder, given = Encoder.embed, tmp_path / "shards", ["embed", texts, "--out", tmp_path / "shards"]
    seen: list[int] = []

    def watched(self: Encoder, texts: list[str], *rest: Any, **how: Any) -> Any:
        seen.append(len(texts))
        if seen == [4, 4]:
            raise OSError("killed")
        return embed(self, texts, *rest, **how)

    monkeypatch.setattr(Encoder, "embed", watched)
    assert command(*given).status == 2
    assert sorted(shards(folder)) == ["000000.npy", "shards.json"]
    np.save(folder / "000000.npy", np.full((4, 384), 7, np.float32))
    assert command(*given).status == 0
    assert seen == [4, 4, 4, 2] and (np.load(folder / "000000.npy") == 7).all()
    before = shards(folder)
    assert command(*given).status == 0
    assert seen == [4, 4, 4, 2] and shards(folder) == before


def test_columns_pass_through(texts: Path, tmp_path: Path, command: Command, inline: None) -> None:
    lines = texts.read_text().splitlines()
    columns = {"id": list(range(10)), "body": lines, "tags": [["a"], None] * 5}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    done = command("embed", tmp_path / "a.parquet", "--text-column", "body", "--out", tmp_path / "p")
    assert done.out == f"{tmp_path / 'p'}: 3 shards (.parquet) of float32 [10, 384]\n"
    assert command("embed", texts, "--out", tmp_path / "n").status == 0
    found = pa.concat_tables([pq.read_table(path) for path in sorted((tmp_path / "p").glob("*.parquet"))])
    assert found.drop_columns("vector").to_pydict() == columns
    vectors = np.concatenate([np.load(path) for path in sorted((tmp_path / "n").glob("*.npy"))])
    np.testing.assert_array_equal(np.array(found["vector"].to_pylist(), np.float32), vectors)
    assert command("embed", tmp_path / "a.parquet", "--text-column", "body", "--out", tmp_path / "p").status == 0


def test_kinds_of_vectors_and_variants_are_in_the_job(
    texts: Path, tiny_run: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model in a relative folder, with its choice, is found by workers that have another working folder."""
    monkeypatch.chdir(tiny_run.parent)
    style = ["--model", f"{tiny_run.name}@vectors=style"]
    assert command("embed", texts, *style, "--out", tmp_path / "a").status == 0
    job = json.loads((tmp_path / "a" / "shards.json").read_text())
    assert f"model:{tiny_run}" in job["model"] and "vectors:style" in job["model"]
    assert command("embed", texts, "--model", tiny_run.name, "--vectors", "style", "--out", tmp_path / "b").status == 0
    for number in range(3):
        name = f"{number:06d}.npy"
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert command("embed", texts, "--layer", 3, "--out", tmp_path / "c").status == 0
    assert "|layer:3|" in (tmp_path / "c" / "shards.json").read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--layer", 3], "holds another job's shards (model 'model:minilm|layer:6|"),
        (["--seed", 1], "holds another job's shards (seed '0', and this job's is '1'); expected a folder of its own"),
        (["--batch-size", 8], "another job's shards (batch_size '0'"),
        (["--products", "bfloat16"], "another job's shards (products 'float32'"),
        (["--skip-bad-lines"], "another job's shards (the file changed, or how it is read"),
    ],
)
def test_another_job_is_refused(
    more: list[Any], said: str, texts: Path, tmp_path: Path, command: Command, inline: None
) -> None:
    folder = tmp_path / "shards"
    assert command("embed", texts, "--out", folder).status == 0
    before = shards(folder)
    done = command("embed", texts, "--out", folder, *more)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1
    assert shards(folder) == before


def test_another_input_and_another_size_are_refused(
    texts: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["embed", texts, "--out", tmp_path / "shards"]
    assert command(*given).status == 0
    monkeypatch.setattr("paraform.checkpoint.shards.SHARD", 5)
    assert "another job's shards (size '4', and this job's is '5')" in command(*given).err
    texts.write_text(texts.read_text().replace("Text number 3", "Text number 4"))
    assert "another job's shards (the file changed, or how it is read" in command(*given).err


def other_files(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    (folder / "mine.npy").touch()


def archive(folder: Path) -> None:
    with (folder / "000001.npy").open("wb") as out:
        np.savez(out, a=1)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (other_files, "holds mine.npy and no shards.json; expected a new or an empty folder"),
        (lambda folder: (folder / "shards.json").write_text("{"), "shards.json:1: not JSON ("),
        (lambda folder: (folder / "shards.json").write_text("[" * 100_000), "shards.json: not usable JSON: more"),
        (lambda folder: (folder / "shards.json").write_text("[]"), "shards.json: no object"),
        (lambda folder: (folder / "shards.json").write_text("{}"), "another job's shards (format 'None'"),
        (lambda folder: (folder / "000001.npy").write_bytes(b""), "000001.npy: "),
        (lambda folder: os.truncate(folder / "000001.npy", 3000), "000001.npy: "),
        (lambda folder: np.save(folder / "000001.npy", [[{}]], allow_pickle=True), "000001.npy: "),
        (lambda folder: np.save(folder / "000001.npy", np.zeros((4, 384))), "000001.npy: no matrix of float32; "),
        (lambda folder: np.save(folder / "000001.npy", np.zeros((3, 384), "<f4")), "3 rows; expected a shard of 4"),
        (lambda folder: np.save(folder / "000001.npy", np.zeros((4, 9), "<f4")), "9 features a row; expected 384"),
        (archive, "000001.npy: the magic string is not correct"),
    ],
)
def test_a_folder_of_something_else_is_one_line(
    damage: Callable[[Path], Any], said: str, texts: Path, tmp_path: Path, command: Command, inline: None
) -> None:
    folder = tmp_path / "shards"
    assert command("embed", texts, "--out", folder).status == 0
    damage(folder)
    before = shards(folder)
    done = command("embed", texts, "--out", folder)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1
    assert shards(folder) == before


@pytest.mark.parametrize("content", [b"", b"PAR1", {"text": ["a"]}, {"vector": ["a"]}])
def test_a_damaged_shard_of_a_table(content: Any, tmp_path: Path, command: Command, inline: None) -> None:
    pq.write_table(pa.table({"text": ["a", "b"]}), tmp_path / "a.parquet")
    given = ["embed", tmp_path / "a.parquet", "--out", tmp_path / "shards"]
    assert command(*given).status == 0
    shard = tmp_path / "shards" / "000000.parquet"
    if isinstance(content, bytes):
        shard.write_bytes(content)
    else:
        pq.write_table(pa.table(content), shard)
    done = command(*given)
    assert done.status == 2 and f"{shard}: " in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["TEXTS", "TEXTS", "--out", "OUT"], "2 texts or files; expected one file for the shards in "),
        (["-", "--out", "OUT"], "-: a pipe; expected one file for the shards in "),
        (["a text", "--out", "OUT"], "a text: no such file; expected one file for the shards in "),
        (["TEXTS", "--out", "OUT.npy", "--engine", "ray"], "--engine ray: of shards; expected --out FOLDER"),
        (["TEXTS", "--json", "--workers", "2"], "--workers 2: of shards; expected --out FOLDER"),
        (["TEXTS", "--out", "OUT.npy", "--text-column", "x"], "--text-column x: of shards; expected --out FOLDER"),
        (["TEXTS", "--out", "OUT", "--vectors", "style"], "--vectors style: minilm is an encoder; expected no"),
        (["TEXTS", "--out", "OUT", "--model", "syntax"], "system 'syntax-head'; expected one of"),
        (["VECTOR", "--out", "OUT"], "a column is named 'vector'; expected another name"),
    ],
)
def test_what_makes_no_shards_is_one_line(
    given: list[str], said: str, texts: Path, tmp_path: Path, command: Command, inline: None
) -> None:
    (tmp_path / "v.jsonl").write_text('{"text": "a", "vector": 1}\n')
    words = {"TEXTS": texts, "VECTOR": tmp_path / "v.jsonl", "OUT": tmp_path / "out", "OUT.npy": tmp_path / "out.npy"}
    done = command("embed", *(words.get(word, word) for word in given))
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["texts.txt", "v.jsonl"]


def test_texts_longer_than_a_latent_model_reads(tmp_path: Path, command: Command, inline: None) -> None:
    rows = [{"text": text, "id": number} for number, text in enumerate(["We like it.", "so " * 99, "She left."])]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ["embed", tmp_path / "a.jsonl", "--model", "latent-compact", "--out", tmp_path / "shards"]
    assert "text 2 has 99 words; expected at most" in command(*given).err
    done = command(*given, "--skip-bad-lines")
    assert done.status == 0 and "1 of 3 texts have more than" in done.err
    assert pq.read_table(tmp_path / "shards" / "000000.parquet")["id"].to_pylist() == [0, 2]


def test_workers_of_another_model_are_told(
    texts: Path, tmp_path: Path, command: Command, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another machine a folder of that name may hold other weights; and what it multiplies is the job's."""
    from dataclasses import replace

    from paraform.engines.shards import Missing

    found: list[Missing] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "paraform.engines.shards.run", lambda work, *_, **__: found.append(work) or iter([b"\0" * 16] * 3)
        )
        assert command("embed", texts, "--out", tmp_path / "shards").status == 0
    work = found[0].work
    with pytest.raises(ValueError, match=r"^a worker's model is .*layer:3.*; expected .*layer:6.*on every machine$"):
        replace(found[0], work=replace(work, name="minilm@layer=3")).open()
    monkeypatch.setenv("PARAFORM_PRODUCTS", "bfloat16")
    work.open()
    assert os.environ["PARAFORM_PRODUCTS"] == "float32"
