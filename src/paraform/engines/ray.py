"""Workers on a Ray cluster: plain actors, each of them one process with one core.

Ray Data's `map_batches` was measured and left: with as many actors as cores its read tasks wait for a core for ever
(ray-project/ray#44687), a chunk that always kills its worker is tried for ever or ends the run without a name, what it
holds back is counted in bytes and not in chunks, and a chunk costs the driver many times what a call does.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO, final

from paraform.engines.work import ONE_THREAD, Done, Ended, Killed, Opened, Work
from paraform.records import InputError, counted
from paraform.threads import cores

try:
    import ray
    import ray.exceptions
except ImportError as error:
    raise InputError("engine 'ray' needs Ray; pip install 'paraform[cluster]'") from error

# A dead worker or machine, or a result that was lost with it.
LOST = (
    ray.exceptions.RayActorError,
    ray.exceptions.ObjectLostError,
    ray.exceptions.WorkerCrashedError,
    ray.exceptions.NodeDiedError,
    ray.exceptions.OutOfMemoryError,
)
START = "start a cluster with: ray start --head"
NONE_RUNS = "Could not find any running Ray instance"  # Ray's own words for "auto"
STDERR = 2
SAME_EVERYWHERE = "every machine of the cluster needs the same environment"
SECONDS_TO_CONNECT = 5.0
# Variables of the driver's that workers get: what they multiply, and how much torch keeps of shapes that it has seen.
PASSED_ON = ("PARAFORM_PRODUCTS", "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


@contextlib.contextmanager
def actors(work: Work, workers: int | None, address: str | None, *, most: int) -> Iterator[Actors]:
    """Workers on the cluster, one for each of its cores unless told; they are gone when the block ends.

    Args:
        most: workers that there is work for.
    Raises: InputError if the cluster cannot be reached.
    """
    with connected(address, workers):
        cpus: float = ray.cluster_resources().get("CPU", 1)  # type: ignore[no-untyped-call] # Ray has no type for it
        with contextlib.closing(Actors(work, min(most, workers or max(1, int(cpus))))) as crew:
            yield crew


class Worker:
    """What each actor holds."""

    def __init__(self, environment: dict[str, str]) -> None:
        os.environ.update(environment)  # before the work comes, with which its libraries are imported
        self._compute: Opened | None = None

    def ready(self) -> None:
        """Returns once the actor has a core and a process."""

    def compute(self, work: Work, chunk: int) -> Done:
        """The chunk's result."""
        self._compute = self._compute or Opened(work)
        return self._compute(chunk)


@final
class Actors:
    """A crew of actors. Chunks go to those only that the cluster has found a core for: the others may never get one."""

    def __init__(self, work: Work, workers: int) -> None:
        self.size = workers
        # Ray starts a dead actor again, elsewhere if need be. What to do about its chunk is not Ray's to decide.
        remote: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(Worker)
        self._work = ray.put(work)
        self._idle: list[Any] = []
        self._calls: dict[Any, tuple[Any, int | None]] = {}  # chunk None: the actor is not ready yet
        asked = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self._actors = [remote.remote(ONE_THREAD | asked) for _ in range(workers)]
        for actor in self._actors:
            self._expect(actor)

    @property
    def idle(self) -> int:
        return len(self._idle)

    def begin(self, chunk: int) -> None:
        actor = self._idle.pop()
        self._calls[actor.compute.remote(self._work, chunk)] = actor, chunk

    def ended(self, *, wait: bool) -> Iterator[Ended]:
        done, _ = ray.wait(list(self._calls), timeout=None if wait else 0) if self._calls else ([], [])
        for call in done:
            actor, chunk = self._calls.pop(call)
            result = _answer(call)
            if chunk is not None:
                yield Ended(chunk, result)
            if not isinstance(result, Killed):
                self._idle.append(actor)
            elif chunk is not None:
                self._expect(actor)
            elif not self._calls and not self._idle:
                raise InputError(f"no Ray worker could start: {result.how}; {SAME_EVERYWHERE}")

    def close(self) -> None:
        """End all workers at once."""
        for actor in self._actors:
            ray.kill(actor)

    def _expect(self, actor: Any) -> None:
        """Wait, among other things, for the actor to be ready; however often it must be started until then."""
        self._calls[actor.ready.options(max_task_retries=-1).remote()] = actor, None


def _answer(call: Any) -> Any:
    try:
        return ray.get(call)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ray.exceptions.RaySystemError):  # the work arrived and could not be made again
            return InputError(f"a Ray worker could not load the work: {_line(error.cause)}; {SAME_EVERYWHERE}")
        return error.cause if isinstance(error.cause, Exception) else error
    except LOST as error:
        return Killed(_line(error) if isinstance(error, ray.exceptions.ActorDiedError) else type(error).__name__)
    except ray.exceptions.RayError as error:
        return error


def _line(error: Exception) -> str:
    """What an error of Ray's comes down to; the rest is traces of its insides."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


@contextlib.contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[None]:
    """This process as a driver of the cluster; where it is one already, it stays one.

    Args:
        address: None: RAY_ADDRESS, else the one that runs here, else one that is started and ends with the block.
    """
    if ray.is_initialized():
        yield
        return
    named = address or os.environ.get("RAY_ADDRESS")
    try:
        _start(named or "auto", workers)
    except InputError as error:
        if named or NONE_RUNS not in str(error):
            raise
        _start("local", workers)
        _tell(f"no Ray cluster runs here; started one of {counted(workers or cores(), 'core')}, which ends with this")
    else:
        if named in (None, "auto"):
            cluster = ray.get_runtime_context().gcs_address
            _tell(f"joins the Ray cluster at {cluster}, which runs here (--address names another)")
    driver: Any = ray._private.worker
    driver._worker_logs_enabled = False  # Ray has no public way to keep news of dead workers off stdout
    try:
        yield
    finally:
        ray.shutdown()
        driver._worker_logs_enabled = True


def _start(address: str, workers: int | None) -> None:
    """Connect to the cluster. Raises: InputError if that cannot be done."""
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet |= {"include_dashboard": False, "num_cpus": workers or cores()}
    with _stderr_kept() as written:
        try:
            _require_listener(address)
            ray.init(address, **quiet)
        except Exception as error:  # of a node that does not start it is a plain one
            reason = " ".join(str(error).split())
            written.seek(0)
            if more := [line for line in written.read().decode(errors="replace").splitlines() if line.strip()]:
                reason += f": {more[-1].rpartition(': ')[2].strip()}"
            raise InputError(f"no Ray cluster at {address!r} ({reason}); {START}") from error


@contextlib.contextmanager
def _stderr_kept() -> Iterator[BinaryIO]:
    """What is written to stderr goes into a file: Ray's compiled part tells of every try to connect, a line a second.

    No setting of Ray's is looked at so early.
    """
    with tempfile.TemporaryFile() as kept:
        try:
            own = os.dup(STDERR)
        except OSError:  # it is closed
            yield kept
            return
        os.dup2(kept.fileno(), STDERR)
        try:
            yield kept
        finally:
            os.dup2(own, STDERR)
            os.close(own)


def _tell(message: str) -> None:
    print(f"paraform: {message}", file=sys.stderr)


def _require_listener(address: str) -> None:
    """Raises: OSError if nothing listens at HOST:PORT; Ray itself would try for minutes, and write about it."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS_TO_CONNECT).close()
