"""Which of the near sentences a target takes, compiled: the rules of Algorithm 1, the ties, and the K best so far.

Shape key: N targets, R rows of the index, K exemplars kept of each target.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.compiled import compiled
from paraform.syntax.rows import Groups, Rows
from paraform.syntax.rules import MiningConfig

FAR = 1 << 40  # no distance is as great


class Targets(NamedTuple):
    """What a target adds to its sentence: hash of its source's text, its place, its number of words. All [N]."""

    sources: NDArray[np.uint64]
    places: NDArray[np.int64]
    lengths: NDArray[np.int64]


class Rules(NamedTuple):
    """`MiningConfig` in numbers."""

    length_gap: int
    min_new_words: int
    distinct: bool
    exclude_cluster: bool
    window: int  # −1: any
    tied: bool
    random: bool
    seed: int

    @classmethod
    def of(cls, config: MiningConfig) -> Rules:
        """Those of the config."""
        return cls(
            config.length_gap,
            config.min_new_words,
            config.distinct,
            config.exclude_cluster,
            -1 if config.window is None else config.window,
            config.among == "tied",
            config.ties == "random",
            config.seed,
        )


class Found(NamedTuple):
    """The exemplars of N targets, [N, K]: rows of the index (−1: none), distances, and the keys that break ties."""

    rows: NDArray[np.int64]
    distances: NDArray[np.int64]
    keys: NDArray[np.uint64]

    @classmethod
    def nothing(cls, targets: int, keep: int) -> Found:
        """Room for K exemplars of each."""
        shape = (targets, keep)
        return cls(np.full(shape, -1, np.int64), np.full(shape, -1, np.int64), np.zeros(shape, np.uint64))


class Asked(NamedTuple):
    """Targets that look for exemplars, by which rules, and room for what they find.

    Args:
        rows: the targets as rows, with the word numbers of the index.
        reach: [N], the greatest distance that each target still takes; `FAR` at first.
    """

    targets: Targets
    rows: Rows
    rules: Rules
    found: Found
    reach: NDArray[np.int64]


class Pool(NamedTuple):
    """What exemplars are taken from: the rows of the index, and those that have each of its sequences, ascending."""

    rows: Rows
    members: Groups


@compiled
def _mixed(word: np.uint64) -> np.uint64:
    """A number that looks drawn at random, the same for the same word (splitmix64, Steele et al. 2014)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def offer(
    own: NDArray[np.int64],
    lanes: NDArray[np.int64],
    filled: int,
    distances: NDArray[np.int64],
    radius: int,
    pool: Pool,
    asked: Asked,
) -> int:
    """Offer the sentences in the lanes to some targets; returns the distance beyond which none takes any more.

    Args:
        own: the targets, numbers of those that ask.
        lanes, distances: sequences of the index, so many as are filled, and how far each is from the targets'.
        radius: the distance beyond which none of them takes any now.
    """
    all_members, member_starts = pool.members
    sources, places, lengths = asked.targets
    asked_words, asked_counts, asked_starts, asked_texts, _, asked_clusters = asked.rows
    words, counts, word_starts, texts, wordings, clusters = pool.rows
    found_rows, found_distances, found_keys = asked.found
    rules, reach = asked.rules, asked.reach
    keep = found_rows.shape[1]
    seed = _mixed(np.uint64(rules.seed) + np.uint64(0x9E3779B97F4A7C15))
    taken = False
    # The nearest first, so that most of the others are too far by then.
    best = np.argmin(distances[:filled])
    lanes[0], lanes[best] = lanes[best], lanes[0]
    distances[0], distances[best] = distances[best], distances[0]
    for lane in range(filled):
        distance = distances[lane]
        if distance > radius:
            continue
        for target in own:
            if distance > reach[target]:
                continue
            drawn = _mixed(seed + np.uint64(places[target]))
            for at in range(member_starts[lanes[lane]], member_starts[lanes[lane] + 1]):
                row = all_members[at]
                if texts[row] == asked_texts[target] or texts[row] == sources[target]:
                    continue
                if rules.exclude_cluster and asked_clusters[target] >= 0 and clusters[row] == asked_clusters[target]:
                    continue
                if rules.window >= 0 and abs(row - places[target]) > rules.window:
                    continue
                key = _mixed(drawn ^ wordings[row]) if rules.random else np.uint64(row)
                same, end = -1, keep  # where the same words stand already; the first free place
                for place in range(keep):
                    if found_rows[target, place] < 0:
                        end = place
                        break
                    if wordings[found_rows[target, place]] == wordings[row]:
                        same = place
                if same >= 0:
                    if (found_distances[target, same], found_rows[target, same]) <= (distance, row):
                        continue
                elif end == keep and (found_distances[target, end - 1], found_keys[target, end - 1]) <= (distance, key):
                    continue
                shared = 0
                here, here_end = asked_starts[target], asked_starts[target + 1]
                there, there_end = word_starts[row], word_starts[row + 1]
                while here < here_end and there < there_end:
                    if asked_words[here] < words[there]:
                        here += 1
                    elif asked_words[here] > words[there]:
                        there += 1
                    else:
                        shared += 1 if rules.distinct else min(asked_counts[here], counts[there])
                        here += 1
                        there += 1
                if shared + rules.min_new_words > lengths[target]:
                    continue
                taken = True
                if rules.tied and end and distance < found_distances[target, 0]:
                    for place in range(end):
                        found_rows[target, place] = -1
                    same, end = -1, 0
                # From the place that becomes free, upwards to where it belongs.
                place = same if same >= 0 else min(end, keep - 1)
                while place and (found_distances[target, place - 1], found_keys[target, place - 1]) > (distance, key):
                    found_rows[target, place] = found_rows[target, place - 1]
                    found_distances[target, place] = found_distances[target, place - 1]
                    found_keys[target, place] = found_keys[target, place - 1]
                    place -= 1
                found_rows[target, place] = row
                found_distances[target, place] = distance
                found_keys[target, place] = key
                if rules.tied or found_rows[target, keep - 1] >= 0:
                    reach[target] = found_distances[target, 0 if rules.tied else keep - 1]
    if taken:
        radius = 0
        for target in own:
            radius = max(radius, reach[target])
    return radius
