"""Weights that another model carries on, and words that it did not have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from paraform import checkpoint
from paraform.batching import Vocabulary
from paraform.models.exemplar import ExemplarConfig, ExemplarParaphraser
from paraform.models.exemplar import warm_start as module
from paraform.models.exemplar.warm_start import carry_over, grown, require_same_build, ridge
from paraform.records import InputError


def test_the_map_is_that_of_scikit_learn() -> None:
    generator = torch.Generator().manual_seed(0)
    inputs, targets = torch.randn(40, 6, generator=generator), torch.randn(40, 3, generator=generator)
    peer = Ridge(alpha=module.RIDGE, fit_intercept=False).fit(inputs.numpy(), targets.numpy())
    assert np.allclose(ridge(inputs, targets).numpy(), peer.coef_.T, atol=1e-5)


def test_a_vocabulary_grows_behind_its_words() -> None:
    old = Vocabulary.build([["Where", "is", "Paris", "?"]], min_count=1)
    sentences = [["Is", "the", "card", "in", "Rome", "?"]] * 2 + [["a", "card", "once"]]
    config = ExemplarConfig(min_count=2)
    new = grown(old, sentences, config)
    assert new.words[: len(old)] == old.words and {*new.words[len(old) :]} == {"the", "card", "in", "rome"}
    assert new.cased == {"paris": "Paris", "rome": "Rome"}


def test_known_words_keep_their_weights_and_new_ones_begin_among_their_like(tiny_run: Path) -> None:
    """Decoding with the larger vocabulary says the same, where no new word is written."""
    start = checkpoint.load(tiny_run, device="cpu")
    more = ("keyboard", "violin")
    vocabulary = Vocabulary((*start.vocabulary.words, *more), start.vocabulary.cased)
    model = ExemplarParaphraser(start.config, vocabulary, start.bank)
    carry_over(model, start)
    own, theirs = model.network.state_dict(), start.network.state_dict()
    known = len(start.vocabulary)
    assert all(torch.equal(own[name][: len(tensor)], tensor) for name, tensor in theirs.items())
    assert own["embedding.weight"].shape[0] == known + 2 and own["embedding.weight"][known:].abs().sum() > 0
    assert torch.equal(own["output.weight"], own["embedding.weight"])  # tied
    model.network.output.bias.data[known:] = -100
    sources, likes = ["how do i learn chess ?"] * 2, ["What is it?", "Should anyone learn it this year?"]
    assert model.decode(sources, likes) == start.decode(sources, likes)


@pytest.mark.parametrize(("field", "value"), [("word_width", 20), ("copy", False), ("max_tokens", 12)])
def test_another_build_is_named(field: str, value: Any) -> None:
    start = ExemplarConfig.compact()
    other = replace(start, **{field: value}, **({"coverage": False} if field == "copy" else {}))
    with pytest.raises(InputError, match="expected the same, since its weights are of that build"):
        require_same_build(other, start)
    require_same_build(replace(start, learning_rate=1e-5, epochs=1, dropout=0.3), start)
