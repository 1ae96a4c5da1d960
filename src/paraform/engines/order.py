"""Chunks handed out to workers, their results in order: the same for every engine."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

from paraform.engines.work import Done, Ended, Killed
from paraform.records import InputError

AHEAD = 4  # chunks begun and not yet taken, for each worker
LIVES = 3  # workers that a chunk may kill


class Crew(Protocol):
    """Worker processes, each of them at one chunk at a time; one that dies is replaced."""

    @property
    def size(self) -> int:
        """How many workers there are to be."""
        ...

    @property
    def idle(self) -> int:
        """How many of them could begin a chunk now."""
        ...

    def begin(self, chunk: int) -> None:
        """Give the chunk to an idle worker."""
        ...

    def ended(self, *, wait: bool) -> Iterable[Ended]:
        """The chunks that have ended since the last call; with `wait`, it lasts until something happens."""
        ...


def in_order(crew: Crew, count: int) -> Iterator[bytes]:
    """The results of chunks 0 … count − 1, in that order; what was logged over a chunk is logged before it.

    A chunk whose worker died is begun again. Not more than `AHEAD` chunks a worker are begun and not taken, so that a
    slow consumer or a late chunk holds up the workers rather than filling the memory.

    Raises: what the work raised for the first chunk, in order, that failed; InputError for a chunk over which
        `LIVES` workers died.
    """
    held: dict[int, Done | Exception] = {}
    again: list[int] = []
    deaths: Counter[int] = Counter()
    begun = 0
    for wanted in range(count):
        while True:
            while crew.idle and (again or begun < min(count, wanted + AHEAD * crew.size)):
                if again:
                    crew.begin(again.pop())
                else:
                    crew.begin(begun)
                    begun += 1
            some = list(crew.ended(wait=wanted not in held))
            for chunk, result in some:
                if not isinstance(result, Killed):
                    held[chunk] = result
                    continue
                deaths[chunk] += 1
                if deaths[chunk] < LIVES:
                    again.append(chunk)
                else:
                    held[chunk] = InputError(
                        f"chunk {chunk}: {LIVES} workers died over it, the last of {result.how};"
                        " if memory ran out, use fewer workers"
                    )
            if wanted in held and not some:
                break
        taken = held.pop(wanted)
        if isinstance(taken, Exception):
            raise taken
        for level, message, given in taken.logged:
            logging.getLogger("paraform").log(level, message, *given)
        yield taken.result
