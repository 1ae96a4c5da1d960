"""What answers were read as, and which figure of a language model's tells the usable ones from the others.

    python -m paraform_papers.shipped.said_answers docs/ratings/said-answers.jsonl
    python -m paraform_papers.shipped.said_answers docs/ratings/said-answers.jsonl --by runs/mine  # its own `beside`
    python -m paraform_papers.shipped.said_answers docs/ratings/said-answers.jsonl --judge smollm2-judge

A row of the file is an answer to a sentence, whose it is (`set`), how it was read, once, and the figures of the default
call's checks, as far as they were made. Sets:
- "figures": three of a sentence's likeliest six answers, by adapters of 10,422 records; read by who built them.
- "20261129", "20261130": what passed all checks of the embedded adapters (18,847 records); read by who built them.
- "20261202 …": of one draw of 220 sentences by that seed: 40 each of Banking77's untouched intents, yelp/valid, GUM's
  development files and quora/dev; 50 commands and 10 tickets by the writers of `written.jsonl`, held out of it.
  Language models read them and were not told whose an answer is. "candidates" are up to six answers of a sentence that
  fail one check at most, by adapters that went on with `written` (13,000 records of its first 3,971 sentences, at
  commit 6255439).
  "rules", "embedded" and "with written" are each system's best answer, read shuffled; what of rules only puts words
  around was not read. "rules, more synonyms" and "default", today's without and with the language model, were read
  later in the same way; synonyms and thresholds were set on these sentences, too.
- "synonyms": 140 sentences (30 each of the first four kinds by another seed, commands, tickets) with one synonym
  each, of a first table; `suits` is what the table has now. "with written" is `beside` by the adapters of that name.
- "order": sentences of yelp/valid, GUM's development files and SQuAD whose "and" or "or" is turned.
Nothing may learn from these sentences.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from paraform import checkpoint
from paraform.capabilities import JudgesMeaning
from paraform.models.lm import LMParaphraser
from paraform.rewording.standards import STANDARDS
from paraform_papers.shipped.judge import SAME

DRAW, SYSTEMS = "20261202", ("rules", "embedded", "with written", "rules, more synonyms", "default")
THEN = {"rules, then its own sentences": ("rules", "embedded"), "rules, then with written": ("rules", "with written")}
RESAMPLES = 2000


def counts(rows: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """How many of each set were read as what."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row["set"], Counter())[row["read"]] += 1
    return found


def areas(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Of each figure the area under the ROC curve, by which usable answers stand above the others."""
    clear = [row for row in rows if row["read"] != "unclear"]
    usable = [row["read"] == "usable" for row in clear]
    return {name: float(roc_auc_score(usable, [row["figures"][name] for row in clear])) for name in clear[0]["figures"]}


def usable_of_all(rows: list[dict[str, Any]]) -> dict[str, tuple[int, int, float, float]]:
    """Of the draw's sentences, for each system: how many have a usable answer, of how many, and the share's interval.

    And of rules where they answer with more than words put around, else of another system. Intervals are 95 %, by
    resampling sentences.
    """
    read = {name: {row["source"]: row["read"] for row in rows if row["set"] == f"{DRAW} {name}"} for name in SYSTEMS}
    rules = {source: how for source, how in read["rules"].items() if how != "wrapped"}
    read |= {name: {**read[other], **rules} for name, (_, other) in THEN.items()}
    sources = list(dict.fromkeys(row["source"] for row in rows if row["set"].startswith(f"{DRAW} ")))
    drawn = np.random.default_rng(0).integers(len(sources), size=(RESAMPLES, len(sources)))
    out = {}
    for name, found in read.items():
        usable = np.array([found.get(source) == "usable" for source in sources])
        low, high = np.percentile(usable[drawn].mean(1), (2.5, 97.5))
        out[name] = int(usable.sum()), len(sources), float(low), float(high)
    return out


def by_suits(rows: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Of sentences with a synonym whose `beside` will do, copies aside: how many are usable, of how many."""
    told = [row for row in rows if "suits" in row and row["read"] != "copy"]
    found: dict[str, tuple[int, int]] = {}
    for suits, least in STANDARDS.beside.items():
        read = [row["read"] for row in told if row["suits"] == suits and row["figures"]["beside"] >= -least]
        found[suits] = read.count("usable"), len(read)
    return found


def beside_by(model: LMParaphraser, rows: list[dict[str, Any]]) -> float:
    """The area of `beside` by this model, of sentences with one synonym."""
    told = [row for row in rows if row["set"] == "synonyms"]
    sources, answers = ([row[side] for row in told] for side in ("source", "answer"))
    own, said = (np.array([shares.sum() for shares in model.likelihood(sources, some)]) for some in (sources, answers))
    found = [{**row, "figures": {"beside": value}} for row, value in zip(told, said - own, strict=True)]
    return areas(found)["beside"]


def judged(rows: list[dict[str, Any]], judge: JudgesMeaning, name: str) -> dict[str, dict[str, list[float]]]:
    """Of that set of the draw, by the one check that each fails ("": none): `same` of what was read as what."""
    told = [row for row in rows if row["set"] == f"{DRAW} {name}"]
    same = judge.judge([(row["source"], row["answer"]) for row in told]).same
    found: dict[str, dict[str, list[float]]] = {}
    for row, value in zip(told, same, strict=True):
        by = found.setdefault("".join(row.get("failed", [])), {"usable": [], "wrong": []})
        by.setdefault(row["read"], []).append(float(value))
    return dict(sorted(found.items()))


def main() -> None:
    """Print them all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("answers", type=Path)
    parser.add_argument("--by", help="a language model: print how well its likelihoods tell, and no more")
    parser.add_argument("--judge", help="a judge of meaning: print what it refuses beside each check, and no more")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.answers.read_text(encoding="utf-8").splitlines()]
    if options.by:
        print(f"beside by {options.by}: {beside_by(checkpoint.load(options.by, device='cpu'), rows):.3f}")
        return
    if options.judge:
        judge = checkpoint.load(options.judge, device="cpu")
        print("| set | fails alone | usable | of them judged the same | wrong | of them judged the same |")
        print("| --- | --- | ---: | ---: | ---: | ---: |")
        for name in ("default", "candidates"):
            for check, by in judged(rows, judge, name).items():
                cells = [
                    count for read in ("usable", "wrong") for count in (len(by[read]), sum(x >= SAME for x in by[read]))
                ]
                print(f"| {name} | {check or 'none'} |", " | ".join(map(str, cells)), "|")
        return
    for name, found in counts(rows).items():
        own = [row for row in rows if row["set"] == name]
        usable = {row["source"] for row in own if row["read"] == "usable"}
        print(
            f"{name}: {dict(found)}; {len(usable)} of {len({row['source'] for row in own})} sentences have a usable one"
        )
        passed = [row["read"] for row in own if row.get("failed") == []]
        if passed:
            print(f"  {passed.count('usable')} of {len(passed)} that pass all checks are usable")
        if some := [row for row in own if row.get("figures")]:
            print("  " + ", ".join(f"{figure} {area:.2f}" for figure, area in areas(some).items()))
    for suits, (usable_, told) in by_suits(rows).items():
        print(f"synonyms for {suits} of their sentences, likely enough: {usable_} of {told} usable")
    for name, (count, all_, low, high) in usable_of_all(rows).items():
        print(f"{name}: {count} of {all_} usable, {100 * low:.1f} to {100 * high:.1f} %")


if __name__ == "__main__":
    main()
