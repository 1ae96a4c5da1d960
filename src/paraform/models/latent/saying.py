"""Latent vectors to words, one after another.

Shape key: N vectors, Z latent, H features of the decoder's state, V words of the vocabulary, C = V filled up to whole
cache lines, R rows decoded together.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import torch
import torch.nn.functional as F
from rich.progress import track
from torch import Tensor

from paraform import decoding
from paraform.batching import BOS, EOS, PAD, UNK
from paraform.encoders import STDERR
from paraform.losses.vocabulary import filled_up
from paraform.models.latent.network import LatentNetwork
from paraform.records import InputError

ROWS_AT_ONCE = 256  # sentences that are encoded or decoded together
WIDEST_BEAM = 1000  # more is a slip, and would take hours in silence
WORDS = 1 << 32  # what the seed of words is above that of vectors


class Decoding(TypedDict, total=False):
    """How words are chosen.

    Args:
        beam: hypotheses kept; 1, the default, is greedy.
        temperature: 0, the default, takes the likeliest word; above, words are drawn.
        top_p: share of the probability that is drawn from; 1 if not given.
        seed: of every draw; 0 if not given.
        batch_size: sentences that are encoded or decoded together; 256 if not given. Words that are drawn depend on
            which they are.
        progress: show a bar on stderr.
    """

    beam: int
    temperature: float
    top_p: float
    seed: int
    batch_size: int
    progress: bool


@torch.inference_mode()
def say(
    network: LatentNetwork, z_NZ: Tensor, *, longest: int, says_unknown: bool, **how: Unpack[Decoding]
) -> list[list[int]]:
    """Word numbers of each vector's sentence, without `</s>`.

    Args:
        network: in evaluation mode.
        longest: words of a sentence.
        says_unknown: whether `<unk>` may be said.
    Raises: InputError for an option that is none, a beam that cannot be, or two ways of decoding that are mixed.
        ValueError for a temperature or a share that cannot be, or scores that are not finite.
    """
    beam, temperature, top_p = how.get("beam", 1), how.get("temperature", 0.0), how.get("top_p", 1.0)
    size, hidden = how.get("batch_size", ROWS_AT_ONCE), not how.get("progress", False)
    if unknown := sorted(set(how) - set(Decoding.__annotations__)):
        raise InputError(f"option {unknown[0]!r}; expected one of {', '.join(Decoding.__annotations__)}")
    if size < 1:
        raise InputError(f"batch_size {size}; expected at least 1")
    if not 1 <= beam <= WIDEST_BEAM:
        raise InputError(f"beam {beam}; expected 1 to {WIDEST_BEAM:,}")
    if beam > 1 and (temperature != 0 or top_p < 1):
        drawing = f"temperature {temperature}" if temperature != 0 else f"top_p {top_p}"
        raise InputError(f"beam {beam}, {drawing}; they exclude each other, leave one out")
    if top_p < 1 and temperature == 0:
        raise InputError(f"top_p {top_p} at temperature 0; expected a temperature above 0, where words are drawn")
    weight_VH = network.output.weight
    words = len(weight_VH)
    # One buffer for all steps, since memory from the system is slow, its rows whole cache lines, which a product writes
    # faster.
    weight_HC = F.pad(weight_VH.t(), (0, filled_up(words) - words)).contiguous()
    scores_RC = weight_HC.new_empty(min(size, len(z_NZ)) * beam, weight_HC.shape[1])
    never = [PAD, BOS] if says_unknown else [PAD, BOS, UNK]

    def step(memory: Any, tokens_N: Tensor) -> tuple[Tensor, Any]:
        state_NH, memory = network.decoder.step(memory, tokens_N.to(weight_HC.device))
        scores_NC = torch.mm(state_NH.to(weight_HC.dtype), weight_HC, out=scores_RC[: len(state_NH)])
        scores_NC[:, never] = float("-inf")
        if beam > 1:
            scores_NC[:, words:] = float("-inf")
            torch.log_softmax(scores_NC, -1, out=scores_NC)
        return scores_NC[:, :words], memory

    ends: dict[str, Any] = {"start": BOS, "stop": EOS, "max_tokens": longest + 1}
    # Another stream than that of the vectors, which may have been drawn by the same seed, or by the next.
    generator = torch.Generator(weight_VH.device).manual_seed(how.get("seed", 0) + WORDS)
    out: list[list[int]] = []
    for start in track(range(0, len(z_NZ), size), "decoding", console=STDERR, disable=hidden, transient=True):
        some_NZ = z_NZ[start : start + size]
        state: Any = network.decoder.start(some_NZ)
        if beam > 1:
            tokens = decoding.beam(step, state, len(some_NZ), width=beam, **ends)[0][:, 0]
        elif temperature != 0:
            drawn: dict[str, Any] = {"temperature": temperature, "top_p": top_p, "generator": generator}
            tokens = decoding.sample(step, state, len(some_NZ), **drawn, **ends)
        else:
            tokens = decoding.greedy(step, state, len(some_NZ), **ends)
        out += [row[: row.index(EOS)] if EOS in row else row[:longest] for row in tokens.tolist()]
    return out
