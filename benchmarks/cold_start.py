"""A paraphrase from a cold start, a fresh process to its answer, against the import of torch and transformers.

    python benchmarks/cold_start.py [--model compact] [--repeats 5]

Both are fresh processes with warm files, in turns; the paraphrase has its content score, as the command gives it.
Bound: 2.5 times the peer's time. Floor: the imports alone, 1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from _measure import Spread, arguments_of, clock_of, in_turn, middle, report

SOURCE = "what is the easiest way to get followers on quora ?"
EXEMPLAR = "how do i avoid plagiarism in my article ?"
RATIO = "paraphrase, times the imports"


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--model", default="compact", help="embedded, or a folder")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()

    console = Path(sys.executable).with_name("paraform")
    start = [str(console)] if console.is_file() else [sys.executable, "-m", "paraform"]
    ours = [*start, "paraphrase", SOURCE, "--like", EXEMPLAR, "--model", arguments.model, "--json"]
    peer = [sys.executable, "-c", "import torch, transformers"]
    threads = {"OMP_NUM_THREADS": str(arguments.threads)} if arguments.threads else {}

    def run(command: list[str]) -> str:
        return subprocess.run(
            command, env=os.environ | threads, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        ).stdout

    answer = json.loads(run(ours))["paraphrases"][0]["paraphrase"]
    runs = {"paraform": lambda: run(ours), "peer": lambda: run(peer)}
    seconds = in_turn(arguments.repeats, runs, clock=clock_of(arguments.threads))
    figures: dict[str, Any] = {
        "source": SOURCE,
        "exemplar": EXEMPLAR,
        "paraphrase": answer,
        "paraform, seconds": middle(seconds["paraform"]),
        "import torch, transformers, seconds": middle(seconds["peer"]),
        RATIO: Spread.of(seconds["peer"], seconds["paraform"]),
    }
    return report(figures, {RATIO: ("at most", 2.5)}, floors={RATIO: "1"}, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
