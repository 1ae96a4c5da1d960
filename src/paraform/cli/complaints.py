"""What jsonargparse complains of, in the words of ours: what came, and what was expected."""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections.abc import Sequence

from jsonargparse import ArgumentParser, Namespace

from paraform.records import InputError

KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}


def parse(parser: ArgumentParser, given: Sequence[str]) -> Namespace:
    """The options. Raises: InputError for what does not fit; SystemExit after --help or --version."""
    try:
        return _plain(parser.parse_args(list(given)))
    except argparse.ArgumentError as error:
        flags = {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}
        # jsonargparse names keys of a configuration; the user wrote options
        message = re.sub(r'Parser key "([\w.]+)"', lambda key: flags.get(key[1], key[1]), str(error))
        required, colon, names = message.partition("arguments are required: ")
        message = required + colon + ", ".join(flags.get(name, name) for name in names.split(", "))
        message = " ".join(message.split())
        if file := re.match(r"--\w+: Unable to load config '(.*?)' - (.*)", message):
            raise InputError(f"{file[1]}: {_about_file(file[1], file[2])}") from error
        if field := re.match(r"Group '(\w+)' does not accept option '(\w+)'", message):
            known = [name.removeprefix(f"{field[1]}.") for name in flags if name.startswith(f"{field[1]}.")]
            close = difflib.get_close_matches(field[2], known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"see {parser.prog} --help"
            raise InputError(f"--{field[1]}: no field {field[2]!r}; {hint}") from error
        raise InputError(f"{in_words(message)}; {_hint(message, parser)}") from error


def _plain(options: Namespace) -> Namespace:
    """With Python's own numbers: jsonargparse's, which know their bounds, cannot be sent to another process."""
    for name, value in list(options.items()):
        if isinstance(value, int | float) and type(value) not in (int, float, bool):
            options[name] = int(value) if isinstance(value, int) else float(value)
    return options


def _hint(message: str, parser: ArgumentParser) -> str:
    """The option that was meant by one that is none, a field of the config's or one near it; else where they stand."""
    close: list[str] = []
    takes = any(not action.option_strings for action in parser._actions)
    if takes and re.match(r"unrecognized arguments: [^-]", message):  # argparse takes them in one go
        return "expected texts and files side by side, before the options or after them"
    if unknown := re.match(r"unrecognized arguments: --([\w-]+)", message):
        flags = [flag for action in parser._actions for flag in action.option_strings]
        field = f"--config.{unknown[1].replace('-', '_')}"
        close = [field] if field in flags else difflib.get_close_matches(f"--{unknown[1]}", flags, n=1, cutoff=0.8)
    return f"did you mean {close[0]}?" if close else f"see {parser.prog} --help"


def _about_file(path: str, complaint: str) -> str:
    """What is wrong with a file of fields."""
    if not os.path.isfile(path):
        return "no such file; expected one of fields, in YAML or JSON"
    if re.match(r"--\w+\.", complaint):  # of a field
        return in_words(complaint.partition(".")[2])
    if "Unable to load config" in complaint:
        return "no fields; expected some, in YAML or JSON"
    return complaint.replace('in "<unicode string>", ', "at ")


def in_words(message: str) -> str:
    """jsonargparse's complaint of a value in the words of ours: what came, and what was expected."""
    option, _, complaint = message.partition(": ")
    value, complaints = "", [complaint]
    if several := re.fullmatch(
        r"Does not validate against any.* Errors: - (.*?) Given value type: .*Given value: (.*)", complaint
    ):  # of a value that has several types, or may be left out
        value, complaints = several[2], several[1].split(" - ")
    found = [_came_and_expected(one) for one in complaints if "NoneType" not in one]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return message
    return f"{option}: {value or known[0][0]}; expected {' or '.join(expected for _, expected in known)}"


def _came_and_expected(complaint: str) -> tuple[str, str] | None:
    """The value that one type does not take, "" if the complaint has it not, and what the type takes; None: unknown."""
    if limits := re.fullmatch(r"Not of type \w+: (.*?) ?does not conform to restriction (.*)", complaint):
        words = {">=": "of at least", "<=": "at most", ">": "above", "<": "below"}
        found = re.findall(r"v(>=|<=|>|<)(-?[\d.]+)", limits[2])
        return limits[1], "a number " + ", ".join(f"{words[sign]} {float(limit):,.12g}" for sign, limit in found)
    if text := re.fullmatch(r"Not of type \w+: (invalid literal for int|could not convert).*?'(.*)'", complaint):
        return text[2], KINDS["int" if "int" in text[1] else "float"]
    if kind := re.fullmatch(
        r"Expected a (?:<class '(\w+)'>|typing\.Literal\[(.*)\])(?:\. Got value: (.*))?", complaint
    ):
        return kind[3] or "", KINDS.get(kind[1], kind[1]) if kind[1] else "one of " + kind[2].replace("'", "")
    return None
