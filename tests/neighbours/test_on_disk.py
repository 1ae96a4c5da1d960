"""Duplicates of a corpus on disk against those of the same texts in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import paraform
from paraform.checkpoint import signature_of
from paraform.checkpoint.folder import checkpoint_digest
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
        verify_weights="",
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


def test_real_questions(
    data: Path, minilm: Encoder, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With copies, and texts that the model cannot read, among them; of an index of one cell each some go missing."""
    lines = (data / "quora" / "dev.tsv").read_text(encoding="utf-8").splitlines()[:120]
    texts = [text for line in lines for text in line.split("\t")]
    texts = [*texts[:100], *UNREAD, *texts[100:], *texts[:7]]
    found = find(texts, minilm, tmp_path / "out", search="exact")
    same(found, paraform.duplicates(texts, minilm, threshold=0.75, search="exact"))
    assert found.count > 50 and found.unread == len(UNREAD)
    monkeypatch.setattr("paraform.neighbours.near_on_disk.PROBED", 1)
    some = find(texts, minilm, tmp_path / "out", search="index")
    assert some.search == "index" and 0 < some.count < found.count and {*some.pairs()} < {*found.pairs()}


def test_what_is_kept_apart_and_what_a_judge_refuses(
    question_pairs: Path, minilm: Encoder, tmp_path: Path, small: None
) -> None:
    texts = question_pairs.read_text(encoding="utf-8").replace("\t", "\n").splitlines()[:30]
    texts += ["Turn on 3 lights", "Turn off 3 lights", "Turn on 4 lights", *UNREAD]
    judge = paraform.load("minilm-judge", device="cpu")
    how: dict[str, Any] = {"keep_apart": ("numbers", "negation"), "verify_threshold": 0.5}
    expected = paraform.duplicates(texts, minilm, threshold=0.75, verify=judge, **how)
    how |= {"verify": "minilm-judge", "verify_weights": checkpoint_digest("minilm-judge")}
    found = find(texts, minilm, tmp_path / "out", **how)
    same(found, expected)
    assert {"numbers", "meaning"} <= expected.apart.keys() and found.count
    assert [pair.same for pair in found.pairs()] == pytest.approx(expected.same.tolist(), abs=1e-3)  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"a worker's minilm-judge is \w{12}; expected another: the same files on ev"):
        find(texts, minilm, tmp_path / "out", **how | {"verify_weights": "another"})


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
    """What is not the vectors' gets a folder of its own there, and what was found before stays."""
    texts = ["How can I lose weight?", "How do I lose weight?", "Who wrote 2 books?", "Who wrote 3 books?"]
    counts = [
        find(texts, minilm, tmp_path, **how).count
        for how in (
            {"threshold": 0.7},
            {"threshold": 0.99},
            {"threshold": 0.7, "keep_apart": ("numbers",)},
            {"threshold": 0.99, "keep_apart": ("numbers",)},
            {"threshold": 0.7, "keep_apart": ("names",)},
        )
    ]
    assert counts == [2, 0, 1, 0, 2]
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("0*.npy")}
    assert len({path.parent for path in made if "pairs-" in path.parent.name}) == 2 + 3  # the last of verdicts
    assert find(texts, minilm, tmp_path, threshold=0.7, keep_apart=("numbers",)).count == 1
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("0*.npy")} == made
    with pytest.raises(InputError, match=r"holds another job's shards \(the file changed, or how it is read"):
        find(texts, minilm, tmp_path, input="other texts")


def test_verdicts_are_of_the_judge_and_of_the_vectors(
    minilm: Encoder, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another judge of the same name looks at the pairs again."""
    texts = ["How can I lose weight?", "How do I lose weight?"]
    monkeypatch.setattr("paraform.neighbours.verdicts.checkpoint_digest", lambda name: weights)
    for weights in ("one", "other"):
        find(texts, minilm, tmp_path, verify="minilm-judge", verify_weights=weights)
    assert len(list(tmp_path.glob("verdicts-*"))) == 2


def test_a_corpus_that_cannot_be_read_leaves_the_folder_to_the_next(
    minilm: Encoder, tmp_path: Path, small: None
) -> None:
    def broken() -> Iterator[str]:
        yield "A cat."
        raise InputError("line 2")

    with pytest.raises(InputError, match="line 2"):
        duplicates_on_disk(text_alone(broken()), minilm, tmp_path, question(minilm, input="broken"), engine=LOCAL)
    assert find(["A cat.", "a cat."], minilm, tmp_path, input="mended").different == 2
    with pytest.raises(InputError, match="the file changed"):  # and it is not read
        duplicates_on_disk(text_alone(broken()), minilm, tmp_path, question(minilm, input="broken"), engine=LOCAL)


def test_the_disk_that_it_takes(minilm: Encoder, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the vectors, 1,536 bytes each, and of an index eight copies of 428 at most; nothing of what is there."""
    texts, free, said = [f"text {number}" for number in range(80)], 80 * 1536, []
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    free -= 1
    with pytest.raises(InputError, match=r"0\.0 GiB are free on its disk; expected 0\.0 for the vectors of 80 texts"):
        find(texts, minilm, tmp_path)
    assert not (tmp_path / "vectors").exists()
    free += 1
    find(texts, minilm, tmp_path, search="exact")
    free = 80 * 8 * 428
    find(texts, minilm, tmp_path, search="index")
    free = 0
    find(texts, minilm, tmp_path, search="index")
    monkeypatch.setattr(on_disk, "room_for", lambda *_: 3 * 2**30)
    free = 2**40
    asked = question(minilm)
    duplicates_on_disk(text_alone(texts), minilm, tmp_path, asked, engine=LOCAL, tell=said.append)
    assert len(said) == 1 and "3.0 GiB of disk for the vectors of 80 texts" in said[0]


def test_a_vector_that_is_no_number_is_named_by_its_text(
    minilm: Encoder, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its row of the corpus, of which copies are left out; and no shard has it."""
    texts = ["A cat.", "A cat.", "A dog.", "Who wrote Hamlet?"]
    embed = Encoder.embed

    def some_nan(self: Encoder, texts: Sequence[str], *given: Any, **how: Any) -> Any:
        found = embed(self, texts, *given, **how)
        found[[text == "A dog." for text in texts], 3] = np.nan
        return found

    monkeypatch.setattr(Encoder, "embed", some_nan)
    with pytest.raises(InputError, match=r"text 3, 'A dog\.': NaN or infinity in its vector of minilm; expected fin"):
        find(texts, minilm, tmp_path)
    assert not list((tmp_path / "vectors").glob("0*.npy"))
