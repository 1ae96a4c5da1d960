"""Paraphrasing many sources in one call, greedy, against what the style encoder alone needs for their exemplars.

    python benchmarks/paraphrase.py [--model compact] [--rows 3000] [--repeats 5]

Source i of the test file takes the form of the target that stands half the file further on, so that exemplars are
real questions that say something else. Peers, for the same exemplars: the style encoder E_s as a whole (the frozen
layers and the GRU on them), and the frozen layers alone. All run in this process, in turns. Bounds: 6 times the style
encoder, since what is said is read by that encoder, all layers of it, too.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

from _measure import Spread, arguments_of, clock_of, in_turn, middle, report

from paraform import checkpoint, corpora
from paraform.batching import prepare
from paraform.models.exemplar.inputs import style_text
from paraform.threads import settle
from paraform.words import tokenize


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--model", default="compact", help="embedded, or a folder")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/test.tsv"), help="pairs, one a line")
    parser.add_argument("--rows", type=int, default=3000, help="pairs taken from the file")
    parser.add_argument("--batch-size", type=int, default=512, help="sources decoded at once; 512 is the default")
    parser.add_argument("--repeats", type=int, default=5, help="times that each is run")
    arguments = parser.parse_args()
    if arguments.threads:
        settle(arguments.threads)

    pairs = list(itertools.islice(corpora.read_pairs(arguments.data), arguments.rows))
    sources = [pair.source.text for pair in pairs]
    half = len(pairs) // 2
    exemplars = [pair.target.text for pair in (*pairs[half:], *pairs[:half])]
    model = checkpoint.load(arguments.model, device="cpu")
    layer = model.config.style_layer
    read = list(dict.fromkeys(style_text(prepare(text, model.config.max_tokens)) for text in exemplars))
    said: list[str] = []

    def paraphrase() -> None:
        said[:] = model.paraphrase(sources, exemplars, batch_size=arguments.batch_size)

    runs = {
        "paraform": paraphrase,
        "style encoder": lambda: model.style(exemplars, batch_size=arguments.batch_size),
        "frozen layers": lambda: model.encoder.states(read, layers=[layer]),
    }
    seconds = in_turn(arguments.repeats, runs, clock=clock_of(arguments.threads))
    ours = seconds.pop("paraform")
    ratios = {f"paraphrase, times its {name}": Spread.of(taken, ours) for name, taken in seconds.items()}
    figures: dict[str, Any] = {
        "sources": len(sources),
        "different exemplars": len(read),
        "first paraphrase": said[0],
        "paraphrase, seconds": middle(ours),
        "words said a second": sum(len(tokenize(text)) for text in said) / middle(ours),
        **{f"{name}, seconds": middle(taken) for name, taken in seconds.items()},
        **ratios,
    }
    return report(figures, dict.fromkeys(ratios, ("at most", 6.0)), as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
