"""Words by number, and how the training text cases them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from paraform.json_text import parse_json
from paraform.records import InputError, require_texts
from paraform.words import tell_cut, tokenize

PAD, UNK, BOS, EOS = range(4)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")


@final
@dataclass(frozen=True)
class Vocabulary:
    """Lower-cased words by number, and how the training text cases them.

    Args:
        words: `SPECIAL` first.
        cased: word → its usual form inside a sentence, where that is not the word itself (`paris` → `Paris`).
    """

    words: tuple[str, ...]
    cased: Mapping[str, str]

    def __post_init__(self) -> None:
        if self.words[: len(SPECIAL)] != SPECIAL or len(set(self.words)) != len(self.words):
            raise InputError(f"a vocabulary that begins {self.words[:4]}; expected {SPECIAL} first and no word twice")
        # A text may hold a word that looks like a mark of ours; it is an unknown word.
        known = {word: number for number, word in enumerate(self.words) if number == UNK or number >= len(SPECIAL)}
        object.__setattr__(self, "_numbers", known)

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        min_count: int,
        size: int = 0,
        units: Iterable[Sequence[str]] | None = None,
    ) -> Vocabulary:
        """Count words as they are cased; keep those seen `min_count` times, most frequent first.

        Args:
            size: the most words that are kept; 0: all.
            units: units that are counted in the words' place, such as their pieces; the casing is still that of words.
        """
        counts: Counter[str] = Counter()
        inside: dict[str, Counter[str]] = {}
        for words in sentences:
            opens = True
            for word in words:
                if units is None:
                    counts[word.lower()] += 1
                if not opens:  # the first word's capital says nothing
                    inside.setdefault(word.lower(), Counter())[word] += 1
                opens = word in {".", "?", "!"}
        for row in units or ():
            counts.update(row)
        often = (word for word, n in counts.items() if n >= min_count and word not in SPECIAL)
        kept = sorted(often, key=lambda word: (-counts[word], word))[: size or None]
        known = set(kept)
        usual = {word: forms.most_common(1)[0][0] for word, forms in inside.items() if units or word in known}
        return cls((*SPECIAL, *kept), {word: form for word, form in usual.items() if form != word})

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, words: Sequence[str], beyond: dict[str, int] | None = None) -> list[int]:
        """Numbers of lower-cased words. An unknown one is `UNK`, or a number ≥ len(self) that `beyond` keeps for it."""
        numbers: dict[str, int] = self.__dict__["_numbers"]
        if beyond is None:
            return [numbers.get(word, UNK) for word in words]
        out = []
        for word in words:
            number = numbers.get(word)
            out.append(beyond.setdefault(word, len(self) + len(beyond)) if number is None else number)
        return out

    def to_json(self) -> str:
        """The content of `vocabulary.json`."""
        return json.dumps({"words": self.words[len(SPECIAL) :], "cased": self.cased}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """Raises: InputError if the text is not what `to_json` wrote."""
        try:
            value = parse_json(text, "vocabulary.json", "an object with 'words' and 'cased'")
            words, cased = value["words"], value["cased"]
        except (KeyError, TypeError) as error:
            raise InputError(f"vocabulary.json: {error!r}; expected an object with 'words' and 'cased'") from error
        if not (isinstance(words, list) and isinstance(cased, dict)) or not all(
            isinstance(word, str) for word in (*words, *cased.values())
        ):
            raise InputError("vocabulary.json: expected a list of words and a table of their casing")
        return cls((*SPECIAL, *words), cased)


def prepare_all(texts: Iterable[str], max_tokens: int, *, tell: str = "") -> list[tuple[str, ...]]:
    """`prepare` for each text, the same once.

    Args:
        tell: the model's name, for a warning that counts the texts that are cut; "": none.
    Raises: InputError for what are no texts.
    """
    texts = require_texts(texts)
    whole = {text: tokenize(text) for text in dict.fromkeys(texts)}
    if tell:
        cut = sum(len(whole[text]) > max_tokens for text in texts)
        tell_cut(cut, len(texts), f"{max_tokens} words", tell)
    kept = {text: tuple(words[:max_tokens]) for text, words in whole.items()}
    return [kept[text] for text in texts]


def prepare(text: str, max_tokens: int) -> tuple[str, ...]:
    """A text as the systems read it: tokenised, cut at `max_tokens` words, case kept."""
    return tuple(tokenize(text)[:max_tokens])
