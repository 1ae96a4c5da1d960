"""The whole of `evaluate report` for minilm, against the encoding of its different sentences alone.

    python benchmarks/report.py [--rows 50 --size 50] [--families similarity probing] [--floors all] [--repeats 1]

Each is a process of its own, in turn, with the same threads: the report reads the data, parses and tags what its sets
are told apart by, with an empty cache, encodes, trains the probes, draws the resamples and writes the page; the other
one is given the report's sentences, and encodes them. Neither counts imports; peaks are the resident sets that the
kernel reports at the end, imports included. The share of each step of the report stands beside, in units of the
encoding. --rows limits each part of each set, for a run of minutes, whose ratio says little: what is parsed to find
the sets is not limited by it. Bounds: 1.5 times the encoding, 300 seconds for transfer, and 4 GiB.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _measure import Bound, Spread, arguments_of, middle, report


def whole(options: dict[str, Any]) -> dict[str, float]:
    """Seconds of a report and of its steps; its sentences are left in the scratch folder."""
    from paraform.checkpoint import load, signature_of
    from paraform.evaluation.embedding.families import FAMILIES, read_families
    from paraform.evaluation.embedding.measuring import System, spaces_of
    from paraform.evaluation.embedding.report import embedding_report
    from paraform.evaluation.embedding.report_page import write_report
    from paraform.evaluation.embedding.task import Choices

    marks = [("start", time.perf_counter())]

    def done(step: str) -> None:
        marks.append((step, time.perf_counter()))

    families = read_families(options["data"], options["families"] or list(FAMILIES), Choices(options["size"]))
    if options["rows"]:
        families = families.limited(options["rows"])
    done("reading")
    names = ["minilm", "minilm@weights=random"] if options["floors"] == "all" else ["minilm"]
    systems = [System(name, signature_of(model := load(name), name), model.embed) for name in names]
    spaces = spaces_of(families.tasks, systems)
    begun: list[str] = ["encoding"]

    def tell(message: str) -> None:
        done(begun[-1])
        begun.append(message.partition(":")[0])

    made = embedding_report(families, spaces, ["minilm"], tell=tell)
    done(begun[-1])
    write_report(made, Path(options["scratch"]) / "report.html")
    done("writing")
    texts = list(dict.fromkeys(text for task in families.tasks for text in task.texts()))
    (Path(options["scratch"]) / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    steps = {name: end - before for (_, before), (name, end) in itertools.pairwise(marks)}
    return {"seconds": marks[-1][1] - marks[0][1], "texts": len(texts), **steps}


def encoding(options: dict[str, Any]) -> dict[str, float]:
    """Seconds of the sentences of the report alone."""
    from paraform.checkpoint import load

    texts = json.loads((Path(options["scratch"]) / "texts.json").read_text(encoding="utf-8"))
    start = time.perf_counter()
    load("minilm").embed(texts)
    return {"seconds": time.perf_counter() - start}


WHOLE = "report, times the encoding"
PARTS = {"report": whole, "encoding": encoding}


def run(part: str, options: dict[str, Any], cache: Path) -> dict[str, float]:
    """What a part prints, and the peak of its process in GiB. Raises: SystemExit if it fails."""
    environment = os.environ | {"PARAFORM_CACHE": str(cache)}
    command = [sys.executable, __file__, "--part", part, "--options", json.dumps(options)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    printed = process.stdout.read() if process.stdout else b""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{part}: exit status {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss, in bytes
    return {**json.loads(printed), "peak": usage.ru_maxrss * unit / 2**30}


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="a folder that holds evaluation sets")
    parser.add_argument("--families", nargs="+", default=[], help="similarity, transfer …; else all there")
    parser.add_argument("--size", type=int, default=1000, help="paraphrases of a set of robustness at most")
    parser.add_argument("--rows", type=int, help="of each part and label of a set at most; all unless told")
    parser.add_argument("--floors", choices=("words", "all"), default="words", help="all: random weights, too")
    parser.add_argument("--repeats", type=int, default=1, help="times that each is run")
    parser.add_argument("--part", choices=PARTS, help="used by the script itself")
    parser.add_argument("--options", type=json.loads, help="used by the script itself")
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(PARTS[arguments.part](arguments.options)))
        return 0
    if arguments.threads:
        os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    runs: dict[str, list[dict[str, float]]] = {part: [] for part in PARTS}
    with tempfile.TemporaryDirectory() as scratch:
        options = {name: getattr(arguments, name) for name in ("families", "size", "rows", "floors")}
        options |= {"data": str(arguments.data), "scratch": scratch}
        for turn in range(arguments.repeats):
            for part, found in runs.items():
                found.append(run(part, options, Path(scratch) / f"cache {turn}"))
    seconds = {part: middle([one["seconds"] for one in found]) for part, found in runs.items()}
    peaks = {part: max(one["peak"] for one in found) for part, found in runs.items()}
    first = runs["report"][0]
    steps = [name for name in first if name not in ("seconds", "texts", "peak")]
    shares = {name: middle([one[name] for one in runs["report"]]) / seconds["encoding"] for name in steps}
    figures: dict[str, Any] = {
        "different texts": int(first["texts"]),
        "encoding alone, seconds": seconds["encoding"],
        WHOLE: Spread.of(*([one["seconds"] for one in runs[part]] for part in ("encoding", "report"))),
        **{f"{name}, times the encoding": share for name, share in shares.items()},
        "peak, GiB": peaks["report"],
        "peak, ratio": peaks["report"] / peaks["encoding"],
    }
    bounds: dict[str, Bound] = {WHOLE: ("at most", 1.5), "peak, GiB": ("at most", 4.0)}
    if "transfer" in steps:
        figures["transfer, seconds"] = shares["transfer"] * seconds["encoding"]
        bounds["transfer, seconds"] = ("at most", 300.0)
    floors = {WHOLE: f"{sum(shares[name] for name in ('reading', 'encoding')):.2f}: reading and encoding alone"}
    return report(figures, bounds, floors=floors, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
