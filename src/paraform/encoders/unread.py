"""Which texts an encoder cannot read: most of their words are unknown to it, or known by their letters alone.

To an English WordPiece all emoji are one token, [UNK], and so are most words in Thai; of a Greek or Arabic word it has
letters and hardly more. Vectors of such texts are near each other whatever they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paraform.encoders.encoder import Encoded, Splitter

UNKNOWN = ("[UNK]", "<unk>")  # BERT's and RoBERTa's; GPT-2 knows every byte
INSIDE = "##"  # before a WordPiece that does not begin a word
LETTERS = 3  # a word of fewer pieces is not called spelled
PIECE = 1.5  # characters; a word whose pieces are shorter on average is spelled


def unread_texts(tokenizer: Splitter, texts: Sequence[str], encodings: Sequence[Encoded]) -> list[int]:
    """Which texts, by number, are mostly words that are unknown to the encoder, or spelled in letters beyond ASCII.

    Args:
        encodings: those of the texts; their numbers of pieces are enough.
    """
    unknown = {number for token in UNKNOWN if (number := tokenizer.token_to_id(token)) is not None}
    if not unknown:  # every byte is known, or every character
        return []
    maybe = [
        at
        for at, (text, encoding) in enumerate(zip(texts, encodings, strict=True))
        if not text.isascii() or not unknown.isdisjoint(encoding.ids)
    ]
    whole = tokenizer.encode_batch([texts[at] for at in maybe])  # tokens and words, which take longer to make
    return [at for at, encoding in zip(maybe, whole, strict=True) if _is_unread(encoding)]


def _is_unread(encoding: Encoded) -> bool:
    words: dict[int, list[str]] = {}
    for token, word in zip(encoding.tokens, encoding.word_ids, strict=True):
        if word is not None:
            words.setdefault(word, []).append(token)
    return 0 < len(words) <= 2 * sum(_is_lost(pieces) for pieces in words.values())


def _is_lost(pieces: Sequence[str]) -> bool:
    if any(piece in UNKNOWN for piece in pieces):
        return True
    if len(pieces) < LETTERS or not all(piece.startswith(INSIDE) for piece in pieces[1:]):
        return False
    letters = "".join(piece.removeprefix(INSIDE) for piece in pieces)
    return not letters.isascii() and len(letters) < PIECE * len(pieces)
