"""Corpora on disk: the same output from each engine, and what a killed run leaves for the next one."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from paraform import corpora
from paraform.corpora.arrow import ArrowRecords, write_arrow
from paraform.corpora.treebank import read_treebank
from paraform.engines import Engine
from paraform.records import InputError, Origin, Pair, Sentence, Triple, from_json
from paraform.syntax import MiningConfig, mine
from paraform.syntax import corpus as module
from paraform.syntax.annotation import Annotator
from paraform.syntax.corpus import annotate_corpus, annotated, annotated_pairs, searched_by
from paraform.weights import read_kept, write_kept

LOWER = Annotator(lower=True, max_tokens=30)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    """Thirty questions and their paraphrases, with clusters."""
    return corpora.clusters(list(corpora.read_pairs(question_pairs))[:30])


@pytest.fixture(scope="module")
def ray_engine() -> Iterator[Engine]:
    """A Ray cluster of two cores on this machine, and one worker there, which takes seconds to start."""
    pytest.importorskip("ray")
    from paraform.engines.ray import connected

    with connected("local", 2):
        yield Engine("ray", 1)


def test_records_come_back_from_arrow(tmp_path: Path) -> None:
    sentence = Sentence("a \u2028 b\n", ("a", "b"), ("X", "Y"), "(ROOT (X a) (Y b))", Origin("x", 3))
    records = [sentence, Pair(sentence, Sentence("ö"), cluster=2), Triple(sentence, sentence, sentence, distance=1)]
    assert write_arrow(iter(records * 3000), tmp_path / "a.arrow") == 9000
    data = ArrowRecords(tmp_path / "a.arrow")
    assert len(data) == 9000
    assert data.rows(4094, 4100) == (records * 3)[4094 % 3 :][:6]
    assert data.rows(3, 3) == []
    assert write_arrow([], tmp_path / "none.arrow") == 0 == len(ArrowRecords(tmp_path / "none.arrow"))
    (tmp_path / "b.arrow").write_bytes(b"ARROW?")
    with pytest.raises(InputError, match=r"b\.arrow: .*expected an Arrow file of records"):
        ArrowRecords(tmp_path / "b.arrow")


def test_every_sentence_of_a_record_is_annotated() -> None:
    def shout(sentences: Sequence[Sentence]) -> list[Sentence]:
        return [replace(sentence, tokens=(sentence.text.upper(),), tags=("X",)) for sentence in sentences]

    a, b, c = (Sentence(text) for text in "abc")
    found = annotated([a, Pair(b, c, cluster=1), Triple(a, b, c, distance=2)], shout)
    upper = {text: Sentence(text, (text.upper(),), ("X",)) for text in "abc"}
    assert found == [
        upper["a"],
        Pair(upper["b"], upper["c"], cluster=1),
        Triple(upper["a"], upper["b"], upper["c"], distance=2),
    ]


def test_the_same_lines_whatever_the_engine(
    pairs: list[Pair], ray_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks of seven pairs, so that there are several; the engines keep theirs in folders of their own."""
    found = {}
    for engine in (Engine("local", 2), ray_engine):
        cache = tmp_path / f"{engine.name}{engine.workers}"
        parts = annotate_corpus(pairs, "digest", LOWER, engine=engine, cache=cache, size=7)
        found[cache.name] = list(parts)
    assert found["local2"] == found["ray1"]
    assert len(found["ray1"]) == 5
    lines = [from_json(json.loads(line)) for line in b"".join(found["ray1"]).splitlines()]
    assert [line.cluster for line in lines if isinstance(line, Pair)] == [pair.cluster for pair in pairs]
    assert all(isinstance(line, Pair) and len(line.target.tags) == len(line.target.tokens) for line in lines)


def test_exemplars_are_the_same_whatever_the_engine(
    pairs: list[Pair], ray_engine: Engine, tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = annotated_pairs(pairs, "digest", LOWER, engine=Engine("local", 1), cache=tmp_path)
    assert [pair.source.text for pair in full] == [pair.source.text for pair in pairs]
    assert full[3].origin == pairs[3].origin
    monkeypatch.undo()  # of `inline`
    monkeypatch.setattr(module, "SEARCHED", 8)
    for config, engine in (
        (MiningConfig(pool="sources", window=9), Engine("local", 1)),
        (MiningConfig(pool_size=15, among="nearest"), ray_engine),
    ):
        here, there = mine(full, config), mine(full, config, search=searched_by(engine, tmp_path))
        np.testing.assert_array_equal(here.exemplars, there.exemplars)
        np.testing.assert_array_equal(here.distances, there.distances)
    assert not list(tmp_path.glob("mining-*"))  # nothing is left


def test_what_was_done_is_not_done_again(pairs: list[Pair], tmp_path: Path, inline: None) -> None:
    """A run that ends early leaves its chunks, the records are not read twice, and other settings are other files."""
    engine = Engine("local", 1)
    parts = annotate_corpus(pairs, "digest", LOWER, engine=engine, cache=tmp_path, size=7)
    first = next(parts)
    del parts
    done = next((tmp_path / "annotated").iterdir())
    assert read_kept(done / "0.jsonl") == first
    write_kept(done / "0.jsonl", b"kept\n")

    def not_read() -> Iterator[Pair]:
        raise AssertionError
        yield

    again = list(annotate_corpus(not_read(), "digest", LOWER, engine=engine, cache=tmp_path, size=7))
    assert again[0] == b"kept\n" and len(again) == 5
    other = annotate_corpus(pairs, "digest", Annotator(), engine=engine, cache=tmp_path, size=7)
    assert next(other) != b"kept\n"


def test_a_chunk_that_was_altered_is_made_again(pairs: list[Pair], tmp_path: Path, inline: None) -> None:
    def once() -> list[bytes]:
        return list(annotate_corpus(pairs, "digest", LOWER, engine=Engine("local", 1), cache=tmp_path, size=7))

    whole = once()
    path = next((tmp_path / "annotated").iterdir()) / "0.jsonl"
    kept = path.read_bytes()
    for altered in (kept.replace(b'"NN"', b'"VB"', 1), kept[:-9], b"", b"\n", kept[65:]):
        assert altered != kept
        path.write_bytes(altered)
        assert once() == whole and path.read_bytes() == kept


def test_equals_brute_force_on_real_questions(data: Path) -> None:
    """400 targets of quora/train against 30,000, with tags that GUM's words have most often (which is quick)."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in read_treebank(data / "treebank" / "gum" / "train"):
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            counts[word.lower()][tag] += 1
    tags = {word: tag.most_common(1)[0][0] for word, tag in counts.items()}

    def tagged(sentence: Sentence) -> Sentence:
        words = tuple(re.findall(r"\w+|[^\w\s]", sentence.text.lower())[:30])
        return replace(sentence, tokens=words, tags=tuple(tags.get(word, "NN") for word in words))

    pairs = corpora.clusters(islice(corpora.read_pairs(data / "quora" / "train.tsv"), 30_000))
    full = [replace(pair, target=tagged(pair.target)) for pair in pairs]
    mined = mine(full, MiningConfig(keep=3, ties="first"))
    letters = {tag: chr(200 + number) for number, tag in enumerate(sorted({t for p in full for t in p.target.tags}))}
    texts = ["".join(letters[tag] for tag in pair.target.tags) for pair in full]
    lengths = np.array([len(text) for text in texts])
    words = [frozenset(pair.target.tokens) for pair in full]
    same = ["".join(pair.target.text.lower().split()) for pair in full]
    sources = ["".join(pair.source.text.lower().split()) for pair in full]
    rows = np.random.default_rng(0).choice(len(full), 400, replace=False)
    for length in np.unique(lengths[rows]):
        asked, among = rows[lengths[rows] == length], np.flatnonzero(np.abs(lengths - length) <= 2)
        among = among[lengths[among] > 0]
        near = cdist([texts[r] for r in asked], [texts[r] for r in among], scorer=Levenshtein.distance, workers=-1)
        for row, line in zip(asked.tolist(), near, strict=True):
            wanted: list[int] = []
            best = 0
            seen: set[tuple[str, ...]] = set()
            for at in np.lexsort((among, line)).tolist():
                other = int(among[at])
                if wanted and (line[at] > best or len(wanted) == 3):
                    break
                if (
                    full[other].cluster != full[row].cluster
                    and same[other] not in (same[row], sources[row])
                    and len(words[other] & words[row]) + 2 <= lengths[row]
                    and full[other].target.tokens not in seen
                ):
                    best = line[at]
                    wanted.append(other)
                    seen.add(full[other].target.tokens)
            found = mined.exemplars[row]
            assert found[found >= 0].tolist() == wanted
            assert not wanted or mined.distances[row, 0] == best
