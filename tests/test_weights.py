"""Files that a kill cannot halve, tensors that are checked, word vectors from GloVe's format."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import safetensors.torch
import torch

from paraform import weights
from paraform.records import InputError


def test_atomic_path_replaces_the_file_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    with weights.atomic_path(path) as unfinished:
        unfinished.write_text("one")
        assert not path.exists() and unfinished.parent.parent == path.parent
    assert path.read_text() == "one"
    with pytest.raises(OSError, match="disk"), weights.atomic_path(path) as unfinished:
        unfinished.write_text("half")
        raise OSError("disk full")
    assert [(file.name, file.read_text()) for file in path.parent.iterdir()] == [("file.txt", "one")]


def test_a_kill_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    code = (
        "import os, signal, sys; from paraform.weights import atomic_path\n"
        "with atomic_path(sys.argv[1]) as unfinished:\n"
        "    unfinished.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, path]).returncode == -9
    assert path.read_text() == "old"


WRITE = """
import os, signal, sys, threading, torch
from paraform import weights
def write():
    weights.save_tensors({"a": torch.ones(30_000_000)}, sys.argv[1])
threading.Thread(target=write, daemon=True).start()
while True:
    for folder, _, names in os.walk(os.path.dirname(sys.argv[1])):
        for name in names:
            if os.path.getsize(os.path.join(folder, name)) > 1_000_000:
                os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_write_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    """Of a library's own temporary files too: safetensors writes beside the file that it is told."""
    path = tmp_path / "weights.safetensors"
    assert subprocess.run([sys.executable, "-c", WRITE, path]).returncode == -9
    assert sum(file.stat().st_size for file in tmp_path.rglob("*")) > 1_000_000 and not path.exists()
    (tmp_path / "mine.unfinished").write_text("another's")
    with weights.atomic_path(tmp_path / "other") as unfinished:
        unfinished.write_text("other")
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["mine.unfinished", "other"]


def test_what_a_living_process_writes_stays(tmp_path: Path) -> None:
    code = (
        "import sys; from paraform.weights import atomic_path\n"
        "with atomic_path(sys.argv[1]) as unfinished:\n"
        "    unfinished.write_text('slow'); print('begun', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "slow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stdin and process.stdout.readline() == b"begun\n"
        with weights.atomic_path(tmp_path / "own") as unfinished:
            for name in ("fast", "slow"):
                weights.save_tensors({"a": torch.ones(2)}, tmp_path / name)
            unfinished.write_text("own")
        process.stdin.close()
        assert process.wait() == 0
    assert (tmp_path / "slow").read_text() == "slow" and (tmp_path / "own").read_text() == "own"
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["fast", "own", "slow"]


def test_tensors_come_back(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6.0).reshape(2, 3).T, "b": torch.tensor([1, 2]), "c": torch.ones(2).half()}
    path = tmp_path / "weights.safetensors"
    digest = weights.save_tensors(tensors, path)
    assert digest == weights.sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    found = weights.load_tensors(path, digest)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype and torch.equal(found[name], tensor)


def test_a_digest_of_tensors_hangs_on_all_that_they_are() -> None:
    """Names, shapes, kinds of numbers, values; not the order of the names, nor how they lie in memory."""
    one = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor(1, dtype=torch.bfloat16)}
    same = {"b": one["b"].clone(), "a": one["a"].T.contiguous().T}
    digest = weights.tensors_digest(one)
    assert weights.tensors_digest(same) == digest and len(digest) == 64
    others = [
        {"c": one["a"], "b": one["b"]},
        {**one, "a": one["a"].reshape(3, 2)},
        {**one, "a": one["a"] + 1e-6},
        {**one, "b": one["b"].float()},
        {"a": one["a"]},
    ]
    assert digest not in map(weights.tensors_digest, others)


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    with pytest.raises(InputError, match=r"weights\.safetensors: no such file"):
        weights.load_tensors(path)
    digest = weights.save_tensors({"a": torch.ones(8)}, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(InputError, match=f"expected {digest}; the file is damaged"):
        weights.load_tensors(path, digest)
    for broken in (whole[:-4], b"", b"no tensors", b"\xff" * 64):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="not a readable safetensors file"):
            weights.load_tensors(path)
    for value in (float("nan"), float("inf")):
        safetensors.torch.save_file({"fine": torch.ones(1), "bad": torch.tensor([0.0, value])}, path)
        with pytest.raises(InputError, match="tensor 'bad' holds NaN or infinity"):
            weights.load_tensors(path)
    for kind in (torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64):
        safetensors.torch.save_file({"bad": torch.ones(1).to(kind)}, path)
        said = f"tensor 'bad' is of {kind}; expected floats of 16 bits or more, or integers".replace("torch.", "")
        with pytest.raises(InputError, match=said):
            weights.load_tensors(path)


def test_pretrained_folders() -> None:
    folder = weights.pretrained_folder("syntax")
    assert folder is not None and (folder / "paraform.json").is_file()
    assert weights.pretrained_folder("nobody") is None
    assert weights.pretrained_folder("../corpora") is None
    assert not any(map(weights.pretrained_folder, ("", ".", "..", "a" * 5000 + "/b")))


@pytest.mark.parametrize("device", ["meta", "nowhere"])
def test_a_device_that_computes_nothing(device: str) -> None:
    with pytest.raises(InputError, match=rf"^device '{device}': .*; 'cpu' always works$"):
        weights.device_named(device)


def test_shapes_alone_take_no_memory_and_not_torch_s_compiler() -> None:
    program = """
import sys, torch
from paraform.weights import shapes_only
with shapes_only():
    module = torch.nn.ModuleList([torch.nn.Embedding(10**9, 10**6), torch.nn.GRU(10**6, 10**6)])
    torch.nn.init.normal_(module[0].weight, std=2.0)
    torch.nn.init.xavier_normal_(module[1].weight_ih_l0)
assert all(weight.is_meta for weight in module.parameters()) and module[0].weight.shape == (10**9, 10**6)
assert torch.nn.Embedding(2, 2).weight.abs().sum() > 0
assert not {"torch._dynamo", "sympy"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_packaged_folder() -> None:
    found = weights.packaged_folder("paraform", "corpora")
    assert found == Path(weights.__file__).parent / "corpora"
    assert weights.packaged_folder("paraform", "nothing") is None
    assert weights.packaged_folder("no_such_package", "model") is None


def test_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARAFORM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert weights.cache_folder() == Path("/x/paraform")
    monkeypatch.setenv("PARAFORM_CACHE", "/y")
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("a user without a home")))
    assert weights.cache_folder() == Path("/y")


def test_a_link_stays_one_and_a_device_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    with weights.atomic_path(tmp_path / "link") as unfinished:
        unfinished.write_text("new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(InputError, match="not a regular file"), weights.atomic_path(tmp_path / name):
            raise AssertionError("it went on")
    assert (tmp_path / "pipe").is_fifo() and sorted(path.name for path in tmp_path.iterdir()) == [
        "link",
        "pipe",
        "target",
    ]


def test_a_new_file_is_open_to_whom_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with weights.atomic_path(tmp_path / "file") as unfinished:
            unfinished.write_text("text")
        weights.save_tensors({"a": torch.ones(1)}, tmp_path / "tensors")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize(("value", "finite"), [("nan", False), ("inf", False), ("-inf", False), ("6e4", True)])
def test_one_number_that_is_none_is_found(dtype: torch.dtype, value: str, finite: bool) -> None:
    tensor = torch.randn(3, 40).to(dtype)
    tensor[1, 7] = float(value)
    assert weights.is_finite(tensor) == finite and weights.is_finite(tensor[:0])
