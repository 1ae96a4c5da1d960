"""The embedded judge of meaning, `smollm2-judge`: adapters by which SmolLM2 tells whether two texts say the same.

    python -m paraform_papers.shipped.judge_data ../shared/data --terms free --most 44000 --out runs/judge-free
    python -m paraform_papers.shipped.judge --pairs runs/judge-free --out runs/judge

Trained for one pass over those pairs; the weights with the best likelihood of the development pairs, calibrated by
these, are written to OUT/smollm2-judge. Interrupted, it goes on. `--run` takes a run of `judge_rows --row lm`, which is
the same. Running time: 68 minutes of two cores with AVX512_BF16.
The embedded one has read 720 of the sentences of `ways.jsonl`; the others were written since.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, corpora, manifest
from paraform.checkpoint import load
from paraform.models.judge import JudgeConfig
from paraform.records import Pair, status_of
from paraform.trainers.judge import BY_NLL, train_judge

NAME = "smollm2-judge"
CARD = Path(__file__).parent / "cards" / "judge.md"


def train(pairs: Path, run: Path) -> None:
    """The run, or the rest of it. Raises: KeyboardInterrupt if interrupted, and saved."""
    train, dev = (
        [one for one in corpora.read_jsonl(pairs / f"{part}.jsonl") if isinstance(one, Pair)]
        for part in ("train", "dev")
    )
    loop = replace(BY_NLL, device="cpu", tensorboard=False)
    train_judge(train, run, validation=dev, config=JudgeConfig.lm(), loop=loop, resume=True).require_over()


def finish(run: Path, out: Path) -> str:
    """Write OUT/smollm2-judge with its card, in float16: 6.5 MB."""
    model = load(str(run), device="cpu")
    about = manifest.read(run / "best")
    nll = next(score["value"] for score in about.scores if score["name"] == "nll")
    card = CARD.read_text(encoding="utf-8").format(commit=(about.git or "unknown")[:7], nll=f"{nll:.3f}")
    checkpoint.save(model, out / NAME, card=card, data_digests=about.data, seed=about.seed, dtype="float16")
    return card


def main() -> None:
    """Train (or go on), then `finish`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=Path, help="what judge_data wrote")
    parser.add_argument("--run", type=Path, help="a run that was trained already")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    run = options.run or options.out / "run"
    try:
        if options.run is None:
            if options.pairs is None:
                parser.error("expected --pairs, or --run")
            train(options.pairs, run)
        print(finish(run, options.out))
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
