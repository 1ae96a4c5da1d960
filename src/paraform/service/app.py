"""The service: its addresses over one thread that computes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from paraform.service.answering import Question, answering, constant, refuse
from paraform.service.asking import Limits, read
from paraform.service.endpoints import Endpoint, endpoints
from paraform.service.gathering import Gatherer, Work
from paraform.service.guard import LOCAL, Guard, as_json, policy_of
from paraform.service.metrics import Counted, Metrics
from paraform.service.models import Models, Names
from paraform.service.openapi import description, page_of

LIMITS = Limits(size=4 << 20, characters=5_000, count=2_048)
OPEN = frozenset({"/health", "/ready"})  # without a key: who asks only wants to know whether to send others here


@dataclass(frozen=True)
class Settings:
    """What a service has, and whom it answers; plain values, which another process can be sent.

    Args:
        device: the models'; None: the GPU if there is one.
        hosts: names that it may be called by; None: any.
        key: what requests must carry; "": anyone may ask.
        limits: of a request.
        waiting: characters that may wait; who asks further hears 429.
        seconds: that an answer may take.
    """

    names: Names = field(default_factory=Names)
    device: str | None = None
    hosts: frozenset[str] | None = LOCAL
    key: str = field(default="", repr=False)
    limits: Limits = LIMITS
    waiting: int = 1_000_000
    seconds: float = 120.0

    def app(self) -> Starlette:
        """The service with its models loaded. Raises: InputError as `Models`."""
        return Service(Models.load(self.names, self.device), self).app


@final
class Service:
    """What answers requests by these models."""

    def __init__(self, models: Models, settings: Settings) -> None:
        self._limits = settings.limits
        self._gatherer = Gatherer(settings.waiting, lambda *batch: self._metrics.computed(*batch))
        self._metrics = Metrics(lambda: self._gatherer.waiting)
        logging.getLogger("paraform").addFilter(_unheard)
        warm = Work("warm", None, lambda items: models.warm(), lambda item: 0, 1)
        self._warmed = self._gatherer.ask(warm, [None])
        key, hosts = settings.key, settings.hosts
        found = list(endpoints(models, settings.limits))
        known = models.known()
        page = page_of(found, known, bool(key))
        listed = [{"id": name, "object": "model", "owned_by": "paraform", "use": use} for name, use in known.items()]
        pages = {
            "/": HTMLResponse(page),
            "/openapi.json": as_json(description(found, bool(key))),
            "/v1/models": as_json({"object": "list", "data": listed}),
            "/health": as_json({"status": "ok"}),
        }

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            yield
            await asyncio.to_thread(self.end)

        self.app = Starlette(
            routes=[
                *(Route(path, constant(answer)) for path, answer in pages.items()),
                Route("/ready", self._ready),
                Route("/metrics", self._metrics_text),
                *(
                    Route(one.path, answering(self._asked(one), self._gatherer, settings.seconds), methods=["POST"])
                    for one in found
                ),
            ],
            exception_handlers={HTTPException: refuse},
            lifespan=lifespan,
        )
        self.app.router.redirect_slashes = False
        self.app.add_middleware(Guard, hosts=hosts, policy=policy_of([page]), key=key, open_paths=OPEN)
        paths = frozenset(route.path for route in self.app.routes if isinstance(route, Route))
        self.app.add_middleware(Counted, metrics=self._metrics, paths=paths)  # refusals of the guard, too

    def end(self) -> None:
        """Compute what was asked; who asks from now on is refused."""
        self._gatherer.close()
        logging.getLogger("paraform").removeFilter(_unheard)

    async def _ready(self, request: Request) -> Response:
        if not self._warmed.done():
            return as_json({"status": "warming"}, 503)
        return as_json({"status": "ready"})

    async def _metrics_text(self, request: Request) -> Response:
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    def _asked(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Question]]:
        async def ask(request: Request) -> Question:
            return endpoint.question(await read(request, endpoint.fields, self._limits))

        return ask


def _unheard(record: logging.LogRecord) -> bool:
    """No warning of the library goes to a log: it may hold what somebody sent."""
    return False
