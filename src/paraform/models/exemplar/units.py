"""What CRL-EGPG's two encoders read of a sentence's words."""

from __future__ import annotations

from collections.abc import Sequence

from paraform.encoders import Encoder


def split_units(sentences: list[list[str]], units: str, encoder: Encoder | None) -> list[list[str]]:
    """Lower-cased words as the network counts them: themselves, or their pieces."""
    return sentences if units == "words" or encoder is None else encoder.word_pieces(sentences)


def style_text(words: Sequence[str]) -> str:
    """What the style encoder reads of a sentence: its words, lower-cased, with spaces between."""
    return " ".join(words).lower()
