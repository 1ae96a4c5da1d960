"""Valid input, changed at random: a right answer or one line of an InputError, or it is reported here.

    python tools/fuzz.py --tries 500              # of each kind
    python tools/fuzz.py files python --seed 2
    python tools/fuzz.py checkpoints --only 1234  # that try again, with its traceback

Kinds: files (every reader), checkpoints (a model, an encoder, a run to go on with), indexes (of exemplars), python
(calls of the public API, an argument changed). Each try is a function of its kind, the seed and its number. It runs in
a child process with a limit of time and of memory, so that one that hangs or dies is a finding as well. One that is
over the time is tried again by itself, and has five times as long: on a busy machine it may have waited ("late").
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import random
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}  # forked: no other threads
os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "PARAFORM_PRODUCTS": "float32"}

from fuzz_calls import python
from fuzz_files import TOLD, Attempt, checkpoints, files, indexes

SECONDS, BYTES = 60, 4 << 30  # that one try may take, beyond what this process has
LATE = "over the time, or killed"
KINDS = {"files": files, "checkpoints": checkpoints, "indexes": indexes, "python": python}


def attempt_numbers(attempt: Attempt, kind: str, seed: int, numbers: Sequence[int], out: int) -> None:
    """In a child process: a line of JSON for each try, as soon as it is over."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
    for number in numbers:
        TOLD.clear()
        with tempfile.TemporaryDirectory() as scratch:
            os.write(out, json.dumps([number, "begun", ""]).encode() + b"\n")
            try:
                end = "answered" if attempt(random.Random(f"{kind} {seed} {number}"), Path(scratch)) else "refused"
                text = " ".join(TOLD)
            except BaseException as error:
                steps = [step for step in traceback.extract_tb(error.__traceback__) if "/paraform/" in step.filename]
                place = f"{Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "here"
                end, text = f"{type(error).__name__} at {place}", f"{' '.join(TOLD)} {str(error)[:300]!r}"
                if len(numbers) == 1:
                    traceback.print_exc()
        os.write(out, json.dumps([number, end, text]).encode() + b"\n")


def results(
    attempt: Attempt, kind: str, seed: int, numbers: Sequence[int], seconds: float
) -> Iterator[tuple[int, str, str]]:
    """Number, end and words of every try: "answered", "refused", or what went wrong."""
    left = list(numbers)
    while left:
        source, sink = os.pipe()
        if (child := os.fork()) == 0:
            os.close(source)
            if len(numbers) > 1:  # what libraries print
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                os.dup2(2, 1)
            attempt_numbers(attempt, kind, seed, left[:200], sink)
            os._exit(0)
        os.close(sink)
        begun: int | None = None
        with open(source, "rb", buffering=0) as lines:
            held = b""
            while select.select([lines], [], [], seconds)[0] and (piece := os.read(source, 65536)):
                *whole, held = (held + piece).split(b"\n")
                for number, end, text in map(json.loads, whole):
                    begun = number if end == "begun" else None
                    if end != "begun":
                        left.remove(number)
                        yield number, end, text
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL if begun is not None else 0)
        status = os.waitpid(child, 0)[1]
        if begun is not None:
            left.remove(begun)
            died = os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL
            yield begun, f"died of signal {os.WTERMSIG(status)}" if died else LATE, ""


def fuzz(kind: str, seed: int, numbers: Sequence[int], tell: bool = False) -> tuple[Counter[str], list[str]]:
    """Counts by end, and a line for each finding."""
    logging.getLogger("paraform").setLevel(logging.CRITICAL)
    ends, found = Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        attempt = KINDS[kind](Path(folder))
        for number, end, text in results(attempt, kind, seed, numbers, SECONDS):
            if end == LATE:
                ((_, end, text),) = results(attempt, kind, seed, [number], 5 * SECONDS)
                ends["late"] += end in ("answered", "refused")
            ends[end] += 1
            if end not in ("answered", "refused"):
                found.append(f"{kind} {number}: {end} {text}")
            if tell or (found and found[-1].startswith(f"{kind} {number}:")):
                print(f"{kind} {number}: {end} {text}", flush=True)
    return ends, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--tries", type=int, default=100, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="that try alone, with its traceback")
    parser.add_argument("--tell", action="store_true", help="a line for every try")
    options = parser.parse_args()
    wanted = range(options.first, options.first + options.tries) if options.only is None else [options.only]
    failed = 0
    for kind in options.kinds:
        began = time.monotonic()
        ends, found = fuzz(kind, options.seed, wanted, options.tell)
        failed += len(found)
        print(f"{kind}: {len(wanted)} tries, {dict(ends.most_common())}, {time.monotonic() - began:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
