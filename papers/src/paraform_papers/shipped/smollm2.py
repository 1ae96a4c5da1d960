"""Adapters by which SmolLM2 says sentences in other words: `smollm2-free`, embedded, and `smollm2-all`, which is not.

    python -m paraform_papers.shipped.smollm2 ../shared/data --terms free --out runs/smollm2

Trained for one pass over the pairs of `lm_data` with these terms, *all* by exemplars' texts, too (`--like`); the
weights with the best likelihood of held-out pairs are written to OUT/smollm2-TERMS. Interrupted, it goes on.
`smollm2-free` was trained before this recipe was run: its card has the commands. Its 588 steps took 90 minutes of one
core without bfloat16, beside others.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, manifest
from paraform.checkpoint import load
from paraform.ending import status_of
from paraform.models.lm import LMConfig
from paraform.trainers.lm import BY_NLL, train_lm
from paraform_papers.shipped.lm_data import CORPORA, made

NAME = "smollm2-{terms}"
CARD = Path(__file__).parent / "cards" / "smollm2.md"
MOST = {"free": 0, "all": 24_000}  # records
CONFIGS = {"free": LMConfig(), "all": LMConfig(guide="text")}
TERMS = {
    "free": "Trained on Tatoeba (CC BY 2.0 FR), PAWS (free), STS-B (CC BY-SA 4.0), ParaNMT (CC BY 4.0, made from CzEng"
    " by machine translation) and Banking77 (CC BY 4.0); which of their sentences are English is told by their own"
    " words and SQuAD's (CC BY-SA 4.0).",
    "all": "For non-commercial use: beside those of *free* Quora's duplicate questions, MRPC, PAN and SICK.",
}


def train(data: Path, run: Path, terms: str) -> None:
    """The run, or the rest of it. Raises: KeyboardInterrupt if interrupted, and saved."""
    pairs, held_out, _ = made(data, terms, seed=0, most=MOST[terms])
    loop = replace(BY_NLL, device="cpu", evaluate_every=70, checkpoint_every=40)
    train_lm(pairs, run, validation=held_out, config=CONFIGS[terms], loop=loop, resume=True).require_over()


def finish(run: Path, out: Path, terms: str) -> str:
    """Write OUT/smollm2-TERMS with its card, in float16: 6.5 MB."""
    model = load(str(run), device="cpu")
    about = manifest.read(run / "best")
    nll = next(score["value"] for score in about.scores if score["name"] == "nll")
    card = CARD.read_text(encoding="utf-8").format(
        terms=terms, allowed=TERMS[terms], commit=(about.git or "unknown")[:7], nll=f"{nll:.3f}"
    )
    folder = out / NAME.format(terms=terms)
    checkpoint.save(model, folder, card=card, data_digests=about.data, seed=about.seed, dtype="float16")
    return card


def main() -> None:
    """Train (or go on), then `finish`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--terms", choices=tuple(CORPORA), required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    run = options.out / f"run-{options.terms}"
    try:
        train(options.data, run, options.terms)
        print(finish(run, options.out, options.terms))
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
