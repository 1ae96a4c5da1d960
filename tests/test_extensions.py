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

NOT_IN_CORE = (
    *("accelerate", "matplotlib", "numba", "llvmlite", "peft", "tensorboard"),
    *("scipy", "sklearn", "sentence_transformers", "nltk", "starlette", "faiss", "datasets", "ray"),
)
WITHOUT_EXTRAS = """
import json, sys
import paraform
assert not set(json.loads(sys.argv[1])) & set(sys.modules)
sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))
TEXT, WORDS = "Can I use my card abroad?", [["The", "dog", "runs", "."]]
print(json.dumps({
    "reword": paraform.reword([TEXT])[0].candidates[0].text,
    "like": len(paraform.load("compact").paraphrase([TEXT], ["what is the best way to run ?"])),
    "parse": str(paraform.load_parser()(WORDS)[0]),
    "tag": paraform.load_tagger()(WORDS),
    "same": paraform.same([(TEXT, TEXT), (TEXT, "A cat sleeps.")], model="minilm-judge").round().tolist(),
    "embed": [paraform.load(name).embed([TEXT]).shape for name in sys.argv[2:]],
    "duplicates": paraform.duplicates([TEXT, "A cat sleeps.", "Could I use my card abroad?"]).clusters,
    "sample": len(paraform.load("latent-compact").sample(2)),
}))
for name in paraform.__all__:
    if name not in ("ExemplarIndex", "ParaformVectors"):
        getattr(paraform, name)
for call in (lambda: paraform.ExemplarIndex.build([]), lambda: paraform.mine([])):
    try:
        call()
    except paraform.InputError as error:
        print(error)
"""


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
    names = ["minilm", "minilm-disentangled", "minilm-par", "compact", "latent-compact"]
    given = [sys.executable, "-c", WITHOUT_EXTRAS, json.dumps(NOT_IN_CORE), *names]
    done = subprocess.run(given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, *errors = done.stdout.splitlines()
    assert json.loads(found) == {
        "reword": "Is it possible to use my card abroad?",
        "like": 1,
        "parse": "(ROOT (S (NP (DT The) (NN dog)) (VP (VBZ runs)) (. .)))",
        "tag": [["DT", "NN", "VBZ", "."]],
        "same": [1, 0],
        "embed": [[1, 384], [1, 384], [1, 384], [1, 512], [1, 32]],
        "duplicates": [[0, 2]],
        "sample": 2,
    }
    assert errors == ["the exemplar index needs numba; install it with: pip install 'paraform[mine]'"] * 2
