"""Rate the outputs of systems without knowing whose they are, and report what raters found.

The files' outputs (JSON lines of source and paraphrase, perhaps exemplar; or what `paraphrase --json` printed) are
shuffled into one sheet, which can be sent to other raters; a key says whose they are. Of --out ratings.jsonl these are
ratings.sheet.jsonl and ratings.key.json. An exemplar is shown if every output of the source has one. Each answer is a
line: meaning, fluency and form from 1 to 5 (form where there is an exemplar), then s (strictly acceptable),
l (leniently) or n (not), as in `4 5 3 s`, and a comment if you like; `b` goes back one item, `q` ends. Answers are kept
as they are given, and the next call goes on. Without a terminal the same lines are read from stdin.

Example:
  paraform rate model.jsonl rival.jsonl --control copies people.jsonl --out ratings.jsonl
  paraform rate --sheet ratings.sheet.jsonl --out ratings-b.jsonl --rater b
  paraform rate --report ratings.jsonl ratings-b.jsonl --bad copies --good people
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jsonargparse import ArgumentParser, Namespace
from jsonargparse.typing import PositiveInt

from paraform.cli.messages import tell
from paraform.cli.output import print_json, show
from paraform.records import InputError, Origin, require_texts

if TYPE_CHECKING:
    from paraform.evaluation.rating import Item, Output
    from paraform.evaluation.rating_answers import AnswerFile


def add_arguments(parser: ArgumentParser, given: Sequence[str]) -> None:
    """The options of this command."""
    parser.add_argument(
        "files", nargs="*", type=str, default=[], metavar="FILE", help="a system's outputs each; of --report, ratings"
    )
    parser.add_argument("--out", type=str | None, default=None, metavar="FILE", help="the answers, as JSON lines")
    parser.add_argument("--rater", type=str, default="rater", metavar="NAME", help="who answers; one name a person")
    parser.add_argument("--sample", type=PositiveInt | None, default=None, help="sources to draw; null: all")
    parser.add_argument(
        "--control", nargs="+", type=str, default=[], metavar="FILE", help="further outputs; copies: of the sources"
    )
    parser.add_argument("--sheet", type=str | None, default=None, metavar="FILE", help="rate this sheet, without files")
    parser.add_argument(
        "--html", type=str | None, default=None, metavar="FILE", help="write the sheet as a page, and ask nothing"
    )
    parser.add_argument("--report", action="store_true", help="print the figures of these ratings, and ask nothing")
    parser.add_argument("--key", type=str | None, default=None, metavar="FILE", help="null: *.key.json beside the file")
    parser.add_argument("--bad", type=str | None, default=None, metavar="SYSTEM", help="a control of bad outputs")
    parser.add_argument("--good", type=str | None, default=None, metavar="SYSTEM", help="a control of good outputs")
    parser.add_argument(
        "--resample", choices=("sources", "outputs"), default="sources", help="what the bootstrap draws anew"
    )
    parser.add_argument("--resamples", type=PositiveInt, default=1000, help="draws of the bootstrap")


def run(options: Namespace) -> int:
    """Ask, write a page, or report."""
    require_used(options)
    if options.report:
        return report(options)
    from paraform.evaluation.rating_answers import AnswerFile

    if not options.out and not (options.html and options.sheet):
        raise InputError("no --out; expected the name of a file for the answers, such as --out ratings.jsonl")
    items = sheet_of(options)
    if options.html:
        from paraform.evaluation.rating_page import write_page

        write_page(items, options.html)
        return show(options, {"html": options.html, "items": len(items)}, f"{options.html}: {len(items)} items")
    (rater,) = require_texts([options.rater.strip()])
    if not rater:
        raise InputError("--rater is empty; expected a name")
    with AnswerFile(options.out, {item.id: item for item in items}) as answers:
        done = ask(items, answers, rater, options)
    if options.json:
        print_json({"out": options.out, "rater": rater, "rated": done, "items": len(items)})
    else:
        tell(f"{done} of {len(items)} items rated by {rater} in {options.out}; the same call goes on")
    return 0


def require_used(options: Namespace) -> None:
    """Raises: InputError for an option that would be ignored, or a page that would take the place of another file."""
    strange = ("sheet", "html", "control", "sample") if options.report else ("key", "bad", "good")
    if given := [f"--{name}" for name in strange if options[name]]:
        where = "with --report; leave out" if options.report else "without --report; give --report or leave out"
        raise InputError(f"{given[0]} says nothing {where} {given[0]}")
    if options.html:
        out = [options.out, *beside(Path(options.out))] if options.out else []
        others = [name for name in (options.sheet, *out, *options.files, *options.control) if name]
        if os.path.realpath(options.html) in map(os.path.realpath, others):
            raise InputError(f"--html {options.html} is a file that is used already; expected one of its own")
    if options.report or options.sheet or options.files:
        return
    if options.control:
        raise InputError(
            f"no file before --control, which takes all behind it ({', '.join(options.control)}) for controls;"
            " expected the systems' files first, as in MODEL.jsonl RIVAL.jsonl --control copies"
        )
    if options.sample:
        raise InputError("--sample draws sources of files, and there are none; leave it out, or name the files")


def report(options: Namespace) -> int:
    """Print the figures of rating files."""
    from paraform.evaluation.rating import read_key
    from paraform.evaluation.rating_answers import read_ratings
    from paraform.evaluation.rating_report import rating_report

    if options.files and options.out:
        raise InputError("--report FILE … prints the figures of these files; leave out --out")
    files = options.files or ([options.out] if options.out else [])
    if not files:
        raise InputError("--report without a file; expected ratings, such as --report ratings.jsonl")
    key = read_key(options.key or key_beside(Path(files[0])))
    answers = read_ratings(files, key.items)
    chosen = {name: options[name] for name in ("bad", "good", "resample", "resamples", "seed")}
    found = rating_report(answers, key, **chosen)
    return show(options, {"ratings": files, **found.to_json()}, found.table())


def beside(ratings: Path) -> tuple[Path, Path]:
    """The sheet and the key that are made with those ratings."""
    return ratings.with_name(f"{ratings.stem}.sheet.jsonl"), ratings.with_name(f"{ratings.stem}.key.json")


def key_beside(ratings: Path) -> Path:
    """The key that was made with those ratings, or else the only one in their folder. Raises: InputError."""
    _, own = beside(ratings)
    found = [own] if own.is_file() else sorted(ratings.parent.glob("*.key.json"))
    if len(found) != 1:
        raise InputError(f"{own}: no such key, and {len(found)} others beside it; name it by --key")
    return found[0]


def sheet_of(options: Namespace) -> list[Item]:
    """The items to rate: of --sheet, of the sheet that --out has already, or of the files, made and kept now."""
    from paraform.evaluation.rating import (
        COPIES,
        copies,
        make_sheet,
        read_key,
        read_outputs,
        read_sheet,
        write_key,
        write_sheet,
    )
    from paraform.evaluation.rating_answers import read_answers

    if options.sheet:
        if options.files or options.control or options.sample:
            raise InputError("--sheet has its items; leave out files, --control and --sample")
        return read_sheet(options.sheet)
    sheet, key_file = beside(Path(options.out))
    if not options.files:
        if not sheet.is_file():
            raise InputError(f"no outputs, and no {sheet} to go on with; expected a file of outputs for each system")
        return read_sheet(sheet)
    systems: dict[str, list[Output]] = {}
    controls: dict[str, list[Output]] = {}
    for file in [*options.files, *(name for name in options.control if name != COPIES)]:
        name = Path(file).stem
        if name in systems or name in controls or (name == COPIES and COPIES in options.control):
            raise InputError(f"{file}: a second system {name!r}; expected files of different names")
        (systems if len(systems) < len(options.files) else controls)[name] = read_outputs(file)
    if COPIES in options.control:
        controls[COPIES] = copies(systems)
    items, key = make_sheet(systems, controls=controls, sample=options.sample, seed=options.seed)
    if sheet.is_file():
        if read_sheet(sheet) != items or read_key(key_file) != key:
            raise InputError(
                f"{sheet}: holds other items or another order; expected the same files, --sample and --seed"
            )
        return items
    if Path(options.out).exists():  # if it cannot go on, nothing is made beside it
        read_answers(options.out, {item.id: item for item in items})
    write_key(key, key_file)
    write_sheet(items, sheet)
    return items


def ask(items: Sequence[Item], answers: AnswerFile, rater: str, options: Namespace) -> int:
    """Show what is not rated yet, item by item, and keep the answers; returns how many are rated."""
    from paraform.evaluation.rating import INSTRUCTION
    from paraform.evaluation.rating_answers import parse_answer

    screen, person = sys.stderr if options.json else sys.stdout, sys.stdin.isatty()
    if person:
        print(
            *INSTRUCTION, "An answer: 4 5 3 s, and a comment if you like; b goes back, q ends.", sep="\n", file=screen
        )
    at, number, show_item = _first_unrated(items, answers, rater), 0, True
    while True:
        if show_item and at < len(items):
            print(f"\n{at + 1} of {len(items)}", *_shown(items[at]), sep="\n", file=screen)
        if person:
            print("> " if at < len(items) else "all are rated; b goes back, q ends > ", end="", file=screen, flush=True)
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError as error:
            raise Origin("<stdin>", number + 1).error("not UTF-8; expected UTF-8 text") from error
        number += 1
        words = line.strip()
        if not line or words.lower() == "q":
            break
        show_item = bool(words) and not words.startswith("#")
        if not show_item:
            continue
        if words.lower() == "b":
            at = max(at - 1, 0)
            continue
        try:
            if at == len(items):
                raise ValueError(f"{words[:40]!r}, and all {len(items)} items are rated; expected b or q")
            answers.write(parse_answer(words, items[at], rater))
        except ValueError as error:
            if not person:
                raise Origin("<stdin>", number).error(str(error)) from error
            tell(str(error))
            continue
        at = _first_unrated(items, answers, rater)
    return sum((rater, item.id) in answers.answers for item in items)


def _first_unrated(items: Sequence[Item], answers: AnswerFile, rater: str) -> int:
    waiting = (at for at, item in enumerate(items) if (rater, item.id) not in answers.answers)
    return next(waiting, len(items))


def _shown(item: Item) -> list[str]:
    """An item's lines for a terminal, which obeys control characters."""
    texts = {"source": item.source, "exemplar": item.exemplar, "output": item.output}
    return [
        f"  {name:9} {''.join(letter if letter.isprintable() else ' ' for letter in text)}"
        for name, text in texts.items()
        if text is not None
    ]
