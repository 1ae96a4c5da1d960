"""The exact search behind the exemplar index, compiled: which sentences lie nearest in tags and may be exemplars.

A query is compared with ever fewer sequences: whole blocks of them, then single ones, then single ones by their halves,
are left out when the tags that they lack or have too many already make more edits than the best exemplars so far. What
remains goes through the bit-parallel edit distance of Myers (1999), in Hyyrö's form (2003), `LANES` side by side.

Shape key: S different tag sequences in order of length, M blocks of at most `BLOCK` of them, G different sequences of
targets, N targets, R rows of the index, K exemplars kept of each target.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.syntax.compiled import compiled
from paraform.syntax.distances import edit_distances
from paraform.syntax.features import BLOCK, Blocks, Sequences, add_near, least_edits
from paraform.syntax.halves import Halves, keep_near, parts_of
from paraform.syntax.rules import MiningConfig

LANES = 64  # sequences at least that are compared side by side, but for the last ones
FAR = 1 << 40  # no distance is as great


class Rows(NamedTuple):
    """Sentences, of the index or asked for: what the rules look at.

    Args:
        words: numbers of their words, ascending in each row, row r at starts[r] to starts[r + 1].
        counts: how often it holds each.
        starts: [R + 1].
        texts: [R], hash of the text apart from case and spaces.
        wordings: [R], hash of the lower-cased words.
        clusters: [R], −1: not known.
    """

    words: NDArray[np.int32]
    counts: NDArray[np.int32]
    starts: NDArray[np.int64]
    texts: NDArray[np.uint64]
    wordings: NDArray[np.uint64]
    clusters: NDArray[np.int64]


class Targets(NamedTuple):
    """What a target adds to its sentence: hash of its source's text, its place, its number of words. All [N]."""

    sources: NDArray[np.uint64]
    places: NDArray[np.int64]
    lengths: NDArray[np.int64]


class Groups(NamedTuple):
    """Numbers of each of several groups, group g at starts[g] to starts[g + 1]."""

    members: NDArray[np.int64]
    starts: NDArray[np.int64]


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


@compiled
def _mixed(word: np.uint64) -> np.uint64:
    """A number that looks drawn at random, the same for the same word (splitmix64, Steele et al. 2014)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def search(
    queries: Sequences,
    groups: Groups,
    targets: Targets,
    asked: Rows,
    sequences: Sequences,
    blocks: Blocks,
    halves: Halves,
    members: Groups,
    rows: Rows,
    tags: int,
    rules: Rules,
    first_group: int,
    last_group: int,
    reach: NDArray[np.int64],
    found: Found,
) -> None:
    """Fill `found` for the targets of some groups; other threads may do so for others.

    Args:
        queries: the G different sequences of the targets.
        groups: the targets that have each of them.
        asked: the targets as rows, with the word numbers of the index.
        sequences, blocks, halves, tags: of the index.
        members: the rows that have each sequence of the index, ascending.
        reach: [N], room for the greatest distance that each target still takes.
    """
    # Arrays by names of their own: taking one out of its tuple counts a reference, which is slower than comparing.
    query_codes, query_starts, query_bits = queries
    bits = sequences.bits[0]
    block_starts, every, some, of_length = blocks
    longest = np.diff(query_starts[first_group : last_group + 1]).max()
    gap = min(rules.length_gap, max(longest, len(of_length)))
    bounds = np.empty(len(block_starts), np.int64)
    order = np.empty(len(block_starts), np.int64)
    tally = np.empty(132, np.int64)
    lanes = np.empty(LANES + BLOCK, np.int64)
    near = np.empty(2 * LANES + BLOCK, np.int64)
    distances = np.empty(2 * LANES + BLOCK, np.int64)
    state = np.empty((4, 2 * LANES + BLOCK), np.uint64)
    counts = np.empty((2, LANES + BLOCK), np.int64)
    parts = np.empty((2, longest + 1), np.uint64)
    places = np.zeros(tags + 1, np.uint64)
    for group in range(first_group, last_group):
        query = query_codes[query_starts[group] : query_starts[group + 1]]
        length = len(query)
        own = groups.members[groups.starts[group] : groups.starts[group + 1]]
        for target in own:
            reach[target] = FAR
        radius = FAR
        low, high = query_bits[0, group], query_bits[1, group]
        for at in range(length):
            if query[at] and length <= 64:  # a tag that the index has not equals none
                places[query[at]] |= np.uint64(1) << np.uint64(at)
        parts_of(query, halves.bit_of, parts)
        for turn in range(2 * gap + 1):
            step = (turn + 1) // 2 if turn % 2 else -(turn // 2)
            other_length = length + step
            if other_length < 1 or other_length + 1 >= len(of_length) or abs(step) > radius:
                continue
            first, last = of_length[other_length], of_length[other_length + 1]
            # Blocks that are near by their bounds come first, so that the far ones need not be looked at.
            tally[:] = 0
            least_edits(low, high, some, every, first, last, bounds)
            for at in range(last - first):
                tally[bounds[at] + 1] += 1
            for bound in range(130):
                tally[bound + 1] += tally[bound]
            for at in range(last - first):
                order[tally[bounds[at]]] = at
                tally[bounds[at]] += 1
            filled, kept = 0, 0
            for turn_of_block in range(last - first + 1):
                done = turn_of_block == last - first or bounds[order[turn_of_block]] > radius
                if filled and (done or filled >= LANES):
                    filled = keep_near(
                        length, parts, other_length, halves, lanes, filled, radius, state, counts, distances
                    )
                    near[kept : kept + filled] = lanes[:filled]
                    kept += filled
                    filled = 0
                if kept and (done or kept >= LANES):
                    edit_distances(query, places, sequences, near, kept, state, distances)
                    radius = _offer(
                        own, near, kept, distances, radius, members, reach, targets, asked, rows, rules, found
                    )
                    kept = 0
                if done:
                    break
                begin, end = block_starts[first + order[turn_of_block]], block_starts[first + order[turn_of_block] + 1]
                filled = add_near(low, bits, begin, end, radius, lanes, filled)
        for at in range(length):
            places[query[at]] = 0


@compiled
def _offer(
    own: NDArray[np.int64],
    lanes: NDArray[np.int64],
    filled: int,
    distances: NDArray[np.int64],
    radius: int,
    members: Groups,
    reach: NDArray[np.int64],
    targets: Targets,
    asked: Rows,
    rows: Rows,
    rules: Rules,
    found: Found,
) -> int:
    """Offer the sentences in the lanes to the targets; returns the distance beyond which none takes any more."""
    all_members, member_starts = members
    sources, places, lengths = targets
    asked_words, asked_counts, asked_starts, asked_texts, _, asked_clusters = asked
    words, counts, word_starts, texts, wordings, clusters = rows
    found_rows, found_distances, found_keys = found
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
