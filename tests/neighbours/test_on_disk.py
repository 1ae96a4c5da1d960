"""Duplicates of a corpus on disk against those of the same texts in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraform
from paraform.checkpoint import signature_of
from paraform.corpora.columns import text_alone
from paraform.encoders import Encoder
from paraform.engines import LOCAL
from paraform.neighbours import on_disk
from paraform.neighbours.on_disk import Found, Question, duplicates_on_disk, first_of_each
from paraform.records import InputError


def question(minilm: Encoder, **other: Any) -> Question:
    asked = Question(
        model="minilm",
        vectors="",
        device="cpu",
        signature=signature_of(minilm, "minilm"),
        products="float32",
        batch_size=0,
        seed=0,
        threshold=0.75,
        search="auto",
        keep_apart=(),
        verify="",
        verify_threshold=0.82,
        by_minilm=True,
        input="texts",
    )
    return replace(asked, **other)


def find(texts: list[str], minilm: Encoder, folder: Path, **other: Any) -> Found:
    return duplicates_on_disk(text_alone(texts), minilm, folder, question(minilm, **other), engine=LOCAL)


def same(found: Found, expected: Any) -> None:
    pairs = list(found.pairs())
    assert [[pair.one, pair.other] for pair in pairs] == expected.pairs.tolist() and found.count == len(pairs)
    assert [pair.cosine for pair in pairs] == pytest.approx(expected.cosines.tolist(), abs=1e-6)
    assert [cluster.tolist() for cluster in found.clusters()] == expected.clusters
    assert (found.different, found.search, found.apart) == (expected.different, expected.search, expected.apart)
    assert found.unread == len(expected.unread)
    assert found.first_unread == (expected.unread[0] if expected.unread else -1)
    dropped = {number for cluster in expected.clusters for number in cluster[1:]}
    assert np.flatnonzero(~found.firsts()).tolist() == sorted(dropped)


@pytest.fixture
def small(inline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of few rows, in this process."""
    monkeypatch.setattr(on_disk, "SHARD", 64)
    monkeypatch.setattr(on_disk, "LETTERS", 2)
    monkeypatch.setattr("paraform.neighbours.near_on_disk.EXACT_ROWS", 50)
    monkeypatch.setattr("paraform.neighbours.near_on_disk.BUCKET", 50)
    monkeypatch.setattr("paraform.neighbours.near_on_disk.PART", 64)
    monkeypatch.setattr("paraform.neighbours.verdicts.LOOKED_AT", 10)
    monkeypatch.setattr("paraform.neighbours.verdicts.MERGED", 40)


UNREAD = ["😀", "Αβγ δε", "αβγ  ΔΕ", "😎", "😀", "ΑΒΓ Δε", "ηθι\tκλμ", "Ηθι κλμ", "ηθι κλμ", "ηθι κλμ"]


@pytest.mark.parametrize("search", ["exact", "index"])
def test_real_questions(search: str, data: Path, minilm: Encoder, tmp_path: Path, small: None) -> None:
    """With copies, and texts that the model cannot read, among them."""
    lines = (data / "quora" / "dev.tsv").read_text(encoding="utf-8").splitlines()[:120]
    texts = [text for line in lines for text in line.split("\t")]
    texts = [*texts[:100], *UNREAD, *texts[100:], *texts[:7]]
    found = find(texts, minilm, tmp_path / "out", search=search)
    same(found, paraform.duplicates(texts, minilm, threshold=0.75, search=search))  # type: ignore[arg-type]
    assert found.count > 50 and found.unread == len(UNREAD)


def test_what_is_kept_apart_and_what_a_judge_refuses(
    question_pairs: Path, minilm: Encoder, tmp_path: Path, small: None
) -> None:
    texts = question_pairs.read_text(encoding="utf-8").replace("\t", "\n").splitlines()[:30]
    texts += ["Turn on 3 lights", "Turn off 3 lights", "Turn on 4 lights", *UNREAD]
    judge = paraform.load("minilm-judge", device="cpu")
    how: dict[str, Any] = {"keep_apart": ("numbers", "negation"), "verify_threshold": 0.5}
    expected = paraform.duplicates(texts, minilm, threshold=0.75, verify=judge, **how)
    found = find(texts, minilm, tmp_path / "out", verify="minilm-judge", **how)
    same(found, expected)
    assert {"numbers", "meaning"} <= expected.apart.keys() and found.count
    assert [pair.same for pair in found.pairs()] == pytest.approx(expected.same.tolist(), abs=1e-3)  # type: ignore[union-attr]


def test_no_text_that_is_near_and_none_that_can_be_read(minilm: Encoder, tmp_path: Path, small: None) -> None:
    found = find(["A cat.", "Who wrote Hamlet?"], minilm, tmp_path / "a")
    assert list(found.pairs()) == list(found.clusters()) == [] and found.apart == Counter()
    found = find(["😀", "😎", "😀"], minilm, tmp_path / "b")
    assert [cluster.tolist() for cluster in found.clusters()] == [[0, 2]] and found.unread == 3


def test_the_first_of_each() -> None:
    """Against a dictionary, with digests that share a half."""
    digests = np.random.default_rng(0).integers(0, 40, (3000, 2)).astype(np.uint64)
    first: dict[tuple[int, int], int] = {}
    expected = [first.setdefault((one, other), number) for number, (one, other) in enumerate(digests.tolist())]
    assert first_of_each(digests).tolist() == expected
    assert first_of_each(digests[:0]).tolist() == []


def test_another_question_of_the_same_vectors(minilm: Encoder, tmp_path: Path, small: None) -> None:
    """What is not the vectors' has a folder of its own there, and is removed by who asks otherwise."""
    texts = ["How can I lose weight?", "How do I lose weight?", "Who wrote Hamlet?"]
    find(texts, minilm, tmp_path, keep_apart=("numbers",))
    with pytest.raises(
        InputError, match=r"pairs: holds another job's shards \(threshold '0.75', and this job's is '0.9'"
    ):
        find(texts, minilm, tmp_path, threshold=0.9)
    with pytest.raises(
        InputError, match=r"verdicts: holds another job's shards \(keep_apart 'numbers', and this job's"
    ):
        find(texts, minilm, tmp_path, keep_apart=("names",))
    with pytest.raises(InputError, match=r"holds another job's shards \(the file changed, or how it is read"):
        find(texts, minilm, tmp_path, input="other texts")
    for path in (tmp_path / "pairs").iterdir():
        path.unlink()
    before = [path.stat().st_mtime_ns for path in sorted((tmp_path / "vectors").iterdir())]
    assert find(texts, minilm, tmp_path, threshold=0.9).count == 1
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "vectors").iterdir())] == before


def test_the_disk_that_it_takes(minilm: Encoder, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(on_disk, "room_for", lambda rows, width: rows * width * 2**22)
    asked = question(minilm)
    duplicates_on_disk(text_alone(["a", "b"]), minilm, tmp_path / "a", asked, engine=LOCAL, tell=said.append)
    assert len(said) == 1 and "at most 3.0 GiB of disk for 2 texts, and 12 bytes for each pair" in said[0]
    monkeypatch.setattr(on_disk, "room_for", lambda rows, width: 2**60)
    with pytest.raises(
        InputError, match=r"GiB are free on its disk; expected 1073741824\.0 for the vectors of 2 texts"
    ):
        find(["a", "b"], minilm, tmp_path / "b")
    assert not (tmp_path / "b" / "vectors").exists()
