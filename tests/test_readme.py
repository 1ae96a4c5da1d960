"""The README's first Python lines and its first command, run as they stand there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from paraform.weights import pretrained_folder

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(pretrained_folder("compact") is None, reason="compact is not here yet")


def first_block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def test_the_first_python_lines_run_as_they_stand() -> None:
    shown = "\nassert _.dtype == 'float32' and _.shape == (2, 384), _.shape\n"
    *lines, last = first_block("python").strip().splitlines()
    code = "\n".join([*lines, f"_ = {last}"]) + shown
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_first_command_prints_what_the_readme_shows() -> None:
    prompt, *expected = first_block("console").strip().splitlines()
    program, *given = shlex.split(prompt.removeprefix("$ "))
    assert program == "paraform"
    done = subprocess.run([sys.executable, "-m", "paraform", *given], capture_output=True, text=True)
    shown = [*done.stdout.splitlines(), *done.stderr.splitlines()]  # as a terminal has it
    assert (done.returncode, shown) == (0, expected)
