"""How much of its source a decoder copies: counted by hand, and two files side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from paraform.records import InputError
from paraform_papers.parabart import copying


def written(file: Path, outputs: dict[int, tuple[str, str]]) -> Path:
    """As `evaluate generation --outputs` writes them, a floor among them."""
    rows = [
        {"system": system, "row": row, "source": source, "output": output}
        for row, (source, own) in outputs.items()
        for system, output in (("model", own), ("copy source", source))
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_copies_and_own_words() -> None:
    """ "the" stands once in its source and twice in its output: 2 of 4 words. A copy is one whatever its marks."""
    copies, own = copying.metrics([("How is the cat?", "the the cat sat"), ("How is the cat?", "how is the cat")])
    assert (copies.over(), own.over()) == (50.0, (50.0 + 100.0) / 2)


def test_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    one = written(tmp_path / "one.jsonl", {0: ("a b", "a b"), 1: ("c d", "e c")})
    other = written(tmp_path / "other.jsonl", {1: ("c d", "e f"), 0: ("a b", "a a")})
    monkeypatch.setattr(sys, "argv", ["copying", str(one), str(other)])
    copying.main()
    found = json.loads(capsys.readouterr().out)
    assert (found["copies"]["one"], found["copies"]["other"]) == (50.0, 0.0)
    assert (found["own words"]["one"], found["own words"]["other"]) == (75.0, 25.0)
    assert found["own words"]["compared"]["difference"] == 50.0
    monkeypatch.setattr(sys, "argv", ["copying", str(one), str(written(tmp_path / "third.jsonl", {0: ("x", "a")}))])
    with pytest.raises(InputError, match="other rows"):
        copying.main()


def test_no_output(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no output of a model"):
        copying.read(written(tmp_path / "none.jsonl", {}))
