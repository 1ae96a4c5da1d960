"""Which texts an encoder cannot read: most of their words are unknown to it, or known by their letters alone.

To an English WordPiece all emoji are one token, [UNK], and so are most words in Thai; of a Greek or Arabic word it has
letters and hardly more. Vectors of such texts are near each other whatever they say.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from paraform.encoders.types import Encoded, Splitter

UNKNOWN = ("[UNK]", "<unk>")  # BERT's and XLM-RoBERTa's; what reads bytes, as RoBERTa and GPT-2, knows each
INSIDE = "##"  # before a WordPiece that does not begin a word
ENDS = 2  # tokens of a text without any
LETTERS = 3  # a word of fewer pieces is not called spelled
PIECE = 1.5  # characters; a word whose pieces are shorter on average is spelled
SYLLABLES = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"))  # kana, Han, Hangul: one says something
AT_ONCE = 1024  # texts whose tokens and words are held
TEXTS = 4096  # whose pieces are held where no more than these are wanted


def are_unread(tokenizer: Splitter, texts: list[str]) -> npt.NDArray[np.bool_]:
    """Of each text, whether it is one of `unread_texts`: bool [B]."""
    out_B = np.zeros(len(texts), bool)
    for at in range(0, len(texts), TEXTS):  # else memory would grow with them
        some = texts[at : at + TEXTS]
        lost = unread_texts(tokenizer, some, tokenizer.encode_batch_fast(some))
        out_B[[at + number for number in lost]] = True
    return out_B


def unread_texts(tokenizer: Splitter, texts: Sequence[str], encodings: Sequence[Encoded]) -> list[int]:
    """Which texts, by number, have no token, or as many unknown words as known ones, or more.

    Unknown is a word without a piece, in the share of its pieces that are unknown; or one spelled in letters beyond
    ASCII. Known words have a letter or a digit.

    Args:
        encodings: those of the texts; their numbers of pieces are enough.
    """
    unknown = {number for token in UNKNOWN if (number := tokenizer.token_to_id(token)) is not None}
    if not unknown:  # every byte is known, or every character
        return []
    maybe = [
        at
        for at, (text, encoding) in enumerate(zip(texts, encodings, strict=True))
        if not text.isascii() or len(encoding.ids) <= ENDS or not unknown.isdisjoint(encoding.ids)
    ]
    out = []
    for begin in range(0, len(maybe), AT_ONCE):
        some = maybe[begin : begin + AT_ONCE]
        whole = tokenizer.encode_batch([texts[at] for at in some])  # tokens and words, which take longer to make
        out += [at for at, encoding in zip(some, whole, strict=True) if _is_unread(encoding, unknown)]
    return out


def _is_unread(encoding: Encoded, unknown: Collection[int]) -> bool:
    words: dict[int, list[tuple[str, bool]]] = {}
    for number, token, word in zip(encoding.ids, encoding.tokens, encoding.word_ids, strict=True):
        if word is not None:
            words.setdefault(word, []).append((token, number in unknown))
    lost = [_lost(pieces) for pieces in words.values()]
    counted = sum(share > 0 or _is_word(pieces) for share, pieces in zip(lost, words.values(), strict=True))
    return not words or 0 < counted <= 2 * sum(lost)


def _lost(pieces: Sequence[tuple[str, bool]]) -> float:
    """Which share of a word is unknown."""
    if any(unknown for _, unknown in pieces):
        return sum(unknown for _, unknown in pieces) / len(pieces)
    return float(len(pieces) >= LETTERS and _is_spelled([token for token, _ in pieces]))


def _is_spelled(tokens: Sequence[str]) -> bool:
    """Whether a WordPiece has hardly more of a word than letters, of another alphabet than English."""
    if not all(token.startswith(INSIDE) for token in tokens[1:]):
        return False
    letters = "".join(token.removeprefix(INSIDE) for token in tokens)
    if letters.isascii() or any(low <= letter <= high for letter in letters for low, high in SYLLABLES):
        return False
    return len(letters) < PIECE * len(tokens)


def _is_word(pieces: Sequence[tuple[str, bool]]) -> bool:
    return any(character.isalnum() for token, _ in pieces for character in token)
