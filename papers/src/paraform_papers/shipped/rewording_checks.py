"""What each check of `paraphrase` refuses, and what the answers are without it.

    python -m paraform_papers.shipped.rewording_checks ../shared/data

Of development data alone: the sentences of 120 inputs drawn by seed 62 (60 of Banking77, 60 of quora/dev), the first
1,500 pairs of quora/dev, which people wrote, and the first 2,000 of paws/dev, those labelled 0 and 1. Running time:
one to five minutes on one core. The figures are in docs/rewording.md.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paraform.records import Candidate
from paraform.rewording.parts import sentences_of
from paraform.rewording.reworder import Reworder
from paraform_papers.shipped.rewording_texts import embedded_model, questions, utterances

SEED, EACH = 62, 60


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with banking77/, quora/ and paws/")
    data = parser.parse_args().data
    pairs, drawn = questions(data), random.Random(SEED)
    texts = [*drawn.sample(utterances(data), EACH), *drawn.sample([text for pair in pairs for text in pair], EACH)]
    sentences = list(dict.fromkeys(sentence for text in texts for sentence in sentences_of(text)))
    rows = Reworder.default().judge(sentences, thorough=True)
    paws = [line.split("\t") for line in (data / "paws" / "dev.tsv").read_text(encoding="utf-8").splitlines()]
    paws = [row for row in paws if row[-1] in {"0", "1"}][:2_000]
    columns = {
        "framed": [one for row in rows for one in row],
        "people": assessed(pairs[:1_500]),
        "PAWS 0": assessed([(row[-3], row[-2]) for row in paws if row[-1] == "0"]),
        "PAWS 1": assessed([(row[-3], row[-2]) for row in paws if row[-1] == "1"]),
    }
    checks = [*columns["framed"][0].checks, "cycle"]
    print(
        "| check |", " | ".join(f"{name} ({len(found):,})" for name, found in columns.items()), "| answers | changed |"
    )
    print("| --- |", " | ".join(["---:"] * (len(columns) + 2)), "|")
    best = winners(rows, "")
    for check in checks:
        shares = [sum(check in one.failed for one in found) / len(found) for found in columns.values()]
        without = winners(rows, check)
        changed = sum(one != other for one, other in zip(best, without, strict=True))
        cells = [*(f"{share:.1%}" for share in shares), str(sum(map(bool, without))), str(changed)]
        print(f"| {check} |", " | ".join(cells), "|")
    passed = [sum(not one.failed for one in found) / len(found) for found in columns.values()]
    cells = [*(f"{share:.1%}" for share in passed), f"{sum(map(bool, best))} of {len(sentences)}", ""]
    print("| passed all |", " | ".join(cells), "|")
    right, wrong = (np.array([one.figures["content"] for one in columns[name]]) for name in ("PAWS 1", "PAWS 0"))
    # The share of pairs, one of each label, of which the right one has the greater cosine.
    print(f"AUC of the cosine on PAWS {float((right[:, None] > wrong).mean()):.2f}")


def winners(rows: Sequence[Sequence[Candidate]], left_out: str) -> list[str]:
    """The best candidate of each sentence that passes all checks but that one; "" if there is none."""
    return [next((one.text for one in row if set(one.failed) <= {left_out}), "") for row in rows]


def assessed(pairs: Sequence[tuple[str, str]]) -> list[Candidate]:
    """The second sentence of each pair as a rewording of the first, read back by `compact`."""
    judge = Reworder.default(paraphraser=embedded_model())
    return judge.assess([source for source, _ in pairs], [target for _, target in pairs], [""] * len(pairs))


if __name__ == "__main__":
    main()
