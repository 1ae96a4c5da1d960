"""What of a corpus the latent models read."""

from __future__ import annotations

import pytest

from paraform.models.latent.texts import short_enough
from paraform.records import InputError


def test_empty_and_long_sentences_are_left_out_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    texts = ["a b", "a " * 30, "", "c", " "]
    assert short_enough(texts, str.split, 5, "training") == ["a b", "c"]
    assert "training: 3 of 5 sentences are empty or have more than 5 words; left out" in caplog.text
    with pytest.raises(InputError, match="no sentence of 1 to 5 words"):
        short_enough(["a " * 10_000, ""], str.split, 5, "training")
