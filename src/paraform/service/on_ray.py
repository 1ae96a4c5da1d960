"""The service as replicas on a Ray cluster, by Ray Serve: each is a process with one core and all the models."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from paraform.ending import Terminated
from paraform.engines.ray import connected
from paraform.engines.work import ONE_THREAD
from paraform.records import InputError
from paraform.service.app import Settings
from paraform.service.listening import DRAIN, address_of, listen

try:
    from ray import serve
    from ray.serve.schema import ApplicationStatus
except ImportError as error:
    raise InputError("engine 'ray' needs Ray Serve; pip install 'paraform[cluster]'") from error

ONGOING = 1024  # requests that a replica may have at once: it gathers them, and says itself when there are too many


def serve_on_ray(
    settings: Settings, host: str, port: int, address: str | None, replicas: int, tell: Callable[[str], None]
) -> None:
    """Serve until SIGTERM or Ctrl-C; what was asked is answered, as far as `DRAIN` allows, before this returns.

    Args:
        host, port: of each machine's proxy; where Ray Serve runs already, it keeps its own.
        address: of the cluster, as `engines.Engine` has it.
        replicas: how many processes.
        tell: is told where it can be asked, when it can.
    Raises: InputError if there is no such cluster, or no replica starts; OSError if the address cannot be had.
    """
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    with listen(host, port) as free:  # Ray's proxy would say to its own log alone that it is not
        where, port = address_of(host, free), free.getsockname()[1]
    stop, up = threading.Event(), threading.Event()
    name = f"paraform at {port}"
    with connected(address, replicas), _told(stop, up):
        quiet: Any = {"enable_access_log": False, "log_level": "ERROR"}
        serve.start(http_options={"host": host, "port": port}, logging_config=quiet)
        about: dict[str, Any] = {
            "num_replicas": replicas,
            "max_ongoing_requests": ONGOING,
            "ray_actor_options": {"num_cpus": 1, "runtime_env": {"env_vars": ONE_THREAD}},
            "graceful_shutdown_timeout_s": DRAIN,
        }
        deployment: Any = serve.deployment(serve.ingress(lambda: settings.app())(), **about)
        try:
            serve.run(deployment.bind(), name=name, logging_config=quiet)
            up.set()
            tell(where)
            while not stop.wait(1):
                _require_running(name)
        except RuntimeError as error:
            raise InputError(f"Ray Serve: {' '.join(str(error).split())[:300]}") from error
        finally:
            serve.delete(name)


@contextlib.contextmanager
def _told(stop: threading.Event, up: threading.Event) -> Iterator[None]:
    """`stop` is set by SIGTERM and Ctrl-C, of which Ray would write traces to stderr.

    Before the replicas are `up`, and at a second time, they are raised.
    """

    def hear(number: int, frame: object) -> None:
        if stop.is_set() or not up.is_set():
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, hear) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _require_running(name: str) -> None:
    """Raises: InputError when Ray Serve has given the replicas up."""
    found = serve.status().applications.get(name)
    if found is None or found.status == ApplicationStatus.DEPLOY_FAILED:
        raise InputError(f"Ray Serve has ended it: {found.message if found else 'somebody deleted it'}")
