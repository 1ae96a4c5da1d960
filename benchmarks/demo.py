"""The page under load: many people at once on loopback, each with a text of their own.

    python benchmarks/demo.py [--users 100] [--seconds 120]

`paraform demo` runs as a process of its own; every user asks one question after another, drawn by a seed from those
that the page has, with a number of their own in each text. A number stands in no other user's text, so that an answer
that holds another's is seen. What is counted: right answers (the user's own number is in them, and no other), polite
ones that too much waits (status 429, which a user waits for a second after), and all else, which is wrong. Memory is
the server's resident set when a quarter of the time is over and at the end. Bounds: nothing wrong, no user's text in
what the server printed, and memory that grows by 5 % at most.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import httpx2
import psutil
from _measure import arguments_of, middle, report

OWN = re.compile(r"\b\d{6}\b")


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--users", type=int, default=100, help="who ask at once")
    parser.add_argument("--seconds", type=float, default=120.0, help="for so long")
    parser.add_argument("--seed", type=int, default=0, help="of the questions")
    arguments = parser.parse_args()
    threads = {"OMP_NUM_THREADS": str(arguments.threads)} if arguments.threads else {}
    command = [sys.executable, "-m", "paraform", "demo", "--port", "0"]
    with subprocess.Popen(command, env=os.environ | threads, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdout is not None and server.stderr is not None
        try:
            address = server.stdout.readline().decode().split()[0]
            figures = asyncio.run(crowd(address, psutil.Process(server.pid), arguments))
        finally:
            server.terminate()
        figures["texts of users in the server's log"] = len(OWN.findall(server.stderr.read().decode()))
    bounds = {
        "wrong answers": ("at most", 0),
        "texts of users in the server's log": ("at most", 0),
        "memory at the end, of that after a quarter": ("at most", 1.05),
    }
    return report(figures, bounds, as_json=arguments.json)


async def crowd(address: str, server: psutil.Process, arguments: argparse.Namespace) -> dict[str, Any]:
    """What the users counted."""
    counts: Counter[str] = Counter()
    waited: list[float] = []
    limits = httpx2.Limits(max_connections=arguments.users)
    async with httpx2.AsyncClient(base_url=address, timeout=120, limits=limits) as client:
        await client.post("api/say", json={"text": "Can I pay by card?", "like": []})  # models are loaded
        begin = time.monotonic()
        end = begin + arguments.seconds
        users = [user(client, number, end, arguments.seed, counts, waited) for number in range(arguments.users)]
        memory = asyncio.create_task(memory_at(server, begin + arguments.seconds / 4))
        await asyncio.gather(*users)
        taken, quarter = time.monotonic() - begin, await memory
    last = server.memory_info().rss
    return {
        "users": arguments.users,
        "seconds": taken,
        "right answers": counts["right"],
        "polite refusals": counts["busy"],
        "wrong answers": counts["wrong"],
        "right answers a second": counts["right"] / taken,
        "seconds of a right answer, median": middle(waited or [float("nan")]),
        "seconds of a right answer, slowest": max(waited, default=float("nan")),
        "memory after a quarter, MiB": quarter / 2**20,
        "memory at the end, MiB": last / 2**20,
        "memory at the end, of that after a quarter": last / quarter,
    }


async def memory_at(server: psutil.Process, moment: float) -> int:
    """Bytes of the server's resident set, then."""
    await asyncio.sleep(max(0.0, moment - time.monotonic()))
    return int(server.memory_info().rss)


async def user(
    client: httpx2.AsyncClient, number: int, end: float, seed: int, counts: Counter[str], waited: list[float]
) -> None:
    """Asks until the end."""
    draw = random.Random(f"{seed} {number}")
    asked = 0
    while time.monotonic() < end:
        own = f"{100_000 + number * 1000 + asked % 1000:06d}"
        asked += 1
        name, body, kept = question(draw, own)
        begin = time.monotonic()
        try:
            answer = await client.post(f"api/{name}", json=body)
        except httpx2.HTTPError as error:
            counts["wrong"] += 1
            print(f"{name} {body}: {error!r}", file=sys.stderr)
            continue
        if answer.status_code == 429 and "Too much waits" in answer.text:
            counts["busy"] += 1
            await asyncio.sleep(1)
            continue
        found = set(OWN.findall(answer.text))
        right = answer.status_code == 200 and (found == {own} if kept else not found)
        counts["right" if right else "wrong"] += 1
        if right:
            waited.append(time.monotonic() - begin)
        else:
            print(f"{name} {body}: {answer.status_code} {answer.text[:500]}", file=sys.stderr)


def question(draw: random.Random, own: str) -> tuple[str, dict[str, Any], bool]:
    """An address of the page, what is asked there, and whether its answer holds the number."""
    kinds: list[tuple[str, dict[str, Any], bool]] = [
        ("say", {"text": f"Can I pay order {own} by card?", "like": []}, True),
        ("same", {"first": f"The code {own} is right.", "second": "This is another sentence."}, True),
        ("forms", {"text": f"Where is my order {own}?"}, False),
        ("walk", {"first": f"I am {own} years old.", "second": "He is happy."}, False),
        ("sample", {"seed": int(own)}, False),
    ]
    return draw.choice(kinds)


if __name__ == "__main__":
    sys.exit(main())
