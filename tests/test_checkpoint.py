"""Checkpoints: what is saved comes back, a kill leaves the old or the new one, and nothing damaged is loaded."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib.util
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch

from paraform import checkpoint, manifest
from paraform.encoders.names import Variant
from paraform.records import InputError
from paraform.score import Score

spec = importlib.util.spec_from_file_location("training_worker", Path(__file__).parent / "training_worker.py")
worker = importlib.util.module_from_spec(spec)
sys.modules["training_worker"] = worker
spec.loader.exec_module(worker)
Toy, ToyConfig = worker.Toy, worker.ToyConfig
SYSTEMS = {"toy": Toy}


def toy(seed: int = 0, **config: Any) -> Any:
    torch.manual_seed(seed)
    return Toy(ToyConfig(**config))


def load(folder: Path) -> Any:
    return checkpoint.load(folder, systems=SYSTEMS, device="cpu")


def rewrite(folder: Path, **changes: Any) -> None:
    """Change paraform.json as an attacker or a later version would: with a right digest."""
    path = folder / manifest.NAME
    fields = {key: value for key, value in json.loads(path.read_text()).items() if key != "digest"} | changes
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(fields | {"digest": digest}))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    digests = {"train.tsv": "0" * 64}
    score = Score("BLEU", 40.0, "lc|v1")
    return checkpoint.save(toy(), tmp_path / "toy", card="# Toy\n", scores=[score], data_digests=digests, seed=3)


def test_what_is_saved_comes_back(saved: Path) -> None:
    model = load(saved)
    for name, tensor in toy().state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor), name
    assert model.config == ToyConfig() and model.vocabulary == "a\r\nb é\n" and not model.training
    assert model.tied.weight is model.inner.weight
    assert sorted(path.name for path in saved.iterdir()) == [
        "README.md", "model.safetensors", "paraform.json", "vocabulary.txt"
    ]  # fmt: skip
    told = json.loads((saved / "paraform.json").read_text())
    assert told["system"] == "toy" and told["seed"] == 3 and told["data"] == {"train.tsv": "0" * 64}
    assert told["scores"] == [{"name": "BLEU", "value": 40.0, "signature": "lc|v1"}]
    for name, digest in told["files"].items():
        assert hashlib.sha256((saved / name).read_bytes()).hexdigest() == digest
    (saved / "README.md").write_text("# An edited card\n")
    load(saved)


def test_half_precision_halves_the_file_and_loads_as_float32(tmp_path: Path) -> None:
    model = toy(hidden=400)
    whole = checkpoint.save(model, tmp_path / "whole", card="")
    half = checkpoint.save(model, tmp_path / "half", card="", dtype="float16")
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (whole, half)]
    assert sizes[1] < 0.55 * sizes[0]
    loaded = load(half)
    assert torch.equal(loaded.inner.weight, model.inner.weight.half().float())
    with torch.no_grad():
        model.outer.bias[0] = 70_000.0  # more than float16 can hold
    with pytest.raises(InputError, match=r"outer\.bias.*float16"):
        checkpoint.save(model, tmp_path / "half", card="", dtype="float16")
    assert torch.equal(load(half).outer.bias, loaded.outer.bias)


def test_config_must_be_plain_values(tmp_path: Path) -> None:
    model = toy()
    model.config = dataclasses.make_dataclass("Odd", [("sizes", list)])([1, 2])
    with pytest.raises(ValueError, match=r"config\.sizes"):
        checkpoint.save(model, tmp_path / "toy", card="")
    assert not (tmp_path / "toy").exists()


def test_a_folder_of_other_files_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("my project")
    with pytest.raises(InputError, match=r"README\.md"):
        checkpoint.save(toy(), tmp_path, card="")
    assert (tmp_path / "README.md").read_text() == "my project"


def test_a_kill_at_any_moment_leaves_the_old_or_the_new(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is copied before and after each rename: what a kill would leave at that moment."""
    replace, moments = os.replace, []

    def watched(source: Any, target: Any) -> None:
        for when in (lambda: None, lambda: replace(source, target)):
            when()
            moments.append(shutil.copytree(saved, tmp_path / f"moment{len(moments)}"))

    new = toy(1)
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", watched)
        checkpoint.save(new, saved, card="# New\n")
    found = []
    for folder in moments:
        weight = load(folder).inner.weight
        old = torch.equal(weight, toy().inner.weight)
        assert old or torch.equal(weight, new.inner.weight)
        found.append("old" if old else "new")
        third = toy(2)  # and the next save finds its way, whatever was left
        checkpoint.save(third, folder, card="# Third\n")
        assert torch.equal(load(folder).inner.weight, third.inner.weight)
        assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
    assert found == sorted(found, reverse=True) and set(found) == {"old", "new"} and len(found) >= 10


SAVE = """
import signal, sys
from paraform import manifest
def terminated(path):
    path.write_text("half")
    signal.raise_signal(signal.SIGTERM)
about = manifest.Manifest("toy", {}, [], {}, "float32", None, {}, [], {}, None)
manifest.commit(sys.argv[1], about, {"whole": manifest.write_text("whole"), "half": terminated})
"""


def test_the_next_save_removes_what_a_terminated_first_one_left(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SAVE, str(tmp_path / "a")])
    assert done.returncode == -signal.SIGTERM
    left = sorted(path.name.lstrip(".").split(".")[0] for path in (tmp_path / "a").rglob("*"))
    assert left == ["half", "half", "whole"]  # a file that waits, and one that is not finished in a folder of its own
    checkpoint.save(toy(), tmp_path / "a")
    assert not [path.name for path in (tmp_path / "a").iterdir() if path.name.startswith(".")]
    load(tmp_path / "a")


def test_two_saves_of_one_place_wait_for_each_other(tmp_path: Path) -> None:
    """The second would remove what waits of the first; it begins when that is whole, and its own stands at the end."""
    begun, go_on, heard = threading.Event(), threading.Event(), []

    def slow(path: Path) -> None:
        begun.set()
        assert go_on.wait(60)
        path.write_text("slow")

    def save(seed: int, extra: dict[str, Any]) -> None:
        checkpoint.save(toy(seed), tmp_path / "a", extra=extra)
        heard.append(seed)

    threads = [threading.Thread(target=save, args=(1, {"slow": slow})), threading.Thread(target=save, args=(2, {}))]
    threads[0].start()
    assert begun.wait(60)
    waiting = {path.name for path in (tmp_path / "a").glob("*.waiting")}
    assert waiting
    threads[1].start()
    threads[1].join(0.3)
    assert not heard and {path.name for path in (tmp_path / "a").glob("*.waiting")} == waiting
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert heard == [1, 2] and torch.equal(load(tmp_path / "a").inner.weight, toy(2).inner.weight)
    assert not (tmp_path / "a" / "slow").exists()


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """No file may grow past 200 bytes: the operating system itself refuses.

    Not a fixture: while it lasts, pytest could not write its own progress into a log either.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_keeps_the_old_checkpoint(saved: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    with pytest.raises(OSError), full_disk():
        checkpoint.save(toy(1), saved, card="")
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    with pytest.raises(OSError), full_disk():
        checkpoint.save(toy(1), tmp_path / "fresh", card="")
    assert not (tmp_path / "fresh").exists()


@pytest.mark.parametrize("name", ["paraform.json", "model.safetensors", "vocabulary.txt"])
def test_a_flipped_byte_or_a_missing_file_is_named(saved: Path, name: str) -> None:
    good = (saved / name).read_bytes()
    for place in range(0, len(good), 7):
        if chr(good[place]).isspace() and name == "paraform.json":
            continue  # between the fields of JSON a space says nothing
        (saved / name).write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(InputError, match=name) as caught:
            load(saved)
        assert "\n" not in str(caught.value)
    (saved / name).write_bytes(good[: len(good) // 2])
    with pytest.raises(InputError, match=name):
        load(saved)
    (saved / name).unlink()
    with pytest.raises(InputError, match=name):
        load(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format 2"),
        ({"system": "other"}, "'other'; expected one of toy"),
        ({"config": {"hidden": 5, "dropout": 0.0, "name": "toy", "beams": 3}}, "beams"),
        ({"config": {"hidden": 6, "dropout": 0.0, "name": "toy"}}, "inner"),
        ({"config": {"hidden": -6, "dropout": 0.0, "name": "toy"}}, "makes no 'toy' model"),
        ({"assets": ["../secret.txt"]}, r"\.\./secret"),
        ({"assets": ["/etc/passwd"]}, "/etc/passwd"),
        ({"assets": ["..\\secret"]}, "secret"),
        ({"files": {"a/b": "0"}}, "a/b"),
        ({"assets": [["x"]]}, "file name"),
        ({"assets": ["other.txt"]}, "other.txt"),
        ({"files": []}, "files"),
        ({"extra": 1}, "unknown field 'extra'"),
        ({"seed": functools.reduce(lambda inner, _: [inner], range(600), 0)}, "more than 100 brackets"),
    ],
)
def test_a_foreign_or_hostile_manifest_is_refused(saved: Path, changes: dict[str, Any], message: str) -> None:
    (saved.parent / "secret.txt").write_text("secret")
    rewrite(saved, **changes)
    with pytest.raises(InputError, match=message) as caught:
        load(saved)
    assert "\n" not in str(caught.value)


def test_a_field_that_came_after_the_checkpoint_has_its_default(saved: Path) -> None:
    rewrite(saved, config={"hidden": 5})
    assert load(saved).config == dataclasses.replace(type(load(saved).config)(), hidden=5)


def test_a_field_that_is_read_no_more_is_dropped_or_named(tmp_path: Path) -> None:
    """As version 0.1.0 wrote it; another value is refused in one line, and so is a field that never was."""
    from paraform.models.exemplar import ExemplarConfig

    folders = tmp_path / "folders"
    folders.mkdir()
    (folder,) = (folder for system, folder in folders_of_every_system(folders) if system == "exemplar")
    config = manifest.read(folder).config
    rewrite(folder, config=config | dict(ExemplarConfig.removed))
    assert dataclasses.asdict(checkpoint.load(folder, device="cpu").config) == config
    message = "config.decoder is 'transformer', which paraform reads no more; version 0.1.0 does"
    for more, expected in (
        ({**ExemplarConfig.removed, "decoder": "transformer"}, f"^{folder / manifest.NAME}: {message}$"),
        ({"colour": 1}, r"unknown fields \['colour'\]"),
    ):
        rewrite(folder, config=config | more)
        with pytest.raises(InputError, match=expected):
            checkpoint.load(folder, device="cpu")


def test_a_value_that_is_read_no_more_names_the_version_that_does(tmp_path: Path) -> None:
    (folder,) = (folder for system, folder in folders_of_every_system(tmp_path) if system == "latent")
    config = manifest.read(folder).config
    rewrite(folder, config=config | {"critic_layers": 2})
    message = "config.critic_layers is 2, which paraform reads no more; version 0.1.0 does"
    with pytest.raises(InputError, match=f"^{folder / manifest.NAME}: {message}$"):
        checkpoint.load(folder, device="cpu")


def test_shapes_are_compared_before_memory_is_taken(saved: Path) -> None:
    made = []

    class Watched(Toy):
        @classmethod
        def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> Any:
            made.append(torch.empty(0).device.type)
            return super().restore(config, assets)

    assert checkpoint.load(saved, systems={"toy": Watched}, device="cpu").inner.weight.device.type == "cpu"
    assert made == ["meta", "cpu"]
    rewrite(saved, config={"hidden": 10**9, "dropout": 0.0, "name": "toy"})
    with pytest.raises(InputError, match=r"tensor 'inner.bias' is \[5\]; its config makes it \[1000000000\]"):
        checkpoint.load(saved, systems={"toy": Watched}, device="cpu")
    assert made == ["meta", "cpu", "meta"]


def folders_of_every_system(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    from paraform.batching import Vocabulary
    from paraform.batching.vocabulary import SPECIAL
    from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser
    from paraform.models.latent import LatentConfig, LatentLanguageModel
    from paraform.syntax.head import SyntaxHead, SyntaxHeadConfig

    words = Vocabulary(SPECIAL, {})
    sizes = {"word_width": 8, "hidden_width": 8, "latent_width": 4, "critic_width": 8}
    frozen = ExemplarConfig(word_width=8, content_width=8, decoder_width=8, style_trainable=False)
    head = SyntaxHeadConfig(width=8, heads=2, feed_forward=8, depth=1, span_width=8)
    for model in (
        LatentLanguageModel(LatentConfig(**sizes), words),
        ExemplarParaphraser(frozen, words),
        SyntaxHead(head, ["A"], ["S"]),
    ):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        yield model.system, checkpoint.save(model, folder, card="")


def test_code_of_a_checkpoints_encoder_never_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran, encoder = tmp_path / "ran", tmp_path / "encoder"
    encoder.mkdir()
    (encoder / "m.py").write_text(f"open({str(ran)!r}, 'w')\nclass C: pass\nM = C\n")
    code = {"AutoConfig": "m.C", "AutoModel": "m.M"}
    (encoder / "config.json").write_text(json.dumps({"model_type": "evil", "auto_map": code}))
    (encoder / "model.safetensors").touch()
    monkeypatch.setattr("builtins.input", lambda *asked: "y")
    folders = tmp_path / "folders"
    folders.mkdir()
    (folder,) = (folder for system, folder in folders_of_every_system(folders) if system == "exemplar")
    config = manifest.read(folder).config
    for trainable in (False, True):
        rewrite(folder, config=config | {"style_encoder": str(encoder), "style_trainable": trainable})
        with pytest.raises(InputError, match="its architecture is code of its own, which is never run") as caught:
            checkpoint.load(folder)
        assert "\n" not in str(caught.value) and not ran.exists()


HUGE = {
    "latent": "hidden_width latent_width critic_width max_tokens",
    "exemplar": "content_width decoder_width max_tokens",
    "syntax-head": "last_layer width feed_forward depth span_width",
}


def test_a_small_file_of_a_huge_model_is_refused_at_once(tmp_path: Path) -> None:
    from paraform.syntax.running import load_head

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for system, folder in folders_of_every_system(tmp_path):
        load_whole = load_head if system == "syntax-head" else checkpoint.load
        load_whole(folder)
        config = manifest.read(folder).config
        for field in HUGE[system].split():
            for number in (90, 14_000, 10**30):
                if field == "max_tokens" and number < 10**30:
                    continue
                rewrite(folder, config=config | {field: number})
                with pytest.raises(InputError) as caught:
                    load_whole(folder)
                assert "\n" not in str(caught.value)
    # in KiB: of the hidden width alone the model would take 6.5 GiB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20


@pytest.mark.parametrize("text", ["", "[]", "{}", "{" * 100_000, '{"format": NaN}', "[" * 100_000, "\0"])
def test_foreign_json_is_refused(saved: Path, text: str) -> None:
    (saved / manifest.NAME).write_text(text)
    with pytest.raises(InputError, match=r"paraform\.json"):
        load(saved)


def test_not_finite_weights_are_neither_saved_nor_loaded(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = toy(1)
    with torch.no_grad():
        model.outer.weight[0, 0] = float("nan")
    with pytest.raises(InputError, match=r"outer\.weight"):
        checkpoint.save(model, saved, card="")
    assert torch.equal(load(saved).inner.weight, toy().inner.weight)
    with monkeypatch.context() as patched:
        patched.setattr(torch, "isfinite", torch.ones_like)
        checkpoint.save(model, saved, card="")
    with pytest.raises(InputError, match=r"model\.safetensors.*outer\.weight"):
        load(saved)


def test_a_name_that_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"^quora-typo: no such model; looked among .*compact, .*minilm.* folder"):
        checkpoint.load("quora-typo")
    with pytest.raises(InputError, match=r"paraform\.json: no such file"):
        checkpoint.load(tmp_path)

    def offline(*args: Any, **options: Any) -> str:
        raise huggingface_hub.errors.LocalEntryNotFoundError("no\nnetwork")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(InputError, match=r"^someone/model: no such folder, and not to be had from the hub: no network"):
        checkpoint.load("someone/model")


def test_a_device_that_is_not_there(saved: Path) -> None:
    with pytest.raises(InputError, match="gpu9"):
        checkpoint.load(saved, systems=SYSTEMS, device="gpu9")


def test_encoders_are_loaded_by_name_and_from_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    fake = types.ModuleType("paraform.encoders")
    fake.load_embedder = lambda name, *, device, variant: asked.append((name, device, variant)) or "an encoder"
    import paraform

    monkeypatch.setitem(sys.modules, "paraform.encoders", fake)
    monkeypatch.setattr(paraform, "encoders", fake, raising=False)
    for folder, file in (("a@b", "config.json"), ("static", "modules.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text("{}")
    (tmp_path / "glove.txt").write_text("a 1\n")
    names = ["minilm", tmp_path / "a@b", f"{tmp_path / 'static'}@layer=1", tmp_path / "glove.txt"]
    assert [checkpoint.load(name, device="cpu") for name in names] == ["an encoder"] * 4
    chosen = [Variant(), Variant(), Variant(layer=1), Variant()]
    expected = ["minilm", *(str(tmp_path / name) for name in ("a@b", "static", "glove.txt"))]
    assert asked == [(name, "cpu", variant) for name, variant in zip(expected, chosen, strict=True)]


def test_push_and_pull_carry_what_load_reads(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = tmp_path / "hub"

    class FakeApi:
        def __init__(self, token: str | None = None) -> None:
            pass

        def create_repo(self, repo_id: str, *, private: bool, exist_ok: bool) -> None:
            assert (repo_id, private, exist_ok) == ("someone/toy", True, True)

        def upload_folder(self, *, repo_id: str, folder_path: str, allow_patterns: list[str]) -> Any:
            hub.mkdir()
            for name in allow_patterns:
                shutil.copy(Path(folder_path) / name, hub / name)
            return types.SimpleNamespace(commit_url="https://hub/commit/1")

    def download(repo_id: str, *, allow_patterns: list[str], **options: Any) -> str:
        for name in {path.name for path in hub.iterdir()} & set(allow_patterns):
            (tmp_path / "cache").mkdir(exist_ok=True)
            shutil.copy(hub / name, tmp_path / "cache" / name)
        return str(tmp_path / "cache")

    monkeypatch.setattr(huggingface_hub, "HfApi", FakeApi)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    extra = {"training.json": manifest.write_text("{}")}
    checkpoint.save(toy(), saved, card="# Toy\n", extra=extra)
    assert checkpoint.push(saved, "someone/toy", private=True) == "https://hub/commit/1"
    assert not (hub / "training.json").exists() and (hub / "README.md").exists()
    model = checkpoint.load("someone/toy", systems=SYSTEMS, device="cpu")
    assert torch.equal(model.inner.weight, toy().inner.weight)
    (saved / "vocabulary.txt").write_text("changed")
    with pytest.raises(InputError, match=r"vocabulary\.txt"):
        checkpoint.push(saved, "someone/toy", private=True)
