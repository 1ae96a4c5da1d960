"""The page and what it asks, for people on this machine.

Everything that is typed is text: answers are JSON, which the page sets as text and never as markup. Nothing that is
typed is written to a log, or kept when its answer is out.
"""

from __future__ import annotations

import json
import logging
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from paraform.demo.answers import Answers
from paraform.service.answering import Question, Respond, answering, constant, refuse
from paraform.service.asking import Field, Limits, list_of, number, read, text_of
from paraform.service.gathering import Gatherer, Work
from paraform.service.guard import LOCAL, Guard, as_json, policy_of
from paraform.service.listening import address_of, listen, server_of

MOST_WAITING = 16
SECONDS = 600.0  # for an answer
MOST_EXEMPLARS = 4
LIMITS = Limits(size=32_768, characters=300, count=MOST_EXEMPLARS)
"""A few sentences, which a laptop answers in seconds; all texts at once, every character escaped, are fewer bytes."""

Answer = dict[str, Any]


def make_app(
    answers: Answers,
    *,
    hosts: frozenset[str] | None = LOCAL,
    framed_by: str = "",
    most_waiting: int = MOST_WAITING,
) -> Starlette:
    """The page and its addresses, over one thread that asks the models.

    Args:
        hosts: names that the server may be called by; None: any.
        framed_by: what may show the page inside its own, besides itself, as the policy `frame-ancestors` has it.
        most_waiting: questions that wait for the models; one more is told that too much waits.
    """
    gatherer = Gatherer(most_waiting)
    gatherer.ask(_work("warm", lambda **given: answers.warm()), [{}])
    pages = {"/": _resource("page.html"), "/report": _resource("report.html")}
    text = text_of(LIMITS)
    asked: dict[str, tuple[Callable[..., Answer], dict[str, Field]]] = {
        "say": (answers.say, {"text": Field(text), "like": Field(list_of(text, LIMITS))}),
        "forms": (answers.forms, {"text": Field(text)}),
        "same": (answers.same, {"first": Field(text), "second": Field(text)}),
        "walk": (answers.walk, {"first": Field(text), "second": Field(text)}),
        "sample": (answers.sample, {"seed": Field(number(0, 2**31 - 1))}),
    }

    routes = [
        *(Route(path, constant(HTMLResponse(page))) for path, page in pages.items()),
        Route("/api/sheet", constant(as_json(_sheet()))),
        *(Route(f"/api/{name}", _respond(name, *how, gatherer), methods=["POST"]) for name, how in asked.items()),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        gatherer.close()

    app = Starlette(routes=routes, exception_handlers={HTTPException: refuse}, lifespan=lifespan)
    app.add_middleware(Guard, hosts=hosts, policy=policy_of(pages.values(), framed_by))
    return app


def serve(
    host: str = "127.0.0.1",
    port: int = 7860,
    *,
    device: str | None = None,
    framed_by: str = "",
    open_page: bool = False,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C.

    Args:
        host: the address to listen at; of one that is not this machine's own, names of hosts are not looked at.
        port: 0: one that is free.
        device, framed_by: as `Answers` and `make_app` take them.
        open_page: in this machine's browser.
        tell: is told the page's address when it can be opened.
    A thread may still compute when Ctrl-C is raised from here; what torch does there cannot be stopped.
    Raises: KeyboardInterrupt when it ends; InputError if the address is none, OSError if it cannot be had.
    """
    hosts = LOCAL if host in LOCAL else None
    with listen(host, port) as listening:
        app = make_app(Answers(device), hosts=hosts, framed_by=framed_by)
        address = address_of(host, listening)
        tell(address)
        if open_page:
            webbrowser.open(address)
        server_of(app, lifespan="off").run(sockets=[listening])  # its end would wait for the models
    raise KeyboardInterrupt  # it ended by Ctrl-C where Python ignores that: a script's job in the background


def _respond(name: str, answer: Callable[..., Answer], fields: dict[str, Field], gatherer: Gatherer) -> Respond:
    async def ask(request: Request) -> Question:
        given = await read(request, fields, LIMITS)
        return Question(_work(name, answer), [given], lambda answers: dict(answers[0]))

    return answering(ask, gatherer, SECONDS)


def _work(name: str, answer: Callable[..., Answer]) -> Work:
    """A question by itself, answered with `notes`, what the library warned of."""

    def compute(items: list[dict[str, Any]]) -> list[Answer]:
        with _warnings() as notes:
            return [{**answer(**given), "notes": notes} for given in items]

    return Work(name, object(), compute, lambda given: 1, 1)


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What the library warns of in the block: for who asked, and not for anyone's log."""
    found: list[str] = []

    def keep(record: logging.LogRecord) -> bool:
        # The command has counts come that it sums up, "0 of 7 texts are longer", which are no warning by themselves.
        if record.levelno >= logging.WARNING:
            found.append(record.getMessage())
        return False

    logger = logging.getLogger("paraform")
    logger.addFilter(keep)
    try:
        yield found
    finally:
        logger.removeFilter(keep)


def _resource(name: str) -> str:
    return (resources.files("paraform.demo") / name).read_text(encoding="utf-8")


def _sheet() -> dict[str, Any]:
    """A sheet that `paraform rate` made, and whose each item is: the page shows that when one has rated."""
    first, *items = map(json.loads, _resource("sheet.jsonl").splitlines())
    systems = json.loads(_resource("key.json"))["systems"]
    return {**first, "items": items, "systems": {name: row["items"] for name, row in systems.items()}}
