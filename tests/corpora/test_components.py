"""Against a breadth-first search over the same graph."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from paraform import corpora
from paraform.corpora.components import components, join, roots_of
from paraform.records import Pair, Sentence

LETTERS = st.sampled_from("abcdefghijkl")
PAIRS = st.lists(
    st.builds(
        lambda a, b, label: Pair(Sentence(a), Sentence(b), label), LETTERS, LETTERS, st.sampled_from([None, 0, 1])
    )
)


def breadth_first(pairs: list[Pair]) -> list[int]:
    neighbours: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        if pair.label != 0:
            neighbours[pair.source.text].add(pair.target.text)
            neighbours[pair.target.text].add(pair.source.text)
    number: dict[str, int] = {}
    count = 0
    for pair in pairs:
        if pair.source.text in number:
            continue
        queue = [pair.source.text]
        while queue:
            node = queue.pop(0)
            if node not in number:
                number[node] = count
                queue += neighbours[node]
        count += 1
    return [number[pair.source.text] for pair in pairs]


@given(PAIRS)
def test_equal_to_breadth_first_search(pairs: list[Pair]) -> None:
    assert [pair.cluster for pair in corpora.clusters(pairs)] == breadth_first(pairs)


def test_case_and_white_space_do_not_tell_sentences_apart() -> None:
    pairs = [
        Pair(Sentence("Who  is it?"), Sentence("b")),
        Pair(Sentence("x"), Sentence("y")),
        Pair(Sentence("c"), Sentence(" WHO is it?")),
    ]
    assert [pair.cluster for pair in corpora.clusters(pairs)] == [0, 1, 0]


def test_all_else_is_kept() -> None:
    pair = Pair(Sentence("a"), Sentence("b"), label=1, score=0.5, cluster=7)
    assert corpora.clusters(iter([pair])) == [Pair(pair.source, pair.target, 1, 0.5, 0)]
    assert corpora.clusters([]) == []


def test_a_chain_of_100_000_pairs_is_one_cluster() -> None:
    """In a random order, so that long parts of it are joined again and again."""
    pairs = [Pair(Sentence(f"s{i}"), Sentence(f"s{i + 1}")) for i in range(100_000)]
    random.Random(0).shuffle(pairs)
    assert {pair.cluster for pair in corpora.clusters(pairs)} == {0}


def test_real_splits_share_no_cluster(data: Path) -> None:
    """data/README.md: Quora is split by connected component, so numbering all splits together must not join two."""
    splits = [list(corpora.read_pairs(data / "quora" / f"{split}.tsv")) for split in ("train", "dev", "test")]
    numbered = iter(corpora.clusters([pair for split in splits for pair in split]))
    train, dev, test = ({next(numbered).cluster for _ in split} for split in splits)
    assert not (train & dev or train & test or dev & test)


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2))))
    )
)
def test_edges_in_parts_make_the_same_components(drawn: tuple[int, list[list[tuple[int, int]]]]) -> None:
    """A root is the least node; a part may join what parts before it have joined."""
    nodes, parts = drawn
    parents = np.arange(nodes, dtype=np.int32)
    for part in parts:
        join(parents, np.array(part, np.int32).reshape(-1, 2))
    edges = [edge for part in parts for edge in part]
    graph = coo_array((np.ones(len(edges)), np.array(edges, int).reshape(-1, 2).T), shape=(nodes, nodes))
    labels = connected_components(graph, directed=False)[1].tolist()
    expected = [labels.index(label) for label in labels]
    assert roots_of(parents, parents).tolist() == components(nodes, edges) == expected


def test_a_long_chain_and_one_in_parts() -> None:
    nodes = 100_000
    chain = np.stack([np.arange(nodes - 1), np.arange(1, nodes)], 1).astype(np.int32)
    for parts in ([chain], [chain[::-1]], np.array_split(chain, 50), np.array_split(chain[::-1], 50)):
        parents = np.arange(nodes, dtype=np.int32)
        for part in parts:
            join(parents, part)
        assert not roots_of(parents, parents).any()
