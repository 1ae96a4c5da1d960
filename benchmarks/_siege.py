"""Clients that mean harm to a service on this machine, beside one that asks for what is known."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

Vectors = Mapping[str, Any]  # of texts
JSON = {"Content-Type": "application/json"}


@dataclass
class Found:
    """What both sides saw."""

    statuses: Counter[int] = field(default_factory=Counter)  # of hostile requests
    cut: int = 0  # connections that ended without an answer
    waits: list[float] = field(default_factory=list)  # seconds, of the other client's
    busy: int = 0  # times that it was told to ask again
    wrong: int = 0  # of its answers

    @property
    def faults(self) -> int:
        """Answers that say that the service itself has failed."""
        return self.statuses[500]


async def siege(address: str, right: Vectors, key: str, hostile: int, seconds: float) -> Found:
    """Ask in all `WAYS` at once, and for the vectors of texts that are known."""
    until, found = time.monotonic() + seconds, Found()
    await asyncio.gather(
        _good(address, right, key, until, found),
        *(_bad(address, key, until, found, number) for number in range(hostile)),
    )
    return found


async def _good(address: str, right: Vectors, key: str, until: float, found: Found) -> None:
    async with httpx.AsyncClient(base_url=address, headers=_bearer(key), timeout=60) as asking:
        while time.monotonic() < until:
            for text, vector in right.items():
                began = time.perf_counter()
                answer = await asking.post("v1/embeddings", json={"input": text})
                found.waits.append(time.perf_counter() - began)
                if answer.status_code == 429:
                    found.busy += 1
                    await asyncio.sleep(1)
                elif answer.status_code != 200 or not np.allclose(
                    answer.json()["data"][0]["embedding"], vector, atol=1e-4
                ):
                    found.wrong += 1
            await asyncio.sleep(0.2)


async def _bad(address: str, key: str, until: float, found: Found, number: int) -> None:
    draw, url = random.Random(number), httpx.URL(address)
    async with httpx.AsyncClient(base_url=address, headers=JSON | _bearer(key), timeout=60) as asking:
        while time.monotonic() < until:
            try:
                if draw.random() < len(BODIES) / (len(BODIES) + len(SOCKETS)):
                    path, body, headers, patience = draw.choice(BODIES)(draw)
                    answer = await asking.post(path, content=body, headers=headers, timeout=patience)
                    found.statuses[answer.status_code] += 1
                else:
                    reader, writer = await asyncio.open_connection(url.host, url.port)
                    try:
                        await draw.choice(SOCKETS)(draw, reader, writer, key)
                    finally:
                        writer.close()
                    found.cut += 1
            except (httpx.TransportError, OSError):
                found.cut += 1
            await asyncio.sleep(draw.random())


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


Asked = tuple[str, bytes, dict[str, str], float]  # path, body, headers of its own, seconds that it waits


def _texts(path: str, name: str, texts: Sequence[Any], patience: float = 60) -> Asked:
    return path, json.dumps({name: texts}).encode(), {}, patience


# Made once: what is measured is the service, not this process.
DEEP = b"[" * 50_000
HUGE = b'{"text":"' + b"a " * (4 << 20)
MILLION = b'{"input":[' + b'"a",' * 10**6 + b'"a"]}'
WIDE = json.dumps({"text": {f"k{number}": number for number in range(20_000)}}).encode()

BODIES: Sequence[Callable[[random.Random], Asked]] = (
    lambda draw: ("v1/same", b'{"pairs":[["a","b"]]}', _bearer("no"), 60),  # a wrong key
    lambda draw: ("v1/parse", draw.randbytes(200), {}, 60),  # broken JSON
    lambda draw: ("v1/same", DEEP, {}, 60),
    lambda draw: ("v1/parse", HUGE, {}, 60),
    lambda draw: ("v1/embeddings", MILLION, {}, 60),
    lambda draw: ("v1/parse", WIDE, {}, 60),
    lambda draw: _texts("v1/parse", "text", ["word " * 999]),  # as long as a text may be
    lambda draw: _texts("v1/same", "pairs", [["word " * 999, "Yes. " * 999]]),
    lambda draw: _texts("v1/embeddings", "input", ["word " * 900] * 50, 2),  # and gone before the answer
    lambda draw: _texts("v1/paraphrase", "text", ["\u202e\x00 \ud83d\ude00" * 40], 2),
)

Socket = Callable[[random.Random, asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]]


async def dawdling(draw: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str) -> None:
    """A head that comes in drops, and never whole."""
    writer.write(b"POST /v1/same HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n")
    for _ in range(draw.randrange(5)):
        writer.write(b"X: y\r\n")
        await asyncio.sleep(draw.random())


async def unread(draw: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str) -> None:
    """Asks for a large answer, and reads none of it."""
    body = json.dumps({"input": ["word"] * 2000}).encode()
    writer.write(request_of("/v1/embeddings", key, body))
    await asyncio.sleep(5 + 10 * draw.random())


async def pipelined(draw: random.Random, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str) -> None:
    """Asks many times before the first answer."""
    body = b'{"text":"a"}'
    writer.write(request_of("/v1/parse", key, body) * 500)
    await asyncio.sleep(2 * draw.random())


def request_of(path: str, key: str, body: bytes) -> bytes:
    """A request as it is sent."""
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {key}",
        f"Content-Length: {len(body)}",
        "Content-Type: application/json",
    )
    return "\r\n".join([*lines, "", ""]).encode() + body


SOCKETS: Sequence[Socket] = (dawdling, unread, pipelined)
