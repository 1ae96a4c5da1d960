"""What a tree costs: texts to trees against the encoder alone, on the same sentences in the same run.

    python benchmarks/parsing.py [--parser syntax] [--data ../shared/data/multi30k/train.tsv]

The peer is `encoder.encode`, one vector a sentence from all layers. Ours begins with the same texts and ends with
`Tree` objects: tokenisation, the encoder, the head, the chart and the building of the trees are all in it. Bound: twice
the encoder's time. How right the trees are says `paraform evaluate syntax`.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from _measure import Bound, Spread, arguments_of, clock_of, in_turn, middle, report

from paraform import corpora, encoders
from paraform.syntax import load_parser, load_tagger
from paraform.threads import settle
from paraform.words import tokenize


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/multi30k/train.tsv"), help="captions")
    parser.add_argument("--parser", default="syntax", help="as load_parser takes it")
    parser.add_argument("--sentences", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)
    pairs = corpora.read(arguments.data, "captions")
    texts = list(itertools.islice(dict.fromkeys(pair.source.text for pair in pairs), arguments.sentences))
    encoder, parse, tag = encoders.load(), load_parser(arguments.parser), load_tagger(arguments.parser)
    seconds = in_turn(
        arguments.repeats,
        {
            "encoder": lambda: encoder.encode(texts),
            "trees": lambda: parse([tokenize(text) for text in texts]),
            "tags": lambda: tag([tokenize(text) for text in texts]),
        },
        clock=clock_of(arguments.threads),
    )
    figures = {
        "sentences": len(texts),
        "words a sentence": sum(len(tokenize(text)) for text in texts) / len(texts),
        **{f"{name}, sentences a second of a core": len(texts) / middle(taken) for name, taken in seconds.items()},
        "trees, times the encoder": Spread.of(seconds["encoder"], seconds["trees"]),
        "tags, times the encoder": Spread.of(seconds["encoder"], seconds["tags"]),
    }
    bounds: dict[str, Bound] = {"trees, times the encoder": ("at most", 2)}
    floors = dict.fromkeys(("trees, times the encoder", "tags, times the encoder"), "1: the encoder alone")
    return report(figures, bounds, floors=floors, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
