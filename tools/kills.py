"""Commands killed at random moments: nothing is lost, they go on or begin again to the same end, nothing stays behind.

    python tools/kills.py --tries 200
    python tools/kills.py train save --tries 20 --seed 3

Kinds: train (`train exemplar`, gone on with by --resume), annotate, mine, tag, and save (a checkpoint replaced again
and again, by the first save on). Half of the kills are SIGKILL, half SIGTERM. Each try forks from a process that has
imported everything, on tiny data; the moment is drawn over the time that an undisturbed run takes. After it:
- no file of the wanted name, or a whole one; after SIGTERM of a command nothing unfinished, and exit 143, of a training
  that saved itself, too; `paraform.save` in a program of one's own hears of no signal;
- the same command again ends with 0 and, to the byte, with the output or the weights of the undisturbed run;
- and after that nothing unfinished is left, whichever signal it was.
Chunks of annotate and mine are computed in the killed process itself (worker processes: tests/engines).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")}  # forked: no other threads
os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "PARAFORM_PRODUCTS": "float32"}
os.environ["MPLBACKEND"] = "Agg"

import paraform
from paraform.cli import main
from paraform.ending import TERMINATED
from paraform.syntax import corpus
from paraform.weights import sha256

VERBS = ("learn", "teach", "study", "enjoy")
TOPICS = ("chess", "physics", "poker", "yoga", "Java", "biology", "cooking", "golf")
FORMS = (
    "how do i {0} {1} ?\tWhat is the best way to {0} {1}?\n",
    "is {1} something to {0} ?\tShould anyone {0} {1} this year?\n",
    "why does nobody {0} {1} ?\tWhy do so few people {0} {1} today?\n",
)
LINES = [form.format(verb, topic) for verb in VERBS for topic in TOPICS for form in FORMS]
PAIRS, HELD_OUT = "".join(LINES[:72]), "".join(LINES[72:])
FIELDS = {"word_width": 8, "content_width": 8, "decoder_width": 8, "style_width": 8, "min_count": 1, "epochs": 3,
          "batch_size": 16, "word_vectors": "random"}  # fmt: skip
CONFIG = [word for name, value in FIELDS.items() for word in (f"--config.{name}", str(value))]
LOOP = ["--loop.checkpoint_every", "1", "--loop.evaluate_every", "4", "--loop.tensorboard", "false"]


def inline(work: Any, count: int, **_: Any) -> Iterator[bytes]:
    compute = work.open()
    return (compute(chunk) for chunk in range(count))


def save(out: Path) -> int:
    """Checkpoints of two models in turn."""
    for number in range(40):
        paraform.save(MODELS[number % 2], out, card=f"# {number % 2}\n")
    return 0


MODELS: list[Any] = []


def commands(place: Path) -> dict[str, tuple[Callable[[Path], int], str]]:
    """Of each kind what is run, and the name of the file that tells its end."""
    (place / "pairs.tsv").write_text(PAIRS)
    (place / "texts.txt").write_text(PAIRS.replace("\t", "\n") * 4)
    (place / "held-out.tsv").write_text(HELD_OUT)
    pairs, texts = str(place / "pairs.tsv"), str(place / "texts.txt")
    train = [
        "train",
        "exemplar",
        "--data",
        pairs,
        "--validation",
        str(place / "held-out.tsv"),
        "--device",
        "cpu",
        "--resume",
        *CONFIG,
        *LOOP,
        "--out",
    ]

    def tag(out: Path) -> int:
        with open(out, "w") as stdout, contextlib.redirect_stdout(stdout):
            return main(["tag", texts, "--device", "cpu"])

    return {
        "train": (lambda out: main([*train, str(out)]), "last/model.safetensors"),
        "annotate": (lambda out: main(["annotate", texts, "--format", "text", "--out", str(out)]), ""),
        "mine": (lambda out: main(["mine", pairs, "--out", str(out)]), ""),
        "tag": (tag, ""),
        "save": (save, "model.safetensors"),
    }


def forked(call: Callable[[Path], int], out: Path, *, quiet: bool = True) -> int:
    """The number of a process that runs it, in a group of its own."""
    if child := os.fork():
        return child
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if quiet:
        os.dup2(nowhere, 2)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os._exit(call(out))


def ended(child: int) -> int:
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def unfinished(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*") if path.name.endswith((".unfinished", ".waiting"))]


def check(kind: str, out: Path, number: int, status: int, whole: bytes) -> str:
    """What is wrong right after the kill; "" if nothing is."""
    if status not in (-number, 0, TERMINATED):
        return f"ended with {status}"
    if number == signal.SIGTERM and kind != "save" and (left := unfinished(out.parent)):
        return f"SIGTERM left {left}"
    if kind in ("annotate", "mine") and out.exists() and out.read_bytes() != whole:
        return "half an output"
    if kind == "tag" and not whole.startswith(out.read_bytes() if out.exists() else b""):
        return "other lines than the undisturbed run's"
    folders = [out / "last", out / "best"] if kind == "train" else [out] if kind == "save" else []
    for folder in folders:
        if (folder / "paraform.json").exists():
            paraform.load(folder, device="cpu")  # raises if a file is not as paraform.json says
    return ""


def kill(kind: str, call: Callable[[Path], int], tells: str, seconds: float, right: Path, draw: random.Random) -> str:
    """One try: what went wrong, or ""."""
    number = draw.choice((signal.SIGKILL, signal.SIGTERM))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        child = forked(call, out)
        time.sleep(draw.random() * seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)
        whole = right.read_bytes() if right.is_file() else b""
        if wrong := check(kind, out, number, ended(child), whole):
            return f"{signal.Signals(number).name}: {wrong}"
        if status := ended(forked(call, out)):
            return f"{signal.Signals(number).name}: again it ended with {status}"
        if sha256(out / tells) != sha256(right / tells):
            return f"{signal.Signals(number).name}: again it ended otherwise"
        if left := unfinished(out.parent):
            return f"{signal.Signals(number).name}: {left} stay behind"
    return ""


def main_() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--tries", type=int, default=40, help="over all kinds")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    corpus.run = inline  # type: ignore[attr-defined]
    found = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        os.environ["PARAFORM_CACHE"] = str(place / "cache")
        MODELS.extend(paraform.load("latent-compact", device="cpu") for _ in range(2))
        next(MODELS[1].parameters()).data.add_(1.0)
        known = commands(place)
        kinds = options.kinds or list(known)
        for kind in kinds:
            call, tells = known[kind]
            right = place / f"{kind}-right"
            if status := ended(forked(call, right, quiet=False)):  # and what it loads is in the cache
                sys.exit(f"{kind}: undisturbed it ended with {status}")
            began = time.monotonic()
            ended(forked(call, place / f"{kind}-timed"))
            seconds = time.monotonic() - began
            for number in range(options.tries // len(kinds)):
                wrong = kill(kind, call, tells, seconds, right, random.Random(f"{kind} {options.seed} {number}"))
                found[wrong and "wrong"] += 1
                if wrong:
                    print(f"{kind} {number}: {wrong}", flush=True)
            print(f"{kind}: {options.tries // len(kinds)} kills within {seconds:.1f} s", flush=True)
    sys.exit(1 if found["wrong"] else 0)


if __name__ == "__main__":
    main_()
