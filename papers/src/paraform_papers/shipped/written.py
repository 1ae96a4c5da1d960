"""Rewordings that were written for a language model to learn from; the default call's synonyms were read off them.

    python -m paraform_papers.shipped.written ../shared/data --untouched docs/ratings/kinds-written.json \\
        --out runs/written

`written.jsonl` has them, two of a sentence as a rule. Half of the sentences are of free corpora (Banking77's used
intents, SQuAD's contexts, GUM, STS-B, Tatoeba): a line has the digest of one, which is looked up in the data, and its
rewordings are under that corpus's terms. The others (tickets, commands, reviews, questions and the like) stand there.
Language models that help to build this library wrote them, by the rules of docs/systems/lm.md; they saw neither what is
measured nor any output. `read.jsonl` has what adapters that learned from them said, and how it was read.
Writes OUT/train.jsonl, OUT/dev.jsonl and OUT/counts.md, as `lm_data`. Running time on one core: a minute.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from paraform import corpora
from paraform.corpora.leaks import without_overlap
from paraform.corpora.scored import read_scored
from paraform.corpora.treebank import read_treebank
from paraform.json_text import parse_json
from paraform.records import Origin, Pair, Sentence, texts_of
from paraform.trainers.held_out import hold_out_pairs
from paraform.words import detokenize, tokenize
from paraform_papers.shipped.lm_data import changes, directed, in_manner, tells
from paraform_papers.shipped.lm_self import FREE_GENRES
from paraform_papers.shipped.rewording_corpora import measured_by, sentences
from paraform_papers.shipped.rewording_counts import Counts
from paraform_papers.shipped.rewording_data import write_records
from paraform_papers.shipped.rewording_reader import MOST_WORDS
from paraform_papers.shipped.same_facts import pairs_of_same_facts
from paraform_papers.shipped.usual_case import usual_case

WRITTEN = Path(__file__).parent / "written.jsonl"
HELD = 200  # pairs that choose


def digest(text: str) -> str:
    """What a sentence of a corpus is called in `written.jsonl`."""
    return sha256(text.encode()).hexdigest()[:16]


def real_sentences(data: Path) -> Iterator[str]:
    """The sentences of free corpora that some are of."""
    for corpus in ("banking77", "squad"):
        yield from (one.text for one in sentences(data, corpus, seed=0))
    for genre in FREE_GENRES:
        trees = read_treebank(data / "treebank" / "gum" / "train" / f"{genre}.mrg")
        yield from (detokenize([*tree.tokens]) for tree in trees if tree.tokens)
    yield from (pair.source.text for pair in read_scored(data / "stsb" / "stsb-en-train.csv"))
    yield from (pair.source.text for pair in corpora.read(data / "tatoeba" / "pairs.tsv") if isinstance(pair, Pair))


def pairs_of(file: Path, known: Iterable[str]) -> list[Pair]:
    """Each sentence with each of its rewordings, and these with each other; a cluster a sentence.

    Args:
        known: texts of which some are named by their digest; what none of them has is left out.
    """
    by_digest = {digest(text): text for text in known}
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        row = parse_json(line, Origin(str(file), number))
        source = row["source"] if "source" in row else by_digest.get(row["digest"])
        if source is not None:
            texts = [source, *row["said"]]
            origin = Origin(f"written/{row['kind']}/{file.name}", number)
            found += [
                Pair(Sentence(one), Sentence(other), label=1, cluster=number, origin=origin)
                for at, one in enumerate(texts)
                for other in texts[at + 1 :]
            ]
    return found


def made(data: Path, file: Path, untouched: Path, *, seed: int, most: int = 0) -> tuple[list[Pair], list[Pair], Counts]:
    """Training and development records, both ways, in an order drawn by the seed, and the counts.

    Args:
        untouched: JSON lists of texts that are to be reworded blind.
        most: training records; 0: all.
    """
    counts = Counts()
    read = pairs_of(file, real_sentences(data))
    blind = [text for some in parse_json(untouched.read_text(encoding="utf-8"), untouched).values() for text in some]
    kept = without_overlap(read, [*measured_by(data), *blind])
    counts.add_all([*kept.leaked, *kept.related], "in a test, or its cluster")
    same = pairs_of_same_facts(kept.records, max_tokens=MOST_WORDS, usual=usual_case(map(tokenize, texts_of(read))))
    counts.add_lost(kept.records, same, "other facts")
    told = [pair for pair in same if tells(pair) and changes(pair)]
    counts.add_lost(same, told, "says or changes hardly anything")
    train, dev = hold_out_pairs(told, seed=seed, most=min(HELD, len(told) // 20))
    counts.add_all(dev, "dev")
    drawn = random.Random(seed)
    records = list(directed(train))
    drawn.shuffle(records)
    records = records[: most or None]
    counts.add_all(records, "records")
    return [in_manner(pair, drawn) for pair in records], [in_manner(pair, drawn) for pair in dev], counts


def main() -> None:
    """Write both files and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with banking77/, squad/, treebank/, stsb/ and tatoeba/")
    parser.add_argument("--untouched", type=Path, required=True, help="JSON of texts that are to be reworded blind")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=0, help="training records; 0: all")
    options = parser.parse_args()
    train, dev, counts = made(options.data, WRITTEN, options.untouched, seed=options.seed, most=options.most)
    write_records(train, dev, counts, options.out)


if __name__ == "__main__":
    main()
