"""How many threads compute, one thread that loads at a time, and what a forked process needs.

By default as many compute as cores are idle: the threads of a product wait for one another without giving up their
cores, so that one thread too many, on a core that another program keeps busy, makes all of them late. What a caller, a
program or a variable of the environment has said is never changed.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch

from paraform.records import require_count

Given = ParamSpec("Given")
Loaded = TypeVar("Loaded")

ASKED = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
MOST = 10_000
GROUPS, OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
PROCESSORS = Path("/sys/devices/system/cpu")

_LOADING = threading.RLock()  # what loads one thing loads others
_lock = threading.Lock()
_settled = False
_inside = 0  # how many callers of `in_threads` are, in all threads
_outside = 0  # the threads that torch took before the first of them
_own = threading.local()  # its `number`: of the `in_threads` that this thread is in


def loads_alone(load: Callable[Given, Loaded]) -> Callable[Given, Loaded]:
    """The function, which other threads wait for: half an import of transformers' is seen by them as a missing name.

    The first of all settles how many threads compute.
    """

    @functools.wraps(load)
    def alone(*given: Given.args, **named: Given.kwargs) -> Loaded:
        settle()
        with _LOADING:
            return load(*given, **named)

    return alone


def settle(number: int | None = None) -> None:
    """Torch computes in that many threads from now on.

    Args:
        number: None: `idle_cores`, or as many as torch takes, if those are fewer; only the first such call settles it,
            and none does where a variable of `ASKED` is set, or the program has given torch another number than torch
            takes by itself.
    """
    global _settled
    if number is not None:
        require_count(number, "threads", 1, MOST)
    with _lock:
        if number is None and not _settled and not any(map(os.environ.get, ASKED)):
            found = torch.get_num_threads()
            number = min(found, idle_cores()) if found in (len(_bound()), _whole_cores()) else None
        _settled = True
        if number is not None:
            torch.set_num_threads(number)


@contextlib.contextmanager
def in_threads(number: int | None) -> Iterator[None]:
    """Inside, torch computes in that many threads, where the calling thread asks it; then in as many as before.

    Args:
        number: None: changes nothing.
    """
    global _inside, _outside
    if number is None:
        yield
        return
    require_count(number, "threads", 1, MOST)
    settle()
    with _lock:
        found = torch.get_num_threads()  # asked in every thread: the first question sets the thread's own number
        if _inside == 0:  # else a thread that is new to torch finds the number of another caller
            _outside = found
        _inside += 1
    around = getattr(_own, "number", None)
    _own.number = number
    torch.set_num_threads(number)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            _own.number = around
            torch.set_num_threads(around or _outside)


def cores(groups: Path = GROUPS, own: Path = OWN_GROUPS) -> int:
    """How many this process may use: those it is bound to, where the system knows such a thing, else all.

    Of Linux's control groups, too, none may have a quota that pays for fewer.

    Args:
        groups, own: where they are mounted, version 1 or 2, and the file that says which are this process's.
    """
    quotas = [math.ceil(quota) for quota in _quotas(groups, own)]
    return max(1, min([len(_bound()), *quotas]))


def idle_cores(load: float | None = None, own_load: float | None = None, may_use: int | None = None) -> int:
    """Those of `cores` that no other program keeps busy; at least one.

    Args:
        load: how many threads have been running or ready to run on this machine, on average of the last minute; None:
            as the system says, 0 where it says nothing.
        own_load: how many of them were this process's; None: as many as it has kept busy since it began.
        may_use: None: `cores()`.
    """
    if load is None:
        try:
            load = os.getloadavg()[0]
        except (AttributeError, OSError):
            load = 0.0
    others = max(0.0, load - (_own_load() if own_load is None else own_load))
    idle = (os.cpu_count() or 1) - math.floor(others + 0.5)
    return max(1, min(cores() if may_use is None else may_use, idle))


def _bound() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _whole_cores(processors: Path = PROCESSORS) -> int:
    """Two hyperthreads count as one: torch with MKL takes as many threads by itself."""
    try:
        return len({(processors / f"cpu{one}/topology/thread_siblings_list").read_text() for one in _bound()})
    except OSError:
        return len(_bound())


def _quotas(groups: Path, own: Path) -> Iterator[float]:
    """How many cores each quota pays for, of the process's groups and those above them.

    In a container the mounted root is often the process's own group, whatever the file calls it.
    """
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return
    for _, controllers, place in lines:
        for folder in (Path(place.lstrip("/")), *Path(place.lstrip("/")).parents):
            with contextlib.suppress(OSError, ValueError):
                if not controllers:  # version 2
                    quota, period = (groups / folder / "cpu.max").read_text().split()
                elif "cpu" in controllers.split(","):
                    room = groups / "cpu" / folder
                    quota, period = ((room / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
                else:
                    continue
                if float(quota) > 0:  # "max" is no number; −1 is none
                    yield float(quota) / float(period)


def _own_load() -> float:
    """Of a process younger than the minute that the load is an average of, its share of that minute."""
    lived = 60.0
    with contextlib.suppress(OSError, AttributeError, ValueError, IndexError):
        began = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        lived = max(lived, time.clock_gettime(time.CLOCK_BOOTTIME) - began)
    return time.process_time() / lived


def _begin_anew() -> None:
    global _LOADING, _lock, _inside
    _LOADING, _lock = threading.RLock(), threading.Lock()  # which a thread that is not here any more may have held
    _inside = 0
    settle(1)


if hasattr(os, "register_at_fork"):
    # OpenMP's threads do not survive a fork, and a child that waits for them does so for ever.
    os.register_at_fork(after_in_child=_begin_anew)
