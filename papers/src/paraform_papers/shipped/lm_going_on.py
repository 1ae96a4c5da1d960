r"""What `smollm2-free` gains by some pairs more: of a user's own domain, of its own answers, of what it knows.

    python -m paraform_papers.shipped.lm_self ../shared/data --model smollm2-free --out runs/self
    python -m paraform_papers.shipped.lm_self ../shared/data --model smollm2-free --judge smollm2-judge \
        --out runs/judged
    python -m paraform_papers.shipped.lm_going_on ../shared/data --own runs/self/train.jsonl \
        --judged runs/judged/train.jsonl --untouched docs/ratings/untouched-written.jsonl --out runs/going-on

Rows of 750 pairs differ in these alone, drawn by the seed; one more has 1,000. The domain is banking: rewordings that
were written of messages of the intents that may be used. Measured by nats a piece of the target: on rewordings that
were written of messages of the untouched intents, and on `written`'s development pairs of all kinds. OUT/figures.json
has the figures, OUT/answers-SEED.jsonl each row's greedy answers to the untouched messages. What one would type is
`paraform train lm --data mine.tsv --from smollm2-free --config.learning_rate 2e-4 --config.epochs 2 --out runs/mine`.
Running time: two to three minutes of one core a row with bfloat16.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paraform import checkpoint, corpora
from paraform.json_text import parse_json
from paraform.models.lm import LMParaphraser
from paraform.records import InputError, Origin, Pair, Sentence
from paraform.trainers.lm import BY_NLL, train_lm
from paraform.weights import atomic_path
from paraform_papers.shipped import lm_data, written
from paraform_papers.shipped.banking_intents import two_parts

START = "smollm2-free"
PAIRS, MORE, EPOCHS, RATE, WARMUP = 750, 1_000, 2, 2e-4, 10
KINDS = Path(__file__).parents[4] / "docs" / "ratings" / "kinds-written.json"
RESAMPLES = 2000


def banking(data: Path) -> list[Pair]:
    """Messages of the intents that may be used, each with the rewordings that were written of it."""
    used = two_parts(data / "banking77" / "train.csv").used.values()
    known = {written.digest(one.text): one.text for some in used for one in some}
    out = []
    for number, line in enumerate(written.WRITTEN.read_text(encoding="utf-8").splitlines(), start=1):
        row = parse_json(line, Origin(str(written.WRITTEN), number))
        source = known.get(row.get("digest", ""))
        out += [Pair(Sentence(source), Sentence(said), label=1) for said in row["said"] if source is not None]
    return out


def pairs_in(path: Path) -> list[Pair]:
    """Of a file of JSON lines."""
    return [one for one in corpora.read(path, "jsonl") if isinstance(one, Pair)]


def nats(model: LMParaphraser, pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """Of each pair −ln p of the target, and the pieces that it has: [N, 2]."""
    sources, targets = ([getattr(pair, side).text for pair in pairs] for side in ("source", "target"))
    shares = model.likelihood(sources, targets)
    pieces = [len(one.numbers) for one in model.prompts.targets(targets, model.config)]
    return np.array([(-share.sum(), count) for share, count in zip(shares, pieces, strict=True)], np.float64)


def compared(found: Mapping[str, NDArray[np.float64]], start: str) -> dict[str, dict[str, float]]:
    """Nats a piece of each row, and what it has less than the start, with 95 % of that by resampling pairs."""
    drawn = np.random.default_rng(0).integers(len(found[start]), size=(RESAMPLES, len(found[start])))

    def rate(some: NDArray[np.float64]) -> NDArray[np.float64]:
        both = some.sum(-2)
        return np.asarray(both[..., 0] / both[..., 1])

    out = {}
    for name, row in found.items():
        low, high = np.percentile(rate(found[start][drawn]) - rate(row[drawn]), (2.5, 97.5))
        values = {"nats a piece": rate(row), "less": rate(found[start]) - rate(row), "low": low, "high": high}
        out[name] = {figure: round(float(value), 4) for figure, value in values.items()}
    return out


def main() -> None:
    """Train the rows, or go on, and write what they come to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--own", type=Path, required=True, help="pairs of `lm_self`")
    parser.add_argument("--judged", type=Path, help="those of `lm_self --judge`, a row of their own")
    parser.add_argument("--untouched", type=Path, required=True, help="messages and rewordings that were written")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    options = parser.parse_args()
    own_domain = banking(options.data)
    rows = {
        "more pairs of banking": (MORE, own_domain),
        "pairs of banking": (PAIRS, own_domain),
        "its own answers": (PAIRS, pairs_in(options.own)),
        **({"its own answers, judged": (PAIRS, pairs_in(options.judged))} if options.judged else {}),
        "the same corpora": (PAIRS, lm_data.made(options.data, "free", seed=0)[0]),
    }
    tests = {
        "banking": pairs_in(options.untouched),
        "all kinds": written.made(options.data, written.WRITTEN, KINDS, seed=0)[1],
    }
    start = checkpoint.load(START, device="cpu")
    if not isinstance(start, LMParaphraser):
        raise InputError(f"{START} is no language model; expected one")
    config = replace(start.config, epochs=EPOCHS, learning_rate=RATE, warmup=WARMUP)
    figures = {}
    for seed in options.seeds:
        models = {START: start}
        for name, (count, pairs) in rows.items():
            folder = options.out / f"{name.replace(',', '').replace(' ', '-')}-{seed}"
            loop = replace(BY_NLL, device="cpu", seed=seed, evaluate_every=10_000)
            some = corpora.clusters(random.Random(seed).sample(pairs, count))
            train_lm(some, folder, config=config, loop=loop, start=start, resume=True).require_over()
            models[name] = checkpoint.load(str(folder), device="cpu")
        figures[seed] = {
            test: compared({name: nats(model, pairs) for name, model in models.items()}, START)
            for test, pairs in tests.items()
        }
        sources = [pair.source.text for pair in tests["banking"]]
        answers = {name: model.decode(sources, [""] * len(sources)) for name, model in models.items()}
        with atomic_path(options.out / f"answers-{seed}.jsonl") as unfinished:
            lines = (
                json.dumps({"source": source, **{name: said[at] for name, said in answers.items()}}, ensure_ascii=False)
                for at, source in enumerate(sources)
            )
            unfinished.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        with atomic_path(options.out / "figures.json") as unfinished:
            unfinished.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
