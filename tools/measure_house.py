"""How large the house is: lines, fields of configs, import circles, packages. No code of ours is run to count them.

  python tools/measure_house.py              # a table
  python tools/measure_house.py --json       # the same as one JSON object
  python tools/measure_house.py --environment .venv/bin/python   # and the packages that an environment holds

`tools/house.json` keeps what it found at some commits; pairs of places that share lines are counted by another tool.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
TREES = {  # what is counted together
    "library": "src",
    "laboratory": "papers/src",
    "library's tests": "tests",
    "laboratory's tests": "papers/tests",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--environment", metavar="PYTHON", help="count the packages that `pip list` names there")
    options = parser.parse_args()
    found: dict[str, int] = {}
    for name, folder in TREES.items():
        files = sorted((REPOSITORY / folder).rglob("*.py"))
        if files:
            found[f"{name}: files"] = len(files)
            found[f"{name}: lines"] = sum(map(lines_of, files))
            found[f"{name}: lines of docstrings"] = sum(map(docstring_lines_of, files))
    sources = [path for folder in ("src", "papers/src") for path in sorted((REPOSITORY / folder).rglob("*.py"))]
    configs = dict(configs_of(sources))
    found["configs"] = len(configs)
    found["fields of configs"] = sum(configs.values())
    found["import circles"] = sum(len(circles_of(REPOSITORY / folder)) for folder in ("src", "papers/src"))
    if options.environment:
        found["packages"] = len(packages_of(options.environment))
    if options.json:
        print(json.dumps(found | {"by config": configs}, indent=1))
        return
    for name, count in found.items():
        print(f"{name:34}{count:8,}")


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def docstring_lines_of(path: Path) -> int:
    """Lines of the docstrings of modules, classes and functions."""
    count = 0
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                count += (first.end_lineno or first.lineno) - first.lineno + 1
    return count


def configs_of(paths: Iterable[Path]) -> Iterator[tuple[str, int]]:
    """(class, own fields) of what a system is trained with: the …Config classes of files called config.py."""
    for path in paths:
        if path.name != "config.py" or ("models" not in path.parts and "papers" not in path.parts):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Config"):
                fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and not is_class_variable(one)]
                yield node.name, len(fields)


def is_class_variable(node: ast.AnnAssign) -> bool:
    return ast.unparse(node.annotation).startswith("ClassVar")


def circles_of(folder: Path) -> list[list[str]]:
    """Sets of files that import each other, directly or not, wherever the imports stand (Tarjan 1972)."""
    files = {module_of(path, folder): path for path in folder.rglob("*.py")}
    arrows = {name: sorted(set(imported(path, name, files)) - {name}) for name, path in files.items()}
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for other in arrows[name]:
            if other not in order:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], order[other])
        if lowest[name] == order[name]:
            members = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(members) > 1:
                circles.append(sorted(members))

    for name in sorted(files):
        if name not in order:
            visit(name)
    return circles


def module_of(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, name: str, files: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a file imports; a package's face counts only where nothing more is named."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                if f"{base}.{alias.name}" in files:
                    yield f"{base}.{alias.name}"
                elif base in files:
                    yield base


def packages_of(python: str) -> list[str]:
    listed = subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [item["name"] for item in json.loads(listed.stdout)]


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()
