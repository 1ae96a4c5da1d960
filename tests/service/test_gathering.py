"""Who shares a batch with whom, who is refused, and that nobody gets another's answer or waits for another's fault."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

import pytest

from paraform.service.gathering import BusyError, ClosedError, Gatherer, TooMuchError, Work


class Doubles:
    """A work that says each number twice, when the gate is open; it remembers its batches."""

    def __init__(self, most: int = 10) -> None:
        self.gate = threading.Event()
        self.batches: list[list[int]] = []
        self._most = most

    def __call__(self, settings: object = None) -> Work:
        return Work("double", settings, self._compute, lambda item: 1, self._most)

    def _compute(self, items: list[int]) -> list[int]:
        self.gate.wait(60)
        self.batches.append(items)
        if any(item < 0 for item in items):
            raise ZeroDivisionError
        return [2 * item for item in items]


@pytest.fixture
def gatherers() -> Iterator[Callable[..., Gatherer]]:
    made: list[Gatherer] = []

    def make(*given: Any) -> Gatherer:
        made.append(Gatherer(*given))
        return made[-1]

    yield make
    for gatherer in made:
        gatherer.close()


def busy(gatherer: Gatherer, doubles: Doubles) -> Any:
    """A first question, which is being computed until the gate opens."""
    first = gatherer.ask(doubles("first"), [0])
    while gatherer.waiting:
        time.sleep(0.001)
    return first


def test_what_waits_and_is_alike_is_computed_together(gatherers: Callable[..., Gatherer]) -> None:
    gatherer, doubles = gatherers(1000), Doubles()
    busy(gatherer, doubles)
    asked = [gatherer.ask(doubles("a"), [number, number + 100]) for number in range(3)]
    other = gatherer.ask(doubles("b"), [7])
    doubles.gate.set()
    assert [one.result(9) for one in asked] == [[0, 200], [2, 202], [4, 204]] and other.result(9) == [14]
    assert sorted(doubles.batches[1]) == [0, 1, 2, 100, 101, 102] and doubles.batches[2] == [7]


def test_one_who_asks_for_thousands_holds_up_nobody_for_longer_than_a_batch(gatherers: Callable[..., Gatherer]) -> None:
    gatherer, doubles = gatherers(4_000), Doubles(most=10)
    busy(gatherer, doubles)
    many = gatherer.ask(doubles(), range(1000))
    few = gatherer.ask(doubles(), [5000])
    other = gatherer.ask(doubles("other"), [6000])
    doubles.gate.set()
    assert many.result(9) == [2 * number for number in range(1000)] and few.result(9) == [10_000]
    assert 5000 in doubles.batches[1] and len(doubles.batches[1]) == 10
    assert other.result(9) == [12_000] and [6000] in doubles.batches[:4]


def test_works_take_turns(gatherers: Callable[..., Gatherer]) -> None:
    gatherer, doubles = gatherers(1000), Doubles(most=1)
    busy(gatherer, doubles)
    asked = [gatherer.ask(doubles(), [number]) for number in range(1, 6)]
    fast = [gatherer.ask(doubles()._replace(name="fast"), [number]) for number in (8, 9)]
    doubles.gate.set()
    assert [one.result(9) for one in asked + fast] == [[2 * number] for number in (1, 2, 3, 4, 5, 8, 9)]
    assert doubles.batches == [[number] for number in (0, 8, 1, 9, 2, 3, 4, 5)]


def test_so_much_may_wait_and_who_asks_further_hears_for_how_long(gatherers: Callable[..., Gatherer]) -> None:
    gatherer, doubles = gatherers(40), Doubles()
    busy(gatherer, doubles)
    for _ in range(3):
        gatherer.ask(doubles(), range(10))
    with pytest.raises(BusyError):
        gatherer.ask(doubles(), range(6))  # more than half of the room that is left
    gatherer.ask(doubles(), range(5))
    for number in range(5):
        gatherer.ask(doubles(), [number])
    with pytest.raises(BusyError) as refused:
        gatherer.ask(doubles(), [1])
    assert 1 <= refused.value.seconds <= 60 and gatherer.waiting == 40
    doubles.gate.set()


def test_what_is_too_much_for_one_is_refused_even_when_nobody_waits(gatherers: Callable[..., Gatherer]) -> None:
    with pytest.raises(TooMuchError, match="at most 25 at once"):
        gatherers(100).ask(Doubles()(), range(26))


def test_a_work_that_answers_too_little_is_a_fault(gatherers: Callable[..., Gatherer]) -> None:
    gatherer, doubles = gatherers(100), Doubles()
    busy(gatherer, doubles)
    short = Work("short", None, lambda items: items[1:], lambda item: 1, 10)
    asked = [gatherer.ask(short, [number]) for number in range(3)]
    doubles.gate.set()
    for one in asked:
        with pytest.raises(RuntimeError, match="0 answers to 1 items"):
            one.result(9)


def test_a_fault_is_that_ones_alone(gatherers: Callable[..., Gatherer]) -> None:
    gatherer, doubles = gatherers(100), Doubles()
    busy(gatherer, doubles)
    asked = [gatherer.ask(doubles(), [number]) for number in (1, -1, 3)]
    doubles.gate.set()
    assert asked[0].result(9) == [2] and asked[2].result(9) == [6]
    with pytest.raises(ZeroDivisionError):
        asked[1].result(9)
    assert gatherer.ask(doubles(), [4]).result(9) == [8]


def test_what_nobody_waits_for_is_not_computed(gatherers: Callable[..., Gatherer]) -> None:
    gatherer, doubles = gatherers(40), Doubles()
    busy(gatherer, doubles)
    gone = gatherer.ask(doubles(), range(10))
    gone.cancel()
    doubles.gate.set()
    with pytest.raises(CancelledError):
        gone.result(9)
    assert gatherer.ask(doubles(), [11]).result(9) == [22] and doubles.batches == [[0], [11]]


def test_an_end_answers_what_was_asked_and_refuses_the_rest() -> None:
    gatherer, doubles = Gatherer(100), Doubles(most=1)
    busy(gatherer, doubles)
    asked = [gatherer.ask(doubles(), [number]) for number in range(5)]
    ended = threading.Thread(target=gatherer.close)
    ended.start()
    doubles.gate.set()
    ended.join(9)
    assert [one.result(0) for one in asked] == [[0], [2], [4], [6], [8]]
    with pytest.raises(ClosedError):
        gatherer.ask(doubles(), [1])


def test_a_thousand_askers_get_their_own_answers(gatherers: Callable[..., Gatherer]) -> None:
    told: list[int] = []
    gatherer, doubles = gatherers(10**6, lambda name, items, seconds: told.append(items)), Doubles(most=64)
    doubles.gate.set()

    def ask(number: int) -> Sequence[int]:
        items = [number * 10 + digit for digit in range(number % 7)]
        future = gatherer.ask(doubles(number % 3), items)
        if number % 11 == 0:
            future.cancel()
        return future.result(60) if not future.cancelled() else [2 * item for item in items]

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(ask, range(1000)))
    assert answers == [[20 * number + 2 * digit for digit in range(number % 7)] for number in range(1000)]
    assert max(told) <= 64
