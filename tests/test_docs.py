"""What the documents tell a reader to type: each command has the options that it is given, each name that is imported
and each file that is named is there. Nothing is run but parsers and imports."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraform.cli import command_entry, command_names, command_of
from paraform.cli.complaints import parse
from paraform.cli.options import make_parser
from paraform.records import InputError
from paraform_papers.reproduce import TABLES

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = [
    REPOSITORY / "README.md",
    *sorted(REPOSITORY.glob("docs/**/*.md")),
    *sorted(REPOSITORY.glob("src/paraform/pretrained/*/README.md")),
]
# The first lines of a recipe, and the examples of a command's help, are indented in a docstring.
MODULES = [
    *sorted(REPOSITORY.glob("papers/src/paraform_papers/**/*.py")),
    *sorted(REPOSITORY.glob("src/paraform/cli/*.py")),
]


def words_of(line: str) -> list[list[str]]:
    """The commands of a shell line, without what pipes and redirections have beside them."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("|;&<>()"):
            commands.append([])
        else:
            commands[-1].append(word)
    return [command for command in commands if command]


def commands_in(path: Path) -> Iterator[list[str]]:
    """`paraform …` and `python …`, as words: of a page those in its shell blocks, of a module the indented ones."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    if path.suffix == ".md":
        blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    else:
        documentation = re.match(r'"""(.*?)"""', text, re.DOTALL)
        lines = re.findall(r"^ +((?:paraform|python) .*)$", documentation[1] if documentation else "", re.MULTILINE)
    for line in lines:
        if "paraform " in line or line.startswith("python "):
            yield from (words for words in words_of(line) if words[0] in ("paraform", "python"))


def refuses(words: list[str]) -> str:
    """Why the command would not begin; "" if it would."""
    program, *given = words
    if program == "python" and given[0] == "-m":
        return "" if importlib.util.find_spec(given[1]) else f"no module {given[1]}"
    if program == "python":
        return "" if (REPOSITORY / given[0]).is_file() else f"no file {given[0]}"
    name = next((" ".join(given[:count]) for count in (1, 2) if " ".join(given[:count]) in command_names()), None)
    if name is None:
        return "no such command"
    rest = given[len(name.split()) :]
    command = command_of(name, command_entry(name))
    parser = make_parser(name, command.__doc__)
    try:
        command.add_arguments(parser, rest)
        options = parse(parser, rest)
    except InputError as error:
        return str(error)
    return f"no table {options.table}" if name == "reproduce" and options.table not in TABLES else ""


@pytest.mark.parametrize("path", [*PAGES, *MODULES], ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_every_command_that_is_shown_can_be_typed(path: Path) -> None:
    wrong = {shlex.join(words): why for words in commands_in(path) if (why := refuses(words))}
    assert wrong == {}


def test_commands_are_found_in_pages_and_modules_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    counts = {path.name: len(list(commands_in(path))) for path in [*PAGES, *MODULES]}
    assert sum(map(bool, counts.values())) > 25 and counts["tutorial.md"] >= 15, counts
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\n"
        "echo 'a | b' | paraform tag -  # a remark\n"
        "paraform train latent --data a.txt \\\n    --out b --objective none > c\n"
        "paraform sample --nmu 3; python benchmarks/none.py\n"
        "python -m paraform_papers.none --out x\nparaform reproduce clvae/table9\nparaform transmogrify\n```\n"
    )
    found = list(commands_in(page))
    assert [words[:3] for words in found[:2]] == [["paraform", "tag", "-"], ["paraform", "train", "latent"]]
    assert found[1][-1] == "none"
    reasons = [refuses(words) for words in found]
    assert reasons[0] == "" and all(reasons[1:]) and len(reasons) == 7, reasons


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_no_page_waits_for_a_table(path: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert not re.findall(r"^[A-Z][A-Z0-9_]+$", prose, re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_no_page_says_a_paragraph_twice(path: Path) -> None:
    lines = Counter(path.read_text(encoding="utf-8").splitlines())
    long = {line for line in lines if len(line) > 80 and not line.startswith("|") and not line.endswith(":")}
    assert [line for line in long if lines[line] > 1] == []


def cells_of(page: str) -> list[str]:
    """The cells of a page's tables; a bar in code, or behind a backslash, ends none."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\|.*\|$", prose, re.MULTILINE)
    return [cell.strip() for row in rows for cell in re.findall(r"(?:`[^`]*`|\\.|[^|`\\])+", row) if cell.strip()]


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob("docs/**/*.md"))]
)
def test_no_cell_of_a_table_has_more_than_25_words(page: str) -> None:
    assert cells_of("| `a | b` c | d \\| e |\n```\n| f |\n```\n") == ["`a | b` c", "d \\| e"]
    assert [cell for cell in cells_of((REPOSITORY / page).read_text("utf-8")) if len(cell.split()) > 25] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_every_file_of_the_repository_that_a_page_names_is_there(path: Path) -> None:
    named = re.findall(
        r"`(?:python )?((?:benchmarks|tools|examples|src/paraform|papers|tests)/[\w./-]+)", path.read_text("utf-8")
    )
    assert [name for name in named if not (REPOSITORY / name).exists()] == []


def missing_from(code: str) -> list[str]:
    """What Python lines import, or take from `paraform`, and is not there."""
    missing = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(str(node.module))
            missing += [name.name for name in node.names if not hasattr(module, name.name)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "paraform":
            missing += [] if hasattr(importlib.import_module("paraform"), node.attr) else [node.attr]
    return missing


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_every_python_name_that_is_shown_is_there(path: Path) -> None:
    for block in re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        assert missing_from(block) == []


def test_a_python_name_that_is_not_there_is_found() -> None:
    assert missing_from("import paraform\nparaform.load('x')\nfrom paraform.evaluation import Outputs") == []
    assert missing_from("import paraform\nparaform.laod('x')") == ["laod"]
    assert missing_from("from paraform.evaluation import Scores") == ["Scores"]


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob("docs/**/*.md"))]
)
def test_rows_of_a_table_have_its_headers_cells(page: str) -> None:
    assert uneven("| a | b |\n| - | - |\n| `c | c` | |\n| d |\n\n| e |\n") == ["| d |"]
    assert uneven((REPOSITORY / page).read_text("utf-8")) == []


def uneven(page: str) -> list[str]:
    """Rows of a page's tables with more or fewer bars than the first row of their table; a bar in code is none."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    found = []
    for table in re.findall(r"(?:^\|.*\n?)+", prose, re.MULTILINE):
        bars = [len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", row))) for row in table.splitlines()]
        found += [row for row, count in zip(table.splitlines(), bars, strict=True) if count != bars[0]]
    return found


CLAIM = re.compile(r"^\| \*\*[CVPB]\d+\*\* [^|]*\|[^|]*\| \**([^|*]*?)\** \| (?:\*([\w ]+)\*)?", re.MULTILINE)


def test_the_claims_that_are_called_are_counted() -> None:
    """The opening of docs/claims.md says of how many claims what is said below."""
    page = (REPOSITORY / "docs" / "claims.md").read_text(encoding="utf-8")
    lines = CLAIM.findall(page)
    called = Counter(verdict for verdict, _ in lines)
    so_far = Counter(found.lower() for verdict, found in lines if verdict == "open")
    opening = " ".join(line for line in page.split("\n## ")[0].splitlines() if line.startswith("- "))
    said = re.search(
        r"claim (\d+) things.*\*\*(\d+) hold, (\d+) hold weaker, (\d+) do not hold\.\*\* "
        r"(\d+) are open.*?; (\d+) cannot be tested here.*"
        r"the papers' way in (\d+), the other way in (\d+) and .* in (\d+); (\d+) (?:is|are) not measured",
        opening,
    )
    assert said, opening
    verdicts = [called[name] for name in ("holds", "holds weaker", "does not hold", "open", "not testable here")]
    open_ones = [so_far[name] for name in ("yes so far", "no so far", "mixed", "not measured")]
    assert [int(number) for number in said.groups()] == [len(lines), *verdicts, *open_ones]
    assert sum(verdicts) == len(lines) and sum(open_ones) == called["open"]
