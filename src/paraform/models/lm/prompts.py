"""Texts as what a language model reads and goes on from: a turn of a chat, as models that follow orders know it.

    <start>user\\nRewrite:\\n source <end>\\n<start>assistant\\n target <end>
    <start>user\\nRewrite:\\n source <start> guide <end>\\n<start>assistant\\n target <end>

A guide of soft pieces stands where words would: its places are marks here, which the network does not read.

SmolLM2 knows such turns, and begins far nearer to a paraphrase than behind the marks alone.
The marks are special tokens, which no text can say: what looks like one in a text is read as its letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

from tokenizers import Tokenizer

from paraform.models.lm.config import LMConfig
from paraform.records import InputError

ASKED, ANSWERED = "user\nRewrite:\n", "assistant\n"


class Marks(NamedTuple):
    """Numbers of the pieces that begin and end a turn."""

    start: int
    end: int

    @classmethod
    def of(cls, start: int | None, end: int | None) -> Marks:
        """Those of a model, as its config says (`bos_token_id`, `eos_token_id`); None: as the other.

        Raises: InputError if it says neither.
        """
        start, end = end if start is None else start, start if end is None else end
        if start is None or end is None:
            raise InputError("config.json: neither bos_token_id nor eos_token_id; expected the end of a text")
        return cls(start, end)


class Fitted(NamedTuple):
    """Numbers that fit, whether something was cut for it, and of a prompt where its source ends."""

    numbers: list[int]
    cut: bool
    source_end: int = 0


@final
class Prompts:
    """Makes prompts and targets of texts, and texts of what was written.

    Args:
        tokenizer: the model's own; it is not changed.
        begin: the piece behind which a target is written.
    """

    def __init__(self, tokenizer: Tokenizer, marks: Marks) -> None:
        self.tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.tokenizer.encode_special_tokens = True  # a text that holds "<|im_end|>" is a text
        self.marks = marks
        asked, again, answered = self._pieces((ASKED, "\n", ANSWERED))
        self._before = [marks.start, *asked]
        behind = [marks.end, *again, marks.start, *answered]
        self._behind, self.begin = behind[:-1], behind[-1]

    @property
    def source_start(self) -> int:
        """Where the source begins in a prompt."""
        return len(self._before)

    def prompts(
        self, sources: Sequence[str], guides: Sequence[str] | Sequence[int] | None, config: LMConfig
    ) -> list[Fitted]:
        """What is read of each source, but for `begin`, behind which the target is written.

        Args:
            guides: one a source, words or how many soft pieces, "" or 0 for none; None: none at all. Behind the source
                stands a mark, then the guide.
        """
        read = self._pieces(sources)
        words = ["" if isinstance(guide, int) else guide for guide in guides or [""] * len(read)]
        soft = [guide if isinstance(guide, int) else 0 for guide in guides or [0] * len(read)]
        told = [[*pieces, *[self.marks.start] * count] for pieces, count in zip(self._pieces(words), soft, strict=True)]
        room = config.max_pieces - len(self._before) - len(self._behind) - 1
        out = []
        for source, guide, count in zip(read, told, soft, strict=True):
            kept = source[: room - (count + 1 if count else 0)]  # half a soft guide would be none
            more = [self.marks.start, *guide][: max(0, room - len(kept))] if guide else []
            cut = len(kept) < len(source) or len(more) < len(guide)
            end = len(self._before) + len(kept)
            out.append(Fitted([*self._before, *kept, *more, *self._behind], cut, end))
        return out

    def targets(self, texts: Sequence[str], config: LMConfig) -> list[Fitted]:
        """What is written for each, its end counted."""
        room = config.max_written - 1
        return [Fitted([*pieces[:room], self.marks.end], len(pieces) > room) for pieces in self._pieces(texts)]

    def spans(self, texts: Sequence[str], config: LMConfig) -> list[list[tuple[int, int]]]:
        """Where the pieces of `targets` stand in each text, in characters; the end behind the last one."""
        room = config.max_written - 1
        rows = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)  # the fast one tells no places
        return [[*one.offsets[:room], (len(text), len(text) + 1)] for one, text in zip(rows, texts, strict=True)]

    def text(self, numbers: Sequence[int]) -> str:
        """What pieces say, without the white space around it; marks are left out."""
        said: str = self.tokenizer.decode(list(numbers), skip_special_tokens=True)
        return said.strip()

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
