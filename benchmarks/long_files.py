"""Whether memory is flat over a long file of `embed`, `tag`, `parse` and `annotate`, and their lines a second.

    python benchmarks/long_files.py [--lines 1000000] [--workers 1] [--only tag annotate] [--model minilm]

A line is the first words of one caption or question and the last of another, drawn by a seed; no line comes twice. Each
command runs as a process of its own with an empty cache: `embed` to one .npy file, `shards` (`embed` to a folder, by
workers), `tag`, `parse`, and `annotate` (by workers). Memory is that of the command and its workers together, as the
kernel reports it, files that they map included, seen every half second; a moment's place in the file is how much of the
output is there. Seconds are of processor time, so that other programs do not count; those of the start are included.
Bound: the largest memory over the last three quarters of the file is at most 1.05 × that over the first quarter.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from _measure import Bound, arguments_of, report
from embedding import captions

EVERY = 0.5  # seconds
COMMANDS = {  # {out} is a file or folder that grows; tag and parse write to stdout
    "embed": "embed {lines} --model {model} --out {out}.npy",
    "shards": "embed {lines} --model {model} --out {out} --workers {workers}",
    "tag": "tag {lines}",
    "parse": "parse {lines}",
    "annotate": "annotate {lines} --format text --out {out}.jsonl --workers {workers}",
}


class Seen(NamedTuple):
    """A moment: bytes of output that are there, and of memory."""

    written: int
    memory: int


def drawn_lines(texts: list[str], count: int, seed: int = 0) -> list[str]:
    """So many different lines, each of the first words of one text and the last of another."""
    draw = random.Random(seed)
    words = [text.split() for text in texts]
    lines: dict[str, None] = {}
    while len(lines) < count:
        one, other = draw.choice(words), draw.choice(words)
        lines[" ".join((*one[: draw.randint(1, len(one))], *other[draw.randrange(len(other)) :]))] = None
    return list(lines)


def watched(command: list[str], place: Path, threads: int | None) -> tuple[list[Seen], float, float]:
    """What was seen of a command that writes below `place`, its seconds, and its processor's.

    Raises: SystemExit with what it said if it fails.
    """
    environment = os.environ | {"PARAFORM_CACHE": str(place / "cache")}
    environment |= {"OMP_NUM_THREADS": str(threads)} if threads else {}
    (place / "out").mkdir()
    seen: list[Seen] = []
    before, begin = os.times(), time.monotonic()
    with open(place / "out" / "stdout", "wb") as out, tempfile.TemporaryFile() as errors:
        process = psutil.Popen([sys.executable, "-m", "paraform", *command], env=environment, stdout=out, stderr=errors)
        while True:
            try:
                process.wait(EVERY)
                break
            except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
                seen.append(Seen(written(place / "out"), memory_of(process)))
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"paraform {' '.join(command)}: {errors.read().decode()}")
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return seen, time.monotonic() - begin, used


def written(place: Path) -> int:
    """Bytes of all files below a folder, unfinished ones too."""
    sizes = 0
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                sizes += os.path.getsize(os.path.join(folder, name))
            except OSError:  # it has just been finished, or removed
                continue
    return sizes


def memory_of(process: psutil.Process) -> int:
    """Bytes of the resident sets of a process and of all that it started."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            total += one.memory_info().rss
        except psutil.Error:  # it is gone
            continue
    return total


def quarters(seen: list[Seen]) -> tuple[float, float]:
    """MiB at most until a quarter of the output is there, and from then on."""
    end = max(moment.written for moment in seen)
    early = [moment.memory for moment in seen if moment.written <= end / 4]
    late = [moment.memory for moment in seen if moment.written > end / 4]
    return max(early) / 2**20, max(late) / 2**20


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--captions", type=Path, default=Path("../shared/data/multi30k/train.tsv"))
    parser.add_argument("--questions", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=1, help="of annotate and of shards")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--model", default="minilm", help="as `paraform embed` has it")
    arguments = parser.parse_args()

    texts = captions(arguments.captions, 20_000)
    pairs = arguments.questions.read_text(encoding="utf-8").splitlines()[:20_000]
    texts += dict.fromkeys(side for pair in pairs for side in pair.split("\t")[:2])
    figures: dict[str, float | str] = {"lines": arguments.lines, "workers": arguments.workers}
    bounds: dict[str, Bound] = {}
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch) / "lines.txt"
        lines.write_text("\n".join(drawn_lines(texts, arguments.lines)) + "\n", encoding="utf-8")
        for name in arguments.only:
            place = Path(scratch) / name
            place.mkdir()
            values = {"lines": lines, "out": place / "out" / "o", "model": arguments.model}
            command = [word.format(**values, workers=arguments.workers) for word in COMMANDS[name].split()]
            seen, seconds, used = watched(command, place, arguments.threads)
            first, rest = quarters(seen)
            figures |= {
                f"{name}: lines a second of one core": arguments.lines / used,
                f"{name}: lines a second": arguments.lines / seconds,
                f"{name}: MiB over the first quarter": first,
                f"{name}: MiB over the rest": rest,
                f"{name}: memory, ratio": rest / first,
            }
            bounds[f"{name}: memory, ratio"] = ("at most", 1.05)
    return report(figures, bounds, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
