"""How clVAE's tables are run: which files, which folder, and a table's rows at a scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from paraform.evaluation.latent.ngram import SAMPLES
from paraform.models.latent import LatentConfig
from paraform_papers.clvae.configs import ALONE, SIZES, Corpus, Scale, Size
from paraform_papers.clvae.latent_rows import Rows, Task, run_rows

FILES = {
    corpus: {split: f"{corpus}/{'ptb.' if corpus == 'ptb' else ''}{split}.txt" for split in ("train", "valid", "test")}
    for corpus in ("ptb", "yahoo", "yelp")
}


def run_table(
    configs: Callable[[Size, Corpus], Mapping[str, LatentConfig]],
    published: Mapping[str, tuple[float, ...]],
    *,
    sizes: Mapping[Scale, Size] = SIZES,
    alone: tuple[str, ...] = ALONE,
    pairs: Sequence[tuple[str, str]] | None = None,
    ngrams: bool = False,
    draw: Callable[[Rows, bool], None] | None = None,
    scale: Scale = "smoke",
    corpus: Corpus = "ptb",
    data: Path = Path("../shared/data"),
    out: Path = Path("runs/clvae"),
    rows: Sequence[str] = (),
    seed: int = 0,
    device: str | None = None,
) -> Rows:
    """Train rows (those begun go on, each in OUT/CORPUS/SCALE/ROW) and measure them.

    Args:
        configs: all rows of the table, of a scale and a corpus.
        published, pairs: arguments of `run_rows`.
        sizes: the meaning of each scale.
        alone: rows that are trained where they are asked for.
        ngrams: forward and reverse perplexity in place of all other figures (needs lmplz).
        draw: draws what was found, and is told whether no row was asked for, which takes them all.
        rows: the rows asked for; (): as `chosen_rows` chooses.
    Raises: as `run_rows` does.
    """
    size = sizes[scale]
    task = Task(
        data,
        FILES[corpus],
        out / corpus / scale,
        train=size.documents if corpus == "yahoo" else size.train,
        held_out=size.held_out,
        samples=size.samples,
        refit=size.refit,
        ngrams=ngrams * (160 if scale == "smoke" else SAMPLES),
        alone=alone,
        seed=seed,
        device=device,
    )
    found = run_rows(configs(size, corpus), published, task, asked=rows, pairs=pairs)
    if draw is not None:
        draw(found, not rows)
    return found
