"""Edit distances against a plain table, CMA on vectors made by hand, retrieval against a search in full."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraform.evaluation.content import content_kept, content_matches, embed_unique
from paraform.evaluation.style import StylePool, StyleSettings, edit_distances, evaluate_style, tag_unique
from paraform.evaluation.subsets import subsets, word_f1
from paraform.records import InputError

TAGS = st.lists(st.sampled_from(["NN", "NNS", "VB", "."]), max_size=7).map(tuple)


def table_distance(first, second) -> int:
    """Wagner and Fischer's table, cell by cell."""
    cells = np.zeros((len(first) + 1, len(second) + 1), dtype=int)
    cells[:, 0], cells[0, :] = np.arange(len(first) + 1), np.arange(len(second) + 1)
    for i, a in enumerate(first, 1):
        for j, b in enumerate(second, 1):
            cells[i, j] = min(cells[i - 1, j] + 1, cells[i, j - 1] + 1, cells[i - 1, j - 1] + (a != b))
    return int(cells[-1, -1])


@given(TAGS, TAGS)
def test_edit_distance_is_the_tables(first, second):
    # NN and NNS are two tags at distance 1: tags are compared whole, not by letters.
    assert edit_distances([first], [second]).tolist() == [table_distance(first, second)]


def test_each_sentence_is_tagged_and_embedded_once():
    asked = []

    def tag(sentences):
        asked.extend(sentences)
        return [[word.upper() for word in words] for words in sentences]

    assert tag_unique(tag, [["a"], [], ["b", "c"], ["a"]]) == [("A",), (), ("B", "C"), ("A",)]
    assert asked == [["a"], ["b", "c"]]
    with pytest.raises(ValueError, match="expected one tag a word"):
        tag_unique(lambda sentences: [["X"] for _ in sentences], [["a", "b"]])
    seen = []
    vectors = embed_unique(lambda texts: seen.extend(texts) or np.eye(len(texts), 3), ["p", "", "q", "p"])
    assert seen == ["p", "q"]
    np.testing.assert_array_equal(vectors, [[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]])
    with pytest.raises(ValueError, match="for 2 texts"):
        embed_unique(lambda texts: np.ones((1, 3)), ["p", "q"])
    with pytest.raises(ValueError, match="NaN"):
        embed_unique(lambda texts: np.full((1, 3), np.nan), ["p"])


def test_content_kept_is_a_cosine():
    sources = np.array([[1, 0], [3, 4], [0, 0]], dtype=np.float32)
    outputs = np.array([[2, 2], [6, 8], [1, 0]], dtype=np.float32)
    assert content_kept(sources, outputs) == pytest.approx([2**-0.5, 1, 0])


def test_content_matches_by_hand():
    """Rows 0 and 1 repeat a source (one cluster), whose nearest target is row 1's; row 2 finds its own.

    By dot product row 3's long neighbour, target 2, beats its own; by cosine its own wins.
    """
    sources = np.array([[1, 0], [1, 0], [0, 1], [1, 1]], dtype=np.float32)
    targets = np.array([[0.8, 0.1], [1, 0], [0, 9], [1, 1]], dtype=np.float32)
    clusters = [7, 7, 8, 9]
    assert content_matches(sources, targets, clusters).tolist() == [True, True, True, False]
    assert content_matches(sources, targets).tolist() == [False, True, True, False]
    assert content_matches(sources, targets, clusters, similarity="cosine").tolist() == [True, True, True, True]
    assert content_matches(sources, targets, similarity="cosine").tolist() == [False, True, True, True]


def test_content_matches_in_blocks_equal_the_whole(monkeypatch):
    generator = np.random.default_rng(0)
    sources = generator.normal(size=(23, 5)).astype(np.float32)
    targets = (sources + generator.normal(size=(23, 5))).astype(np.float32)
    monkeypatch.setattr("paraform.evaluation.content.BLOCK", 4)
    expected = (sources @ targets.T).argmax(axis=1) == np.arange(23)
    np.testing.assert_array_equal(content_matches(sources, targets), expected)
    assert 0 < expected.sum() < 23


def test_retrieval_equals_a_search_in_full():
    generator = np.random.default_rng(1)
    pool = [f"s{at}" for at in range(30)]
    vectors = generator.normal(size=(30, 4)).astype(np.float32)
    tags = [tuple(generator.choice(["NN", "VB", "DT"], size=generator.integers(1, 6))) for _ in pool]
    clusters = [at // 2 for at in range(30)]
    found = StylePool(pool, tags, clusters, [0, 5], 3, "").retrieved(vectors)
    for query, listed in zip([0, 5], found.lists, strict=True):
        others = [at for at in range(30) if clusters[at] != clusters[query]]
        cosine = {
            at: vectors[at] @ vectors[query] / np.linalg.norm(vectors[at]) / np.linalg.norm(vectors[query])
            for at in others
        }
        best = sorted(others, key=lambda at: -cosine[at])[:3]
        assert listed.query == pool[query]
        assert listed.sentences == tuple(pool[at] for at in best)
        assert listed.cosines == pytest.approx([cosine[at] for at in best], abs=1e-5)
        assert listed.distances == tuple(table_distance(tags[query], tags[at]) for at in best)
    apart = [[table_distance(tags[q], tags[at]) for at in range(30) if clusters[at] != clusters[q]] for q in (0, 5)]
    assert found.distance == pytest.approx(np.mean([listed.distances for listed in found.lists]))
    assert found.random == pytest.approx(np.mean([np.mean(row) for row in apart]))
    assert found.nearest == pytest.approx(np.mean([sorted(row)[:3] for row in apart]))
    with pytest.raises(InputError, match="28 sentences outside"):
        StylePool(pool, tags, clusters, [0], 29, "").retrieved(vectors)


def letters(texts):
    return np.array([[text.count(letter) for letter in "abcdefgh"] for text in texts], dtype=np.float32)


def test_style_report_gives_chance_beside_each_metric():
    sources, targets = ["a a", "a a", "b", "c d"], ["a", "a b", "b b", "d c"]
    report = evaluate_style(
        sources,
        targets,
        [0, 0, 1, 2],
        content=letters,
        style=letters,
        tag=lambda sentences: [["X"] * len(words) for words in sentences],
        settings=StyleSettings(queries=3, top=2),
    )
    value = {(score.name, score.system, score.subset): score.value for score in report.scores}
    assert value["CMA (cosine)", "model", "all"] == 1
    assert value["CMA (cosine, strict)", "model", "all"] == 3 / 4
    # Two rows have two right targets of four, two rows one.
    assert value["CMA (dot)", "random", "all"] == pytest.approx((2 / 4 + 2 / 4 + 1 / 4 + 1 / 4) / 4)
    assert value["CMA (dot, strict)", "random", "all"] == 1 / 4
    nearest, *others = (value["style retrieval ED", system, "all"] for system in ("nearest tags", "model", "random"))
    assert nearest <= min(others)
    assert [len(found.sentences) for found in report.retrieved] == [2, 2, 2]
    with pytest.raises(InputError, match="row 2 has no cluster"):
        evaluate_style(sources, targets, [0, None, 1, 2], content=letters)
    with pytest.raises(ValueError, match="style without tag"):
        evaluate_style(sources, targets, [0, 0, 1, 2], style=letters)


def test_word_f1_by_hand():
    assert word_f1(list("abb"), list("bbbc")) == pytest.approx(2 * 2 / 7)
    assert word_f1([], []) == 0


@given(st.lists(st.tuples(TAGS, TAGS), min_size=1, max_size=20))
def test_thirds_part_the_rows_by_overlap(pairs):
    sources, references = zip(*pairs, strict=True)
    everything, *thirds = subsets(sources, references).values()
    assert everything.tolist() == list(range(len(pairs)))
    assert sorted(row for third in thirds for row in third) == everything.tolist()
    assert max(map(len, thirds)) - min(map(len, thirds)) <= 1
    ranges = [[word_f1(*pairs[row]) for row in third] for third in thirds]
    assert all(max(low) <= min(high) for low, high in pairwise(ranges))
