"""A syntax head at work: words to what it says of their tags, and of their constituents.

Shape key: B sentences of one length, T words, P spans, L layers of the encoder, D features.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraform import encoders, manifest
from paraform.fields import kept_fields
from paraform.records import InputError
from paraform.syntax.head import SyntaxHead, SyntaxHeadConfig, word_shape
from paraform.syntax.windows import same_length, shortened
from paraform.weights import load_tensors, pretrained_folder, require_shapes, shapes_only

DEFAULT = "syntax"  # trained on genres whose texts are free for commercial use
ALL = "syntax-all"
WORDS_AT_ONCE = 2048  # their states at five layers are 8 MB, which the allocator keeps for the next ones


class Analysed(NamedTuple):
    """What the head says of some windows of one length.

    Args:
        rows: which windows.
        tags: numbers of their tags.
        scores_BP, labels_BP: each span's best label and that label's score; None if they were not asked for.
    """

    rows: list[int]
    tags: list[list[int]]
    scores_BP: NDArray[np.float32] | None
    labels_BP: NDArray[np.int64] | None


def head_folder(name: str, what: str, others: str) -> Path:
    """The folder of a shipped or trained head.

    Args:
        what, others: for the message: a tagger or a parser, and which there are beside heads.
    Raises: InputError if there is none.
    """
    folder = pretrained_folder(name) or Path(name)
    if not folder.is_dir():
        raise InputError(f"no {what} {name!r}; expected {DEFAULT!r}, {ALL!r}, {others} or a trained head's folder")
    return folder


def load_head(folder: Path) -> SyntaxHead:
    """The syntax head of a checkpoint folder.

    Raises: InputError if it is none, or is damaged.
    """
    about = manifest.read(folder)
    if about.system != SyntaxHead.system:
        raise InputError(f"{folder / manifest.NAME}: system {about.system!r}; expected {SyntaxHead.system!r}")
    assets = {name: manifest.located(folder, about, name).read_text(encoding="utf-8") for name in about.assets}
    config = kept_fields(SyntaxHeadConfig, about.config, folder / manifest.NAME)
    weights = manifest.located(folder, about, manifest.WEIGHTS)
    with shapes_only():  # without memory: what a small file's config makes of it may be larger than any
        require_shapes(weights, SyntaxHead.restore(config, assets).state_dict())
    head = SyntaxHead.restore(config, assets)
    head.load_state_dict({key: tensor.float() for key, tensor in load_tensors(weights).items()})
    return head.eval()


def head_digest(folder: Path) -> str:
    """What tells two heads apart: SHA-256 of the weights."""
    return manifest.read(folder).files[manifest.WEIGHTS]


class Runner:
    """A copy of a head, and its encoder, on one device, in the encoder's precision."""

    def __init__(self, head: SyntaxHead, *, device: str | None = None) -> None:
        self.encoder = encoders.load(head.config.encoder, device=device)
        self.dtype = encoders.best_dtype(self.encoder.device)
        self.head = copy.deepcopy(head).to(self.encoder.device, self.dtype).eval()

    @torch.inference_mode()
    def __call__(self, windows: Sequence[Sequence[str]], *, spans: bool) -> Iterator[Analysed]:
        """The windows, those of one length together; the empty ones are left out.

        The encoder reads several lengths at once, which the head does not: of few windows each length has one or two.
        Raises: InputError if a score is not finite.
        """
        lengths = [len(words) for words in windows]
        for batches in _together(same_length(np.array(lengths), words=WORDS_AT_ONCE), lengths):
            words = [shortened(windows[row], self.encoder) for rows in batches for row in rows]
            states_NLD = self.encoder.word_states(words, layers=self.head.config.layers).states_NLD
            states = torch.split(states_NLD, [lengths[rows[0]] * len(rows) for rows in batches])
            for rows, own_NLD in zip(batches, states, strict=True):
                states_BTLD = own_NLD.view(len(rows), -1, *own_NLD.shape[1:]).to(self.dtype)
                yield self._analysed(rows, [windows[row] for row in rows], states_BTLD, spans)

    def _analysed(self, rows: list[int], words: Sequence[Sequence[str]], states_BTLD: Tensor, spans: bool) -> Analysed:
        shapes_BT = torch.tensor([[word_shape(word) for word in one] for one in words], device=self.encoder.device)
        hidden_BTW = self.head.encode(states_BTLD, shapes_BT)
        best_tag = self.head.tag_scores(hidden_BTW).max(-1)
        _require_finite(best_tag.values)
        tags: list[list[int]] = best_tag.indices.tolist()
        if not spans:
            return Analysed(rows, tags, None, None)
        best = self.head.span_scores(hidden_BTW).float().max(-1)
        _require_finite(best.values)
        return Analysed(rows, tags, best.values.cpu().numpy(), best.indices.cpu().numpy())


def _together(batches: Iterable[list[int]], lengths: Sequence[int]) -> Iterator[list[list[int]]]:
    """Batches of rows, as many at a time as have `WORDS_AT_ONCE` words."""
    some: list[list[int]] = []
    held = 0
    for rows in batches:
        words = lengths[rows[0]] * len(rows)
        if some and held + words > WORDS_AT_ONCE:
            yield some
            some, held = [], 0
        some.append(rows)
        held += words
    if some:
        yield some


def _require_finite(best: Tensor) -> None:
    if not torch.isfinite(best).all():  # a NaN is the greatest of all, so that none hides
        raise InputError("a score of the syntax head is not finite; its weights are damaged")
