"""The rules of the house that no tool checks: which room may import which, what no file may do, what is pinned."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import paraform
import paraform_papers

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "paraform"
LABORATORY = REPOSITORY / "papers" / "src" / "paraform_papers"

# Data moves to the right, and a module imports from its left; rooms in one row stand side by side.
ROWS = [
    ["ending", "literals", "memory", "progress", "records", "score", "version"],
    ["extensions", "fields", "int8", "json_text", "threads", "weights"],
    ["manifest"],
    ["words"],
    ["spans"],
    ["engines"],
    ["corpora"],
    ["encoders"],
    ["syntax"],
    ["batching"],
    ["losses", "schedules"],
    ["decoding"],
    ["capabilities"],
    ["models"],
    ["rewording"],
    ["checkpoint"],
    ["meaning"],
    ["default_call", "training"],
    ["evaluation"],
    ["neighbours"],
    ["jobs"],
    ["trainers"],
    ["service"],
    ["cli", "demo", "integrations"],
    ["__main__"],
]
PLACE = {room: place for place, row in enumerate(ROWS) for room in row}
PUBLIC_API = "__init__"  # re-exports every room, so only those who stand right of all may import it
PLACE[PUBLIC_API] = PLACE["cli"]

PICKLING = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}


def wrong_arrows(package: Path) -> list[str]:
    """`FILE:LINE: what is wrong` for each import that does not point left, and for each file outside the rooms."""
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts == (PUBLIC_API,):
            continue
        if parts[0] not in PLACE:
            found.append(f"{path}:1: {parts[0]!r} is none of the rooms: {', '.join(PLACE)}")
            continue
        for line, room in sorted(set(imported_rooms(path, parts, package))):
            if room not in PLACE:
                found.append(f"{path}:{line}: {parts[0]} imports {room!r}, which is none of the rooms")
            elif PLACE[room] > PLACE[parts[0]]:
                found.append(f"{path}:{line}: {parts[0]} imports {room}, which stands right of it")
            elif parts[0] == "losses" and room != "losses":
                found.append(f"{path}:{line}: losses imports {room}; a loss imports torch and nothing of ours")
            elif parts[0] == "demo" and room not in ("demo", "service", PUBLIC_API):
                found.append(f"{path}:{line}: demo imports {room}; the page is made of what `paraform` exports")
    return found


def imported_rooms(path: Path, parts: tuple[str, ...], package: Path) -> Iterator[tuple[int, str]]:
    """(line, room) of every import of ours in a file."""
    for line, module in imported(path, parts, package):
        yield line, room_of(module, package)


def imported(path: Path, parts: tuple[str, ...], package: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line, dotted name) of every import of ours in a file, wherever it stands: in functions and under TYPE_CHECKING
    too. What is imported from a module counts as a part of its name."""
    here = (package.name, *parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules: list[tuple[str, ...]] = []
        if isinstance(node, ast.Import):
            modules = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # `level` dots go up from this module; an __init__.py is a module of its own folder, and counts as one part
            above = here[: len(here) - node.level] if node.level else ()
            named = tuple(node.module.split(".")) if node.module else ()
            modules = [(*above, *named, alias.name) for alias in node.names]
        elif isinstance(node, ast.Call) and name_of(node.func) in (
            "importlib.import_module",
            "import_module",
            "__import__",
        ):
            modules = [tuple(arg.value.split(".")) for arg in node.args[:1] if is_text(arg)]
        for module in modules:
            if module[0] == package.name:
                yield node.lineno, module
            elif module[0] == LABORATORY.name:  # it imports the library, which never knows it
                yield node.lineno, (package.name, module[0], "")


def circles(package: Path) -> list[list[str]]:
    """Files that import each other in a circle, each circle's together.

    A name of a lazy package leads to its file, and the package as a whole to all that its `__init__.pyi` names. The
    outermost `__init__` re-exports every room, and is left out.
    """
    lazy = {path.parent: names_in(path) for path in package.rglob("__init__.pyi")}
    arrows: dict[Path, set[Path]] = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts == (PUBLIC_API,):
            continue
        named = [module[1:] for _, module in imported(path, parts, package)]
        if path.name == "__init__.py":
            named += [(*parts[:-1], *module) for module in lazy.get(path.parent, {}).values()]
        found = {file_of(name, package, lazy) for name in named}
        arrows[path] = {file for file in found if file is not None} - {path, package / "__init__.py"}
    reached = {path: reachable(path, arrows) for path in arrows}
    rings = {frozenset(to for to in reached[path] if path in reached[to]) for path in arrows if path in reached[path]}
    return sorted(sorted(file.relative_to(package).as_posix() for file in ring) for ring in rings)


def names_in(stub: Path) -> dict[str, tuple[str, ...]]:
    """The module of each name that a lazy package's `__init__.pyi` re-exports."""
    nodes = [node for node in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: tuple((node.module or "").split(".")) for node in nodes for alias in node.names}


def file_of(name: tuple[str, ...], package: Path, lazy: dict[Path, dict[str, tuple[str, ...]]]) -> Path | None:
    """The file of a dotted name below the package, or of the module that has what it names."""
    place = package.joinpath(*name)
    if place.with_suffix(".py").is_file():
        return place.with_suffix(".py")
    if (place / "__init__.py").is_file():
        return place / "__init__.py"
    if not name:
        return None
    above = package.joinpath(*name[:-1])
    if name[-1] in lazy.get(above, {}):
        return file_of((*name[:-1], *lazy[above][name[-1]]), package, lazy)
    return file_of(name[:-1], package, lazy)


def reachable(start: Path, arrows: dict[Path, set[Path]]) -> set[Path]:
    """The files that one imports, by itself or by what it imports."""
    seen: set[Path] = set()
    ahead = [start]
    while ahead:
        new = arrows.get(ahead.pop(), set()) - seen
        seen |= new
        ahead += new
    return seen


def room_of(module: tuple[str, ...], package: Path) -> str:
    """The room of a dotted name of ours; what is no module there is a name of the public API."""
    if len(module) == 1:
        return PUBLIC_API
    there = module[1] in PLACE or (package / module[1]).is_dir() or (package / f"{module[1]}.py").is_file()
    return module[1] if there or len(module) > 2 else PUBLIC_API


def forbidden(path: Path) -> list[str]:
    """`FILE:LINE: what` for each thing that could run code out of data, or a shell."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] in PICKLING]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name for name in imported if name.split(".")[0] in PICKLING or is_dangerous(name)]
        elif isinstance(node, ast.Call):
            called = name_of(node.func)
            names = [called] if called in ("eval", "exec") or is_dangerous(called) else []
            names += [
                f"{keyword.arg}=…"
                for keyword in node.keywords
                if keyword.arg in ("shell", "allow_pickle", "trust_remote_code")
                and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
            ]
        found += [f"{path}:{node.lineno}: {name}" for name in names]
    return found


def is_dangerous(name: str) -> bool:
    return name in {"torch.load", "torch.save", "os.system", "os.popen", "subprocess.getoutput", "builtins.eval"}


def name_of(node: ast.expr) -> str:
    """`a.b.c` for a dotted expression; "" for any other."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := name_of(node.value)):
        return f"{base}.{node.attr}"
    return ""


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def plant(folder: Path, file: str, code: str) -> Path:
    """A package `paraform` in `folder` that holds this one file."""
    path = folder / "paraform" / file
    path.parent.mkdir(parents=True)
    path.write_text(code, encoding="utf-8")
    return path


def test_every_import_points_left() -> None:
    assert wrong_arrows(PACKAGE) == []


@pytest.mark.parametrize(
    "file, line, code",
    [
        ("records.py", 1, "import paraform.models.exemplar\n"),
        ("records.py", 1, "from paraform.weights import sha256\n"),
        ("syntax/exemplars.py", 2, "import torch\nfrom paraform import training\n"),
        ("syntax/exemplars.py", 1, "from ..models import exemplar\n"),
        ("syntax/exemplars.py", 1, "from .. import cli\n"),
        ("syntax/__init__.py", 1, "from ..models import exemplar\n"),
        ("words.py", 2, "def late():\n    from paraform.corpora import read\n"),
        ("words.py", 3, "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from paraform.cli import main\n"),
        ("words.py", 2, "import importlib\nimportlib.import_module('paraform.evaluation.style')\n"),
        ("models/exemplar.py", 1, "from paraform import load\n"),
        ("models/exemplar.py", 1, "import paraform\n"),
        ("losses/nt_xent.py", 1, "from paraform.records import Pair\n"),
        ("demo/answers.py", 1, "from paraform.records import InputError\n"),
        ("demo/server.py", 1, "from paraform.cli import main\n"),
        ("models/exemplar.py", 1, "from paraform.cellar import wine\n"),
        ("cli/mine.py", 2, "def run():\n    from paraform_papers.rivals import scpn\n"),
        ("cellar.py", 1, "x = 1\n"),
        ("pretrained/quora/model.py", 1, "x = 1\n"),
    ],
)
def test_a_planted_wrong_arrow_is_found(tmp_path: Path, file: str, line: int, code: str) -> None:
    path = plant(tmp_path, file, code)
    (found,) = wrong_arrows(tmp_path / "paraform")
    assert found.startswith(f"{path}:{line}: ")


@pytest.mark.parametrize(
    "file, code",
    [
        ("models/exemplar.py", "import torch\nfrom paraform.records import Pair\nfrom paraform import losses\n"),
        (
            "models/exemplar.py",
            "from .update import Update\nfrom ..losses.nt_xent import nt_xent\nfrom . import update\n",
        ),
        ("losses/nt_xent.py", "from torch import Tensor\nfrom paraform.losses.mean import mean\n"),
        ("syntax/__init__.py", "from .tagging import Tagger\n"),
        ("cli.py", "import paraform\nfrom paraform import load\n"),
        (
            "demo/server.py",
            "import paraform\nfrom paraform import InputError\nfrom paraform.demo.answers import Answers\n",
        ),
        ("__init__.py", "from paraform.cli import main\n"),
    ],
)
def test_an_import_that_points_left_is_fine(tmp_path: Path, file: str, code: str) -> None:
    plant(tmp_path, file, code)
    assert wrong_arrows(tmp_path / "paraform") == []


def test_no_file_imports_in_a_circle() -> None:
    assert circles(PACKAGE) == []


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    """Through a function, a type, and a lazy package or its name; a file that only imports the circle is in none."""
    package = tmp_path / "paraform"
    code = {
        "__init__.py": "",
        "records.py": "import paraform\n",
        "encoders/__init__.py": "",
        "encoders/__init__.pyi": "from .load import load as load\nfrom .load import Loaded as Loaded\n",
        "encoders/load.py": "def load():\n    from paraform.encoders.export import export\n",
        "encoders/export.py": "import typing\nif typing.TYPE_CHECKING:\n    from paraform.words import Word\n",
        "words.py": "from . import records\nfrom .encoders import load\n",
        "cli.py": "from paraform.encoders import Loaded\nfrom paraform import words\n",
    }
    for name, text in code.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    assert circles(package) == [["encoders/export.py", "encoders/load.py", "words.py"]]
    (package / "words.py").write_text("from .encoders import export\n", encoding="utf-8")
    assert circles(package) == [["encoders/export.py", "words.py"]]
    (package / "words.py").write_text("from paraform import encoders\n", encoding="utf-8")
    assert circles(package) == [["encoders/__init__.py", "encoders/export.py", "encoders/load.py", "words.py"]]
    (package / "words.py").write_text("", encoding="utf-8")
    assert circles(package) == []


def test_nothing_runs_code_out_of_data_or_a_shell() -> None:
    files = [*sorted(PACKAGE.rglob("*.py")), *sorted(LABORATORY.rglob("*.py"))]
    assert [place for path in files for place in forbidden(path)] == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\n",
        "from pickle import loads\n",
        "import joblib\n",
        "import torch\nweights = torch.load('x')\n",
        "from torch import load\n",
        "from os import system\n",
        "eval('1')\n",
        "exec('1')\n",
        "import os\nos.system('ls')\n",
        "import subprocess\nsubprocess.run('ls', shell=True)\n",
        "import numpy\nnumpy.load('x', allow_pickle=True)\n",
        "from transformers import AutoModel\nAutoModel.from_pretrained('x', trust_remote_code=True)\n",
    ],
)
def test_a_planted_danger_is_found(tmp_path: Path, code: str) -> None:
    path = plant(tmp_path, "words.py", code)
    assert len(forbidden(path)) == 1


def test_a_model_in_evaluation_mode_is_no_danger(tmp_path: Path) -> None:
    code = "import subprocess\nmodel.eval()\nmodel.load('x')\nsubprocess.run(['ls'], shell=False)\n"
    assert forbidden(plant(tmp_path, "words.py", code)) == []


@pytest.mark.parametrize("package", [paraform, paraform_papers])
def test_every_public_name_is_there_and_documented(package: ModuleType) -> None:
    assert package.__all__
    for name in package.__all__:
        thing = getattr(package, name)
        if callable(thing):
            own = vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
            assert own and own.strip(), f"{package.__name__}.{name} has no docstring of its own"
            # a dataclass without one gets its signature for a docstring
            assert not own.startswith(f"{name}("), f"{package.__name__}.{name} has only its signature for a docstring"


def test_every_dependency_is_pinned_to_a_version_that_it_allows() -> None:
    with open(REPOSITORY / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    pins = {}
    for line in (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, version = line.split("==")
            pins[canonicalize_name(name)] = version
    extras = project["optional-dependencies"]
    for extra in [project["dependencies"], *extras.values()]:
        for requirement in map(Requirement, extra):
            if requirement.name == project["name"]:  # an extra that has another
                assert requirement.extras <= extras.keys()
                continue
            version = pins.get(canonicalize_name(requirement.name))
            assert version, f"constraints.txt does not pin {requirement.name}; run: make constraints"
            assert requirement.specifier.contains(version), f"{requirement} does not allow the pinned {version}"
    assert f"torch=={pins['torch']}" in (REPOSITORY / "Makefile").read_text(encoding="utf-8")


def test_the_pages_of_the_api_name_each_module_once_and_reach_every_public_name() -> None:
    pages = sorted((REPOSITORY / "docs/api").glob("*.md"))
    named = [name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)]
    assert len(pages) > 5 and sorted(set(named)) == sorted(named)
    modules = [importlib.import_module(name) for name in named]
    for name in sorted(set(paraform.__all__) - {"__version__"}):
        assert any(hasattr(module, name) for module in modules), f"paraform.{name} stands on no page of docs/api"
    assert "::: paraform.checkpoint\n" in (REPOSITORY / "docs/api/index.md").read_text("utf-8")


def test_every_page_is_in_the_navigation() -> None:
    written = {path.relative_to(REPOSITORY / "docs").as_posix() for path in (REPOSITORY / "docs").rglob("*.md")}
    linked = set(re.findall(r"(\S+\.md)$", (REPOSITORY / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))
    assert linked == written


def test_recipes_are_short() -> None:
    """What makes one longer than wiring and a paper's settings belongs in the library (CONTRIBUTING.md)."""
    recipes = [
        path for room in ("crl", "clvae", "parabart", "par", "shipped") for path in (LABORATORY / room).glob("*.py")
    ]
    for path in recipes:
        assert len(path.read_text(encoding="utf-8").splitlines()) < 210, path.name
