"""A few tries of tools/fuzz.py: whatever comes, a right answer or one line; and what it says where there is neither."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
FAULT = """
import os, sys, time
import fuzz
def attempts(folder):
    def attempt(draw, scratch):
        kind = draw.randrange(4)
        if kind == 0: raise KeyError("lost")
        if kind == 1: os.abort()
        if kind == 2: time.sleep(60)
        return True
    return attempt
fuzz.KINDS["faults"], fuzz.SECONDS = attempts, 1
sys.argv = ["fuzz.py", "faults", "--tries", "5", "--seed", "5"]
fuzz.main()
"""


def fuzz(*given: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(str(REPOSITORY / name) for name in ("src", "tools"))}
    return subprocess.run([sys.executable, *given], capture_output=True, text=True, cwd=REPOSITORY, env=variables)


def test_a_few_tries_are_answered() -> None:
    done = fuzz("tools/fuzz.py", "files", "indexes", "--tries", "40", "--seed", "7")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("40 tries") == 2 and done.stdout.count("'refused': ") == 2


def test_what_raises_dies_or_hangs_is_found() -> None:
    """Five tries of a seed at which each of the three happens to one, and every one is counted."""
    done = fuzz("-c", FAULT)
    assert done.returncode == 1, done.stderr
    for said in ("KeyError at here", "died of signal 6", "over the time, or killed", "'answered': ", "faults: 5 tries"):
        assert said in done.stdout, done.stdout
