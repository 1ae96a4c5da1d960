"""What `paraform serve` answers a second, against the same texts in one call of the library in this process.

    python benchmarks/serve.py [--texts 400] [--clients 32] [--repeats 3] [--minutes 5] [--hostile 100]

Banking77's test questions, drawn by a seed, or --texts-from; a text a request. Clients send the next request when the
last one is answered; they run in a process of their own, on the same cores. The service and the call take turns, with
as many threads of torch. Then --minutes of hostile clients (slow, huge, broken and deep JSON, wrong keys, sockets that
close, 10⁶ texts) beside one that asks for vectors that are known: no wrong answer, no crash. Only loopback is used.

Bounds: 0.8 × one call's rate; with 4 clients the 95th percentile within 2 × one client's; memory grows by at most 5 %.
"""

from __future__ import annotations

import asyncio
import csv
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import torch
from _measure import Bound, Spread, arguments_of, middle, report

import paraform

HERE = Path(__file__).resolve()
DATA = HERE.parents[2] / "shared" / "data" / "banking77" / "train.csv"
OTHER = "Can I use my card abroad?"
FEW = 4  # clients whose waiting is compared with one's
KEY = "a key of this benchmark"
WORKS = ("embeddings", "same", "parse", "paraphrase")


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--texts-from", type=Path, default=DATA, help="CSV with a column text")
    parser.add_argument("--texts", type=int, default=400, help="of each turn; of paraphrase a quarter")
    parser.add_argument("--clients", type=int, default=32, help="that ask at once")
    parser.add_argument("--repeats", type=int, default=3, help="turns")
    parser.add_argument("--minutes", type=float, default=5.0, help="of hostile clients")
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
    with service(torch.get_num_threads(), arguments.works) as (process, address):
        for work in arguments.works:
            some = texts[: len(texts) // 4] if work == "paraphrase" else texts
            found = compared(address, work, some, arguments.clients, arguments.repeats)
            figures |= {f"{work}, {name}": value for name, value in found.items()}
            bounds[f"{work}, service × one call"] = ("at least", 0.8)
            bounds[f"{work}, p95 of {FEW} clients × of one"] = ("at most", 2.0)
        if arguments.minutes:
            found = besieged(process, address, texts[:50], arguments.hostile, 60 * arguments.minutes)
            figures |= found
            bounds |= {"wrong answers": ("at most", 0), "memory × before": ("at most", 1.05)}
    return report(figures, bounds, as_json=arguments.json)


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
    calls = {
        "embeddings": lambda: paraform.load("minilm").embed(texts),
        "same": lambda: paraform.load("minilm-judge").judge([(text, OTHER) for text in texts]),
        "parse": lambda: paraform.load_parser()([paraform.tokenize(text) for text in texts]),
        "paraphrase": lambda: paraform.reword(texts),
    }
    seconds: dict[str, list[float]] = {"service": [], "call": []}
    for turn in range(-1, repeats):
        began = time.perf_counter()
        calls[work]()
        called = time.perf_counter() - began
        served = by_clients(address, work, texts, clients)["seconds"]
        if turn >= 0:
            seconds["call"].append(called)
            seconds["service"].append(served)
    waits = {count: by_clients(address, work, texts[: len(texts) // 2], count)["waits"] for count in (1, FEW)}
    late = {count: float(np.percentile(found, 95)) for count, found in waits.items()}
    return {
        "texts a second": len(texts) / middle(seconds["service"]),
        "service × one call": Spread.of(seconds["service"], seconds["call"]),
        "one client, p95, ms": 1000 * late[1],
        f"p95 of {FEW} clients × of one": late[FEW] / late[1],
    }


def by_clients(address: str, work: str, texts: Sequence[str], clients: int) -> Any:
    """What clients in another process find."""
    asked = json.dumps(
        {"address": address, "bodies": [body_of(work, text) for text in texts], "work": work} | {"clients": clients}
    )
    done = subprocess.run([sys.executable, HERE, "--ask", asked], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


async def asked(address: str, bodies: list[Any], work: str, clients: int) -> dict[str, Any]:
    """Seconds that all took, and that each waited."""
    left, waits = list(reversed(bodies)), []
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=600) as asking:

        async def client() -> None:
            while left:
                body, began = left.pop(), time.perf_counter()
                (await asking.post(f"v1/{work}", json=body)).raise_for_status()
                waits.append(time.perf_counter() - began)

        began = time.perf_counter()
        await asyncio.gather(*(client() for _ in range(clients)))
        return {"seconds": time.perf_counter() - began, "waits": waits}


def besieged(
    process: psutil.Process, address: str, texts: Sequence[str], hostile: int, seconds: float
) -> dict[str, Any]:
    """Clients that mean harm, beside one that asks for what is known."""
    right = {text: vector for text, vector in zip(texts, paraform.load("minilm").embed(texts), strict=True)}
    before = process.memory_info().rss
    found = asyncio.run(_siege(address, right, hostile, seconds))
    time.sleep(2)
    return {
        "hostile requests": sum(found["statuses"].values()) + found["broken"],
        "hostile requests by status": dict(sorted(found["statuses"].items())),
        "answers beside them": len(found["waits"]),
        "answers beside them, p95, ms": 1000 * float(np.percentile(found["waits"], 95)),
        "wrong answers": found["wrong"],
        "memory × before": process.memory_info().rss / before,
        "memory, MiB": process.memory_info().rss / 2**20,
    }


async def _siege(address: str, right: Mapping[str, Any], hostile: int, seconds: float) -> dict[str, Any]:
    until = time.monotonic() + seconds
    statuses: Counter[int] = Counter()
    found: dict[str, Any] = {"statuses": statuses, "broken": 0, "wrong": 0, "waits": []}
    url = httpx.URL(address)
    key = {"Authorization": f"Bearer {KEY}"}
    json_kind = {"Content-Type": "application/json"} | key

    async def good() -> None:
        async with httpx.AsyncClient(base_url=address, headers=key, timeout=60) as asking:
            while time.monotonic() < until:
                for text, vector in right.items():
                    began = time.perf_counter()
                    answer = await asking.post("v1/embeddings", json={"input": text})
                    found["waits"].append(time.perf_counter() - began)
                    if answer.status_code == 429:
                        await asyncio.sleep(1)
                    elif answer.status_code != 200 or not np.allclose(
                        answer.json()["data"][0]["embedding"], vector, atol=1e-4
                    ):
                        found["wrong"] += 1
                await asyncio.sleep(0.2)

    async def bad(number: int) -> None:
        draw = random.Random(number)
        async with httpx.AsyncClient(base_url=address, timeout=60) as asking:
            while time.monotonic() < until:
                way = draw.randrange(8)
                try:
                    if way == 0:  # wrong keys
                        answer = await asking.post(
                            "v1/same", json={"pairs": []}, headers={"Authorization": "Bearer no"}
                        )
                    elif way == 1:  # broken JSON
                        broken = bytes(draw.randrange(256) for _ in range(200))
                        answer = await asking.post("v1/parse", content=broken, headers=json_kind)
                    elif way == 2:  # deep JSON
                        answer = await asking.post("v1/same", content=b"[" * 50_000, headers=json_kind)
                    elif way == 3:  # huge
                        answer = await asking.post(
                            "v1/parse", content=b'{"text":"' + b"a " * (4 << 20), headers=json_kind
                        )
                    elif way == 4:  # a million texts
                        many = b'{"input":[' + b'"a",' * 10**6 + b'"a"]}'
                        answer = await asking.post("v1/embeddings", content=many, headers=json_kind)
                    elif way == 5:  # as much as may be, and gone before the answer
                        body = {"input": ["word " * 900] * 800}
                        try:
                            answer = await asking.post("v1/embeddings", json=body, headers=key, timeout=2)
                        except httpx.ReadTimeout:
                            found["broken"] += 1
                            continue
                    else:  # a socket that dawdles, or closes
                        _, writer = await asyncio.open_connection(url.host, url.port)
                        writer.write(b"POST /v1/same HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n")
                        for _ in range(draw.randrange(5)):
                            writer.write(b"X: y\r\n")
                            await asyncio.sleep(draw.random())
                        writer.close()
                        found["broken"] += 1
                        continue
                    statuses[answer.status_code] += 1
                except (httpx.TransportError, OSError):
                    found["broken"] += 1
                await asyncio.sleep(draw.random())

    await asyncio.gather(good(), *map(bad, range(hostile)))
    return found


if __name__ == "__main__":
    sys.exit(main())
