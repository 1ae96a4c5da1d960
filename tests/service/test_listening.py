"""Over real sockets: who dawdles, sends without end or goes away holds up nobody, and an end answers what was asked."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import psutil
import pytest
from echo_models import Embeds

from paraform.records import InputError
from paraform.service import listening
from paraform.service.app import Service, Settings
from paraform.service.listening import MOST_HEAD, address_of, listen, server_of
from paraform.service.models import Models


@contextmanager
def served(models: Models, settings: Settings | None = None) -> Iterator[tuple[str, int]]:
    """The address and the port of a server, which ends with the block."""
    with listen("127.0.0.1", 0) as free:
        server = server_of(Service(models, settings or Settings()).app, drain=5, lifespan="on")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [free]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield address_of("127.0.0.1", free), free.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def heard(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    parts = []
    with connection:
        connection.settimeout(30)
        try:
            while part := connection.recv(65536):
                parts.append(part)
        except ConnectionResetError:
            pass
    return b"".join(parts)


def wait_for(address: str, characters: int) -> None:
    """Until so many wait to be computed."""
    while f"\nparaform_waiting_characters {characters}.0\n" not in httpx.get(f"{address}metrics").text:
        time.sleep(0.05)


def asked(address: str, text: str = "A cat.") -> int:
    return httpx.post(f"{address}v1/embeddings", json={"input": text}, timeout=30).status_code


def test_who_dawdles_over_a_head_is_hung_up_on_and_nobody_waits(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "PATIENCE", 0.3)
    with served(models) as (address, port):
        silent = socket.create_connection(("127.0.0.1", port))
        halfway = socket.create_connection(("127.0.0.1", port))
        halfway.sendall(b"POST /v1/embeddings HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
        with httpx.Client(base_url=address) as often:
            assert all(often.get("/health").status_code == 200 for _ in range(20))
            assert heard(silent) == b"" and heard(halfway) == b""
            assert asked(address) == 200


def test_a_head_without_end_is_not_kept(models: Models) -> None:
    with served(models) as (address, port):
        for part in (b"X-Long: " + b"a" * 2 * MOST_HEAD, b"X-Many: a\r\n" * (MOST_HEAD // 5), b"a" * 3 * MOST_HEAD):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            try:
                for _ in range(40):
                    connection.sendall(part)
                    time.sleep(0.01)
            except OSError:  # it was hung up on
                pass
            else:
                raise AssertionError("it still reads")
            connection.close()
        assert asked(address) == 200


def test_a_second_head_without_end_is_not_kept_while_the_first_is_answered(models: Models, embeds: Embeds) -> None:
    with served(models) as (address, port):
        assert asked(address) == 200
        embeds.gate.clear()
        body = b'{"input": "slow"}'
        connection = socket.create_connection(("127.0.0.1", port))
        head = b"POST /v1/embeddings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body + b"GET / HTTP/1.1\r\n")
        with pytest.raises(OSError):
            for _ in range(1000):
                connection.sendall(b"X-Many: a\r\n" * 6000)
        embeds.gate.set()
        connection.close()
        assert asked(address) == 200


def test_a_body_in_chunks_is_refused(models: Models) -> None:
    with served(models) as (address, port):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(b"POST /v1/parse HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
        assert heard(connection).startswith(b"HTTP/1.1 400 ")
        assert asked(address) == 200


def test_who_does_not_read_is_hung_up_on(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "PATIENCE", 0.3)
    with served(models) as (_, port):
        body = json.dumps({"text": ["A cat sleeps " * 300] * 1000}).encode()
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        head = "POST /v1/parse HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        until = time.monotonic() + 60
        while any(one.raddr and one.raddr.port == connection.getsockname()[1] for one in open_connections(port)):
            assert time.monotonic() < until
            time.sleep(0.1)
        connection.close()


def open_connections(port: int) -> list[Any]:
    """Of this process at that port, the server's ends."""
    every = psutil.Process().net_connections("tcp")
    return [one for one in every if one.laddr.port == port and one.status == psutil.CONN_ESTABLISHED]


def test_who_goes_away_is_not_computed_for(models: Models, embeds: Embeds) -> None:
    with served(models) as (address, port):
        assert asked(address) == 200
        embeds.gate.clear()
        blocking = threading.Thread(target=asked, args=(address, "blocks"))
        blocking.start()
        while not embeds.waiting:
            time.sleep(0.01)
        body = json.dumps({"input": "gone"}).encode()
        head = "POST /v1/embeddings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for connection in connections:
            connection.sendall(head.encode() + f"{len(body)}\r\n\r\n".encode() + body)
        wait_for(address, 20 * len("gone"))
        for connection in connections:
            connection.close()
        wait_for(address, 0)
        embeds.gate.set()
        blocking.join()
        assert asked(address) == 200
    assert "gone" not in str(embeds.calls)


def test_an_end_answers_what_was_asked(models: Models, embeds: Embeds) -> None:
    with ThreadPoolExecutor(8) as pool:
        with served(models) as (address, _):
            assert asked(address) == 200
            embeds.gate.clear()
            asking = [pool.submit(asked, address, "blocks")]
            while not embeds.waiting:
                time.sleep(0.01)
            asking += [pool.submit(asked, address, f"text {number}") for number in range(7)]
            wait_for(address, 7 * len("text 0"))
            threading.Timer(0.5, embeds.gate.set).start()
        assert [one.result() for one in asking] == [200] * 8


def test_an_address_that_is_none_is_said() -> None:
    with pytest.raises(InputError, match="no address of this machine"):
        listen("no.such.host.invalid", 0)
    with listen("127.0.0.1", 0) as taken, pytest.raises(OSError, match="Address already in use"):
        listen("127.0.0.1", taken.getsockname()[1])
