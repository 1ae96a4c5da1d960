"""What it saves that trainings and a long `embed` keep freed memory, against the same with it given back.

    python benchmarks/kept_memory.py [--pairs 3000] [--repeats 5] [--only latent] [--threads 1]

Each training takes its own default model and one epoch of a few pairs, in a process of its own, in turn with one in
which `paraform.memory.keep_freed_memory` does nothing. Seconds are of processor time, the kernel's counted, the start
and all preparation too: what is saved in a step is more. Bound: a peak of at most 1.1 times the other's.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _measure import Bound, Spread, arguments_of, middle, report

GIVEN_BACK = "import paraform.memory; paraform.memory.keep_freed_memory = lambda: None; "
RUN = "from paraform.cli import main; raise SystemExit(main())"
FEW = "--config.epochs 1 --loop.evaluate_every 100000 --validation {some}"
COMMANDS = {
    "exemplar": f"train exemplar --data {{pairs}} --preset compact --out {{out}} {FEW}",
    "latent": f"train latent --data {{sentences}} --out {{out}} {FEW}".replace("{some}", "{few}"),
    "disentangled": f"train disentangled --data {{pairs}} --out {{out}} {FEW}",
    "retrofit": f"train retrofit --data {{pairs}} --out {{out}} {FEW}",
    "embed": "embed {sentences} --out {out}.npy",
}


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--quora", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs, one a line")
    parser.add_argument("--ptb", type=Path, default=Path("../shared/data/ptb/ptb.train.txt"), help="sentences")
    parser.add_argument("--pairs", type=int, default=3000, help="pairs, and sentences")
    parser.add_argument("--repeats", type=int, default=5, help="processes of each kind")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), help="of them")
    arguments = parser.parse_args()
    if arguments.threads:
        os.environ["OMP_NUM_THREADS"] = str(arguments.threads)

    figures: dict[str, Any] = {"processes of each": arguments.repeats}
    bounds: dict[str, Bound] = {}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        values: dict[str, Any] = {}
        for name, path, count in (
            ("pairs", arguments.quora, arguments.pairs),
            ("some", arguments.quora, 60),
            ("sentences", arguments.ptb, arguments.pairs),
            ("few", arguments.ptb, 60),
        ):
            values[name] = out / f"{name}{path.suffix}"
            with open(path, encoding="utf-8") as full:
                values[name].write_text("".join(itertools.islice(full, count)), encoding="utf-8")
        for name in arguments.only:
            spent: dict[str, list[tuple[float, float]]] = {"": [], GIVEN_BACK: []}
            for turn, before in itertools.product(range(arguments.repeats + 1), spent):
                folder = out / f"{name} {turn} {len(before)}"
                command = [word.format(**values, out=folder) for word in COMMANDS[name].split()]
                found = measure(before + RUN, command, out / "cache")
                if turn:  # the first fills the cache
                    spent[before].append(found)
            seconds, peaks = ([[one[at] for one in spent[kind]] for kind in spent] for at in (0, 1))
            figures[f"{name}, kept × given back"] = Spread.of(*seconds)
            figures[f"{name}, peak, kept over given back"] = middle(peaks[0]) / middle(peaks[1])
            bounds[f"{name}, peak, kept over given back"] = ("at most", 1.1)
    return report(figures, bounds, as_json=arguments.json)


def measure(code: str, command: list[str], cache: Path) -> tuple[float, float]:
    """Processor seconds and peak bytes of a process. Raises: SystemExit with what it said if it fails."""
    environment = os.environ | {"PARAFORM_CACHE": str(cache)}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *command], env=environment, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"paraform {' '.join(command)}: {process.returncode}\n{errors.read().decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
