"""What `paraphrase` says by default to 100 inputs that nothing was trained, mined, tuned or rated on before.

    python -m paraform_papers.shipped.default_call ../shared/data --out runs/default-call
    paraform rate runs/default-call/*.jsonl --control runs/default-call/controls/* --out runs/default-call/ratings.jsonl

50 utterances of the intents of Banking77 that are kept untouched, and 50 questions of quora/test, drawn by seed 39 from
those that no development draw and no earlier rating had. Writes OUT/today.jsonl and the controls (25 copies, and 25
pairs of Tatoeba's), and prints ten of them, drawn by the seed. Running time: a minute.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from paraform import corpora
from paraform.default_call import reword
from paraform.evaluation.rating import Output, write_outputs
from paraform.records import Pair, texts_of
from paraform_papers.shipped.banking_intents import two_parts
from paraform_papers.shipped.rewording_rating import CONTROLS, SEED, before, translations, unseen
from paraform_papers.shipped.rewording_texts import questions, utterances

READ = (35, 36, 37, 38)
"""Seeds of draws that were read or rated before; none of them is drawn again."""
DRAW, SHOWN = 39, 10


def inputs(data: Path) -> list[str]:
    """The sources, Banking77's first."""
    banking, quora = utterances(data), [text for pair in questions(data) for text in pair]
    seen = before(banking, quora)
    seen |= {*unseen(banking, quora, seen, SEED)}
    kept = two_parts(data / "banking77" / "train.csv").untouched
    test = [pair for pair in corpora.read(data / "quora" / "test.tsv") if isinstance(pair, Pair)]
    untouched = [one.text for some in kept.values() for one in some]
    asked = list(dict.fromkeys(texts_of(test)))
    for seed in READ:
        seen |= {*unseen(untouched, asked, seen, seed)}
    return unseen(untouched, asked, seen, DRAW)


def main() -> None:
    """Write the outputs and the controls; show ten."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with banking77/, quora/ and tatoeba/")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    sources = inputs(options.data)
    found = reword(sources, model="rules")
    outputs = [Output(one.source, one.candidates[0].text if one.candidates else None) for one in found]
    (options.out / "controls").mkdir(parents=True, exist_ok=True)
    write_outputs(outputs, options.out / "today.jsonl")
    drawn = random.Random(DRAW)
    same = [Output(source, source) for source in drawn.sample(sources, CONTROLS)]
    people = [Output(*pair) for pair in drawn.sample(translations(options.data), CONTROLS)]
    for control, some in {"same": same, "people": people}.items():
        write_outputs(some, options.out / "controls" / f"{control}.jsonl")
    print(f"{sum(bool(one.candidates) for one in found)} of {len(found)} reworded\n")
    for output in random.Random(DRAW).sample(outputs, SHOWN):
        print(f"- {output.source} → {output.text or '*left out*'}")


if __name__ == "__main__":
    main()
