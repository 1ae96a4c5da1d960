"""The embedded adapters `smollm2-free` and `smollm2-all`: SmolLM2 says sentences in other words.

    python -m paraform_papers.shipped.smollm2 ../shared/data --untouched docs/ratings/kinds-written.json \\
        --terms free --out runs/smollm2

Trained by `LMConfig()` for one pass over the pairs of `lm_data` with these terms, then for one over `MOST_WRITTEN` of
`written`; the weights with the best likelihood of held-out pairs are written to OUT/smollm2-TERMS. Interrupted, it goes
on. The embedded ones have the first pass alone, so far, by the commands of their card: 90 minutes of one core
without bfloat16. A trial of the second took 52 of two. This recipe itself has not been run.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from paraform import checkpoint, manifest
from paraform.checkpoint import load
from paraform.models.lm import LMConfig
from paraform.records import status_of
from paraform.trainers.lm import BY_NLL, train_lm
from paraform_papers.shipped import written
from paraform_papers.shipped.lm_data import CORPORA, made

NAME = "smollm2-{terms}"
CARD = Path(__file__).parent / "cards" / "smollm2.md"
MOST = {"free": 0, "all": 24_000}  # records
MOST_WRITTEN = 13_000
LAST = LMConfig(learning_rate=4e-4)
TERMS = {
    "free": "Trained on Tatoeba (CC BY 2.0 FR), PAWS (free), STS-B (CC BY-SA 4.0), ParaNMT (CC BY 4.0, made from CzEng"
    " by machine translation) and Banking77 (CC BY 4.0); which of their sentences are English is told by their own"
    " words and SQuAD's (CC BY-SA 4.0); then on rewordings that were written for it, half of them of"
    " sentences of Banking77, SQuAD, STS-B, Tatoeba and GUM (under these corpora's terms; the others Apache-2.0).",
    "all": "For non-commercial use: beside those of *free* Quora's duplicate questions, MRPC, PAN and SICK.",
}


def train(data: Path, untouched: Path, run: Path, terms: str) -> None:
    """Both passes, or the rest of them. Raises: KeyboardInterrupt if interrupted, and saved."""
    pairs, held_out, _ = made(data, terms, seed=0, most=MOST[terms])
    loop = replace(BY_NLL, device="cpu", evaluate_every=80, checkpoint_every=40)
    first = run / "first"
    train_lm(pairs, first, validation=held_out, config=LMConfig(), loop=loop, resume=True).require_over()
    start = load(str(first), device="cpu")
    pairs, held_out, _ = written.made(data, written.WRITTEN, untouched, seed=0, most=MOST_WRITTEN)
    own = train_lm(pairs, run / "last", start=start, validation=held_out, config=LAST, loop=loop, resume=True)
    own.require_over()


def finish(run: Path, out: Path, terms: str) -> str:
    """Write OUT/smollm2-TERMS with its card, in float16: 6.5 MB."""
    model = load(str(run / "last"), device="cpu")
    about = manifest.read(run / "last" / "best")
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
    parser.add_argument("--untouched", type=Path, required=True, help="JSON of texts that are to be reworded blind")
    parser.add_argument("--terms", choices=tuple(CORPORA), required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    run = options.out / f"run-{options.terms}"
    try:
        train(options.data, options.untouched, run, options.terms)
        print(finish(run, options.out, options.terms))
    except KeyboardInterrupt as stop:
        sys.exit(status_of(stop))


if __name__ == "__main__":
    main()
