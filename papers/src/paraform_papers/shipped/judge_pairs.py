"""The labelled pairs that judges of meaning learn from, corpus by corpus, as they are distributed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from importlib import resources
from pathlib import Path

from paraform import corpora
from paraform.corpora.labelled_pairs import read_labelled_pairs
from paraform.corpora.scored import read_scored
from paraform.evaluation.embedding.development import PAWS, paws_halves
from paraform.evaluation.embedding.robustness import mined_others
from paraform.records import Origin, Pair, Sentence, texts_of
from paraform_papers.shipped.rewording_corpora import pairs_of
from paraform_papers.shipped.written import digest

SAME, OTHER = 4.6, 3.4  # of 5: from it on two texts say the same, up to it they do not
MOST_QUORA = 12_000


def labelled(data: Path, terms: str, of_ways: slice = slice(None)) -> dict[str, list[Pair]]:
    """The labelled pairs of each corpus, as they are distributed; of `ways` those of these sentences."""
    choosing = corpora.clusters([replace(pair, label=None) for pair in paws_halves(data / PAWS).choosing])
    both = list(zip(paws_halves(data / PAWS).choosing, choosing, strict=True))
    found = {
        "paws": [pair for pair, one in both if (one.cluster or 0) % 5],
        "paws dev": [pair for pair, one in both if not (one.cluster or 0) % 5],
        "tatoeba": [replace(pair, label=1) for pair in pairs_of(data, "tatoeba")],
        "stsb": scored(data / "stsb/stsb-en-train.csv"),
        "read": read_answers(),
        "written": written_rewordings(),
        "swapped": swapped(),
        "ways": ways(of_ways),
        "near": near(),
        "quora dev": asked(data / "quora" / "dev.tsv"),
    }
    if terms == "all":
        found["mrpc"] = list(read_labelled_pairs(data / "mrpc/msr_paraphrase_train.txt"))
        found["pan"] = list(read_labelled_pairs(data / "pan/pan-train.labels"))
        quora = [replace(pair, label=1) for pair in pairs_of(data, "quora")]
        found["quora"] = random.Random(0).sample(quora, min(len(quora), MOST_QUORA))
        found["near"] += near(texts_of(quora))
    return found


def asked(path: Path) -> list[Pair]:
    """Quora's duplicates, and as many questions of other clusters that share most words."""
    same = [pair for pair in corpora.read(path) if isinstance(pair, Pair)]
    others = mined_others(same, len(same), 0)
    return [replace(pair, label=label) for label, some in ((1, same), (0, others)) for pair in some]


def scored(path: Path) -> list[Pair]:
    """Pairs of a file of scores that say the same, or do not."""
    known = [pair for pair in read_scored(path) if pair.score is not None and not OTHER < pair.score < SAME]
    return [replace(pair, label=int((pair.score or 0) >= SAME), score=None) for pair in known]


def read_answers() -> list[Pair]:
    """Answers of earlier models that a person or a language model read: usable or clumsy ones say the same."""
    text = (resources.files("paraform_papers.shipped") / "read.jsonl").read_text(encoding="utf-8")
    meant = {"usable": 1, "awkward": 1, "wrong": 0}
    origin = Origin("read.jsonl", 1)
    return [
        Pair(Sentence(row["source"]), Sentence(row["answer"]), label=meant[row["read"]], origin=origin)
        for row in map(json.loads, text.splitlines())
        if row["read"] in meant and "source" in row  # the others are sentences that may not be given on
    ]


def written_rewordings() -> list[Pair]:
    """What language models wrote in other words, two of each sentence (`written.jsonl`)."""
    text = (resources.files("paraform_papers.shipped") / "written.jsonl").read_text(encoding="utf-8")
    rows = [row for row in map(json.loads, text.splitlines()) if "source" in row]
    return [Pair(Sentence(row["source"]), Sentence(said), label=1) for row in rows for said in row["said"]]


def swapped() -> list[Pair]:
    """What language models wrote with nearly the words of SQuAD's sentences: that say the same, and that do not."""
    text = (resources.files("paraform_papers.shipped") / "swapped.jsonl").read_text(encoding="utf-8")
    pairs = []
    for row in map(json.loads, text.splitlines()):
        source = Sentence(row["source"])
        pairs += [Pair(source, Sentence(said), label=1) for said in row["same"]]
        pairs += [Pair(source, Sentence(said), label=0, forth=0.0, back=0.0) for said in row["other"]]
    return pairs


def ways(some: slice = slice(None)) -> list[Pair]:
    """What language models wrote of sentences: that says the same, something else, less, and more (`ways.jsonl`).

    Of "other" the first two exchange what the sentence says; one of a weaker word may follow from it, as may any of a
    line with "focus", whose modal verb, tense, connective or quantity is another one.
    """
    text = (resources.files("paraform_papers.shipped") / "ways.jsonl").read_text(encoding="utf-8")
    pairs = []
    for at, row in enumerate(map(json.loads, text.splitlines()[some])):
        source, same = Sentence(row["source"]), [*map(Sentence, row["same"])]
        sides = [source, *same]
        pairs += [Pair(source, one, label=1) for one in same]
        for number, said in enumerate(row["other"]):
            way = 0.0 if number < 2 and "focus" not in row else None
            pairs.append(Pair(sides[(at + number) % len(sides)], Sentence(said), label=0, forth=way, back=way))
        less, more = Sentence(row["less"]), Sentence(row["more"])
        pairs.append(Pair(source, less, label=0, forth=1.0, back=0.0))
        pairs.append(Pair(source, more, label=0, forth=0.0, back=1.0))
        pairs.append(Pair(more, less, label=0, forth=1.0, back=0.0))
    return pairs


def near(texts: Iterable[str] = ()) -> list[Pair]:
    """Pairs that minilm finds near, and whether a language model that read them says that they ask or say the same.

    `near.jsonl` has those of SQuAD's questions, Banking77's used intents and Tatoeba; of Quora's only digests.

    Args:
        texts: Quora's, to find those of that corpus; none: the others.
    """
    text = (resources.files("paraform_papers.shipped") / "near.jsonl").read_text(encoding="utf-8")
    known = {digest(one): one for one in texts}
    pairs = []
    for row in map(json.loads, text.splitlines()):
        first, second = row.get("texts") or [known.get(one) for one in row["digests"]]
        if first and second and bool(known) == ("digests" in row):
            pairs.append(Pair(Sentence(first), Sentence(second), label=int(row["same"])))
    return pairs
