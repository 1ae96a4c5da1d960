"""`paraform export`: what goes with which layout, and an upload that is recorded in place of made."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import tiny_disentangled as tiny

from paraform import checkpoint
from paraform.cli import main

HUB = ["--to", "hub:someone/vectors", "--terms"]


@pytest.fixture
def model(tmp_path: Path) -> str:
    checkpoint.save(tiny.paraphraser(), tmp_path / "model", card="a test")
    return str(tmp_path / "model")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "--to sentence-transformers without --out"),
        ("--to onnx", "--to onnx without --out"),
        ("--to onnx --out it --public", "--public with --to onnx"),
        ("--to elmo --out it", "--to elmo; expected sentence-transformers, onnx, or hub:OWNER/NAME"),
        ("--to onnx:x --out it", "--to onnx:x; expected sentence-transformers"),
        ("--to hub --terms free", "--to hub; expected hub:OWNER/NAME"),
        ("--to hub:a/b", "--to hub:… without --terms"),
        ("--to hub:a/b --terms free --out it", "--out with --to hub:…"),
        ("--to hub:a/.. --terms free", "--to hub:a/..; expected hub:OWNER/NAME"),
        ("--to hub:b --terms free", "--to hub:b; expected hub:OWNER/NAME"),
    ],
)
def test_what_does_not_fit_together(given: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "no-such-model", *given.split()]) == 2
    assert capsys.readouterr().err.startswith(f"paraform: error: {message}")


@pytest.mark.parametrize("public", [False, True])
def test_the_hub_gets_a_new_repository_with_the_terms(
    public: bool, model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []
    folders: list[Path] = []

    class FakeApi:
        def __init__(self, token: str) -> None:
            calls.append((token,))

        def create_repo(self, repo_id: str, *, private: bool, exist_ok: bool) -> None:
            calls.append((repo_id, private, exist_ok))

        def upload_folder(self, *, repo_id: str, folder_path: str, allow_patterns: list[str] | None) -> Any:
            folders.append(Path(folder_path))
            assert {path["type"].split(".")[-1] for path in json.loads((folders[0] / "modules.json").read_text())} == {
                "Transformer", "Pooling", "Normalize"
            }  # fmt: skip
            card = (folders[0] / "README.md").read_text(encoding="utf-8")
            found = huggingface_hub.ModelCard(card)
            assert found.data.library_name == "sentence-transformers" and "paraform" in (found.data.tags or ())
            assert (
                found.text.startswith("\n# vectors\n") and "\n**Terms of the training data.** Not for sale.\n" in card
            )
            calls.append((repo_id, allow_patterns))
            return types.SimpleNamespace(commit_url="https://hub/commit/1")

    monkeypatch.setattr(huggingface_hub, "HfApi", FakeApi)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "hf_secret")
    given = [*HUB, "Not for sale.", "--json", *(["--public"] if public else [])]
    assert main(["export", model, *given]) == 0
    assert calls == [("hf_secret",), ("someone/vectors", not public, False), ("someone/vectors", None)]
    assert json.loads(capsys.readouterr().out) == {"address": "https://hub/commit/1", "to": "hub"}
    assert not folders[0].exists()


def test_a_hub_that_refuses(model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """For want of a token, before anything is asked of it; or because there is such a repository."""

    class FakeApi:
        def __init__(self, token: str) -> None:
            pass

        def create_repo(self, *given: Any, **options: Any) -> None:
            raise OSError("409 Conflict:\nsomeone/vectors exists")

    monkeypatch.setattr(huggingface_hub, "HfApi", FakeApi)
    for token, line in (
        (None, "no token for the hub; expected one in HF_TOKEN, or call: hf auth login"),
        ("hf_secret", "not uploaded: 409 Conflict: someone/vectors exists"),
    ):
        monkeypatch.setattr(huggingface_hub, "get_token", lambda token=token: token)
        assert main(["export", model, *HUB, "Free."]) == 2
        assert capsys.readouterr().err.splitlines()[-1] == f"paraform: error: someone/vectors: {line}"
