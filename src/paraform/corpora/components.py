"""Connected components of a pair file: the sentences that paraphrase each other, directly or not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from paraform.records import Pair, require_records


def clusters(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs with `cluster` set: the number of the connected component of the source.

    Sentences are the nodes; two texts that differ only in case and white space are one. Each pair is an edge, unless
    its label is 0: such a pair connects nothing, and its target may lie in another component than its source.
    Raises: InputError for what is no pair.
    Returns: the pairs in their order; clusters are numbered from 0 in the order in which they first appear.
    """
    kept = require_records(pairs, Pair)
    nodes: dict[str, int] = {}
    sources = [nodes.setdefault(_identity(pair.source.text), len(nodes)) for pair in kept]
    targets = [nodes.setdefault(_identity(pair.target.text), len(nodes)) for pair in kept]
    edges = ((source, target) for pair, source, target in zip(kept, sources, targets, strict=True) if pair.label != 0)
    roots = components(len(nodes), edges)
    numbers: dict[int, int] = {}
    numbered = []
    for pair, source in zip(kept, sources, strict=True):
        cluster = numbers.setdefault(roots[source], len(numbers))
        # dataclasses.replace would take longer than all the rest
        known = (pair.label, pair.score, cluster, pair.forth, pair.back)
        numbered.append(Pair(pair.source, pair.target, *known, pair.origin))
    return numbered


def components(nodes: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """One node of the connected component of each node, the same of all of its nodes."""
    parents_N = np.arange(nodes, dtype=np.int32)
    join(parents_N, np.array(list(edges), np.int32).reshape(-1, 2))
    roots: list[int] = roots_of(parents_N, parents_N).tolist()
    return roots


def join(parents_N: NDArray[np.int32], edges_E2: NDArray[np.int32]) -> None:
    """Make one component of those of both ends of each edge, in a forest of N nodes, whose edges may come in parts.

    Args:
        parents_N: changed in place; a node's parent is below it, or it is a root, the least node of its component,
            and its own parent.
    """
    while True:
        ends_E2 = roots_of(parents_N, edges_E2)
        edges_E2 = ends_E2[ends_E2[:, 0] != ends_E2[:, 1]]
        if not len(edges_E2):
            return
        np.minimum.at(parents_N, edges_E2.max(1), edges_E2.min(1))
        nodes = np.unique(edges_E2)
        while not np.array_equal(above := parents_N[parents_N[nodes]], parents_N[nodes]):
            parents_N[nodes] = above  # twice as far up, so that long chains stay cheap


def roots_of(parents_N: NDArray[np.int32], nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The root above each of these nodes."""
    while not np.array_equal(above := parents_N[nodes], nodes):
        nodes = above
    return nodes


def _identity(text: str) -> str:
    return " ".join(text.casefold().split())
