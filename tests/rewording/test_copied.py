"""Three hundred texts with what must come back as it was: slots, code, prices, dates, names, addresses and so on.

Each is reworded around what stands in it, or left alone. The oracle knows nothing of how it is done: the piece itself,
character for character, and as often as in the text.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paraform
from paraform.demo.answers import Answers
from paraform.jobs.rewording import KEPT
from paraform.records import Candidate

PIECES = {
    "slots": (
        "{name} {card_type} {{ user.name }} {{date}} ${PASSWORD} $order_number %s %(city)s %d "
        '<name> <CITY> [CITY] [FIRST_NAME] [Berlin](city) [Rome]{"entity":"city"} __NAME__ '
        "#NAME# @name :city: {0} {order.id} ${{ id }} [first_name] {{#date}} %5.2f $x "
        "<b>it</b> __ORDER_ID__ [ORDER-ID] {x}{y}"
    ),
    "code": (
        "print() os.path.join() foo_bar fooBar obj.method() x[0] a==b i++ --force -v npm2 "
        "std::vector f(x) my_file.txt config.yaml git@v2 null_ptr 0xFF utf-8 C++ C# .NET "
        "node.js __init__.py a/b/c /etc/passwd C:\\Users\\me ~/.bashrc x=1 arr[i]"
    ),
    "prices": (
        "$5 $1,000 $3.50 €20 £7.99 10% 10%–20% 1,5% 99¢ US$5 5$ CHF20 ¥500 $5/month $10k 2.5€ "
        "+5% -3% $0.99 20-30 3x $1.2m 1/2 №5 #1 50p 12.000,50 1'000 5€/kg ½"
    ),
    "dates": (
        "10:30 10:30am 3/4/2024 2024-11-27 27.11.2026 5pm 5.30pm 24/7 9-5 12:00-14:00 1990s "
        "'90s Q3 2024/25 1st 2nd 31/12 08:05:09 10.30 7am–9am 2026-W48 10:30:15 12/2026 3rd 4h "
        "30min 2x/day 5-day 11th 1995–99"
    ),
    "names": (
        "O'Neill deVries Jean-Luc McDonald iPhone AT&T Marks&Spencer H&M Müller Zoë São x.ai YouTube "
        "eBay PayPal L'Oréal Anne-Marie D'Angelo Coca-Cola 7-Eleven Dr.Oetker 3M R&D "
        "MacOS WhatsApp JPMorgan B&Q Núñez Škoda T-Mobile"
    ),
    "addresses": (
        "bob@mail.com https://a.org/b?c=1&d=2 www.x.org http://t.co/9iJ a.b@c.co.uk x.org/faq "
        "+44-20-7946 (555)123-4567 192.168.0.1 ftp://f.org localhost:8080 me+tag@x.io 555-0100 "
        "https://x.org:8080/a SW1A-1AA 10.0.0.1:80 user@host https://en.x.org/wiki/A_(b) "
        "mailto:a@b.co x.org#top https://x.org/?q=a+b 1-800-FLY 221B-Baker https://x.org/a,b "
        "files.x.org/a.zip a@b.de t.me/x x.org/a-b https://x.org/%20 whois://x.org"
    ),
    "hashtags": (
        "#StarWars2 @Host_1 #fun @bob :smile: :+1: :) :-( ;) <3 #a_b @a_b_c #NoFilter u/bob "
        "r/cats #1day @X9 ^_^ #COVID19 @the_bob #x #tbt o/ #MeToo @_x #Ünï :heart: #2024goals "
        "@bob_ #abc123"
    ),
    "quotes": (
        '"hello" \'hello\' “hello” ‘hello’ «hello» "x,y" "a.b" (hello) [hello] "hello". `code` '
        '``x`` "Pay-now" (b) "5" “A” \'ok\' "e-mail" (sic) "yes/no" «a» "x" (1) ‘b’ “c-d” \'e\' '
        '"F" (g/h) [i] "j_k"'
    ),
}
CARRIERS = (
    "Can I use {} here?", "How do I change {} today?", "Is it possible to find {} online?", "Please send me {} now.",
    "What is the best way to check {}?", "Why can’t I see {} any longer?", "How can I get rid of {}?",
)  # fmt: skip
LISTS = ["# Help\n\n- How do I pay my bill?\n- {}\n", "1. {}\n2) Can I pay by card?", "* {}\n  * Where is my card?\n"]
LETTERS = [
    "Dear Ann,\n\n{} I need it.\n\nBest,\nBob",
    "Hi,\n{}\nThanks\n  B.",
    "To whom it may concern:\r\n{}\r\nYours",
]


def texts() -> list[tuple[str, list[str]]]:
    """Thirty of each kind, and what must be in each."""
    out = []
    for kind, pieces in PIECES.items():
        each = pieces.replace("{{ ", "{{_").replace(" }}", "_}}").split()
        assert len(each) == 30 == len(set(each)), (kind, len(each))
        for piece, carrier in zip(each, itertools.cycle(CARRIERS), strict=False):
            piece = piece.replace("{{_", "{{ ").replace("_}}", " }}")
            out.append((carrier.replace("{}", piece), [piece]))
    asked = [carrier.replace("{}", "my order") for carrier in CARRIERS]
    for frames in (LISTS, LETTERS):
        for number, sentence in zip(range(30), itertools.cycle(asked), strict=False):
            before, after = frames[number % len(frames)].split("{}")
            marks = [
                mark
                for mark in ("# Help\n\n- ", "\n- ", "2) ", "  * ", "\r\n", "\n\nBest,\nBob")
                if mark in before + after
            ]
            text = f"{before}{sentence.replace('order', f'order {number}')}{after}"
            out.append((text, [str(number), *marks, *(part for part in (before[:7], after[-6:]) if "?" not in part)]))
    return out


TEXTS = texts()
LIKE = "Is there any way to learn chess?"


def lost(candidate: str, text: str, pieces: list[str]) -> list[str]:
    """What is not there as often as in the text, and a line break more or less."""
    return [one for one in (*pieces, "\n") if candidate.count(one) != text.count(one)]


def test_the_default_call() -> None:
    assert len(TEXTS) == 300
    found = paraform.reword([text for text, _ in TEXTS], num=1)
    wrong = [
        (one.source, candidate.text, gone)
        for one, (text, pieces) in zip(found, TEXTS, strict=True)
        for candidate in one.candidates
        if (gone := lost(candidate.text, text, pieces))
    ]
    assert wrong == []
    assert sum(bool(one.candidates) for one in found) > 280  # it is not done by leaving all alone


def test_a_given_form(command: Callable[..., Any], tmp_path: Path) -> None:
    """Those that lost something are left out, and counted."""
    one_line = [(text, pieces) for text, pieces in TEXTS[::3] if "\n" not in text]
    (tmp_path / "texts.txt").write_text("".join(f"{text}\n" for text, _ in one_line), encoding="utf-8")
    done = command("paraphrase", tmp_path / "texts.txt", "--like", LIKE, "--json")
    found = json.loads(done.out)
    pieces_of = dict(one_line)
    rows = [(row["paraphrase"], row["source"]) for row in found["paraphrases"]]
    assert [pair for pair in rows if lost(*pair, pieces_of[pair[1]])] == []
    assert len(rows) + len(found["skipped"]) == len(one_line) and rows
    assert "lost" in done.err


def test_a_table(command: Callable[..., Any], tmp_path: Path) -> None:
    with open(tmp_path / "a.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text", "n"], *((text, number) for number, (text, _) in enumerate(TEXTS[::10]))])
    command("augment", tmp_path / "a.csv", "--out", tmp_path / "b.csv", "--no-source", "--no-mark")
    with open(tmp_path / "b.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 20
    wrong = [(row["text"], gone) for row in rows if (gone := lost(row["text"], *TEXTS[::10][int(row["n"])]))]
    assert wrong == []


@pytest.mark.parametrize("like", [[], [LIKE]])
def test_the_page(like: list[str]) -> None:
    """In a given form it shows every output, with its checks."""
    answers = Answers("cpu")
    for text, pieces in TEXTS[::60]:
        for one in answers.say(text, like)["candidates"]:
            checks = Candidate("", "", one["checks"], 0.0)
            assert not lost(one["text"], text, pieces) or {*KEPT} & {*checks.failed}
