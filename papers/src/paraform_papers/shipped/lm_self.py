r"""More pairs for the embedded language models: what one of them says of sentences that have no partner, filtered.

    python -m paraform_papers.shipped.lm_self ../shared/data --model smollm2-free --out runs/self --most 3000

Writes OUT/train.jsonl and OUT/counts.md. Sentences are of Banking77's used intents, SQuAD's contexts and GUM's
genres whose texts are free for commercial use. Of four answers to each the best is kept that passes every check of the
default call (`rewording.checks`) and changes `LEAST_EDITS` words or more; with `--judge`, of those that fail `JUDGED`
alone the one of which a judge of meaning thinks most, `SAME` or more. A pair is learned both ways: what a person wrote
is a better target, and what the model wrote shows what passes. What that comes to is on docs/systems/lm.md.
Running time: about a minute for 100 sentences on one core.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, corpora
from paraform.corpora.leaks import normalised
from paraform.corpora.treebank import read_treebank
from paraform.models.judge import MeaningJudge
from paraform.models.lm import LMParaphraser
from paraform.progress import track
from paraform.records import Candidate, InputError, Origin, Pair, Sentence
from paraform.rewording.reworder import Reworder
from paraform.rewording.standards import STANDARDS
from paraform.weights import atomic_path
from paraform.words import detokenize, tokenize
from paraform_papers.shipped.judge import SAME
from paraform_papers.shipped.rewording_corpora import measured_by, sentences
from paraform_papers.shipped.rewording_counts import Counts

JUDGED = {"likely", "meaning"}  # checks that a judge stands in for
FREE_GENRES = ("academic", "bio", "court", "news", "interview", "voyage")
LEAST_WORDS, MOST_WORDS, LEAST_EDITS = 5, 26, 3
PART = 64  # sentences that are answered together


def without_partner(data: Path, seed: int) -> list[Sentence]:
    """Sentences of all three, none of a test, in an order drawn by the seed, as many of each as go in turn."""
    tests = {normalised(text) for text in measured_by(data)}
    folder = data / "treebank" / "gum" / "train"
    gum = [
        Sentence(detokenize([*tree.tokens]), origin=tree.origin)
        for genre in FREE_GENRES
        for tree in read_treebank(folder / f"{genre}.mrg")
        if tree.tokens
    ]
    random.Random(seed).shuffle(gum)
    groups = [sentences(data, "banking77", seed=seed), sentences(data, "squad", seed=seed), gum]
    for group in groups[:2]:
        random.Random(seed).shuffle(group)
    mixed = [group[at] for at in range(max(map(len, groups))) for group in groups if at < len(group)]
    fit = [one for one in mixed if LEAST_WORDS <= len(tokenize(one.text)) <= MOST_WORDS]
    return [one for one in fit if normalised(one.text) not in tests]


def best(sentence: str, row: Sequence[Candidate], judge: MeaningJudge | None) -> str | None:
    """The answer that is learned; None: there is none.

    Args:
        row: as `Reworder.judge` has it.
    """
    let_off = JUDGED if judge else set[str]()
    passed = [one.text for one in row if {*one.failed} <= let_off and one.figures["edits"] >= LEAST_EDITS]
    if judge and passed:
        same_N = judge.judge([(sentence, text) for text in passed]).same
        return passed[int(same_N.argmax())] if same_N.max() >= SAME else None
    return passed[0] if passed else None


def made(
    data: Path, model: LMParaphraser, *, seed: int, most: int, judge: MeaningJudge | None = None
) -> tuple[list[Pair], Counts]:
    """Pairs both ways, and what became of the sentences."""
    counts, pairs = Counts(), list[Pair]()
    tools = Reworder.default("cpu").tools
    standards = replace(STANDARDS, own_words=True)
    reworder = Reworder(tools, rules=lambda *_: [], paraphraser=model, standards=standards)
    asked = without_partner(data, seed)[:most]
    for start in track(range(0, len(asked), PART), "answering", show=True):
        some = asked[start : start + PART]
        for one, row in zip(some, reworder.judge([one.text for one in some], seed=seed), strict=True):
            corpus = Path((one.origin or Origin("", 1)).path).parent.name
            answer = best(one.text, row, judge)
            counts.add(corpus, "answered" if answer else "not")
            if answer:
                pair = Pair(Sentence(one.text), Sentence(answer), label=1, origin=one.origin)
                pairs += [pair, replace(pair, source=pair.target, target=pair.source)]
    random.Random(seed).shuffle(pairs)
    return corpora.clusters(pairs), counts


def main() -> None:
    """Write the pairs and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=8_000, help="sentences that are asked for")
    parser.add_argument("--judge", help="a judge of meaning that chooses")
    options = parser.parse_args()
    model = checkpoint.load(options.model, device="cpu")
    if not isinstance(model, LMParaphraser):
        raise InputError(f"{options.model} is no language model; expected one")
    judge = checkpoint.load(options.judge, device="cpu") if options.judge else None
    if not isinstance(judge, MeaningJudge | None):
        raise InputError(f"{options.judge} is no judge of meaning; expected one")
    pairs, counts = made(options.data, model, seed=options.seed, most=options.most, judge=judge)
    options.out.mkdir(parents=True, exist_ok=True)
    corpora.write_jsonl(pairs, options.out / "train.jsonl")
    with atomic_path(options.out / "counts.md") as unfinished:
        unfinished.write_text(counts.markdown(), encoding="utf-8")
    print(f"{counts.markdown()}\n{len(pairs):,} records")


if __name__ == "__main__":
    main()
