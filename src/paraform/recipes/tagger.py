"""The shipped tagging heads, on GUM's training split: `tagger` (free genres alone) and `tagger-all`.

    python -m paraform.recipes.tagger ../shared/data/treebank/gum --genres free --out runs/tagger

Running time: 16 minutes (all) on one core of a busy machine, less for free. Expected figures: docs/results/syntax.md.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import torch

from paraform import encoders
from paraform.corpora.treebank import read_tagged
from paraform.evaluation import Score
from paraform.models.tag_head import TaggedWords, accuracy, make_update
from paraform.records import Sentence
from paraform.syntax.head import TagHead, TagHeadConfig
from paraform.training import TrainingConfig, fit, make_accelerator
from paraform.weights import sha256

FREE = ("academic", "bio", "court", "interview", "news", "voyage")
CARD = """# {name}: Penn Treebank tags from the offline encoder

A small head on frozen layers {first} to {last} of all-MiniLM-L6-v2, trained on GUM's training split by
`python -m paraform.recipes.tagger --genres {genres}`.

Genres: {list}.

Terms: GUM's annotations are CC BY 4.0. {terms}

Accuracy on GUM's test split (all genres, {words} words): {cased:.2%}; with capitals hidden: {lowered:.2%}.
"""
TERMS = {
    "free": "The texts of these genres are free for commercial use.",
    "all": "Some of these genres' texts are not free for commercial use (fiction, textbook, vlog and others: see GUM).",
}


def read(folder: Path, split: str, genres: tuple[str, ...] | None = None) -> list[Sentence]:
    """The sentences of a split, of the given genres (None: all)."""
    files = [path for path in sorted((folder / split).glob("*.mrg")) if genres is None or path.stem in genres]
    return [sentence for path in files for sentence in read_tagged(path)]


def main() -> None:
    """Train one head and print its accuracy by genre."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("gum", type=Path, help="folder with train/, dev/ and test/ of GENRE.mrg")
    parser.add_argument("--genres", choices=sorted(TERMS), default="free")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    config, encoder = TagHeadConfig(), encoders.load()
    tags = sorted({tag for sentence in read(options.gum, "train") for tag in sentence.tags})
    train, dev, test = (
        TaggedWords(read(options.gum, split, genres), tags, encoder, config.layers)
        for split, genres in (("train", FREE if options.genres == "free" else None), ("dev", None), ("test", None))
    )
    loop = TrainingConfig(metric="accuracy", higher_is_better=True, evaluate_every=200, checkpoint_every=200)
    accelerator = make_accelerator(loop)
    head = TagHead(config, tags, encoder.dimension)
    batches, steps = train.batches(words=config.batch_words, seed=0, lower_case=config.lower_case)
    loop = replace(loop, steps=config.epochs * steps)
    update, state = make_update(head, config, accelerator, total_steps=loop.steps)
    digests = {path.name: sha256(path) for path in sorted((options.gum / "train").glob("*.mrg"))}

    def evaluate() -> dict[str, float]:
        return {"accuracy": accuracy(head, dev)["all"], "lower-cased": accuracy(head, dev, lowered=True)["all"]}

    ended = fit(
        head,
        update,
        state,
        batches,
        folder=options.out,
        config=loop,
        accelerator=accelerator,
        evaluate=evaluate,
        data_digests=digests,
        resume=options.resume,
    ).ended
    if ended == "interrupted":
        sys.exit(130)
    finish(options.out, options.genres, test, digests)


def finish(run: Path, genres: str, test: TaggedWords, digests: dict[str, str]) -> None:
    """Score the best head on the test split and write it with its card to `run/final`, in half precision."""
    from paraform import checkpoint
    from paraform.syntax.tagging import load_head

    head = load_head(run / "best")
    cased, lowered = accuracy(head, test), accuracy(head, test, lowered=True)
    for genre in cased:
        print(f"{genre:14s} {cased[genre]:.2%}  lower-cased {lowered[genre]:.2%}")
    signature = f"data:gum-test|genres:all|words:{int(test.lengths.sum())}|encoder:{head.config.encoder}"
    card = CARD.format(
        name="tagger" if genres == "free" else "tagger-all",
        first=head.config.first_layer,
        last=head.config.last_layer,
        genres=genres,
        list=", ".join(FREE) if genres == "free" else "all of GUM without reddit",
        terms=TERMS[genres],
        words=int(test.lengths.sum()),
        cased=cased["all"],
        lowered=lowered["all"],
    )
    scores = [
        Score("tag accuracy", 100 * cased["all"], f"{signature}|case:as-written"),
        Score("tag accuracy", 100 * lowered["all"], f"{signature}|case:lower"),
    ]
    checkpoint.save(
        head.to(torch.device("cpu")),
        run / "final",
        card=card,
        scores=scores,
        data_digests=digests,
        seed=0,
        dtype="float16",
    )


if __name__ == "__main__":
    main()
