"""What an extra brings is asked for by its name. Entry points: `tests/cli/test_train.py`."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import paraform
from paraform.extensions import needed
from paraform.records import InputError

NOT_IN_CORE = ("accelerate", "matplotlib", "tensorboard", "scipy", "sklearn", "nltk", "starlette")


def test_a_module_or_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert needed("json", "anything", "none") is importlib.import_module("json")
    monkeypatch.setitem(sys.modules, "wine", None)
    message = r"^a picture needs wine; install it with: pip install 'paraform\[cellar\]'$"
    with pytest.raises(InputError, match=message):
        needed("wine.red", "a picture", "cellar")


@pytest.mark.parametrize("package", ["accelerate", "matplotlib", "tensorboard"])
def test_training_names_its_extra_before_it_makes_anything(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"^training needs {package}; .*'paraform\[train\]'$"):
        paraform.train_latent(["a b", "b c", "c d"], tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_inference_imports_nothing_of_the_extras() -> None:
    """As in an environment that has only what `pip install paraform[offline]` brings."""
    code = (
        "import json, sys\n"
        f"sys.modules.update(dict.fromkeys({NOT_IN_CORE!r}))\n"
        "import paraform\n"
        "said = paraform.reword(['Can I use my card abroad?'])[0].candidates[0].text\n"
        "shape = paraform.load('minilm').encode(['a b']).shape\n"
        "print(json.dumps([said, *shape]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["Is it possible to use my card abroad?", 1, 384]
