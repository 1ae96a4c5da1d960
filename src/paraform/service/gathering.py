"""One thread that computes; what is asked within a few milliseconds of each other it computes together."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

GATHER = 0.002  # seconds that the first waits for others; one call of the fastest model takes longer
SHARE = 4  # of what may wait each may ask for a quarter
SETTLED = 0.9  # of what is known of the rate, each batch leaves so much


class BusyError(Exception):
    """As much waits as may; `seconds`: in how many it will be done, as far as one can tell."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"busy for about {seconds} s")
        self.seconds = seconds


class TooMuchError(Exception):
    """More than one may ask for at once; `most`: as much may."""

    def __init__(self, most: int) -> None:
        super().__init__(f"at most {most:,} at once")
        self.most = most


class ClosedError(Exception):
    """The thread has ended, or is to end."""


class Work(NamedTuple):
    """What is done with items: those of equal works are computed together.

    Args:
        name: for metrics.
        settings: what must be the same for items to go together.
        compute: items to as many answers, in their order; an answer depends on its own item alone.
        weigh: how much an item is, such as its characters.
        most: as much as is computed at once; one item may be more.
    """

    name: str
    settings: Hashable
    compute: Callable[[list[Any]], Sequence[Any]]
    weigh: Callable[[Any], int]
    most: int


@dataclass(eq=False)
class _Asked:
    work: Work
    items: Sequence[Any]
    weights: list[int]
    since: float
    future: Future[list[Any]] = field(default_factory=Future)
    answers: list[Any] = field(default_factory=list)
    taken: int = 0


@final
class Gatherer:
    """Computes what is asked, in batches: models are not made for several threads at once.

    The works take turns, so that a fast one waits for a batch of each slow one at most. Of a work, who asked first is
    in the next batch. Those who want the same thing share it, an item each in turn, so that one who asks for thousands
    holds up nobody for longer than a batch; and several items are let in up to half of the room that is left, so that
    large requests never leave none for a small one.

    Args:
        most: as much may wait, by `Work.weigh`, so that memory does not grow with who asks.
        computed: is told of each batch: the work's name, how many items it had, and seconds.
    """

    def __init__(self, most: int, computed: Callable[[str, int, float], None] = lambda name, items, seconds: None):
        self._most, self._told = most, computed
        self._asked: deque[_Asked] = deque()
        self._weight = 0  # of what waits
        self._rate = 0.0  # weight a second, of late
        self._turns: Counter[str] = Counter()  # of each work its last; works are few, whatever is asked of them
        self._closing = False
        self._changed = threading.Condition()
        # A daemon, so that nothing waits for what is being computed where this is not closed.
        self._thread = threading.Thread(target=self._work, name="paraform service", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How much waits, by `Work.weigh`."""
        with self._changed:
            self._forget()
            return self._weight

    def ask(self, work: Work, items: Sequence[Any]) -> Future[list[Any]]:
        """What will hold an answer for each item; cancelled, what is not computed yet is passed over.

        Raises: BusyError if too much waits; TooMuchError if it is too much by itself; ClosedError after `close`.
        """
        asked = _Asked(work, items, [work.weigh(item) for item in items], time.monotonic())
        with self._changed:
            if self._closing:
                raise ClosedError
            if not items:
                asked.future.set_result([])
                return asked.future
            weight = sum(asked.weights)
            self._forget()
            if weight > self._most // SHARE:
                raise TooMuchError(self._most // SHARE)
            room = self._most - self._weight
            if self._weight and weight > (room if len(items) == 1 else room / 2):
                raise BusyError(min(60, 1 + round(self._weight / self._rate if self._rate else 1)))
            self._asked.append(asked)
            self._weight += weight
            self._changed.notify()
        return asked.future

    def close(self) -> None:
        """Compute all that waits, and end; what is asked from now on is refused."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while parts := self._next():
            self._answer(parts)
            del parts  # no text and no answer outlives its request

    def _answer(self, parts: list[tuple[_Asked, int, int]]) -> None:
        began = time.monotonic()
        work, weight = parts[0][0].work, sum(sum(asked.weights[a:b]) for asked, a, b in parts)
        try:
            answers = iter(_computed(work, [item for asked, a, b in parts for item in asked.items[a:b]]))
            for asked, a, b in parts:
                asked.answers += [next(answers) for _ in range(a, b)]
        except BaseException as error:
            self._alone(parts, error)
        for asked, _, _ in parts:
            if len(asked.answers) == len(asked.items):
                _settle(asked, None)
        seconds = time.monotonic() - began
        rate = weight / max(seconds, 1e-6)
        self._rate = SETTLED * self._rate + (1 - SETTLED) * rate if self._rate else rate
        self._told(work.name, sum(b - a for _, a, b in parts), seconds)

    def _alone(self, parts: list[tuple[_Asked, int, int]], error: BaseException) -> None:
        """Each part by itself, so that the one that cannot be computed spoils no other's."""
        for asked, a, b in parts:
            if len(parts) > 1:
                try:
                    asked.answers = [*asked.answers[:a], *_computed(asked.work, asked.items[a:b])]
                    continue
                except BaseException as own:
                    error = own
            _settle(asked, error)

    def _next(self) -> list[tuple[_Asked, int, int]]:
        """The next batch: who asked, and which of their items, from a to b; [] at the end."""
        with self._changed:
            while True:
                self._forget()
                if not self._asked:
                    if self._closing:
                        return []
                    self._changed.wait()
                    continue
                first = min(self._asked, key=lambda asked: self._turns[asked.work.name])
                left = first.since + GATHER - time.monotonic()
                if left <= 0 or self._closing:
                    return self._gathered(first.work)
                self._changed.wait(left)

    def _forget(self) -> None:
        """What nobody waits for any more."""
        for asked in [asked for asked in self._asked if asked.future.done()]:
            self._asked.remove(asked)
            self._weight -= sum(asked.weights[asked.taken :])

    def _gathered(self, work: Work) -> list[tuple[_Asked, int, int]]:
        self._turns[work.name] = max(self._turns.values(), default=0) + 1
        alike = [asked for asked in self._asked if asked.work[:2] == work[:2]]
        ends, weight, found = [asked.taken for asked in alike], 0, True
        while found and weight < work.most:
            found = False
            for at, asked in enumerate(alike):
                if ends[at] < len(asked.items) and (not weight or weight + asked.weights[ends[at]] <= work.most):
                    weight += asked.weights[ends[at]]
                    ends[at] += 1
                    found = True
        parts = [(asked, asked.taken, end) for asked, end in zip(alike, ends, strict=True) if end > asked.taken]
        for asked, _, end in parts:
            asked.taken = end
            self._asked.remove(asked)
            if end < len(asked.items):
                self._asked.append(asked)  # behind the others
        self._weight -= weight
        return parts


def _computed(work: Work, items: Sequence[Any]) -> Sequence[Any]:
    answers = work.compute(list(items))
    if len(answers) != len(items):
        raise RuntimeError(f"{work.name}: {len(answers)} answers to {len(items)} items")
    return answers


def _settle(asked: _Asked, error: BaseException | None) -> None:
    with suppress(Exception):  # it was cancelled just now
        if error is None:
            asked.future.set_result(asked.answers)
        else:
            asked.future.set_exception(error)
