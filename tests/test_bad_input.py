"""Whatever the user gives: exit status 2, one line on stderr that names the place, and nothing half written."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from paraform import encoders, weights
from paraform.weights import save_tensors

Command = Callable[..., Any]


def one_line(done: Any, *parts: object) -> None:
    """The command failed as it should, and its line says all of these."""
    assert (done.status, done.out) == (2, ""), done
    assert done.err.startswith("paraform: error: ") and done.err.count("\n") == 1, done.err
    for part in parts:
        assert str(part) in done.err, done.err


BAD_LINES = {
    "empty": (b"", 1, "the file is empty; expected at least one line"),
    "one column": (b"a b\tc d\nonly one\n", 2, "1 column; expected 2"),
    "three columns": (b"a b\tc d\te f\n", 1, "3 columns; expected 2"),
    "empty side": (b"a b\t \n", 1, "the target is empty"),
    "NUL": (b"a b\tc\0d\n", 1, "NUL; expected UTF-8"),
    "latin-1": ("où\tça\n".encode("latin-1"), 1, "not UTF-8"),
    "long line": (b"word " * 100_000 + b"\tc d\n", 1, "more than 20,000 characters in one line"),
}
READERS = {
    "mine": ["mine", "FILE", "--out", "OUT/x"],
    "train": ["train", "exemplar", "--data", "FILE", "--out", "OUT/run"],
    "train retrofit": ["train", "retrofit", "--data", "FILE", "--out", "OUT/run"],
    "train averaged": ["train", "averaged", "--data", "FILE", "--out", "OUT/run"],
    "train, validation": ["train", "exemplar", "--data", "GOOD", "--validation", "FILE", "--out", "OUT/run"],
    "evaluate generation": ["evaluate", "generation", "--data", "FILE", "--model", "MODEL", "--outputs", "OUT/x"],
    "evaluate style": ["evaluate", "style", "--data", "FILE", "--model", "minilm"],
    "same, shards": ["same", "FILE", "--model", "minilm-judge", "--out", "OUT/"],
}
TEXT_READERS = {
    "paraphrase": ["paraphrase", "FILE", "--model", "MODEL"],
    "paraphrase, shards": ["paraphrase", "FILE", "--out", "OUT/"],
    "paraphrase, like": ["paraphrase", "a text", "--like", "FILE", "--model", "MODEL"],
    "embed": ["embed", "FILE", "--out", "OUT/x.npy"],
    "embed, shards": ["embed", "FILE", "--out", "OUT/"],
    "tag": ["tag", "FILE", "--json"],
    "parse": ["parse", "FILE", "--json"],
    "train latent": ["train", "latent", "--data", "FILE", "--out", "OUT/run"],
    "interpolate": ["interpolate", "FILE"],
    "reconstruct": ["reconstruct", "FILE"],
    "evaluate latent": ["evaluate", "latent", "--data", "FILE", "--model", "latent-compact"],
    "sample, near": ["sample", "--near", "FILE"],
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("bad", BAD_LINES)
def test_bad_pairs(
    reader: str, bad: str, tmp_path: Path, tiny_run: Path, question_pairs: Path, command: Command
) -> None:
    content, line, said = BAD_LINES[bad]
    path, out = tmp_path / "pairs.tsv", tmp_path / "out"
    path.write_bytes(content)
    words = {"FILE": str(path), "MODEL": str(tiny_run), "GOOD": str(question_pairs)}
    given = [words.get(word, word.replace("OUT", str(out))) for word in READERS[reader]]
    one_line(command(*given, "--json"), f"{path}:{line}: ", said)
    assert os.listdir(tmp_path) == ["pairs.tsv"]


@pytest.mark.parametrize("reader", TEXT_READERS)
@pytest.mark.parametrize("bad", ["empty", "NUL", "latin-1", "long line"])
def test_bad_texts(reader: str, bad: str, tmp_path: Path, tiny_run: Path, command: Command) -> None:
    content, line, said = BAD_LINES[bad]
    path, out = tmp_path / "texts.txt", tmp_path / "out"
    path.write_bytes(content)
    words = {"FILE": str(path), "MODEL": str(tiny_run)}
    given = [words.get(word, word.replace("OUT", str(out))) for word in TEXT_READERS[reader]]
    one_line(command(*given), f"{path}:{line}: ", said)
    assert os.listdir(tmp_path) == ["texts.txt"]


@pytest.mark.parametrize("reader", [*READERS, "embed", "tag", "parse"])
def test_a_missing_file(reader: str, tmp_path: Path, tiny_run: Path, question_pairs: Path, command: Command) -> None:
    path, out = tmp_path / "nowhere.tsv", tmp_path / "out"
    words = {"FILE": str(path), "MODEL": str(tiny_run), "GOOD": str(question_pairs)}
    given = [words.get(word, word.replace("OUT", str(out))) for word in (READERS | TEXT_READERS)[reader]]
    one_line(command(*given), f"{path}: no such file")
    assert os.listdir(tmp_path) == []


def test_bad_lines_can_be_skipped(tmp_path: Path, command: Command, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(b"A cat.\n\n\xff\n")
    assert command("tag", path).status == 2
    assert command("tag", path, "--skip-bad-lines").out == "A/DT cat/NN ./.\n"
    assert "2 bad lines skipped" in caplog.text


@pytest.mark.parametrize("text", ["", "  \t", "word " * 100_000, "half a pair \ud800", "a\0b"])
def test_a_bad_argument(text: str, tiny_run: Path, command: Command) -> None:
    one_line(command("paraphrase", "good", text, "--like", "why ?", "--model", tiny_run), "text 2: ", "; expected")
    one_line(command("paraphrase", "good", "--like", text, "--model", tiny_run), "exemplar 1: ", "; expected")


def test_numbers_that_do_not_match(tiny_run: Path, command: Command) -> None:
    given = ["paraphrase", "a", "b", "c", "--like", "how so", "why not", "--model", tiny_run]
    one_line(command(*given), "2 exemplars for 3 sources")


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.json", "bank.txt", "paraform.json"])
@pytest.mark.parametrize("damage", ["flipped", "missing", "cut"])
def test_a_damaged_checkpoint(damage: str, name: str, tmp_path: Path, tiny_run: Path, command: Command) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_run / "best", folder)
    content = bytearray((folder / name).read_bytes())
    if damage == "missing":
        (folder / name).unlink()
    else:
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content if damage == "flipped" else content[: len(content) // 2])
    for given in (["paraphrase", "x", "--like", "y"], ["embed", "x", "--json"]):
        one_line(command(*given, "--model", folder), folder)


def test_an_encoder_of_another_digest(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "encoder"
    folder.mkdir()
    shutil.copy(encoders.locate() / "config.json", folder)
    digest = save_tensors({"weight": torch.ones(2)}, folder / "model.safetensors")
    encoders.loading._minilm.cache_clear()
    monkeypatch.setattr(encoders.loading, "locate", lambda name="minilm": folder)
    path = folder / "model.safetensors"
    for given in (["embed", "x", "--out", tmp_path / "v.npy"], ["tag", "x"]):
        one_line(command(*given), f"{path}: SHA-256 is {digest}, expected {encoders.MINILM_SHA256}")
    assert os.listdir(tmp_path) == ["encoder"]


TINY_FIELDS = {
    "word_width": 16,
    "content_width": 8,
    "decoder_width": 16,
    "style_width": 8,
    "min_count": 1,
    "word_vectors": "random",
    "batch_size": 32,
}


def full_disk(*given: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_no_file(
    tmp_path: Path, question_pairs: Path, command: Command, monkeypatch: pytest.MonkeyPatch, inline: None
) -> None:
    for name in ("v.npy", "t.jsonl"):
        (tmp_path / name).write_text("before")
    assert command("mine", question_pairs, "--out", tmp_path / "warm.jsonl").status == 0  # fills the cache of tags
    (tmp_path / "warm.jsonl").unlink()
    monkeypatch.setattr(weights.os, "fsync", full_disk)  # where a file system owns up at the latest
    one_line(command("embed", "x", "--out", tmp_path / "v.npy", "--overwrite"), "No space left on device")
    one_line(command("mine", question_pairs, "--out", tmp_path / "t.jsonl", "--overwrite"), "No space left on device")
    assert sorted(os.listdir(tmp_path)) == ["t.jsonl", "v.npy"]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"before"}


def test_a_full_disk_keeps_the_checkpoint_of_before(
    tmp_path: Path, question_pairs: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [word for name, value in TINY_FIELDS.items() for word in (f"--config.{name}", value)]
    given = ["train", "exemplar", "--data", question_pairs, "--out", tmp_path, "--device", "cpu", *options]
    given += ["--config.epochs", 1, "--loop.checkpoint_every", 3]
    saved: list[Path] = []

    def fills_up(tensors: Mapping[str, Tensor], path: Path) -> str:
        if saved:
            full_disk()
        saved.append(path)
        return save_tensors(tensors, path)

    monkeypatch.setattr("paraform.checkpoint.folder.save_tensors", fills_up)
    done = command(*given)
    warned, said = done.err.splitlines()
    assert "285 pairs teach a model little" in warned and "No space left on device" in said and done.status == 2
    assert len(saved) == 1
    assert not list(tmp_path.glob("*/.*"))
    assert command("paraphrase", "x", "--like", "why not", "--model", tmp_path / "last").status == 0
    monkeypatch.undo()
    done = command(*given, "--resume", "--json")
    assert done.status == 0 and json.loads(done.out)["ended"] == "finished"


def test_an_output_in_a_place_that_cannot_be(tmp_path: Path, question_pairs: Path, command: Command) -> None:
    (tmp_path / "file").write_text("in the way")
    for given in (["embed", "x"], ["mine", question_pairs]):
        one_line(command(*given, "--out", tmp_path / "file" / "out"), "file")
    one_line(command("embed", "x", "--out", tmp_path), tmp_path)
