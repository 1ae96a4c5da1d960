"""The command line: one file a command, each imported only when it is asked for; no logic of its own.

A command's module has `add_arguments(parser, given)` and `run(options) -> int`, and its docstring is its help; a module
of several commands has `command(name)`, which gives an object with all three. What the user got wrong ends with exit
status 2 and one line on stderr, whatever it was; Ctrl-C with 130, SIGTERM with 143, a training that saved itself too.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from paraform import progress
from paraform.ending import Terminated, status_of
from paraform.extensions import LABORATORY, extensions, loaded
from paraform.models.systems import ELSEWHERE as SYSTEMS_ELSEWHERE
from paraform.models.systems import system_named, system_names
from paraform.records import InputError

COMMANDS = {  # a module of this room, and what it does; `train NAME` stands for each system, before `evaluate`
    "paraphrase": ("paraphrase", "say texts in the form of others"),
    "augment": ("augment", "a table's rows, and rewordings of their texts"),
    "embed": ("embed", "texts to vectors"),
    "index": ("index", "texts as a folder to search by meaning"),
    "search": ("search", "the texts of an index that are nearest to a question"),
    "same": ("same", "whether two texts say the same, and what either lacks of the other"),
    "duplicates": ("duplicates", "texts that say the same in other words"),
    "tag": ("tag", "Penn Treebank tags of texts"),
    "parse": ("parse", "constituency trees of texts"),
    "annotate": ("annotate", "words, tags and trees of a corpus of any size"),
    "mine": ("mine", "exemplars for the targets of pairs"),
    "sample": ("sample", "sentences from a latent space"),
    "interpolate": ("interpolate", "sentences between two sentences"),
    "reconstruct": ("reconstruct", "texts, said again from their latent vectors"),
    "evaluate generation": ("evaluate_generation", "BLEU, ROUGE, METEOR, tag edit distances and more, with floors"),
    "evaluate style": ("evaluate_style", "content matching accuracy, and what style vectors retrieve"),
    "evaluate transfer": ("evaluate_transfer", "classification of sentences by a probe on their vectors"),
    "evaluate syntax": ("evaluate_syntax", "labelled F1 and tag accuracy of a parser's trees"),
    "evaluate similarity": ("evaluate_similarity", "how vectors go with scored pairs: STS, SICK-R, or your own"),
    "evaluate robustness": (
        "evaluate_robustness",
        "paraphrases of the same and of another form, told from other pairs",
    ),
    "evaluate latent": ("evaluate_latent", "bounds, KL, information and more, by the paper's protocol and honestly"),
    "evaluate probing": ("evaluate_probing", "form, length and content that a classifier reads off vectors"),
    "evaluate distances": ("evaluate_distances", "how far words move when their sentence is reworded"),
    "evaluate report": ("evaluate_report", "all of these of several models side by side, as one page"),
    "plot space": ("plot_space", "labelled texts as their vectors lie, by PCA or UMAP"),
    "plot form": ("plot_form", "form against meaning of several encoders, of a report"),
    "plot curves": ("plot_curves", "learning curves of several runs"),
    "distil": ("distil", "any encoder, as a vector for each piece of text: embeds at the speed of its tokenizer"),
    "erase": ("erase", "any encoder, without what a linear reader tells of a sentence's form"),
    "overlap": ("overlap", "sentences of training files that stand in evaluation sets"),
    "export": ("export", "a trained encoder as a folder of sentence-transformers, as ONNX, or on the hub"),
    "rate": ("rate", "outputs of systems, rated blind by people, and what they found"),
    "fetch": ("fetch", "a model that is too large for the package, once"),
    "serve": ("serve", "rewording, judging, embedding and parsing over HTTP"),
    "demo": ("demo", "all of this as a page in the browser"),
}
GROUP = "paraform.commands"
ELSEWHERE = ("reproduce",)  # in the laboratory; version 0.1.0 had it here
USAGE = 2
NO_MEMORY = "out of memory; less at once needs less"
CLOSED = 141  # 128 + SIGPIPE
SAME_SIGNAL = 1.0  # seconds


class Command(NamedTuple):
    """What a name on the command line stands for.

    Args:
        module: has `add_arguments` and `run`, or `command(name)`, as above; imported when it is asked for.
        summary: its line in the overview.
    """

    module: str
    summary: str


def main(given: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name (None: those of this process); returns the exit status."""
    try:
        _open_streams()
        with _heard_to_end():
            status = _dispatch(list(sys.argv[1:] if given is None else given))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has seen enough
        _silence_stdout()
        return CLOSED
    except (InputError, OSError) as error:
        return _fail(error)
    except UnicodeEncodeError as error:
        if error.encoding.lower().startswith("utf"):  # no fault of the stream's
            raise
        wrong = error.object[error.start : error.start + 1]
        return _fail(f"stdout takes {error.encoding}, which has no {wrong!r}; expected PYTHONIOENCODING=utf-8")
    except MemoryError:
        return _fail(NO_MEMORY)
    except RuntimeError as error:  # torch's own way of saying it
        if "can't allocate memory" not in str(error) and type(error).__name__ != "OutOfMemoryError":
            raise
        return _fail(NO_MEMORY)
    except KeyboardInterrupt as stop:
        print("paraform: interrupted", file=sys.stderr)
        return status_of(stop)
    except SystemExit as end:  # --help and --version
        return end.code if isinstance(end.code, int) else 0
    return status


def _open_streams() -> None:
    """What was closed before we began (`<&-`) is None: nothing comes from stdin then, and stderr goes nowhere.

    Raises: InputError if stdout was.
    """
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:  # in this order, so that no file that is opened later gets a stream's number
        setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115 (as long as the process)
    if "stdout" in closed:
        raise InputError("stdout is closed; expected an open one, such as > /dev/null")


@contextlib.contextmanager
def _heard_to_end() -> Iterator[None]:
    """SIGTERM is raised in the block as Ctrl-C is, unless it is ignored; one a second later ends the process at once.

    Sooner it is the same one: `timeout` sends it to the process, and then to its group.
    """
    first: list[float] = []

    def hear(number: int, frame: object) -> None:
        first.append(time.monotonic())
        if len(first) == 1:
            raise Terminated
        if first[-1] - first[0] >= SAME_SIGNAL:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _dispatch(given: list[str]) -> int:
    if not given or given[0] in ("-h", "--help", "help"):
        print(_overview(""), end="")
        return 0 if given else USAGE
    if given[0] == "--version":
        print(f"paraform {importlib.import_module('paraform').__version__}")
        return 0
    group = given[0]
    if any(name.startswith(f"{group} ") for name in command_names()):
        if len(given) == 1 or given[1] in ("-h", "--help"):
            print(_overview(group), end="")
            return 0 if len(given) > 1 else USAGE
        name, rest = " ".join(given[:2]), given[2:]
    else:
        name, rest = group, given[1:]
    entry = command_entry(name)
    progress.begin()
    command = command_of(name, entry)
    from paraform.cli.complaints import parse
    from paraform.cli.messages import Teller, tell
    from paraform.cli.options import make_parser
    from paraform.cli.output import files_of, new_folders, require_endings, require_free_names, require_names

    parser = make_parser(name, command.__doc__)
    command.add_arguments(parser, rest)
    if any(action.dest in files_of(name) for action in parser._actions):
        parser.add_argument("--overwrite", action="store_true", help="write over a file that is there")
    options = parse(parser, rest)
    require_names(options)
    require_free_names(options, name)
    require_endings(options, name)
    if options.products:
        os.environ["PARAFORM_PRODUCTS"] = options.products  # for processes that the command starts, too
    if options.threads:
        from paraform.threads import settle

        settle(options.threads)
    teller, logger = Teller(), logging.getLogger("paraform")
    logger.addHandler(teller)
    level = logger.level
    logger.setLevel(logging.INFO)  # of texts that are cut it hears those parts, too, that hold none
    folders = new_folders(options, name)
    try:
        status = int(command.run(options))
    finally:
        teller.flush()
        logger.setLevel(level)
        logger.removeHandler(teller)
    for folder in folders:
        if os.path.isdir(folder):
            tell(f"{folder}: a new folder, made for it")
    return status


def command_names() -> list[str]:
    """The commands that are here, one to train each system, and those that other distributions add."""
    names = list(COMMANDS)
    before = names.index("evaluate generation")
    trains = [f"train {name}" for name in system_names()]
    return [*names[:before], *trains, *names[before:], *(name for name in extensions(GROUP) if name not in COMMANDS)]


def command_entry(name: str) -> Command:
    """The command of that name. Raises: InputError if there is none, saying which package has it if we know."""
    if name in COMMANDS:
        module, summary = COMMANDS[name]
        return Command(f"paraform.cli.{module}", summary)
    group, _, system = name.partition(" ")
    if group == "train" and system in (*system_names(), *SYSTEMS_ELSEWHERE):
        return Command("paraform.cli.train", system_named(system).trains)
    if (point := extensions(GROUP).get(name)) is not None:
        found: Command = loaded(point, Command)
        return found
    if name in ELSEWHERE:
        raise InputError(f"{name!r} is in {LABORATORY}, which is not installed: pip install {LABORATORY}")
    names = command_names()
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(names)}"
    raise InputError(f"no command {name[:60]!r}; {hint}")


def command_of(name: str, entry: Command) -> Any:
    """What has `add_arguments`, `run` and the help of that command."""
    module: Any = importlib.import_module(entry.module)
    return module.command(name) if hasattr(module, "command") else module


def _overview(group: str) -> str:
    every = {name: _summary(name) for name in command_names() if name.startswith(group)}
    shown = {name: summary for name, summary in every.items() if summary}  # a system may have no trainer
    width = max(map(len, shown))
    lines = [
        f"usage: paraform {group or 'COMMAND'} …",
        "",
        "What a sentence says, apart from how it says it.",
        "",
        *(f"  {name.ljust(width)}  {summary}" for name, summary in shown.items()),
        "",
        "paraform COMMAND --help shows a command's options and an example; paraform --version the version.",
        "",
        "Example:",
        '  paraform paraphrase "how can i earn money online ?" --like "what is the best way to reduce weight ?"',
    ]
    return "\n".join(lines) + "\n"


def _summary(name: str) -> str:
    try:
        return command_entry(name).summary
    except InputError as error:  # what cannot be imported is no reason not to list the others
        return str(error)


def _fail(error: BaseException | str) -> int:
    message = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        names = [os.fspath(name) for name in (error.filename, error.filename2) if isinstance(name, (str, os.PathLike))]
        message = ": ".join([*names[-1:], error.strerror])
    print(f"paraform: error: {message}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:  # it was stdout that could not be written
        _silence_stdout()
    return USAGE


def _silence_stdout() -> None:
    # What is still buffered would raise again when Python closes the stream.
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
