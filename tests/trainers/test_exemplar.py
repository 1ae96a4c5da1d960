"""CRL-EGPG from Python: pairs and a folder are enough."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import paraform
from paraform.models.exemplar import ExemplarConfig
from paraform.records import InputError, Pair, Sentence
from paraform.trainers.exemplar import BY_BLEU
from paraform.trainers.held_out import hold_out_pairs
from paraform.training import text_digest


def test_pairs_without_clusters_get_them_and_a_part_is_held_out(
    question_pairs: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Equal pairs share a cluster, so that none of them is in both parts."""
    once = [record for record in paraform.read(question_pairs) if isinstance(record, Pair)][:60]
    no_paraphrase = Pair(Sentence("where is it ?"), Sentence("who is it ?"), label=0)
    pairs = [*once, no_paraphrase, *once]
    config = replace(
        ExemplarConfig.compact(),
        word_width=8,
        content_width=8,
        decoder_width=8,
        style_width=8,
        word_vectors="random",
        min_count=1,
        batch_size=8,
        epochs=1,
        pool_size=0,
    )
    loop = replace(BY_BLEU, tensorboard=False, device="cpu", seed=2, evaluate_every=100)
    assert paraform.train_exemplar(iter(pairs), tmp_path / "run", config=config, loop=loop, validation_rows=2).step > 0
    training, validation = hold_out_pairs([pair for pair in paraform.clusters(pairs) if pair.label != 0], seed=2)
    assert "1 of 121 pairs are labelled 0 (no paraphrases); left out" in caplog.text
    assert not {pair.source.text for pair in training} & {pair.source.text for pair in validation}
    digests = json.loads((tmp_path / "run" / "best" / "paraform.json").read_text())["data"]
    assert digests == {
        f"{split} pairs": text_digest(text for pair in part for text in (pair.source.text, pair.target.text))
        for split, part in (("training", training), ("validation", validation))
    }


def test_what_is_no_pair_is_named(tmp_path: Path) -> None:
    given: Any = [Pair(Sentence("a"), Sentence("b")), Sentence("c")]
    with pytest.raises(InputError, match="record 2 is of type Sentence; expected a Pair"):
        paraform.train_exemplar(given, tmp_path / "run")
