"""Connected components of a pair file: the sentences that paraphrase each other, directly or not."""

from __future__ import annotations

from collections.abc import Iterable

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
    parent = list(range(nodes))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]  # halves the path, so that long chains stay cheap
            node = parent[node]
        return node

    for one, other in edges:
        parent[root(other)] = root(one)
    return [root(node) for node in range(nodes)]


def _identity(text: str) -> str:
    return " ".join(text.casefold().split())
