"""The rewordings that were written: each line of the file, and what becomes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from paraform_papers.shipped import written
from paraform_papers.shipped.written import WRITTEN, digest, made, pairs_of

ROWS = [json.loads(line) for line in WRITTEN.read_text(encoding="utf-8").splitlines()]


def test_every_line_has_a_sentence_and_others() -> None:
    assert len(ROWS) > 3000
    for row in ROWS:
        assert ("source" in row) != ("digest" in row) and {*row} <= {"kind", "source", "digest", "said"}
        assert row["said"] and all(text == text.strip() and text.isprintable() for text in row["said"])
        assert row.get("source") not in row["said"] and len({*row["said"]}) == len(row["said"])
    named = [row.get("digest") or row["source"].lower() for row in ROWS]
    assert len({*named}) == len(named)


def test_what_was_read_is_of_sentences_that_are_there() -> None:
    read = [json.loads(line) for line in (WRITTEN.parent / "read.jsonl").read_text(encoding="utf-8").splitlines()]
    named = {row.get("digest") or row["source"] for row in ROWS}
    assert len(read) > 3000 and {row.get("digest") or row["source"] for row in read} <= named
    assert {row["read"] for row in read} == {"usable", "awkward", "slip", "wrong", "copy"}


def test_slots_come_back() -> None:
    slots = re.compile(r"\{\w+\}|<\w+>|\[[A-Z_]+\]|%[sd]\b")
    lost = [
        row
        for row in ROWS
        if "source" in row
        and any(sorted(slots.findall(row["source"])) != sorted(slots.findall(said)) for said in row["said"])
    ]
    assert lost == []


def test_a_sentence_and_its_rewordings_are_pairs_with_each_other(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    rows = [
        {"kind": "ticket", "source": "a", "said": ["b", "c"]},
        {"kind": "squad", "digest": digest("d"), "said": ["e"]},
        {"kind": "squad", "digest": digest("nowhere"), "said": ["f"]},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = pairs_of(file, ["d", "g"])
    assert [(one.source.text, one.target.text, one.cluster) for one in found] == [
        ("a", "b", 1),
        ("a", "c", 1),
        ("b", "c", 1),
        ("d", "e", 2),
    ]


def test_what_is_reworded_blind_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "measured_by", lambda data: ["The lamp does not work any more."])
    monkeypatch.setattr(written, "real_sentences", lambda data: [])
    said = [
        ("The lamp does not work any more.", "That lamp stopped working."),
        ("Close all the windows tonight.", "Shut every window this evening."),
        ("My bag arrived very late.", "It took ages until my bag came."),
        ("My hat got lost in May.", "In May someone lost my hat."),
    ]
    file, untouched = tmp_path / "a.jsonl", tmp_path / "u.json"
    file.write_text("".join(json.dumps({"kind": "x", "source": a, "said": [b]}) + "\n" for a, b in said))
    untouched.write_text(json.dumps({"command": ["close all the windows tonight"]}))
    train, dev, _ = made(tmp_path, file, untouched, seed=0)
    texts = {pair.source.text.lower() for pair in [*train, *dev]}
    assert texts and not any("lamp" in text or "window" in text for text in texts)
    assert len(made(tmp_path, file, untouched, seed=0, most=1)[0]) == 1
