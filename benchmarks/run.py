"""Run benchmarks, keep what each found in benchmarks/results, and make docs/benchmarks.md's table of what is kept.

    python benchmarks/run.py                                   # all of them, at their own sizes: hours
    python benchmarks/run.py embedding duplicates --threads 1  # what does not name a benchmark is given to each

What one found replaces what it found before; the others' stays. The table has the figures that a bound is on and the
ratios of things run in turn, each with its floor, the best that any code could show, where that is known.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PAGE = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- made by benchmarks/run.py -->", "<!-- up to here -->"
SHOWN = {"amx_bf16": "AMX", "avx512_bf16": "AVX512_BF16", "avx512_vnni": "AVX512_VNNI", "avx2": "AVX2"}


def main(given: Sequence[str]) -> int:
    scripts = {path.stem: path for path in sorted(HERE.glob("[a-z]*.py")) if path.stem != Path(__file__).stem}
    count = next((number for number, name in enumerate(given) if name not in scripts), len(given))
    names = given[:count] or list(scripts)
    kept = True
    for name in names:
        print(f"== {name}", flush=True)
        kept = measure(scripts[name], given[count:]) and kept
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(page, table(RESULTS)), encoding="utf-8")
    return 0 if kept else 1


def measure(script: Path, options: Sequence[str]) -> bool:
    """Run one and keep what it found; whether all its bounds are kept. Raises: SystemExit if it fails."""
    done = subprocess.run([sys.executable, script, "--json", *options], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise SystemExit(f"{script.name}: exit status {done.returncode}")
    about = {
        "what": re.findall(r'^"""(.*?)[.:]?$', script.read_text(encoding="utf-8"), re.MULTILINE)[0],
        "command": " ".join(["python", f"benchmarks/{script.name}", *options]),
        "machine": machine(),
    }
    found = about | json.loads(done.stdout.splitlines()[-1])
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{script.stem}.json").write_text(text, encoding="utf-8")
    return done.returncode == 0


def machine() -> str:
    """Whose processor, how many cores, and which of the instructions that matter it has."""
    able = torch.cpu.get_capabilities()
    has = [word for name, word in SHOWN.items() if able.get(name)]
    return (
        f"{os.cpu_count()} cores of {able.get('cpu_name', 'an unknown processor')}, {', '.join(has[:2]) or 'no AVX2'}"
    )


def table(folder: Path) -> str:
    """A row for each figure that has a bound or a spread."""
    rows = []
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        shown = [name for name, value in found["figures"].items() if name in found["bounds"] or isinstance(value, list)]
        for number, name in enumerate(shown):
            # Said once a benchmark: what, by which command, where.
            ends = [found["what"], f"`{found['command']}`; {found['machine']}"] if number == 0 else ["", ""]
            cells = [ends[0], name, as_text(found["figures"][name]), verdict(found["bounds"].get(name))]
            rows.append(f"| {' | '.join([*cells, found.get('floors', {}).get(name, ''), ends[1]])} |")
    head = ["| what | figure | found | bound | floor | command; machine |", "| --- | --- | ---: | --- | --- | --- |"]
    return "\n".join([*head, *rows])


def as_text(value: Any) -> str:
    """A number, or a ratio with its spread, for a page."""
    if isinstance(value, list):
        middle, least, largest = value
        return f"{middle:.2f} ({least:.2f} to {largest:.2f})" if least < largest else f"{middle:.2f}, one turn"
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}"


def verdict(bound: Mapping[str, Any] | None) -> str:
    """Of a figure with a bound, whether it is kept."""
    return f"{bound['bound']}: {'kept' if bound['kept'] else '**missed**'}" if bound else ""


def with_table(page: str, made: str) -> str:
    """The page with this table in the place of the one that it has."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
