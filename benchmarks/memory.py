"""Peak memory in GiB of the commands on the Quora data and, of latent models, on PTB, each in its own process.

    python benchmarks/memory.py [--model compact] [--only mine "train exemplar"]

Tags, exemplars and features are computed, not found: the cache is a new folder. `train exemplar` prepares all pairs of
the training file and is interrupted, as Ctrl-C would, after its first validation. The peak is the resident set that the
kernel reports when the process ends, files that it has mapped included. Bound: 6 GiB each, 3 GiB for `train latent`,
which trains clVAE+_MI at the paper's size for an epoch, and 2 GiB for `duplicates`, of 118,183 questions.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from _measure import arguments_of, report

SPLITS = ("train", "dev", "test")
COMMANDS = {  # {out} is a scratch folder, {train}, {dev} and {test} are files of pairs
    "tag": "tag {train} --format pairs --json",
    "mine": "mine {train} --out {out}/triples.jsonl --json",
    "train exemplar": "train exemplar --data {train} --validation {dev} --out {out}/run"
    " --loop.log_every 5 --loop.evaluate_every {steps}",
    "evaluate generation": "evaluate generation --model {model} --data {test} --json",
    "evaluate style": "evaluate style --model {model} --data {test} --json",
    "embed": "embed {train} --format pairs --out {out}/vectors.npy --json",
    "duplicates": "duplicates {train} --format pairs --out {out}/duplicates.jsonl --json",
    "paraphrase": "paraphrase {test} --format pairs --model {model} --json",
    "train latent": "train latent --data {ptb}/ptb.train.txt --validation {ptb}/ptb.valid.txt --out {out}/latent"
    " --objective clvae+_mi --preset fixed --config.epochs 1 --json",
    "evaluate latent": "evaluate latent --model latent-compact --data {ptb}/ptb.test.txt --json",
}
BOUNDS = {"train latent": 3.0, "duplicates": 2.0}  # GiB
INTERRUPTED = 130  # what `train` ends with


def measure(command: list[str], cache: Path, enough: Callable[[], bool] | None) -> tuple[float, float]:
    """Peak in GiB and seconds of a command; once there is `enough`, it is told to stop.

    Raises: SystemExit with what it said if it fails.
    """
    environment = os.environ | {"PARAFORM_CACHE": str(cache)}
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "paraform", *command],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        told = False
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            if enough and not told and enough():
                process.send_signal(signal.SIGINT)
                told = True
            time.sleep(0.1)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != (INTERRUPTED if told else 0):
            errors.seek(0)
            raise SystemExit(
                f"paraform {' '.join(command)}: exit status {process.returncode}\n{errors.read().decode()}"
            )
    unit = 1 if sys.platform == "darwin" else 2**10  # of ru_maxrss, in bytes
    return usage.ru_maxrss * unit / 2**30, seconds


def beginnings(folder: Path, names: Iterable[str], out: Path, lines: int | None) -> Path:
    """A folder with the first lines of each file; None: the folder itself."""
    if lines is None:
        return folder
    out.mkdir()
    for name in names:
        with open(folder / name, encoding="utf-8") as full:
            (out / name).write_text("".join(itertools.islice(full, lines)), encoding="utf-8")
    return out


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--quora", type=Path, default=Path("../shared/data/quora"), help="train.tsv, dev.tsv, test.tsv")
    parser.add_argument("--ptb", type=Path, default=Path("../shared/data/ptb"), help="ptb.train.txt, …")
    parser.add_argument("--model", default="compact", help="embedded, or a folder")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, metavar="COMMAND", help=f"of {', '.join(COMMANDS)}")
    parser.add_argument("--lines", type=int, help="only the first LINES of each file, to try this script")
    parser.add_argument("--train-steps", type=int, default=20, help="before the training's validation")
    arguments = parser.parse_args()
    if arguments.threads:
        os.environ["OMP_NUM_THREADS"] = str(arguments.threads)

    peaks: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        quora = beginnings(arguments.quora, [f"{split}.tsv" for split in SPLITS], out / "quora", arguments.lines)
        texts = [f"ptb.{split}.txt" for split in ("train", "valid", "test")]
        ptb = beginnings(arguments.ptb, texts, out / "ptb", arguments.lines)
        log = out / "run" / "log.jsonl"
        values = {split: quora / f"{split}.tsv" for split in SPLITS}
        values |= {"ptb": ptb, "out": out, "model": arguments.model, "steps": arguments.train_steps}
        for name in arguments.only or COMMANDS:
            command = [word.format(**values) for word in COMMANDS[name].split()]
            enough = (lambda: log.is_file() and '"validation"' in log.read_text()) if name == "train exemplar" else None
            peaks[name], seconds = measure(command, out / f"cache {name}", enough)
            print(f"{name}: {seconds:.0f} s", file=sys.stderr)
    bounds = {name: ("at most", BOUNDS.get(name, 6.0)) for name in peaks}
    return report(peaks, bounds, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
