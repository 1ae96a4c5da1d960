"""The page and what it asks, for people on this machine.

Everything that is typed is text: answers are JSON, which the page sets as text and never as markup. Nothing that is
typed is written to a log, or kept when its answer is out.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import re
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from paraform import InputError
from paraform.demo.answers import Answers
from paraform.demo.asking import Field, number, read, refused, text, texts
from paraform.demo.worker import Answer, BusyError, Worker

MOST_WAITING = 16
MOST_CONNECTIONS = 256
LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names of this machine. A page from elsewhere whose name was made to lead here (DNS rebinding) has another."""

Respond = Callable[[Request], Awaitable[Response]]


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
        most_waiting: questions that wait for the models; one more is told that many are asking.
    """
    worker = Worker(most_waiting)
    worker.ask(answers.warm)
    pages = {"/": _resource("page.html"), "/report": _resource("report.html")}
    policy = _policy(pages.values(), framed_by)
    asked: dict[str, tuple[Callable[..., Answer], dict[str, Field]]] = {
        "say": (answers.say, {"text": text, "like": texts}),
        "forms": (answers.forms, {"text": text}),
        "same": (answers.same, {"first": text, "second": text}),
        "walk": (answers.walk, {"first": text, "second": text}),
        "sample": (answers.sample, {"seed": number}),
    }

    routes = [
        *(Route(path, _constant(HTMLResponse(page))) for path, page in pages.items()),
        Route("/api/sheet", _constant(_json(_sheet()))),
        *(Route(f"/api/{name}", _question(worker, *how), methods=["POST"]) for name, how in asked.items()),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        worker.close()

    app = Starlette(routes=routes, exception_handlers={HTTPException: _refuse}, lifespan=lifespan)
    app.add_middleware(_Guard, hosts=hosts, policy=policy)
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
    with _listening(host, port) as listening:
        port = listening.getsockname()[1]
        app = make_app(Answers(device), hosts=hosts, framed_by=framed_by)
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        tell(address)
        if open_page:
            webbrowser.open(address)
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                access_log=False,
                log_config=None,
                log_level=logging.CRITICAL,  # what goes wrong we say ourselves, without anybody's text
                lifespan="off",  # whose end would wait for the models
                ws="none",
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=0,
                server_header=False,
                proxy_headers=False,
            )
        )
        server.run(sockets=[listening])
    raise KeyboardInterrupt  # it ended by Ctrl-C where Python ignores that: a script's job in the background


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError):
        raise InputError(f"host {host!r} is no address of this machine; expected one such as 127.0.0.1") from None
    listening = socket.socket(family, kind)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(MOST_CONNECTIONS)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, error.strerror, f"{host}:{port}") from error
    return listening


def _resource(name: str) -> str:
    return (resources.files("paraform.demo") / name).read_text(encoding="utf-8")


def _sheet() -> dict[str, Any]:
    """A sheet that `paraform rate` made, and whose each item is: the page shows that when one has rated."""
    first, *items = map(json.loads, _resource("sheet.jsonl").splitlines())
    systems = json.loads(_resource("key.json"))["systems"]
    return {**first, "items": items, "systems": {name: row["items"] for name, row in systems.items()}}


def _policy(pages: Iterable[str], framed_by: str) -> str:
    """The content security policy: the pages' own scripts and styles, own addresses, and nothing from elsewhere."""
    whole = "".join(pages)
    rules = [
        "default-src 'none'",
        *(f"{part}-src {_digests(whole, part)}" for part in ("script", "style")),
        "connect-src 'self'",
        "frame-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        f"frame-ancestors 'self' {framed_by}".strip(),
    ]
    return "; ".join(rules)


def _digests(pages: str, part: str) -> str:
    found = re.findall(rf"<{part}>(.*?)</{part}>", pages, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in found]
    return " ".join(f"'sha256-{digest}'" for digest in digests)


class _Guard:
    """Looks at the name that the server is called by, and sets what every answer says to browsers."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str] | None, policy: str) -> None:
        self.app = app
        self.hosts = hosts
        self.headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the server's own start and end
            await self.app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self.headers]
            await send(message)

        if self.hosts is not None and not _called_by(Request(scope).headers.get("host", ""), self.hosts):
            answer = _json({"error": "This page is for its own machine; open it as http://127.0.0.1 …"}, 421)
            await answer(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)


def _called_by(host: str, hosts: frozenset[str]) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in hosts
    except ValueError:
        return False


def _constant(response: Response) -> Respond:
    async def respond(request: Request) -> Response:
        return response

    return respond


def _question(worker: Worker, answer: Callable[..., Answer], fields: dict[str, Field]) -> Respond:
    async def respond(request: Request) -> Response:
        given = await read(request, fields)
        try:
            waiting = asyncio.wrap_future(worker.ask(partial(answer, **given)))
            while not (await asyncio.wait({waiting}, timeout=1))[0]:
                if await request.is_disconnected():  # nobody waits for it
                    waiting.cancel()
                    return Response(status_code=499)
            return _json(waiting.result())
        except BusyError:
            raise HTTPException(503, "Many are asking just now; try again in a moment.", {"Retry-After": "2"}) from None
        except InputError as error:
            raise refused(f"{error}.") from None
        except Exception as error:
            _tell_fault(error)
            raise refused("Something went wrong here; another text may do.", 500) from None

    return respond


def _tell_fault(error: BaseException) -> None:
    """What went wrong and where, on stderr; not the message, which may hold what somebody typed."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    print(f"paraform: the page: {type(error).__name__}{where}", file=sys.stderr)


async def _refuse(request: Request, error: Exception) -> Response:
    status, said, headers = 500, "Something went wrong here.", None
    if isinstance(error, HTTPException):
        status, said, headers = error.status_code, error.detail, error.headers
    return _json({"error": said}, status, headers)


def _json(value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    # ASCII, so that whatever text it holds can be written
    return Response(json.dumps(value), status, headers, media_type="application/json")
