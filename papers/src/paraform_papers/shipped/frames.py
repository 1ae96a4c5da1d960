"""Which frames people change a question between: counted in pairs, to be read before one is written down.

    python -m paraform_papers.shipped.frames ../shared/data/quora/train.tsv --least 5

A frame is what is left of a sentence when the longest run of words that it shares with its paraphrase is taken out. A
pair of frames counts once for each different run. Running time: 12 seconds on one core. `rewording/frames.txt` was
begun from such a list and completed by hand; nothing reads the list.
"""

from __future__ import annotations

import argparse
import difflib
from collections import defaultdict
from pathlib import Path

from paraform.words import tokenize

LONGEST = 20  # words of a sentence
FRAME = 8  # words of a frame


def main() -> None:
    """Print the frames, the commonest pair first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("pairs", type=Path, help="source TAB target, a pair a line")
    parser.add_argument("--least", type=int, default=5, help="different runs")
    options = parser.parse_args()
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for line in options.pairs.read_text(encoding="utf-8").splitlines():
        first, second = ([word.lower() for word in tokenize(side)] for side in line.split("\t")[:2])
        if max(len(first), len(second)) <= LONGEST:
            left, right, run = frames_of(first, second)
            if left != right and run and max(len(left.split()), len(right.split())) <= FRAME:
                found[min(left, right), max(left, right)].add(run)
    for (left, right), runs in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(runs) >= options.least:
            print(len(runs), left, right, min(runs), sep="\t")


def frames_of(first: list[str], second: list[str]) -> tuple[str, str, str]:
    """Both frames, `…` where the run stood, and the run."""
    match = difflib.SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    run = first[match.a : match.a + match.size]
    frames = (
        " ".join([*words[:start], "…", *words[start + match.size :]])
        for words, start in ((first, match.a), (second, match.b))
    )
    return next(frames), next(frames), " ".join(run)


if __name__ == "__main__":
    main()
