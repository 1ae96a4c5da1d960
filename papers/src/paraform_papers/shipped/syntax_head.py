"""The shipped syntax heads: `syntax` (GUM's free genres) and `syntax-all` (GUM, QuestionBank, Penn sample).

    python -m paraform_papers.shipped.syntax_head ../shared/data/treebank --trees all --out runs/syntax-all
    python -m paraform_papers.shipped.syntax_head ../shared/data/treebank --trees free --out runs/syntax

Running time on one core of a busy machine: three quarters of an hour (all), a quarter of an hour (free). Expected
figures: docs/results/syntax.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from paraform import checkpoint, encoders
from paraform.corpora.treebank import read_treebank
from paraform.evaluation.syntax import by_genre, evaluate_syntax
from paraform.records import InputError, Sentence
from paraform.score import Score, table
from paraform.syntax.head import SyntaxHead, SyntaxHeadConfig
from paraform.syntax.parsing import head_parser
from paraform.syntax.running import load_head
from paraform.syntax.trees import Tree, read_tree, stripped
from paraform.training import TrainingConfig, fit, make_accelerator
from paraform.weights import sha256
from paraform_papers.shipped.head_training import ParsedWords, label_set, make_update

FREE = ("academic", "bio", "court", "interview", "news", "voyage")
NAMES = {"free": "syntax", "all": "syntax-all"}
CARD = Path(__file__).parent / "cards" / "syntax.md"
SOURCES = {
    "free": f"GUM's training split, and its dev split for selection, of the genres {', '.join(FREE)} alone",
    "all": "GUM's training split (all genres but reddit), and its dev split for selection; nine tenths of QuestionBank "
    "(4,000 questions); the sample of the Penn Treebank that NLTK distributes",
}
TERMS = {
    "free": "GUM's annotations are CC BY 4.0; the texts of these genres are free for commercial use.",
    "all": "GUM's annotations are CC BY 4.0, but the texts of some genres (fiction, textbook, vlog and others: see "
    "GUM) are not free for commercial use; QuestionBank is for research; the Penn Treebank sample is for "
    "non-commercial use (LDC).",
}


def treebank(folder: Path, split: str, genres: Sequence[str] | None = None) -> list[Sentence]:
    """GUM's trees of a split, of the given genres (None: all)."""
    files = [path for path in sorted((folder / "gum" / split).glob("*.mrg")) if genres is None or path.stem in genres]
    if not files:
        raise InputError(f"{folder / 'gum' / split}: no .mrg file; expected GUM's trees by genre")
    return [sentence for path in files for sentence in read_treebank(path)]


def questions(folder: Path) -> tuple[list[Sentence], list[Sentence]]:
    """QuestionBank: what is trained on, and every tenth, held out; a held-out question that stands there twice too."""
    every = list(read_treebank(folder / "questionbank" / "4000qs.mrg"))
    held = every[9::10]
    words = {sentence.tokens for sentence in held}
    return [sentence for sentence in every if sentence.tokens not in words], held


def trees_of(sentences: Sequence[Sentence]) -> list[Tree]:
    """Without traces and function tags."""
    found = [stripped(read_tree(sentence)) for sentence in sentences]
    return [tree for tree in found if tree]


def main() -> None:
    """Train one head and write it with its card and figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("treebank", type=Path, help="folder with gum/, questionbank/ and ptb_sample/")
    parser.add_argument("--trees", choices=sorted(NAMES), default="free")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    folder, everything = options.treebank, options.trees == "all"
    genres = None if everything else FREE
    sentences = treebank(folder, "train", genres)
    if everything:
        sentences += questions(folder)[0] + list(read_treebank(folder / "ptb_sample" / "wsj.mrg"))
    config, encoder, trees = SyntaxHeadConfig(), encoders.load(), trees_of(sentences)
    tags = sorted({tag for tree in trees for tag in tree.tags()})
    train = ParsedWords(trees, tags, labels := label_set(trees), encoder, config.layers)
    batches, steps = train.batches(words=config.batch_words, seed=0, lower_case=config.lower_case)
    loop = TrainingConfig(
        steps=config.epochs * steps,
        metric="labelled F1",
        higher_is_better=True,
        average_last=0.2,
        evaluate_every=steps,
        checkpoint_every=steps // 2,
        mixed_precision="bf16",
    )
    accelerator = make_accelerator(loop)
    head = SyntaxHead(config, tags, labels, encoder.dimension)
    update, state = make_update(head, config, accelerator, total_steps=loop.steps)
    dev = treebank(folder, "dev", genres)  # the labels' bias is learnt from it, so that its terms count, too
    files = sorted({Path(sentence.origin.path) for sentence in (*sentences, *dev) if sentence.origin})
    digests = {str(path.relative_to(folder)): sha256(path) for path in files}

    def evaluate() -> dict[str, float]:
        return {score.name: score.value for score in scores_of(head, dev, "gum-dev") if score.subset == "all"}

    result = fit(
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
    )
    if result.ended == "interrupted":
        sys.exit(result.status)
    finish(options.out, options.trees, folder, dev, digests)


def scores_of(head: SyntaxHead, sentences: Sequence[Sentence], data: str, *, lower: bool = False) -> list[Score]:
    """What the head makes of these trees' words, with their capitals or without."""
    gold = [lowered(tree) if lower else tree for tree in trees_of(sentences)]
    found = head_parser(head)([tree.words() for tree in gold])
    name = f"{data}|case:{'lower' if lower else 'as-written'}"
    return evaluate_syntax(gold, found, parser=head.system, data=name, groups=by_genre(sentences))


def balance(head: SyntaxHead, dev: Sequence[Sentence]) -> None:
    """Raise all labels' scores by what gives the best F1 on dev: spans labelled one by one are too seldom labelled."""
    best, raised = -1.0, 0.0
    for more in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        with torch.no_grad():
            head.label.bias.add_(more - raised)
        raised = more
        f1 = next(score.value for score in scores_of(head, dev, "gum-dev") if score.name == "labelled F1")
        print(f"labels raised by {more}: labelled F1 {f1:.2f} on dev")
        if f1 <= best:
            break
        best = f1
    else:
        return
    with torch.no_grad():
        head.label.bias.sub_(0.2)


def lowered(tree: Tree) -> Tree:
    """The same tree over lower-cased words, as mined and generated sentences are."""
    return Tree(tree.label, tuple(map(lowered, tree.children)), tree.word and tree.word.lower())


def finish(run: Path, trees: str, folder: Path, dev: Sequence[Sentence], digests: dict[str, str]) -> None:
    """Score the best head as it ships, in half precision, and write it with its card to `run/final`."""
    head = load_head(run / "best")
    balance(head, dev)
    head.half().float()  # as it is saved below: what is measured is what ships
    test = treebank(folder, "test")
    measured = [
        scores_of(head, test, "gum-test"),
        scores_of(head, questions(folder)[1], "questionbank-tenth"),
        scores_of(head, test, "gum-test", lower=True),
    ]
    for scores in measured:
        print(table(scores), end="\n\n")
    shown = [score for scores in measured for score in scores if score.subset == "all"]
    figures = [f"{score.signature.partition('data:')[2]}: {score.name} {score.value:.2f}" for score in shown]
    card = CARD.read_text(encoding="utf-8").format(
        name=NAMES[trees],
        first=head.config.first_layer,
        last=head.config.last_layer,
        trees=trees,
        sources=SOURCES[trees],
        terms=TERMS[trees],
        figures="\n".join(f"- {line}" for line in figures),
    )
    checkpoint.save(head, run / "final", card=card, scores=shown, data_digests=digests, seed=0, dtype="float16")


if __name__ == "__main__":
    main()
