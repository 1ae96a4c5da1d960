"""What `paraform serve` answers a second, against the same texts in one call of the library in this process.

    python benchmarks/serve.py [--texts 400] [--clients 32] [--repeats 3] [--steady 10] [--siege 5] [--hostile 100]

Banking77's questions, drawn by a seed, or --texts-from; a text a request. Clients send the next request when the last
one is answered; they run in a process of their own, on the same cores, of which they take little: they read no JSON.
The service and the call take turns, with as many threads of torch. Then --steady minutes of ordinary requests for
vectors, for the memory; then --siege minutes of hostile clients (_siege.py: slow, huge, broken, deep and wide JSON,
wrong keys, sockets that close or do not read, 10⁶ texts) beside one that asks for vectors that are known: no wrong
answer, no crash. Only loopback is used.

Bounds: 0.8 × one call's rate; with 4 clients the 95th percentile within 2 × one client's; memory grows by at most 5 %.
The floor of the first is the library's own rate by calls of half as many texts as there are clients, since while one
half is computed the other is on its way; of the second, what the library takes for four texts at once, against one.
"""

from __future__ import annotations

import asyncio
import csv
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import torch
from _measure import Bound, Spread, arguments_of, middle, report
from _siege import request_of, siege

import paraform

HERE = Path(__file__).resolve()
DATA = HERE.parents[2] / "shared" / "data" / "banking77" / "train.csv"
OTHER = "Can I use my card abroad?"
FEW = 4  # clients whose waiting is compared with one's
KEY = "a key of this benchmark"
RATE, HALVES = "service × one call", "calls of half the clients' texts × one call"
LATE, AT_ONCE = f"p95 of {FEW} clients × of one", f"one call of {FEW} texts × of one"
WORKS = ("embeddings", "same", "parse", "paraphrase")


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--texts-from", type=Path, default=DATA, help="CSV with a column text")
    parser.add_argument("--texts", type=int, default=400, help="of each turn; of paraphrase a quarter")
    parser.add_argument("--clients", type=int, default=32, help="that ask at once")
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    parser.add_argument("--steady", type=float, default=10.0, help="minutes of ordinary requests")
    parser.add_argument("--siege", type=float, default=5.0, help="minutes of hostile clients")
    parser.add_argument("--hostile", type=int, default=100, help="how many")
    parser.add_argument("--works", nargs="+", default=WORKS, choices=WORKS, help="what is asked for")
    parser.add_argument("--ask", help="of the clients' own process: what to ask, as JSON")
    arguments = parser.parse_args()
    if arguments.ask:
        print(json.dumps(asyncio.run(asked(**json.loads(arguments.ask)))))
        return 0
    torch.set_num_threads(arguments.threads or torch.get_num_threads())
    with open(arguments.texts_from, encoding="utf-8") as file:
        rows = sorted({row["text"] for row in csv.DictReader(file) if row["text"].strip()})
    texts = random.Random(0).sample(rows, min(arguments.texts, len(rows)))
    figures: dict[str, Any] = {"texts": len(texts), "threads": torch.get_num_threads(), "clients": arguments.clients}
    bounds: dict[str, Bound] = {}
    floors: dict[str, str] = {}
    with service(torch.get_num_threads(), arguments.works) as (process, address):
        for work in arguments.works:
            some = texts[: len(texts) // 4] if work == "paraphrase" else texts
            found = compared(address, work, some, arguments.clients, arguments.repeats)
            figures |= {f"{work}, {name}": value for name, value in found.items()}
            bounds |= {f"{work}, {RATE}": ("at least", 0.8), f"{work}, {LATE}": ("at most", 2.0)}
            floors |= {
                f"{work}, {RATE}": f"{found[HALVES]:.2f}: {HALVES}",
                f"{work}, {LATE}": f"{found[AT_ONCE]:.2f}: {AT_ONCE}",
            }
        if arguments.steady:
            figures |= steady(process, address, texts, arguments.clients, 60 * arguments.steady)
            bounds["memory of the steady run × before"] = ("at most", 1.05)
        if arguments.siege:
            figures |= besieged(process, address, texts[:50], arguments.hostile, 60 * arguments.siege)
            bounds |= {"wrong answers": ("at most", 0), "faults of the service": ("at most", 0)}
    return report(figures, bounds, floors=floors, as_json=arguments.json)


@contextmanager
def service(threads: int, works: Sequence[str]) -> Iterator[tuple[psutil.Process, str]]:
    """A service of its own process, warm, and its address. It has what is measured, and vectors."""
    command = [sys.executable, "-m", "paraform", "serve", "--port", "0", "--json", "--like", "none"]
    command += [part for work in ("same", "parse", "paraphrase") if work not in works for part in (f"--{work}", "none")]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PARAFORM_KEY": KEY}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            address = json.loads(process.stdout.readline())["service"]
            while httpx.get(f"{address}ready").status_code != 200:
                time.sleep(0.1)
            yield psutil.Process(process.pid), address
        finally:
            process.terminate()


def body_of(work: str, text: str) -> dict[str, Any]:
    """The request for a text."""
    if work == "same":
        return {"pairs": [[text, OTHER]]}
    return {"input": text} if work == "embeddings" else {"text": text}


def compared(address: str, work: str, texts: Sequence[str], clients: int, repeats: int) -> dict[str, Any]:
    """The service and one call in turns, and how long an answer takes with one client and with a few."""
    call = call_of(work)
    seconds: dict[str, list[float]] = {"service": [], "call": [], "halves": []}
    half = clients // 2
    for turn in range(-1, repeats):
        called = seconds_of(call, texts)
        served = by_clients(address, work, texts, clients)["seconds"]
        halves = sum(seconds_of(call, texts[at : at + half]) for at in range(0, len(texts), half))
        if turn >= 0:
            seconds["halves"].append(halves)
            seconds["call"].append(called)
            seconds["service"].append(served)
    waits = {count: by_clients(address, work, texts[: len(texts) // 2], count)["waits"] for count in (1, FEW)}
    late = {count: float(np.percentile(found, 95)) for count, found in waits.items()}
    alone, few = ([seconds_of(call, texts[at : at + size]) for at in range(0, 25 * FEW, FEW)] for size in (1, FEW))
    return {
        "texts a second": len(texts) / middle(seconds["service"]),
        RATE: Spread.of(seconds["service"], seconds["call"]),
        HALVES: Spread.of(seconds["halves"], seconds["call"]).middle,
        "one client, p95, ms": 1000 * late[1],
        LATE: late[FEW] / late[1],
        AT_ONCE: Spread.of(alone, few).middle,
    }


def call_of(work: str) -> Callable[[Sequence[str]], Any]:
    """What answers texts in this process; its model is loaded."""
    if work == "embeddings":
        return paraform.load_encoder("minilm").embed
    if work == "same":
        judge = paraform.load_judge("minilm-judge").judge
        return lambda texts: judge([(text, OTHER) for text in texts])
    if work == "parse":
        parse = paraform.load_parser()
        return lambda texts: parse([paraform.tokenize(text) for text in texts])
    return paraform.reword


def seconds_of(call: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> float:
    """What one call takes."""
    began = time.perf_counter()
    call(texts)
    return time.perf_counter() - began


def by_clients(address: str, work: str, texts: Sequence[str], clients: int, during: float = 0) -> Any:
    """What clients in another process find who ask for each text once, or as often as `during` seconds allow."""
    bodies = [body_of(work, text) for text in texts]
    options = {"address": address, "bodies": bodies, "work": work, "clients": clients, "during": during}
    done = subprocess.run(
        [sys.executable, HERE, "--ask", json.dumps(options)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


async def asked(address: str, bodies: list[Any], work: str, clients: int, during: float) -> dict[str, Any]:
    """Seconds that all took, and that each waited."""
    left, waits, until = list(reversed(bodies)), [], time.perf_counter() + during
    url = httpx.URL(address)

    async def client() -> None:
        reader, writer = await asyncio.open_connection(url.host, url.port)
        while left:
            body, began = left.pop(), time.perf_counter()
            writer.write(request_of(f"/v1/{work}", KEY, json.dumps(body).encode()))
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            if not (head.startswith(b"HTTP/1.1 200 ") and length):
                raise SystemExit(f"{work}: {head.decode()}")
            await reader.readexactly(int(length[1]))
            waits.append(time.perf_counter() - began)
            if time.perf_counter() < until:
                left.insert(0, body)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return {"seconds": time.perf_counter() - began, "waits": waits}


def steady(process: psutil.Process, address: str, texts: Sequence[str], clients: int, seconds: float) -> dict[str, Any]:
    """Memory after ordinary requests, against that after the first tenth of them."""
    sizes = {}
    for name, share in (("before", 0.1), ("after", 0.9)):
        answered = len(by_clients(address, "embeddings", texts, clients, share * seconds)["waits"])
        sizes[name] = answered, process.memory_info().rss
    return {
        "requests of the steady run": sum(answered for answered, _ in sizes.values()),
        "memory of the steady run × before": sizes["after"][1] / sizes["before"][1],
    }


def besieged(
    process: psutil.Process, address: str, texts: Sequence[str], hostile: int, seconds: float
) -> dict[str, Any]:
    """What a siege has found, and the service's memory after it."""
    right = {text: vector for text, vector in zip(texts, paraform.load("minilm").embed(texts), strict=True)}
    before = process.memory_info().rss
    found = asyncio.run(siege(address, right, KEY, hostile, seconds))
    time.sleep(2)
    return {
        "hostile requests": found.statuses.total() + found.cut,
        "hostile requests by status": dict(sorted(found.statuses.items())),
        "answers beside them": len(found.waits),
        "answers beside them, told to ask again": found.busy,
        "answers beside them, p95, ms": 1000 * float(np.percentile(found.waits, 95)),
        "wrong answers": found.wrong,
        "faults of the service": found.faults,
        "memory × before": process.memory_info().rss / before,
        "memory, MiB": process.memory_info().rss / 2**20,
    }


if __name__ == "__main__":
    sys.exit(main())
