"""What `paraphrase` says by default of six kinds of text, 50 of each, to be rated blind.

    python -m paraform_papers.shipped.rewording_kinds ../shared/data --written docs/ratings/kinds-written.json \\
        --out runs/kinds
    paraform rate runs/kinds/default.jsonl --control runs/kinds/same.jsonl runs/kinds/people.jsonl \\
        --out runs/kinds/ratings.jsonl

Messages are of Banking77's untouched intents, questions of quora/test, reviews of yelp/test, encyclopaedic sentences of
SQuAD's reserved articles, all drawn by the seed; tickets and commands were written by someone who had seen no output.
OUT/kinds.json says which input is of which kind.
Two draws were made, with `smollm2` fetched, which `kinds_read` counts: docs/ratings/kinds* at commit dd2f56f, and
kinds-2* at 550b851, with `--seed 60 --written docs/ratings/kinds-2-written.json`, 50 each of kinds-written-300.json.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from paraform import corpora
from paraform.default_call import MODEL, reword
from paraform.evaluation.rating import Output, write_outputs
from paraform.records import Pair, Sentence
from paraform.rewording.parts import sentences_of
from paraform.weights import atomic_path
from paraform.words import detokenize
from paraform_papers.par.squad import read_squad
from paraform_papers.shipped.banking_intents import two_parts
from paraform_papers.shipped.rewording_rating import CONTROLS, translations

SEED, EACH = 58, 50
LEAST, MOST = 5, 25  # words of a text


def inputs(data: Path, written: Path, seed: int, each: int = EACH) -> dict[str, list[str]]:
    """Texts by kind, so many of each that is drawn, and all that were written."""
    own = json.loads(written.read_text(encoding="utf-8"))
    untouched = two_parts(data / "banking77" / "train.csv").untouched.values()
    contexts = dict.fromkeys(one.context for one in read_squad(data / "squad" / "dev-part.json"))
    pairs = corpora.read(data / "quora" / "test.tsv")
    yelp = corpora.read(data / "yelp" / "test.txt", "text")
    pools: dict[str, list[str]] = {
        "message": [one.text for some in untouched for one in some],
        "review": [detokenize(one.text.split()) for one in yelp if isinstance(one, Sentence)],
        "encyclopaedic": [sentence for context in contexts for sentence in sentences_of(context)],
        "question": [pair.source.text for pair in pairs if isinstance(pair, Pair)],
    }
    drawn = random.Random(seed)
    fit = {kind: sorted({one for one in some if LEAST <= len(one.split()) <= MOST}) for kind, some in pools.items()}
    return {**{kind: drawn.sample(some, each) for kind, some in fit.items()}, **{k: own[k] for k in sorted(own)}}


def main() -> None:
    """Write the outputs, both controls, and the kinds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with banking77/, quora/, squad/, tatoeba/ and yelp/")
    parser.add_argument("--written", type=Path, required=True, help="JSON of tickets and commands")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    kinds = inputs(options.data, options.written, options.seed)
    sources = [text for some in kinds.values() for text in some]
    found = reword(sources, model=MODEL)
    said = [Output(one.source, one.candidates[0].text if one.candidates else None) for one in found]
    drawn = random.Random(options.seed)
    same = [Output(source, source) for source in drawn.sample(sources, CONTROLS)]
    people = [Output(*pair) for pair in drawn.sample(translations(options.data), CONTROLS)]
    options.out.mkdir(parents=True, exist_ok=True)
    for name, outputs in {"default": said, "same": same, "people": people}.items():
        write_outputs(outputs, options.out / f"{name}.jsonl")
    with atomic_path(options.out / "kinds.json") as unfinished:
        unfinished.write_text(json.dumps(kinds, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
