"""The past tense of English verbs: of irregular ones from `irregular.txt`, of the others by rule."""

from __future__ import annotations

import functools
import re
from importlib import resources

DOUBLED = {"refer", "prefer", "occur", "admit", "permit", "commit", "transfer", "control", "cancel", "travel", "emit"}
DOUBLED |= {"regret", "submit", "omit", "equip", "infer", "defer", "compel", "expel", "patrol", "rebel", "repel"}


def past(verb: str) -> str:
    """The past tense of a base verb: "went" of "go"."""
    return _irregular().get(verb) or _regular(verb)


def _regular(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb) is not None  # "stop"
    return verb + verb[-1] * (short or verb in DOUBLED) + "ed"


@functools.cache
def _irregular() -> dict[str, str]:
    text = (resources.files("paraform.rewording") / "irregular.txt").read_text(encoding="utf-8")
    return dict(line.split() for line in text.splitlines() if not line.startswith("#"))
