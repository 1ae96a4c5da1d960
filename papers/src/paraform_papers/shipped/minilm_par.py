"""The embedded model `minilm-par`: one matrix before `minilm`'s word embeddings, by which words stay put.

    python -m paraform_papers.shipped.minilm_par ../shared/data --out runs/minilm-par

Trained by `RetrofitConfig()` for one pass over the paraphrases of MRPC, PAN and Quora, without those that have a
sentence of an evaluation set; the weights with the lowest ratio of distances on held-out pairs are measured beside
`minilm` and written to OUT/minilm-par. Interrupted, it goes on. Running time: 821 steps and nine validations, about an
hour on one core. Expected figures: docs/results/par.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, corpora, manifest
from paraform.corpora.evaluation_sets import read_evaluation_sets
from paraform.ending import status_of
from paraform.evaluation.embedding.development import read_development
from paraform.evaluation.embedding.distances import matrix_shape, word_system
from paraform.evaluation.embedding.measuring import measured, spaces_of, system_of
from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder
from paraform.score import Score
from paraform.trainers.retrofit import BY_RATIO, train_retrofit
from paraform_papers.par import table4 as par_table4
from paraform_papers.par.configs import PUBLISHED
from paraform_papers.par.rows import read_corpus
from paraform_papers.parabart import table1 as parabart_table1

NAME = "minilm-par"
CARD = Path(__file__).parent / "cards" / f"{NAME}.md"
CONFIG = RetrofitConfig(epochs=1)
TESTS = (  # what is not trained on
    "sts",
    "stsb",
    "sick",
    "paws",
    "mrpc/msr_paraphrase_test.txt",
    "pan/pan-test_s1.txt",
    "pan/pan-test_s2.txt",
    "quora/dev.tsv",
    "quora/test.tsv",
)


def train(data: Path, folder: Path, config: RetrofitConfig = CONFIG) -> None:
    """The run, or the rest of it. Raises: KeyboardInterrupt if interrupted, and saved."""
    sets = [data / name for name in TESTS if (data / name).exists()]
    against = [text for some in read_evaluation_sets(sets).values() for text in some]
    pairs = corpora.clusters(pair for corpus, most in PUBLISHED.items() for pair in read_corpus(corpus, data, most))
    result = train_retrofit(
        pairs,
        folder,
        config=config,
        loop=replace(BY_RATIO, device="cpu"),
        against=against,
        development=read_development(data),
        resume=True,
    )
    result.require_over()


def finish(run: Path, data: Path, out: Path, *, size: int = 0) -> str:
    """Measure the best checkpoint of a run beside what it started from, and write OUT/NAME with its card.

    Args:
        size: pairs of each kind whose shared words are measured; 0: all.
    """
    model: RetrofittedEncoder = checkpoint.load(str(run), device="cpu")
    start = RetrofittedEncoder.start(model.config)
    scores = figures(data, {"minilm": start, NAME: model}, size)
    about = manifest.read(run / "best")
    least, middle, largest = matrix_shape(model.matrix.double().numpy())[1:]
    card = CARD.read_text(encoding="utf-8").format(
        commit=(about.git or "unknown")[:7], least=least, middle=middle, largest=largest, table=side_by_side(scores)
    )
    own = [Score(f"{one.name} {one.subset}", one.value, one.signature) for one in scores if one.system == NAME]
    checkpoint.save(model, out / NAME, card=card, scores=own, data_digests=about.data, seed=about.seed)
    return card


def figures(data: Path, models: dict[str, RetrofittedEncoder], size: int = 0) -> list[Score]:
    """Of each model the mean distances of shared words on test splits, and similarity."""
    words = [word_system(name, model, layers="own") for name, model in models.items()]
    found = [one.score for one in par_table4.distances(data, words, size)]
    distances = [score for score in found if score.name in ("L2", "L2 ratio")]
    tasks = parabart_table1.tasks(data, 0)
    spaces = spaces_of(tasks, [system_of(name, model) for name, model in models.items()], words=False)
    similar = [one for one in measured(tasks, spaces) if parabart_table1.keep(one.score)]
    return [*distances, *(one.score for one in (*similar, *parabart_table1.means(similar)))]


def side_by_side(scores: Sequence[Score]) -> str:
    """A row a figure and set, a column a model."""
    systems = list(dict.fromkeys(score.system for score in scores))
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        rows.setdefault((score.name, score.subset), {})[score.system] = score.value
    lines = [["figure", "set", *systems], ["---", "---", *("---:" for _ in systems)]]
    lines += [[*row, *(f"{by[system]:.3f}" for system in systems)] for row, by in rows.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Train (or go on), then `finish`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    try:
        train(options.data, options.out / "run")
        print(finish(options.out / "run", options.data, options.out))
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
