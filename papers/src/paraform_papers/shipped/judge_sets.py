"""What judges of meaning are measured by: labelled pairs, of which no sentence was learned from."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from paraform import corpora
from paraform.corpora.labelled_pairs import read_labelled_pairs
from paraform.corpora.scored import read_scored
from paraform.corpora.treebank import read_treebank
from paraform.evaluation.embedding.development import PAWS, paws_halves
from paraform.evaluation.embedding.robustness import mined_others
from paraform.records import Pair, Sentence
from paraform.rewording.negatives import KINDS, negatives
from paraform.rewording.reworder import Reworder
from paraform.syntax import load_parser
from paraform.words import detokenize
from paraform_papers.shipped.banking_intents import two_parts
from paraform_papers.shipped.judge_data import RATED
from paraform_papers.shipped.judge_made import fits
from paraform_papers.shipped.judge_pairs import OTHER, SAME
from paraform_papers.shipped.lm_self import FREE_GENRES

MADE = 1_500  # sentences that held-out negatives are made of
HIGH, LOW = 4.5, 3.0  # mean mark for meaning, 1 to 5: at or above it an output says the same, at or below it does not


@dataclass(frozen=True)
class JudgedSet:
    """Pairs that say the same or do not.

    Args:
        kinds: of each pair, where a negative is of one; of those that say the same "".
        asks: "same", or "forth": whether the first says all of the second.
    """

    name: str
    pairs: list[tuple[str, str]]
    labels: list[bool]
    kinds: list[str] | None = None
    asks: str = "same"


def judged_sets(data: Path, *, seed: int = 0) -> Iterator[JudgedSet]:
    """All of them, one after another."""
    yield of_pairs("PAWS, reporting half", paws_halves(data / PAWS).reporting)
    yield of_pairs("MRPC", list(read_labelled_pairs(data / "mrpc/msr_paraphrase_test.txt")))
    yield of_pairs("PAN", list(read_labelled_pairs(data / "pan/pan-test.labels")))
    yield sick(data / "sick/SICK_test_annotated.txt")
    same = [pair for pair in corpora.read(data / "quora/test.tsv") if isinstance(pair, Pair)]
    others = mined_others(same, len(same), seed)
    yield JudgedSet("Quora", [sides(pair) for pair in [*same, *others]], [True] * len(same) + [False] * len(others))
    known = [pair for pair in read_scored(data / "stsb/stsb-en-test.csv") if pair.score is not None]
    told = [pair for pair in known if not OTHER < (pair.score or 0) < SAME]
    yield JudgedSet("STS-B", [sides(pair) for pair in told], [(pair.score or 0) >= SAME for pair in told])
    yield made_negatives(data, seed=seed)
    rows = [json.loads(line) for line in (RATED / "judge-written.jsonl").read_text(encoding="utf-8").splitlines()]
    kinds = ["" if row["label"] else row["kind"] for row in rows]
    yield JudgedSet("written", [(row["a"], row["b"]) for row in rows], [bool(row["label"]) for row in rows], kinds)
    yield from written_ways()
    yield rated()


def sides(pair: Pair) -> tuple[str, str]:
    """Both texts."""
    return pair.source.text, pair.target.text


def of_pairs(name: str, pairs: Sequence[Pair]) -> JudgedSet:
    """A set of labelled pairs."""
    return JudgedSet(name, [sides(pair) for pair in pairs], [pair.label == 1 for pair in pairs])


def sick(path: Path) -> JudgedSet:
    """SICK's pairs: whether the first entails the second, the one direction that its raters were asked of."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
    labels = [row["entailment_judgment"] == "ENTAILMENT" for row in rows]
    return JudgedSet("SICK", [(row["sentence_A"], row["sentence_B"]) for row in rows], labels, asks="forth")


def made_negatives(data: Path, *, seed: int) -> JudgedSet:
    """Sentences of corpora that no judge has learned from, reworded by rules or by hand, and negatives of these.

    Words come from the held-out quarter of the lists; a negative is made of the rewording, so that it is no nearer to
    its sentence than the rewording is.
    """
    pairs = held_out_rewordings(data, seed=seed)
    found = negatives([other for _, other in pairs], KINDS, load_parser(device="cpu"), part="held out", seed=seed)
    drawn, rows = random.Random(seed), [(one, other, "") for one, other in pairs]
    for (one, _), row in zip(pairs, found, strict=True):
        for kind, some in row.items():
            rows.append((one, drawn.choice(some).text, kind))
    kinds = [kind for _, _, kind in rows]
    return JudgedSet("made, held out", [row[:2] for row in rows], [not kind for kind in kinds], kinds)


def held_out_rewordings(data: Path, *, seed: int) -> list[tuple[str, str]]:
    """Sentences and what says the same: 240 rewordings written of untouched intents, and what the rules say."""
    lines = (RATED / "untouched-written.jsonl").read_text(encoding="utf-8").splitlines()
    written = [json.loads(line) for line in lines]
    texts = [
        detokenize([*tree.tokens])
        for part in ("dev", "test")
        for genre in FREE_GENRES
        if (file := data / "treebank/gum" / part / f"{genre}.mrg").exists()
        for tree in read_treebank(file)
        if tree.tokens
    ]
    texts += [one.text for some in two_parts(data / "banking77/train.csv").untouched.values() for one in some]
    texts += [record.text for record in corpora.read(data / "yelp/test.txt", "text") if isinstance(record, Sentence)]
    fit = sorted({text for text in texts if fits(text)})
    chosen = random.Random(seed).sample(fit, MADE)
    reworded = zip(chosen, Reworder.default("cpu").judge(chosen, num=1), strict=True)
    ruled = [(text, [one.text for one in row if not one.failed and not one.wrapped]) for text, row in reworded]
    return [*((row["source"], row["target"]) for row in written), *((text, some[0]) for text, some in ruled if some)]


def written_ways() -> Iterator[JudgedSet]:
    """What language models wrote of other sentences, as `judge_pairs.ways` has it: once by kind, once each direction.

    The first says all of the second where the second says the same, or less.
    """
    lines = (RATED / "judge-ways.jsonl").read_text(encoding="utf-8").splitlines()
    said: list[tuple[str, str, str]] = []
    for row in map(json.loads, lines):
        said += [(row["source"], text, "") for text in row["same"]]
        said += [(row["source"], text, f"other {at}") for at, text in enumerate(row["other"], start=1)]
        said += [(row["source"], row[kind], kind) for kind in ("less", "more")]
    kinds = [kind for _, _, kind in said]
    yield JudgedSet("ways", [(one, other) for one, other, _ in said], [not kind for kind in kinds], kinds)
    turned = [(other, one, {"less": "more", "more": "less"}.get(kind, kind)) for one, other, kind in said]
    ways = [way for way in (*said, *turned) if way[2] != "other 3"]  # whose weaker word may follow
    says = [kind in ("", "less") for _, _, kind in ways]
    yield JudgedSet("ways, one direction", [(one, other) for one, other, _ in ways], says, asks="forth")


def rated() -> JudgedSet:
    """Outputs that raters marked blind: those whose mean mark for meaning is high say the same, those of low do not."""
    texts: dict[str, tuple[str, str]] = {}
    marks: defaultdict[str, list[int]] = defaultdict(list)
    for file in sorted(RATED.glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            if "id" in row and "output" in row:
                texts[row["id"]] = (row["source"], row["output"])
            elif "id" in row and "meaning" in row:
                marks[row["id"]].append(row["meaning"])
    means = {name: fmean(some) for name, some in marks.items() if name in texts and texts[name][0] != texts[name][1]}
    told = {name: mean >= HIGH for name, mean in means.items() if mean >= HIGH or mean <= LOW}
    return JudgedSet("rated outputs", [texts[name] for name in told], list(told.values()))


def counts_of(one: JudgedSet) -> str:
    """How many say the same, and how many do not."""
    found = Counter(one.labels)
    return f"{found[True]:,} the same, {found[False]:,} not"
