"""How often Algorithm 1 drops the sentence nearest in style: the paper gives no style matching accuracy for that (C29).

    python -m paraform.recipes.dropped_exemplars ../shared/data/quora/test.tsv
    python -m paraform.recipes.dropped_exemplars ../shared/data/paranmt/test.tsv --format paranmt

Style is the sequence of tags here, as the algorithm measures it. `dropped` is the share of targets that have a sentence
nearer than the exemplar they are given; `edits` is how much nearer. Each rule is also set aside alone, and what then
still is dropped is printed. In brackets the middle 95 % of a thousand resamples of the targets; "exemplar at": its mean
distance. A target's own source is no exemplar here, whatever is set aside, and is not counted as dropped. Running time:
under a minute on one core, tagging included. Expected figures: docs/results/crl.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paraform import corpora
from paraform.evaluation.bootstrap import bootstrap_interval
from paraform.evaluation.metrics import row_mean
from paraform.fields import with_fields
from paraform.records import Pair
from paraform.syntax.mining import mined_exemplars
from paraform.syntax.rules import MiningConfig

MOST_TOKENS = 30
NO_RULE = {"length_gap": MOST_TOKENS, "min_new_words": 0}  # the target, its source and, by ours, its cluster stay out
SET_ASIDE: dict[str, dict[str, int]] = {
    "none": {},
    "length_gap": {"length_gap": MOST_TOKENS},
    "min_new_words": {"min_new_words": 0},
}


def main() -> None:
    """Print the shares, by the paper's pool (sources) and by ours (targets, no sentence of the own cluster)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("pairs", type=Path, help="one split of a corpus")
    parser.add_argument("--format", default="pairs", choices=("pairs", "paranmt"))
    options = parser.parse_args()
    records = corpora.read(options.pairs, options.format)
    pairs = corpora.clusters(record for record in records if isinstance(record, Pair))
    for name, config in (("paper", MiningConfig.paper()), ("ours", MiningConfig(keep=1, ties="first"))):
        nearest = distances(pairs, with_fields(config, NO_RULE))
        for aside, fields in SET_ASIDE.items():
            given = distances(pairs, with_fields(config, fields))
            nearer = dropped(given, nearest)
            share = row_mean("dropped", nearer > 0, "")
            low, high = bootstrap_interval(share)
            print(
                f"{name}, set aside {aside}: of {len(nearer):,} targets dropped {share.over():.3f} "
                f"({low:.3f} to {high:.3f}), edits {nearer.mean():.2f}, exemplar at {given[given >= 0].mean():.2f}"
            )


def distances(pairs: Sequence[Pair], config: MiningConfig) -> NDArray[np.int32]:
    """[N] edits between the tags of each target and its exemplar; −1 where there is none."""
    return mined_exemplars(pairs, config, MOST_TOKENS).distances[:, 0]


def dropped(given: NDArray[np.int32], nearest: NDArray[np.int32]) -> NDArray[np.int32]:
    """How many edits nearer the nearest sentence is than the exemplar, of each target that has one."""
    has = given >= 0
    return given[has] - nearest[has]


if __name__ == "__main__":
    main()
