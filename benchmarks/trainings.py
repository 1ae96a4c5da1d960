"""Steps of each system's training, and a long `embed`, against those that give freed memory back, or of another commit.

    python benchmarks/trainings.py [--before COMMIT] [--only clVAE] [--turns 12] [--steps 5] [--threads 1]

Each is the command that a user would type, in a process of its own, which waits after some steps (of `embed`: some
hundred texts) until the others have done theirs: so what slows the machine slows them all. Seconds are of processor
time, the kernel's counted, without the first turns, in which oneDNN compiles for lengths that it has not seen.
Preparation has a ratio of its own, once what it keeps is there. All have the same pairs, batches and weights. Bounds:
the four systems 1.1 times as fast as that commit; a peak of at most 1.1 times that with memory given back.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from _measure import Bound, Spread, arguments_of, report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NEVER = "--loop.evaluate_every 1000000 --loop.checkpoint_every 1000000 --loop.progress never"
BY = f"--out {{out}} --config.epochs 1000 {NEVER}"
LATENT = "train latent --data {sentences} --validation {few}"
COMMANDS = {
    "CRL-EGPG": f"train exemplar --data {{pairs}} --validation {{some}} --preset compact {BY}",
    "clVAE": f"{LATENT} --preset reference --objective clvae+_mi {BY}",
    "clVAE, compact": f"{LATENT} {BY}",
    "PAR": f"train retrofit --data {{pairs}} --validation {{some}} {BY}",
    "ParaBART": f"train disentangled --data {{pairs}} --validation {{some}} {BY}",
    "embed": "embed {sentences} --out {out}.npy",
}
TEXTS = 200  # of `embed` that count as a step
SYSTEMS = ("CRL-EGPG", "clVAE", "PAR", "ParaBART")
WARM_UP = 4  # turns
NOW, GIVEN_BACK, BEFORE = "now", "given back", "before"


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--quora", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs, one a line")
    parser.add_argument("--ptb", type=Path, default=Path("../shared/data/ptb/ptb.train.txt"), help="sentences")
    parser.add_argument("--pairs", type=int, default=3000, help="pairs, and a tenth of the sentences")
    parser.add_argument("--turns", type=int, default=12, help="of each kind that are counted")
    parser.add_argument("--steps", type=int, default=5, help="of a turn")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), help="of them")
    parser.add_argument("--before", help="the other commit; not given: none")
    parser.add_argument("--part", nargs=argparse.REMAINDER, help="used by the script itself")
    options = parser.parse_args()
    if options.part:
        return part(options.part[0] == GIVEN_BACK, options.steps, options.part[1:])

    figures: dict[str, Any] = {"steps of each": options.turns * options.steps}
    bounds: dict[str, Bound] = {}
    if options.threads:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        trees = {NOW: ROOT, GIVEN_BACK: ROOT}
        if options.before:
            trees[BEFORE] = tree_of(options.before, out / "before")
            figures["before is"] = options.before
        files = files_of(options.quora, options.ptb, options.pairs, out)
        for name in options.only:
            print(f"{name} …", file=sys.stderr)
            begun, seconds, peaks = measure(COMMANDS[name], trees, files, out / name, options.turns, options.steps)
            for kind in trees:
                if kind != NOW:
                    figures[f"{name}, now × {kind}"] = Spread.of(seconds[NOW], seconds[kind])
            if options.before and name in SYSTEMS:
                figures[f"{name}, preparation, now × {BEFORE}"] = Spread.of([begun[NOW]], [begun[BEFORE]])
                bounds[f"{name}, now × {BEFORE}"] = ("at least", 1.1)
            figures[f"{name}, peak, now over given back"] = peaks[NOW] / peaks[GIVEN_BACK]
            bounds[f"{name}, peak, now over given back"] = ("at most", 1.1)
    floors = {}
    if "clVAE" in options.only and options.before:  # nearly all of its steps are products
        share = json.loads((HERE / "results" / "latent.json").read_text("utf-8"))["figures"]["share of the matrix rate"]
        floors[f"clVAE, now × {BEFORE}"] = f"{1 / share:.1f}: all at the matrix rate (latent.py)"
    return report(figures, bounds, floors=floors, as_json=options.json)


def tree_of(commit: str, folder: Path) -> Path:
    """A folder with that commit's files."""
    packed = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def files_of(quora: Path, ptb: Path, count: int, out: Path) -> dict[str, Path]:
    """What is trained on and validated by, the beginnings of both files."""
    found = {}
    for name, path, lines in (
        ("pairs", quora, count), ("some", quora, 60), ("sentences", ptb, 10 * count), ("few", ptb, 60)
    ):  # fmt: skip
        found[name] = out / f"{name}{path.suffix}"
        with open(path, encoding="utf-8") as full:
            found[name].write_text("".join(itertools.islice(full, lines)), encoding="utf-8")
    return found


def measure(
    command: str, trees: Mapping[str, Path], files: Mapping[str, Path], out: Path, turns: int, steps: int
) -> tuple[dict[str, float], dict[str, list[float]], dict[str, int]]:
    """Of each kind the processor seconds of its preparation and of each turn, and the peak in KiB."""
    out.mkdir()
    running: dict[str, subprocess.Popen[str]] = {}
    seconds: dict[str, list[float]] = {kind: [] for kind in trees}
    begun, peaks = {}, {}
    caches = {tree: kind for kind, tree in trees.items()}
    with contextlib.ExitStack() as stack:
        # The first of each tree's fills its cache, and is not counted.
        for kind, tree in [*((f"{kind}, first", tree) for tree, kind in caches.items()), *trees.items()]:
            words = [word.format(**files, out=out / kind) for word in command.split()]
            environment = os.environ | {
                "PARAFORM_CACHE": str(out / f"cache of {tree.name}"),
                "PYTHONPATH": os.pathsep.join(map(str, [tree / "src", HERE])),
            }
            own = [sys.executable, __file__, "--steps", str(steps), "--part", kind.split(",")[0], *words]
            log = stack.enter_context(open(out / f"{kind}.log", "w", encoding="utf-8"))
            process = subprocess.Popen(
                own, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            begun[kind] = float(line_of(process, out / f"{kind}.log").split()[0])
            if kind in trees:
                running[kind] = process
            else:
                process.kill()
        for turn in range(-WARM_UP, turns):
            for kind, process in running.items():
                assert process.stdin
                process.stdin.write("\n")
                process.stdin.flush()
                spent, peak = line_of(process, out / f"{kind}.log").split()
                peaks[kind] = int(peak)
                if turn >= 0:
                    seconds[kind].append(float(spent))
    return begun, seconds, peaks


def line_of(process: subprocess.Popen[str], log: Path) -> str:
    """What it says next. Raises: SystemExit with its log if it ended."""
    assert process.stdout
    if not (line := process.stdout.readline()):
        raise SystemExit(f"{log.stem}: no further turn; more --pairs have more\n{log.read_text(encoding='utf-8')}")
    return line


def part(given_back: bool, steps: int, command: Sequence[str]) -> int:
    """Be a command that waits for a line before every turn, and says what the one before took."""
    import paraform.cli.embed
    import paraform.memory
    import paraform.trainers.job
    import paraform.training.loop

    if given_back:
        paraform.memory.keep_freed_memory = paraform.training.loop.keep_freed_memory = lambda: None
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    begun = 0.0

    def wait() -> None:
        nonlocal begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{time.process_time() - begun} {peak}", file=said, flush=True)
        sys.stdin.readline()
        begun = time.process_time()

    def fit(model: Any, update: Any, state: Any, batches: Callable[[int], Any], **rest: Any) -> Any:
        def waiting(step: int) -> Any:
            if step % steps == 0:
                wait()
            return batches(step)

        return trained(model, update, state, waiting, **rest)

    def embedder(model: Any, options: Any) -> Callable[[Sequence[str]], Any]:
        embed = made(model, options)

        def waiting(texts: Sequence[str]) -> Any:
            wait()
            return embed(texts)

        return waiting

    job: Any = paraform.trainers.job  # whose `fit` is the loop's, of which its types do not tell
    trained, job.fit = job.fit, fit
    made, paraform.cli.embed.embedder = paraform.cli.embed.embedder, embedder
    paraform.cli.embed.CHUNK = TEXTS * steps
    from paraform.cli import main

    return main(list(command))


if __name__ == "__main__":
    sys.exit(main())
