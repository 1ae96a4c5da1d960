"""Words that were split already, read as their text with a space between any two is."""

from __future__ import annotations

from collections.abc import Sequence

from paraform.encoders.types import Encoded, Splitter

PROBE = ["a", "a"]  # a word behind another one


def encode_words(tokenizer: Splitter, sentences: Sequence[Sequence[str]]) -> Sequence[Encoded]:
    """Each sentence's words as pieces, `word_ids` among them.

    What reads bytes, as GPT-2, RoBERTa and SmolLM2 do, has the space before a word in the word's first piece: without
    it "the cat" is read as "thecat". So every word but the first gets one, if the tokenizer puts none there itself.
    """
    (split,), (whole,) = tokenizer.encode_batch([PROBE], is_pretokenized=True), tokenizer.encode_batch_fast(["a a"])
    if split.ids != whole.ids:
        (spaced,) = tokenizer.encode_batch([_spaced(PROBE)], is_pretokenized=True)
        if spaced.ids == whole.ids:
            sentences = list(map(_spaced, sentences))
    return tokenizer.encode_batch(list(map(list, sentences)), is_pretokenized=True)


def _spaced(words: Sequence[str]) -> list[str]:
    return [f" {word}" if at and word else word for at, word in enumerate(words)]
