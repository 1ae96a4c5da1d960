"""How much of its source a decoder copies: counted by hand, and two files side by side."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from paraform.records import InputError
from paraform_papers.parabart import copying


def row(number: int, source: str, output: str, exemplar: str = "e") -> dict[str, Any]:
    kept = {"content kept": 0.5, "ROUGE-1": 20.0, "ED-E": 1.0}
    return {"system": "model", "row": number, "source": source, "exemplar": exemplar, "output": output} | kept


def written(file: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """As `evaluate generation --outputs` writes them, a floor among them."""
    lines = [*rows, *(one | {"system": "copy source", "output": one["source"]} for one in rows)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def test_copies_and_source_words() -> None:
    """ "the" stands once in its source and twice in its output: 2 of 4 words. A copy is one whatever its marks."""
    source = "How is the cat?"
    found = copying.metrics([row(0, source, "the the cat sat"), row(1, source, "how is the cat"), row(2, source, "")])
    copies, own, *_ = found
    assert copies.over() == pytest.approx(100 / 3)
    assert own.over() == pytest.approx((50 + 100 + 0) / 3)


def test_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    one = written(tmp_path / "one.jsonl", [row(0, "a b", "a b"), row(1, "c d", "e c")])
    other = written(tmp_path / "other.jsonl", [row(1, "c d", "e f"), row(0, "a b", "a a")])
    monkeypatch.setattr(sys, "argv", ["copying", str(one), str(other)])
    copying.main()
    found = json.loads(capsys.readouterr().out)
    assert (found["copies"]["first"], found["copies"]["second"]) == (50.0, 0.0)
    assert (found["source's words"]["first"], found["source's words"]["second"]) == (75.0, 25.0)
    assert found["source's words"]["compared"]["difference"] == 50.0
    assert found["content kept"]["first"] == 0.5
    third = written(tmp_path / "third.jsonl", [row(0, "a b", "a", "another"), row(1, "c d", "e")])
    monkeypatch.setattr(sys, "argv", ["copying", str(one), str(third)])
    with pytest.raises(InputError, match="other rows"):
        copying.main()


def test_what_is_no_file_of_outputs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="0 outputs of models"):
        copying.read(written(tmp_path / "none.jsonl", []))
    with pytest.raises(InputError, match="2 outputs of models"):
        copying.read(written(tmp_path / "twice.jsonl", [row(0, "a", "b"), row(0, "a", "c")]))
    damaged = tmp_path / "damaged.jsonl"
    for line in ("{", '{"system": "model"}', "[]"):
        damaged.write_text(line + "\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"damaged.jsonl:1: .*expected a line"):
            copying.read(damaged)
