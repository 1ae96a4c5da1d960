"""What is left alone, with the reason, and what is not; and how much real English is left alone wrongly."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from paraform.rewording import fluency
from paraform.rewording.readable import unreadable

LEFT_ALONE = {
    "another language": ["Как мне закрыть счёт?", "Я потерял карту.", "如何关闭我的账户?", "كيف حالك اليوم؟"],
    "another language, or no sentence": [
        "Wie kann ich mein Konto schließen?",
        "Ich habe meine Karte verloren und brauche Hilfe.",
        "Wo ist die Bank?",
        "Comment puis-je fermer mon compte ?",
        "Où est la gare ?",
        "¿Cómo puedo cerrar mi cuenta?",
        "No puedo entrar en mi cuenta.",
        "Ciao, come stai oggi?",
        "asdf qwer zxcv",
        "xkcd qwzt the vbnm asdf",
    ],
    "code or an address": [
        "def f(x): return x + 1",
        "import numpy as np; import os",
        "for (int i = 0; i < n; i++) { x += i; }",
        "public static void main(String[] args) {}",
        'console.log("hello world");',
        "SELECT name FROM users WHERE id = 3;",
        "select * from users",
        "insert into users values (1)",
        "Delete from users where old",
        "update users set name to his name",
        '<div class="a">Hello there</div>',
        "#include <stdio.h>",
        "let x = 5;",
        "https://example.org/what?is=this",
        "name@example.org",
    ],
    "no words": ["", " \t\n", "???", "...", "12,345", "😀😀", "\0", "=;=;"],
    "shouting": ["WHERE IS MY CARD", "I WANT MY MONEY BACK NOW!!!"],
    "too short": ["Hello", "TV?", "NASA", "x1 x2"],
}
READ = """
how do i get a visa
What is NASA?
ATM ate my card
Where is Paris?
who is he
Whats the exchange rate
i cant acess my acount
Is it ok?
why me?
It's raining.
Go away!
Tom loves Mary.
My PIN does not work.
Is USD or EUR better?
Is BMW or VW better?
Is Zoë's café open?
Did Dvořák live in Prague?
What does if (x) mean in C?
How do I select rows from a table?
How do I write a class in Python?
Can I import goods from China?
Import duties are too high.
Class action lawsuits are slow.
Delete my account from your system.
Select a seat from the plan.
Insert the card into the slot.
Update my address and set a new password.
Mail me at a@b.org please
Is https://example.org safe?
The cat\0sat on the mat.
I love it 😀😀😀
"""


@pytest.fixture(scope="module")
def language() -> fluency.NGrams:
    return fluency.load()


@pytest.mark.parametrize(("text", "reason"), [(text, reason) for reason, some in LEFT_ALONE.items() for text in some])
def test_left_alone(text: str, reason: str, language: fluency.NGrams) -> None:
    assert unreadable(text, language) == reason


@pytest.mark.parametrize("text", READ.strip().split("\n"))
def test_read(text: str, language: fluency.NGrams) -> None:
    assert unreadable(text, language) == ""


def test_real_english_is_read(data: Path, language: fluency.NGrams) -> None:
    """Less than one text in a hundred is left alone."""
    with open(data / "banking77" / "train.csv", encoding="utf-8", newline="") as file:
        banking = [row[0] for row in csv.reader(file)][1:]
    corpora = {"banking77": banking}
    for name in ("quora/dev.tsv", "tatoeba/pairs.tsv"):
        lines = (data / name).read_text(encoding="utf-8").splitlines()
        corpora[name] = list(dict.fromkeys(text for line in lines for text in line.split("\t")[:2]))
    for name, texts in corpora.items():
        some = texts[::4]
        assert sum(unreadable(text, language) != "" for text in some) < 0.01 * len(some), name


@pytest.mark.parametrize(
    "part", ["a", "a b ", "Can I go? ", "(((( ", "'", '"x" ', "a.b.", "//?a=", "<", "select ", "x("]
)
def test_long_texts_take_no_long_time(part: str, language: fluency.NGrams) -> None:
    started = time.process_time()
    unreadable(part * (100_000 // len(part)), language)
    assert time.process_time() - started < 2
