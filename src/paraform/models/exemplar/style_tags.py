"""The tags of an exemplar's words as a second style input: a number beside each token that the style encoder reads.

Tags are a function of what the encoder reads, lower-cased words, so that training and use give a sentence the same.

Shape key: N tokens of all sentences end to end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paraform.batching import Ragged
from paraform.encoders import Encoder
from paraform.syntax import Tagger

# Penn Treebank's, as the embedded tagger has them; another tagger's other tags are none.
NAMES = (
    "$ '' , -LRB- -RRB- . : CC CD DT EX FW HYPH IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM"
    " TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB ``"
)
TAGS = tuple(NAMES.split())
NUMBERS = {tag: number for number, tag in enumerate(TAGS, start=1)}
NONE = 0  # of the encoder's own tokens, [CLS] and [SEP]


def tag_numbers(read: Sequence[str], encoder: Encoder, tag: Tagger) -> Ragged:
    """The number of its word's tag beside each token of the encoder: [N] int64; every piece of a word has it.

    Args:
        read: what the style encoder reads of each sentence: words with spaces between (`units.style_text`).
    Raises: InputError if the encoder's tokenizer is no WordPiece.
    """
    sentences = [text.split(" ") for text in read]
    rows = []
    for count, placed, tags in zip(
        encoder.count_tokens(read), encoder.placed_pieces(sentences), tag(sentences), strict=True
    ):
        numbers = np.full(count, NONE, np.int64)
        for pieces, name in zip(placed, tags, strict=True):
            for _, place in pieces:
                if place:  # 0, [CLS], is of words that have no token
                    numbers[place] = NUMBERS.get(name, NONE)
        rows.append(numbers.tolist())
    return Ragged.of(rows)
