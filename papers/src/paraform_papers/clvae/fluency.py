"""Are samples fluent, and do they cover the corpus? clVAE's Table 4 by a language model, beside its 5-gram models.

    python -m paraform_papers.clvae.fluency runs/clvae-lm/0/ptb/small/vae/best \\
        --train ../shared/data/ptb/ptb.train.txt --test ../shared/data/ptb/ptb.test.txt --out runs/fluency

`smollm2` goes on, by adapters, with one pass over the training sentences, and reads the samples (forward); and with one
over the samples, and reads the test sentences (reverse). Both are perplexities of a word, the end counted; 5-gram
models read small letters. Models are to be trained on that corpus: others set commas and capitals otherwise. The first
row, `real`, is of other training sentences in the place of samples. 5-gram models need lmplz; without it theirs are
left out. OUT keeps what was measured of the same files, weights, settings and code.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from paraform import checkpoint, corpora
from paraform.batching import Ragged, SentenceBatch, sentence_batches
from paraform.encoders import bfloat16_products
from paraform.encoders.causal import states_and_scores
from paraform.evaluation.latent.ngram import ngram_perplexities, require_ngrams
from paraform.models.latent import LatentConfig
from paraform.models.latent.causal import Base, CausalDecoder
from paraform.models.sentence_nll import sentence_nll
from paraform.progress import track
from paraform.records import InputError, Sentence
from paraform.weights import sha256
from paraform_papers.rows import digest_of, kept

SAMPLES, TRAINED, TESTED, BATCH = 1_280, 5_000, 1_000, 16
AT_ONCE = 256  # decoded, in 7 GiB: each step casts a language model's weights anew
RATE, CLIP = 1e-3, 1.0
REAL = "real"


@final
class CorpusModel(nn.Module):
    """A language model that goes on with a corpus: adapters, and soft pieces that are the same before each sentence.

    Args:
        base: is changed.
    """

    def __init__(self, base: Base) -> None:
        super().__init__()
        inner, output = states_and_scores(base.module)
        self.pieces, self.output = base.pieces, output.requires_grad_(False)
        self.decoder = CausalDecoder(LatentConfig.lm(latent_width=1), inner)

    def nll(self, batch: SentenceBatch) -> Tensor:
        """−ln p of sentences, their ends counted: [R] nats."""
        same_R1 = torch.ones(len(batch.words_BT), 1)
        states = self.decoder(F.pad(batch.words_BT, (1, 0), value=self.pieces.start), same_R1)
        return sentence_nll(self.output, states, batch, self.pieces.stop)

    def table(self, texts: Sequence[str]) -> Ragged:
        """Pieces of texts that are not empty."""
        return Ragged.of([self.pieces.encode(self.pieces.split(text)) for text in texts])

    def go_on(self, texts: Sequence[str], *, seed: int) -> CorpusModel:
        """One pass, by Adam."""
        self.train()
        table = self.table(texts)
        batches, steps = sentence_batches(table, batch_size=min(BATCH, len(texts)), seed=seed)
        weights = list(self.decoder.parameters())
        adam = torch.optim.Adam(weights, lr=RATE)
        for step in track(range(steps), "going on", show=True):
            batch = batches(step)
            loss = self.nll(batch).sum() / float((batch.lengths_B + 1).sum())
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call] # torch has no type for it
            torch.nn.utils.clip_grad_norm_(weights, CLIP)
            adam.step()
        return self

    @torch.no_grad()
    def perplexity(self, texts: Sequence[str]) -> float:
        """Of a word as white space has it, ends counted."""
        self.eval()
        table = self.table(texts)
        parts = (np.arange(at, min(at + BATCH, len(texts))) for at in range(0, len(texts), BATCH))
        total = sum(self.nll(SentenceBatch(*table.padded(rows))).sum().item() for rows in parts)
        return math.exp(total / sum(len(text.split()) + 1 for text in texts))


def corpus_model(texts: Sequence[str], base: str, seed: int) -> CorpusModel:
    """`base`, gone on with texts."""
    torch.manual_seed(seed)
    return CorpusModel(Base.of(base)).go_on(texts, seed=seed)


def measured(
    samples: Sequence[str], training: Sequence[str], test: Sequence[str], forward: CorpusModel, base: str, seed: int
) -> dict[str, Any]:
    """Both perplexities, by both kinds of model, of those samples that are not empty."""
    said = [text for text in samples if text.strip()]
    if not said:
        return {"samples": 0}
    found: dict[str, Any] = {"samples": len(said), "different": len(set(said))}
    found |= {"forward": forward.perplexity(said), "reverse": corpus_model(said, base, seed).perplexity(test)}
    try:
        require_ngrams()
    except InputError:
        return found
    forward_5, reverse_5 = ngram_perplexities(*([text.lower() for text in texts] for texts in (said, training, test)))
    return found | {"forward by 5-grams": forward_5, "reverse by 5-grams": reverse_5}


def samples_of(name: str, seed: int) -> list[str]:
    """Sentences of z drawn by the seed, decoded greedily, as the authors do.

    torch's fused attention is the faster where one word asks (`bfloat16_products` is for whole sentences).
    """
    model: Any = checkpoint.load(name, device="cpu")
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        sampled: list[str] = model.sample(SAMPLES, seed=seed, batch_size=AT_ONCE, progress=True)
    return sampled


def sentences(file: Path) -> list[str]:
    """Of a text file, a sentence a line."""
    return [record.text for record in corpora.read(file, "text") if isinstance(record, Sentence)]


def main() -> None:
    """Measure what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("models", nargs="*", help="folders of models of the latent family, trained on that corpus")
    parser.add_argument("--train", type=Path, required=True, help="the corpus, a sentence a line")
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    parser.add_argument("--base", default="smollm2")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if missing := [name for name in given.models if not Path(name).is_dir()]:
        parser.error(f"{missing[0]}: no folder; expected a model's, trained on {given.train}")
    every, test = sentences(given.train), sentences(given.test)[:TESTED]
    training, others = every[:TRAINED], every[TRAINED:][-SAMPLES:]
    if not others:
        parser.error(f"{given.train}: {len(every):,} sentences; expected more than {TRAINED:,}, which are learned from")
    settings = {
        "files": [sha256(given.train), sha256(given.test)], "base": dict(Base.of(given.base).digests),
        "seed": given.seed, "sentences": [len(training), len(test), SAMPLES],
    }  # fmt: skip
    forward: list[CorpusModel] = []

    def measure(name: str) -> dict[str, Any]:
        drawn = others if name == REAL else samples_of(name, given.seed)
        forward[:] = forward or [corpus_model(training, given.base, given.seed)]
        return measured(drawn, training, test, forward[0], given.base, given.seed)

    with bfloat16_products(torch.device("cpu")):
        for name in (REAL, *given.models):
            of = settings | {"model": name if name == REAL else digest_of(Path(name))}
            found = kept(given.out / f"{name.strip('/').replace('/', '+')}.json", of, partial(measure, name))
            print(json.dumps({"model": name} | {key: value for key, value in found.items() if key != "of"}), flush=True)


if __name__ == "__main__":
    main()
