"""The training data of `compact`, made of a folder of a few rows a corpus."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform import corpora, encoders
from paraform.records import Origin, Pair, Sentence
from paraform.words import tokenize
from paraform_papers.shipped import banking_intents, rewording_data
from paraform_papers.shipped.banking_intents import alike, near_duplicates, two_parts

INTENTS = {
    "balance": ["What is my balance today?", "What is the balance today?", "Tell me the balance.", "I am rich now."],
    "card": ["Where can I get a new card?", "Where do I get a new card?", "Is the card here?"],
    "fees": ["Why was I charged a fee for the transfer?", "Why is there a fee for the transfer?", "No fee, please."],
}
QUORA = [
    ("How do I get to the town of Paris?", "What is the best way to get to Paris?"),
    ("how do i learn to cook in paris", "what is the best way to learn to cook in paris"),  # lower-cased
    ("How do I get to the old town of Rome?", "What is the best way to get to Paris by bus?"),  # another name
    ("How do I learn the piano?", "how do i learn the piano"),  # the same words
    ("Where is the good food?", "Where can I find the good food?"),  # the first is in a test
    ("Where can I find the good food?", "In which place is the good food?"),  # the same cluster
    ("Who <unk> the cat?", "By whom is the cat seen?"),
    *((f"How do I open a box of {what}?", f"What is the way to open a box of {what}?") for what in ("tea", "milk")),
]


def embed(texts: list[str]) -> NDArray[np.float32]:
    """Words that texts have, as vectors of length 1."""
    words = sorted({word for text in texts for word in tokenize(text.lower())})
    counts = np.array([[word in tokenize(text.lower()) for word in words] for text in texts], np.float32)
    return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), np.float32)


class Encoder:
    encode = staticmethod(embed)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"

    def write(name: str, *lines: str) -> None:
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    write("quora/train.tsv", *("\t".join(pair) for pair in QUORA))
    write("quora/dev.tsv", "How can I see the moon?\tWhat is the way to see the moon?")
    write("quora/test.tsv", "where is the good food\tIs this the good food ?")
    write("paranmt/train.tsv", "we 'll go to paris by bus .\tto paris it is that with the bus we go .")
    write("paranmt/dev.tsv", "i see you .\ti can see you now .")
    write(
        "tatoeba/pairs.tsv",
        *(f"She has {what} cats at home.\tAt home, she has {what} cats." for what in ("big", "old")),
    )
    mrpc = "1\t1\t2\tThe man said that he had seen it.\tThe man said he saw it."
    write(
        "mrpc/msr_paraphrase_train.txt", "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", mrpc, mrpc.replace("1", "0", 1)
    )
    write("pan/pan-train.labels", "1", "0")
    write("pan/pan-train_s1.txt", "The ship was turning to the coast.", "One dog is here.")
    write("pan/pan-train_s2.txt", "Turning it was, the ship, to the coast.", "No cat is there.")
    paws = [
        f"{n}\tThe {a} sees the dog with me.\tWith me the {a} sees the dog.\t{n % 2}"
        for n, a in enumerate("abcdefghijkl")
    ]
    write("paws/dev.tsv", *(line.replace(" sees", "-man sees") for line in paws))
    write(
        "yelp/train.txt",
        "we had the best pie of the town .",
        "try the soup of the day !",
        "it cost _num_ of my dollars .",
    )
    write(
        "ptb/ptb.train.txt",
        " the plan of the board is in the hands of the court ",
        " the plan rose N points on the day ",
    )
    context = "The tower of the town is the home of a bird. It was built in 1889 by the men of the town."
    question = {"id": "a", "question": "What is it?", "answers": [{"text": "tower", "answer_start": 4}]}
    squad = {"data": [{"title": "t", "paragraphs": [{"context": context, "qas": [question]}]}]}
    write("squad/train-part.json", json.dumps(squad))
    with (data / "squad" / "train-part.json").open() as file:
        assert json.load(file) == squad
    (data / "banking77").mkdir()
    with (data / "banking77" / "train.csv").open("w", newline="", encoding="utf-8") as table:
        rows = [(text, intent) for intent, texts in INTENTS.items() for text in texts]
        csv.writer(table).writerows([("text", "category"), *rows])
    return data


@pytest.fixture
def made(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: None) -> dict[str, Any]:
    """What the command writes."""
    load = encoders.load
    monkeypatch.setattr(
        "paraform_papers.shipped.rewording_corpora.encoders.load",
        lambda name: Encoder() if name == "minilm" else load(name),
    )
    monkeypatch.setattr(
        "paraform_papers.shipped.rewording_corpora.annotate", lambda texts: [Sentence(text) for text in texts]
    )
    monkeypatch.setattr(banking_intents, "LEAST", 0.6)
    monkeypatch.setattr(rewording_data, "LEAST", 0.3)
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["rewording_data", str(folder), "--out", str(out)])
    rewording_data.main()
    read = {name: list(corpora.read(out / f"{name}.jsonl", "jsonl")) for name in ("train", "dev")}
    first = (out / "train.jsonl").read_bytes()
    rewording_data.main()
    assert (out / "train.jsonl").read_bytes() == first
    monkeypatch.setattr(sys, "argv", ["rewording_data", str(folder), "--out", str(out), "--only", "paranmt"])
    rewording_data.main()
    read["paranmt"] = list(corpora.read(out / "train.jsonl", "jsonl"))
    return {**read, "counts": (out / "counts.md").read_text(encoding="utf-8")}


def test_what_is_made(made: dict[str, Any], folder: Path) -> None:
    train: list[Pair] = made["train"]
    written = {(pair.source.text, pair.target.text) for pair in train}
    assert all(isinstance(pair, Pair) and pair.cluster is not None for pair in train)

    both = ("How do I learn to cook in Paris", "What is the best way to learn to cook in Paris")  # case is restored
    assert both in written and both[::-1] in written
    back = ("To Paris it is that with the bus we go.", "We'll go to Paris by bus.")
    assert back in written and back[::-1] not in written  # a machine's English is no target
    texts = {text for pair in written for text in pair}
    for gone in ("Rome", "piano", "good food", "<unk>", "_num_", "One dog", "moon"):
        assert not any(gone in text for text in texts), gone

    alone = {pair.target.text for pair in train if pair.label is None}
    assert "Try the soup of the day!" in alone and "The plan of the board is in the hands of the court." in alone
    assert "The tower of the town is the home of a bird." in alone
    assert all(pair.label == 1 for pair in train if pair.target.text not in alone)
    parts = two_parts(folder / "banking77" / "train.csv")
    assert not any(text in texts for intent in parts.untouched for text in INTENTS[intent])
    assert any(text in texts for intent in parts.used for text in INTENTS[intent])

    dev = {(pair.source.text, pair.target.text) for pair in made["dev"]}
    assert ("How can I see the moon?", "What is the way to see the moon?") in dev
    assert ("I can see you now.", "I see you.") in dev
    assert not texts & {text for pair in dev for text in pair}
    clusters: dict[str, set[int | None]] = {}
    for pair in train:
        for side in (pair.source.text, pair.target.text):
            clusters.setdefault(side, set()).add(pair.cluster)
    assert max(map(len, clusters.values())) == 1


def test_one_corpus_alone_is_written_as_among_all(made: dict[str, Any]) -> None:
    texts = {pair.source.text for pair in made["paranmt"]}
    assert "To Paris it is that with the bus we go." in texts and "How do I learn to cook in Paris" not in texts
    assert made["paranmt"] == [pair for pair in made["train"] if pair.source.text in texts]


def test_everything_is_counted(made: dict[str, Any]) -> None:
    """What is read is what is left out and what is written."""
    header, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in made["counts"].splitlines()]
    table = {
        row[0]: Counter({why: int(cell or 0) for why, cell in zip(header[1:], row[1:], strict=True)}) for row in rows
    }
    quora = table["quora"]
    assert (quora["read"], quora["a mark for a word"], quora["same words"], quora["other facts"]) == (9, 1, 1, 1)
    assert (quora["in a test"], quora["its cluster"], quora["1 → 2"], quora["2 → 1"], quora["dev"]) == (1, 1, 4, 4, 1)
    assert (table["paranmt"]["1 → 2"], table["paranmt"]["2 → 1"]) == (0, 1)
    for name, row in table.items():
        ways = ("→ sentence",) if name.endswith("alone") else ("2 → 1",)
        kinds = ("statements", "commands", "questions", "1 → 2", "dev")
        assert row["read"] == sum(count for why, count in row.items() if why not in ("read", *kinds)), name
        assert row[ways[0]] == sum(row[kind] for kind in kinds[:3]) or not name.endswith("alone")
    assert sum(row["1 → 2"] + row["2 → 1"] + row["→ sentence"] for row in table.values()) == len(made["train"])


def test_pairs_of_another_meaning_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def pair(one: str, other: str, corpus: str) -> Pair:
        return Pair(Sentence(one), Sentence(other), label=1, origin=Origin(f"{corpus}/train.tsv", 1))

    near, far = pair("a b c d e", "a b c d f", "quora"), pair("a b c d e", "f g a b c", "quora")  # cosines 0.8 and 0.6
    free = pair("a b", "c d", "tatoeba")
    monkeypatch.setattr(rewording_data, "LEAST", 0.7)
    assert rewording_data.of_one_meaning([far, free, near], embed) == [free, near]


def test_a_third_of_the_intents_is_untouched(folder: Path, data: Path) -> None:
    parts = two_parts(folder / "banking77" / "train.csv")
    assert (len(parts.used), len(parts.untouched)) == (2, 1)
    assert {**parts.used, **parts.untouched}.keys() == INTENTS.keys()
    assert two_parts(folder / "banking77" / "train.csv") == parts
    whole = two_parts(data / "banking77" / "train.csv")
    assert (len(whole.used), len(whole.untouched)) == (51, 26)
    assert sum(len(texts) for part in whole for texts in part.values()) == 9_999  # different texts, of 10,003 rows
    assert "card_arrival" in whole.untouched and "age_limit" in whole.used  # who draws otherwise trains on tests


def test_near_duplicates_are_those_of_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(banking_intents, "LEAST", 0.6)
    intents = [[Sentence(text) for text in texts] for texts in INTENTS.values()]
    found = {(pair.source.text, pair.target.text) for pair in near_duplicates(intents, embed)}
    expected = set()
    for texts in INTENTS.values():
        cosines = embed(texts) @ embed(texts).T
        expected |= {
            (one, other)
            for at, one in enumerate(texts)
            for to, other in enumerate(texts[at + 1 :], start=at + 1)
            if cosines[at, to] >= 0.6 and alike(one, other)
        }
    assert found == expected and len(found) >= 3


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Where is it?", "Which place is it in?", True),
        ("Where is it?", "Tell me where it is.", False),
        ("I can find it.", "I can't find it.", False),
        ("I can not find it.", "I can't find it.", True),
        ("Is it there?", "Is it there, or is it here, or is it somewhere else?", False),
    ],
)
def test_what_is_alike(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same and alike(other, one) is same
