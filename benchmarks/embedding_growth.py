"""How `paraform embed CORPUS --out FOLDER` grows with the corpus: a hundred thousand and a million lines.

    python benchmarks/embedding_growth.py [--lines 100000 1000000] [--model minilm@layer=1] [--workers 1]

A line is the first words of one caption and the last of another, drawn by a seed; no line comes twice. Each size is
embedded by a process of its own into a folder of its own, and then again, when all shards are there: what that takes is
not shared out among machines (the start, the model, the corpus' digest, looking at the shards; the corpus in columns is
there by then). So on paper N machines with as many workers each take that and an Nth of the rest; they read the same
columns, and write shards of their own. Memory is the largest process, as the kernel reports it, files that it maps
included: the command or one of its workers. Bounds: memory may grow by 256 MiB, and the seconds of a line by a quarter.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from _measure import Bound, arguments_of, report
from embedding import captions
from memory import measure

MACHINES = 10


def drawn_lines(texts: list[str], count: int, seed: int = 0) -> list[str]:
    """So many different lines, each of the first words of one text and the last of another."""
    draw = random.Random(seed)
    words = [text.split() for text in texts]
    lines: dict[str, None] = {}
    while len(lines) < count:
        one, other = draw.choice(words), draw.choice(words)
        lines[" ".join((*one[: draw.randint(1, len(one))], *other[draw.randrange(len(other)) :]))] = None
    return list(lines)


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/multi30k/train.tsv"), help="captions")
    parser.add_argument("--lines", type=int, nargs="+", default=[100_000, 1_000_000], help="of each corpus, ascending")
    parser.add_argument("--model", default="minilm@layer=1", help="as `paraform embed` has it")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    arguments = parser.parse_args()

    figures: dict[str, float | str] = {"model": arguments.model, "engine": arguments.engine}
    each: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as scratch:
        lines = drawn_lines(captions(arguments.data, 20_000), arguments.lines[-1])
        for count in arguments.lines:
            corpus, out, cache = (Path(scratch) / f"{count}{end}" for end in (".txt", "", "-cache"))
            corpus.write_text("\n".join(lines[:count]) + "\n", encoding="utf-8")
            command = ["embed", str(corpus), "--out", str(out), "--model", arguments.model, "--json"]
            command += ["--engine", arguments.engine, "--workers", str(arguments.workers)]
            peak, seconds = measure(command, cache, None)
            _, again = measure(command, cache, None)
            each.append((peak, seconds / count))
            figures |= {
                f"{count:,} lines: seconds": seconds,
                f"{count:,} lines: lines a second": count / seconds,
                f"{count:,} lines: seconds if all shards are there": again,
                f"{count:,} lines: GiB": peak,
                f"{count:,} lines: seconds on {MACHINES} machines, on paper": again + (seconds - again) / MACHINES,
            }
    bounds: dict[str, Bound] = {}
    if len(each) > 1:
        figures |= {"more memory, GiB": each[-1][0] - each[0][0], "a line's time, ratio": each[-1][1] / each[0][1]}
        bounds = {"more memory, GiB": ("at most", 0.25), "a line's time, ratio": ("at most", 1.25)}
    return report(figures, bounds, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
