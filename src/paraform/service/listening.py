"""An app on a port of this machine, until a signal ends it."""

from __future__ import annotations

import logging
import socket
import sys
from typing import Any, final

import uvicorn
from httptools import HttpParserError
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from paraform.records import InputError

MOST_CONNECTIONS = 1024
MOST_HEAD = 64 << 10  # bytes of a request before its body
PATIENCE = 20.0  # seconds that a request's head may take
DRAIN = 25  # seconds that answers have when the end is asked for


def listen(host: str, port: int) -> socket.socket:
    """A socket that is listened at.

    Args:
        port: 0: one that is free.
    Raises: InputError if the address is none, OSError if it cannot be had.
    """
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


def address_of(host: str, listening: socket.socket) -> str:
    """Where the socket is reached, as it was named."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"


@final
class Patient(HttpToolsProtocol):
    """uvicorn's, which waits for ever for a request's head, of any size, and for who does not read; this one hangs up.

    Bodies in chunks are refused, since what may stand behind their last chunk has no bound either.
    """

    def connection_made(self, transport: Any) -> None:
        """Look at it from time to time."""
        super().connection_made(transport)
        self._in_head, self._head, self._begun, self._seen, self._unsent = False, 0, 0, -1, 0
        self._timer = self.loop.call_later(PATIENCE, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """No more to look at."""
        self._timer.cancel()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A head begins, perhaps while the request before is answered."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Raises: HttpParserError for a body in chunks."""
        if name.lower() == b"transfer-encoding":
            raise HttpParserError("a body in chunks")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A request begins."""
        self._in_head = False
        self._begun += 1
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Count what comes of a head."""
        super().data_received(data)
        self._head = self._head + len(data) if self._in_head else 0
        if self._head > MOST_HEAD:
            self.transport.abort()

    @property
    def _waits(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        if (self._waits and self._begun == self._seen) or (unsent and unsent >= self._unsent > 0):
            self.transport.abort()
        self._seen, self._unsent = self._begun if self._waits else -1, unsent
        self._timer = self.loop.call_later(PATIENCE, self._look)


def server_of(app: ASGIApp, *, drain: int = 0, **more: Any) -> uvicorn.Server:
    """A server of the app that writes no log: what goes wrong we say ourselves, without anybody's text.

    Args:
        drain: seconds that answers have at the end.
        more: as `uvicorn.Config` has it.
    """
    return uvicorn.Server(
        uvicorn.Config(
            app,
            access_log=False,
            log_config=None,
            log_level=logging.CRITICAL,
            ws="none",
            http=Patient,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=drain,
            server_header=False,
            proxy_headers=False,
            **more,
        )
    )


def tell_fault(what: str, error: BaseException) -> None:
    """What went wrong and where, on stderr; not the message, which may hold what somebody sent."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    print(f"paraform: {what}: {type(error).__name__}{where}", file=sys.stderr, flush=True)


def serve_until_told(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C; what was asked is answered, as far as `DRAIN` allows, before this returns."""
    try:
        server_of(app, drain=DRAIN, lifespan="on").run(sockets=[listening])
    except KeyboardInterrupt:  # the signal, which uvicorn raises again when all is done
        return
