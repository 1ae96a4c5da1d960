"""States that are computed once."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from paraform.batching import cached_states
from paraform.encoders import Encoder


def test_states_are_computed_once(minilm: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["what is it ?", "who", "how do i begin ?"]
    found = cached_states(minilm, texts, layer=3, folder=tmp_path)
    (expected,) = minilm.states(texts, layers=[3])
    assert np.array_equal(found.offsets, expected.offsets) and found.values.dtype == np.float16
    np.testing.assert_allclose(found.values, expected.states_ND, rtol=1e-3, atol=1e-3)
    assert isinstance(found.values, np.memmap)
    cached_states(minilm, texts, layer=2, folder=tmp_path)
    cached_states(minilm, texts[:2], layer=3, folder=tmp_path)
    cached_states(minilm, ["what is it ?who", "how do i begin ?"], layer=3, folder=tmp_path)
    files = sorted(path.name for path in (tmp_path / "states").iterdir())
    assert len(files) == 8  # one pair of files for each layer and each list of texts

    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(Encoder, "states", never)
    again = cached_states(minilm, texts, layer=3, folder=tmp_path)
    assert np.array_equal(again.values, found.values) and np.array_equal(again.offsets, found.offsets)
    with monkeypatch.context() as patch:
        patch.setenv("PARAFORM_PRODUCTS", "bfloat16")  # states of another precision are other states
        with pytest.raises(AssertionError, match="computed again"):
            cached_states(minilm, texts, layer=3, folder=tmp_path)
    for other in (dataclasses.replace(minilm, digest="another"), dataclasses.replace(minilm, start=1)):
        with pytest.raises(AssertionError, match="computed again"):
            cached_states(other, texts, layer=3, folder=tmp_path)
    shorter = dataclasses.replace(minilm)
    vars(shorter)["tokenizer_digest"] = "another"  # it is computed when it is first asked for
    with pytest.raises(AssertionError, match="computed again"):
        cached_states(shorter, texts, layer=3, folder=tmp_path)
    assert not list((tmp_path / "states").glob("*.unfinished"))
