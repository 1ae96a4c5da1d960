"""What a service counts, as Prometheus reads it: no text, and nothing of who asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Receive, Scope, Send

NOWHERE = "other"  # the address of what is asked for where nothing is
SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
ITEMS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """The counters of one server.

    Args:
        waiting: how many characters wait to be computed.
    """

    def __init__(self, waiting: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)  # memory, processor time, open files
        self._requests = Counter(
            "paraform_requests", "requests by address and status", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "paraform_request_seconds",
            "from a request to its answer",
            ["path"],
            registry=self._registry,
            buckets=SECONDS,
        )
        self._batches = Histogram(
            "paraform_batch_items",
            "texts or pairs that were computed together",
            ["work"],
            registry=self._registry,
            buckets=ITEMS,
        )
        self._computing = Counter(
            "paraform_computing_seconds", "time that models took", ["work"], registry=self._registry
        )
        self._registry.register(_Waiting(waiting))

    def answered(self, path: str, status: int, seconds: float) -> None:
        """A request is over."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def computed(self, work: str, items: int, seconds: float) -> None:
        """A batch is over."""
        self._batches.labels(work).observe(items)
        self._computing.labels(work).inc(seconds)

    def text(self) -> bytes:
        """All of it, in Prometheus' text format."""
        return generate_latest(self._registry)


class Counted:
    """Counts each request to an app, and how long it took.

    Args:
        paths: the addresses that there are.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, paths: Collection[str]) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the server's own start and end
            await self.app(scope, receive, send)
            return
        began, status = time.monotonic(), 500

        async def heard(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, heard)
        finally:
            path = scope["path"] if scope["path"] in self.paths else NOWHERE
            self.metrics.answered(path, status, time.monotonic() - began)


class _Waiting(Collector):
    def __init__(self, waiting: Callable[[], int]) -> None:
        self._waiting = waiting

    def collect(self) -> list[GaugeMetricFamily]:
        return [GaugeMetricFamily("paraform_waiting_characters", "what waits to be computed", self._waiting())]
