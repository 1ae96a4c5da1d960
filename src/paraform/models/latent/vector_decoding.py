"""Latent vectors to words, one after another.

Shape key: N vectors, Z latent, H features of the decoder's state, V words of the vocabulary, C = V filled up to whole
cache lines, R rows decoded together.
"""

from __future__ import annotations

from typing import Any, Unpack

import torch
import torch.nn.functional as F
from rich.progress import track
from torch import Tensor

from paraform.batching import BOS, EOS, PAD, UNK
from paraform.decoding import Decoding, decode, require_decoding
from paraform.encoders import STDERR
from paraform.losses.vocabulary import filled_up
from paraform.models.latent.network import LatentNetwork

ROWS_AT_ONCE = 256  # sentences that are encoded or decoded together
WORDS = 1 << 32  # what the seed of words is above that of vectors


@torch.inference_mode()
def decode_vectors(
    network: LatentNetwork, z_NZ: Tensor, *, longest: int, unknown: bool, **how: Unpack[Decoding]
) -> list[list[int]]:
    """Word numbers of each vector's sentence, without `</s>`.

    Args:
        network: in evaluation mode.
        longest: words of a sentence.
        unknown: whether `<unk>` may be decoded.
    Raises: InputError for an option that is none, a beam that cannot be, or two ways of decoding that are mixed.
        ValueError for a temperature or a share that cannot be, or scores that are not finite.
    """
    require_decoding(how)
    beam, size, hidden = how.get("beam", 1), how.get("batch_size", ROWS_AT_ONCE), not how.get("progress", False)
    weight_VH = network.output.weight
    words = len(weight_VH)
    # One buffer for all steps, since memory from the system is slow, its rows whole cache lines, which a product writes
    # faster.
    weight_HC = F.pad(weight_VH.t(), (0, filled_up(words) - words)).contiguous()
    scores_RC = weight_HC.new_empty(min(size, len(z_NZ)) * beam, weight_HC.shape[1])
    never = [PAD, BOS] if unknown else [PAD, BOS, UNK]

    def step(memory: Any, tokens_N: Tensor) -> tuple[Tensor, Any]:
        state_NH, memory = network.decoder.step(memory, tokens_N.to(weight_HC.device))
        scores_NC = torch.mm(state_NH.to(weight_HC.dtype), weight_HC, out=scores_RC[: len(state_NH)])
        scores_NC[:, never] = float("-inf")
        if beam > 1:
            scores_NC[:, words:] = float("-inf")
            torch.log_softmax(scores_NC, -1, out=scores_NC)
        return scores_NC[:, :words], memory

    # Another stream than that of the vectors, which may have been drawn by the same seed, or by the next.
    generator = torch.Generator(weight_VH.device).manual_seed(how.get("seed", 0) + WORDS)
    out: list[list[int]] = []
    for start in track(range(0, len(z_NZ), size), "decoding", console=STDERR, disable=hidden, transient=True):
        some_NZ = z_NZ[start : start + size]
        state: Any = network.decoder.start(some_NZ)
        tokens = decode(step, state, len(some_NZ), how, generator, start=BOS, stop=EOS, longest=longest + 1)
        out += [row[: row.index(EOS)] if EOS in row else row[:longest] for row in tokens.tolist()]
    return out
