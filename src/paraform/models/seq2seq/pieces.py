"""Texts and trees as what a seq2seq reads and writes: the tokenizer's numbers, and a separator between the parts.

    input    <s> source <sep> the source's own tree <sep> the form, a tree that is cut </s>
    output   <s> the target's tree <sep> target </s>

Trees are plain text, `(ROOT (S (NP (DT) (NN)) (VP (VBD))))`, in the tokenizer's pieces: a pretrained model knows
brackets and most labels' letters, and reads a label that no tree of training had. The separator alone is a number of
its own, one behind all that the tokenizer has: what a text says can never be taken for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

from tokenizers import Tokenizer

from paraform.models.seq2seq.config import Seq2SeqConfig
from paraform.records import InputError
from paraform.syntax.trees import Tree, linearized, template


class Fitted(NamedTuple):
    """Numbers that fit, and whether something was cut for it."""

    numbers: list[int]
    cut: bool


class Said(NamedTuple):
    """An output: the paraphrase, the tree before it, and whether a separator stood between them."""

    text: str
    tree: str
    whole: bool


@final
class Pieces:
    """A tokenizer, what it puts around a text, and the separator.

    Args:
        tokenizer: the model's own; it is not changed.
        separator: its number.
    Raises: InputError if the tokenizer puts no mark behind a text, cannot say brackets, or has the separator's number
        itself.
    """

    def __init__(self, tokenizer: Tokenizer, separator: int) -> None:
        self.tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.separator = separator
        encoding = self.tokenizer.encode("a")
        marks = [bool(mark) for mark in encoding.special_tokens_mask]
        inside = marks.index(False) if False in marks else len(marks)
        self.before = encoding.ids[:inside]
        self.behind = encoding.ids[len(marks) - marks[::-1].index(False) :] if False in marks else []
        if not self.behind:
            raise InputError("a tokenizer that puts no mark behind a text; expected one, as BART's and T5's is </s>")
        highest = max(self.tokenizer.get_vocab().values())
        if highest >= separator:
            raise InputError(f"the tokenizer has a piece {highest:,}; expected numbers below {separator:,}")
        # A text that holds "</s>" is a text; the marks are put around it below.
        self.tokenizer.encode_special_tokens = True
        said = self.text(self.of(["(S (NP))"])[0])
        if (said.count("("), said.count(")")) != (2, 2):
            raise InputError(f"a tokenizer that makes {said[:40]!r} of '(S (NP))'; expected one that has brackets")

    @property
    def stop(self) -> int:
        """The number that ends an output."""
        return self.behind[-1]

    def of(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of each text, without marks; the same text is read once."""
        different = list(dict.fromkeys(texts))
        encodings = self.tokenizer.encode_batch_fast(different, add_special_tokens=False)
        found = {text: encoding.ids for text, encoding in zip(different, encodings, strict=True)}
        return [found[text] for text in texts]

    def fitted(self, parts: Sequence[Sequence[int]], most: int, yielding: Sequence[int]) -> Fitted:
        """The parts with separators between them, and the marks around them.

        Args:
            most: numbers in all; what is beyond is cut from the ends of parts.
            yielding: the parts in the order in which they are cut, each only once the one before it is gone.
        """
        kept = [list(part) for part in parts]
        beyond = sum(map(len, kept)) + len(parts) - 1 + len(self.before) + len(self.behind) - most
        cut = beyond > 0
        for place in yielding:
            taken = min(len(kept[place]), max(0, beyond))
            kept[place] = kept[place][: len(kept[place]) - taken]
            beyond -= taken
        numbers = list(self.before)
        for place, part in enumerate(kept):
            numbers += [self.separator, *part] if place else part
        return Fitted([*numbers, *self.behind], cut)

    def text(self, numbers: Sequence[int]) -> str:
        """What pieces say, in one line; marks are left out."""
        said: str = self.tokenizer.decode([number for number in numbers if number < self.separator])
        return " ".join(said.split())

    def said(self, numbers: Sequence[int]) -> Said:
        """What an output says; where the separator is lacking, what is behind the last bracket (the code)."""
        if self.separator in numbers:
            at = numbers.index(self.separator)
            return Said(self.text(numbers[at + 1 :]), self.text(numbers[:at]), True)
        whole = self.text(numbers)
        at = 1 + max(whole.rfind(bracket) for bracket in "()")
        return Said(whole[at:].strip(), whole[:at].strip(), False)


def inputs(
    sources: Sequence[str],
    own: Sequence[Tree] | None,
    forms: Sequence[Tree],
    pieces: Pieces,
    config: Seq2SeqConfig,
) -> list[Fitted]:
    """What is read for each source.

    Args:
        own: the sources' own trees; None: not read (`config.source_tree`).
        forms: trees as they are read, cut already.
    """
    read = [pieces.of(sources), pieces.of([linearized(form) for form in forms])]
    yielding = [0, 1]
    if own is not None:
        read.insert(1, pieces.of([linearized(tree) for tree in own]))
        yielding = [1, 0, 2]
    return [pieces.fitted(parts, config.max_pieces, yielding) for parts in zip(*read, strict=True)]


def outputs(targets: Sequence[str], trees: Sequence[Tree], pieces: Pieces, config: Seq2SeqConfig) -> list[Fitted]:
    """What is written for each target, whose whole trees these are."""
    shown = trees if config.written_tree == "whole" else [template(tree, config.height) for tree in trees]
    read = [pieces.of([linearized(tree) for tree in shown]), pieces.of(targets)]
    return [pieces.fitted(parts, config.max_written, (0, 1)) for parts in zip(*read, strict=True)]
