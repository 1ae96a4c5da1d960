"""A client of the library, as mypy --strict reads it: no name of the public API is Any."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

CLIENT = """
import paraform


def answer(text: str, like: str) -> dict[str, object]:
    many = paraform.reword([text], num=2, threads=1)
    one = paraform.reword(text, keep=("PIN",))
    best = one.candidates[0] if one.candidates else None
    found: list[str] = [candidate.text for rewording in many for candidate in rewording.candidates]
    checks: list[str] = [] if best is None else best.failed
    score: float = 0.0 if best is None else best.score + best.figures["content"]
    return {**one.to_dict(), "found": found, "checks": checks, "score": score}


reveal_type(paraform.reword("a"))
reveal_type(paraform.reword(["a"]))
reveal_type(paraform.reword(("a", "b"), model=paraform.load_paraphraser()))
reveal_type(paraform.same("a", "b"))
reveal_type(paraform.same([("a", "b")], model=paraform.load_judge("minilm-judge", threads=2)))
reveal_type(paraform.duplicates(["a", "b"], paraform.load_encoder()).clusters)
reveal_type(paraform.load("compact").paraphrase("a", like="b c"))
reveal_type(paraform.load("compact").paraphrase(["a"], like=["b c"]))
reveal_type(paraform.load_paraphraser().decode(["a"], ["b"]))
reveal_type(paraform.load_encoder("minilm", device="cpu").encode("a"))
reveal_type(paraform.load_encoder().embed(["a"]))
reveal_type(paraform.load_judge().judge([("a", "b")]).same)
reveal_type(paraform.load("compact"))
reveal_type(paraform.load("latent-compact"))
reveal_type(paraform.load("minilm"))
reveal_type(paraform.load("smollm2"))
reveal_type(paraform.load("minilm-disentangled"))
reveal_type(paraform.load("minilm-par"))
reveal_type(paraform.load("smollm2-free"))
reveal_type(paraform.load("minilm-judge"))
reveal_type(paraform.load("smollm2-judge"))
reveal_type(paraform.load("smollm2-judge-all"))
"""
VECTORS = "an array of float32"
JUDGE = "paraform.models.judge.judge.MeaningJudge"
ENCODER = "paraform.encoders.encoder.Encoder"
TYPES = [
    "paraform.records.Rewording",
    "list[paraform.records.Rewording]",
    "list[paraform.records.Rewording]",
    "float",
    VECTORS,
    "list[list[int]]",
    "str",
    "list[str]",
    "list[str]",
    VECTORS,
    VECTORS,
    VECTORS,
    "paraform.models.exemplar.paraphraser.ExemplarParaphraser",
    "paraform.models.latent.language_model.LatentLanguageModel",
    ENCODER,
    ENCODER,
    ENCODER,
    "paraform.models.retrofit.encoder.RetrofittedEncoder",
    "paraform.models.lm.paraphraser.LMParaphraser",
    JUDGE,
    JUDGE,
    JUDGE,
]


def test_what_a_client_gets(tmp_path: Path) -> None:
    """By the settings of `make lint`, whose cache is there then."""
    client = tmp_path / "client.py"
    client.write_text(CLIENT, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", client]
    paths = os.environ | {"MYPYPATH": "src"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], env=paths)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r'Revealed type is "(.*)"$', done.stdout, re.MULTILINE)
    assert [re.sub(r"numpy\.ndarray\[.*floating.*\]", VECTORS, one).replace("builtins.", "") for one in found] == TYPES
