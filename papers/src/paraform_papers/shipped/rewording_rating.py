"""What `paraphrase` says by default, to be rated blind: 50 utterances of Banking77 and 50 questions of quora/dev.

    python -m paraform_papers.shipped.rewording_rating ../shared/data --out runs/rating --before old-bank.txt
    paraform rate runs/rating/today.jsonl runs/rating/before.jsonl \\
        --control runs/rating/same.jsonl runs/rating/people.jsonl --out runs/rating/ratings.jsonl
    paraform rate --report runs/rating/ratings.jsonl --bad same --good people

Running time: a minute. The inputs are drawn by seed 32 from those that no development draw had: nothing was tuned on
them. `before` is what the default call did until rewording came: an exemplar drawn from a bank of 64, decoded greedily,
never checked, with today's clean text; OLD-BANK is what
`git show 619d7b9:src/paraform/pretrained/quora-compact/bank.txt` prints. `same` copies 25 of the sources, `people`
are 25 sentences of Tatoeba of 5 to 12 words with one that shares a translation, at least two words apart. (Quora's own
pairs are no control: one answer serves both questions, yet half of them do not say the same.)
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence, Set
from pathlib import Path

from paraform.default_call import reword
from paraform.evaluation.rating import Output, write_outputs
from paraform.rewording.checks import changed_words
from paraform.rewording.standards import STANDARDS
from paraform.words import tokenize
from paraform_papers.shipped.rewording_texts import embedded_model, questions, utterances

SEED, EACH, CONTROLS = 32, 50, 25
DEVELOPMENT = [(5, 15), (5, 40), (6, 40), (11, 120), (12, 120), (13, 40), (21, 12), (41, 30), (42, 60), (43, 60)]
DEVELOPMENT += [(51, 60), (52, 60), (53, 60), (54, 60), (61, 150)]
"""Seeds of the draws that frames and thresholds were set by, and how many of each corpus each drew."""

RATED = 31
"""Seed of the first rated draw. Its outputs were read, so none of it is rated again."""

LATER = [(71, 50), (72, 300)]
"""Development draws since then, of what that draw left."""


def main() -> None:
    """Write the outputs of all four, a file each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with banking77/, quora/ and tatoeba/")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--before", type=Path, required=True, metavar="OLD-BANK")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    sources = inputs(options.data)
    found = reword(sources, model="rules")
    today = [Output(one.source, one.candidates[0].text if one.candidates else None) for one in found]
    model = embedded_model()
    model.bank = tuple(options.before.read_text(encoding="utf-8").splitlines())
    before = [Output(*pair) for pair in zip(sources, model.paraphrase(sources), strict=True)]
    drawn = random.Random(SEED)
    same = [Output(source, source) for source in drawn.sample(sources, CONTROLS)]
    people = [Output(*pair) for pair in drawn.sample(translations(options.data), CONTROLS)]
    for name, outputs in {"today": today, "before": before, "same": same, "people": people}.items():
        write_outputs(outputs, options.out / f"{name}.jsonl")


def inputs(data: Path) -> list[str]:
    """The sources, none of which a development draw or an earlier rating had."""
    banking, quora = utterances(data), [text for pair in questions(data) for text in pair]
    return unseen(banking, quora, before(banking, quora), SEED)


def before(banking: Sequence[str], quora: Sequence[str]) -> set[str]:
    """What development draws and the first rating had."""
    seen: set[str] = set()
    for seed, number in DEVELOPMENT:
        drawn = random.Random(seed)
        seen.update([*drawn.sample(banking, number), *drawn.sample(quora, number)])
    rated = set(unseen(banking, quora, seen, RATED))
    free = sorted(set(banking) - rated), sorted(set(quora) - rated)
    seen |= rated
    for seed, number in LATER:
        drawn = random.Random(seed)
        seen.update(text for texts in free for text in drawn.sample(texts, number))
    return seen


def unseen(banking: Sequence[str], quora: Sequence[str], seen: Set[str], seed: int) -> list[str]:
    """Of each corpus `EACH` texts that are not among those seen."""
    drawn = random.Random(seed)
    first = drawn.sample(sorted(set(banking) - seen), EACH)
    return [*first, *drawn.sample([question for question in quora if question not in seen], EACH)]


def translations(data: Path) -> list[tuple[str, str]]:
    """Sentences of Tatoeba, each with the first other one of its translation that counts as changed."""
    found: dict[str, str] = {}
    for line in (data / "tatoeba" / "pairs.tsv").read_text(encoding="utf-8").splitlines():
        source, target = line.split("\t")[:2]
        if 5 <= len(source.split()) <= 12 and changed_words(tokenize(source), tokenize(target)) >= STANDARDS.edits:
            found.setdefault(source, target)
    return list(found.items())


if __name__ == "__main__":
    main()
