"""A syntax head at work: words to what it says of their tags, and of their constituents.

Shape key: B sentences of one length, T words, P spans, L layers of the encoder, D features.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
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

        Raises: InputError if a score is not finite.
        """
        layers, device = self.head.config.layers, self.encoder.device
        for rows in same_length(np.array([len(words) for words in windows]), words=WORDS_AT_ONCE):
            words = [windows[row] for row in rows]
            found = self.encoder.word_states([shortened(window, self.encoder) for window in words], layers=layers)
            states_BTLD = found.states_NLD.view(len(rows), -1, *found.states_NLD.shape[1:]).to(self.dtype)
            shapes_BT = torch.tensor([[word_shape(word) for word in window] for window in words], device=device)
            hidden_BTW = self.head.encode(states_BTLD, shapes_BT)
            best_tag = self.head.tag_scores(hidden_BTW).max(-1)
            _require_finite(best_tag.values)
            tags: list[list[int]] = best_tag.indices.tolist()
            if not spans:
                yield Analysed(rows, tags, None, None)
                continue
            best = self.head.span_scores(hidden_BTW).float().max(-1)
            _require_finite(best.values)
            yield Analysed(rows, tags, best.values.cpu().numpy(), best.indices.cpu().numpy())


def _require_finite(best: Tensor) -> None:
    if not torch.isfinite(best).all():  # a NaN is the greatest of all, so that none hides
        raise InputError("a score of the syntax head is not finite; its weights are damaged")
