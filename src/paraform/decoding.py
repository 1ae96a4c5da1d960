"""Decoding a batch step by step: greedy, beam, and sampling with temperature and top-p.

The model is a function `step(state, tokens) -> log-probabilities, state`; a state can pick rows of itself.

Shape key: B sentences, W beam width, T steps, V tokens that can be said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import torch
from torch import Tensor


class DecoderState(Protocol):
    """What a decoder remembers of each row between two steps."""

    def select(self, rows_N: Tensor) -> Self:
        """The state of the given rows, in that order, repeats allowed."""
        ...


S = TypeVar("S", bound=DecoderState)
Step: TypeAlias = Callable[[S, Tensor], tuple[Tensor, S]]
"""(state of N rows, last tokens [N]) → (log-probabilities of the next token [N, V], the caller's until it asks for the
next step; new state)."""


def greedy(step: Step[S], state: S, rows: int, *, start: int, stop: int, max_tokens: int) -> Tensor:
    """The likeliest token at every step: [rows, ≤ max_tokens], `stop` from where a row ended."""
    return _left_to_right(step, state, rows, start, stop, max_tokens, _likeliest)


def sample(
    step: Step[S],
    state: S,
    rows: int,
    *,
    start: int,
    stop: int,
    max_tokens: int,
    temperature: float = 1.0,
    top_p: float = 1.0,
    generator: torch.Generator,
) -> Tensor:
    """Tokens drawn at every step, from the smallest set that holds `top_p` of the probability (Holtzman et al. 2020).

    Args:
        temperature: 1e-6 or more; divides the log-probabilities, below 1 sharpens.
        top_p: 0 < top_p ≤ 1.
        generator: the random state that is drawn from.
    Raises: ValueError if temperature or top_p is out of range.
    """
    if not 1e-6 <= temperature < float("inf") or not 0 < top_p <= 1:
        raise ValueError(f"temperature {temperature}, top_p {top_p}; expected 1e-6 or more, and 0 < top_p <= 1")

    def draw(log_probs_BV: Tensor) -> Tensor:
        # Before it is divided, since a low temperature makes of log-probabilities what float32 does not hold.
        log_probs_BV = log_probs_BV - log_probs_BV.amax(-1, keepdim=True)
        probs_BV = torch.softmax(log_probs_BV / temperature, -1)
        ordered_BV, order_BV = probs_BV.sort(-1, descending=True)
        # A token stays if the ones likelier than it hold less than top_p: the likeliest always stays.
        before_BV = ordered_BV.cumsum(-1) - ordered_BV
        ordered_BV = ordered_BV.masked_fill(before_BV >= top_p, 0.0)
        drawn_B1 = torch.multinomial(ordered_BV, 1, generator=generator)
        return order_BV.gather(-1, drawn_B1).squeeze(-1)

    return _left_to_right(step, state, rows, start, stop, max_tokens, draw)


class Rationed(NamedTuple):
    """A state, the tokens of each row's source [N, S], and those said so far [N, T], the start token first."""

    inner: Any
    source_NS: Tensor
    said_NT: Tensor

    @classmethod
    def of(cls, state: Any, source_NS: Tensor) -> Rationed:
        """Before the first token."""
        return cls(state, source_NS, source_NS[:, :0])

    def select(self, rows_N: Tensor) -> Rationed:
        """The state of the given rows."""
        return Rationed(self.inner.select(rows_N), self.source_NS[rows_N], self.said_NT[rows_N])


def rationed(step: Step[S], *, stop: int, free: int = 0) -> Step[Rationed]:
    """The same step, but no token is said twice running, or more often than the source has it (at least once).

    Attention forgets what it has read: without a memory of that, a copying decoder stutters (See et al. 2017, section
    2.3, train a coverage vector against it; this is the rule that needs no training).

    Args:
        stop: may always be said.
        free: tokens below it have no ration.
    """

    def limited(state: Rationed, tokens_N: Tensor) -> tuple[Tensor, Rationed]:
        log_probs_NV, inner = step(state.inner, tokens_N)
        said_NT = torch.cat([state.said_NT, tokens_N.to(log_probs_NV.device)[:, None]], 1)
        last_N1 = said_NT[:, -1:]
        times_NT = (said_NT[:, :, None] == said_NT[:, None, :]).sum(-1)
        ration_NT = (said_NT[:, :, None] == state.source_NS[:, None, :]).sum(-1).clamp_min(1)
        barred_NT = (((said_NT >= free) & (times_NT >= ration_NT)) | (said_NT == last_N1)) & (said_NT != stop)
        # Only what has been said can be barred: a few columns of thousands are touched.
        kept_NT = log_probs_NV.gather(1, said_NT).masked_fill(barred_NT, float("-inf"))
        return log_probs_NV.scatter_(1, said_NT, kept_NT), Rationed(inner, state.source_NS, said_NT)

    return limited


def _likeliest(log_probs_BV: Tensor) -> Tensor:
    if log_probs_BV.device.type == "cpu" and log_probs_BV.dtype in (torch.float32, torch.float64):
        # torch's own is slower (benchmarks/vocabulary.py)
        return torch.from_numpy(log_probs_BV.detach().numpy().argmax(-1))
    return log_probs_BV.argmax(-1)


def _left_to_right(
    step: Step[S], state: S, rows: int, start: int, stop: int, max_tokens: int, choose: Callable[[Tensor], Tensor]
) -> Tensor:
    out_BT = torch.full((rows, max_tokens), stop)
    alive = torch.arange(rows)
    tokens = torch.full((rows,), start)
    ended = torch.zeros(rows, dtype=torch.bool)
    for time in range(max_tokens):
        log_probs_BV, state = step(state, tokens)
        tokens = choose(log_probs_BV)
        tokens = tokens.masked_fill(ended.to(tokens.device), stop)
        out_BT[alive, time] = tokens.cpu()
        ended = tokens == stop
        going = (~ended).nonzero().squeeze(-1)
        if len(going) == 0:
            return out_BT[:, : time + 1]
        if len(going) < 0.8 * len(tokens):  # rows that ended cost nothing from here on; picking rows costs a little
            alive, tokens, ended, state = alive[going.cpu()], tokens[going], ended[going], state.select(going)
    return out_BT


def beam(
    step: Step[S],
    state: S,
    rows: int,
    *,
    start: int,
    stop: int,
    max_tokens: int,
    width: int,
    length_penalty: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Beam search; hypotheses are ranked by log p / length^length_penalty.

    Args:
        width: hypotheses kept a row, W ≥ 1.
        length_penalty: 0 favours short sentences, 1 is the mean log-probability of a token.
    Returns: tokens [rows, W, ≤ max_tokens], best first, and their scores [rows, W] in nats (−inf: no such hypothesis).
    Raises: ValueError if width < 1.
    """
    if width < 1:
        raise ValueError(f"beam width {width}; expected at least 1")
    every_row = torch.arange(rows)
    log_probs_BV, state = step(state, torch.full((rows,), start))
    vocabulary = log_probs_BV.shape[-1]
    device = log_probs_BV.device
    total_BW = torch.full((rows, width), float("-inf"), device=device)
    tokens_BWT = torch.full((rows, width, max_tokens), stop, device=device)
    best, choice = log_probs_BV.topk(min(width, vocabulary), -1)
    total_BW[:, : best.shape[1]], tokens_BWT[:, : best.shape[1], 0] = best, choice
    state = state.select(every_row.repeat_interleave(width).to(device))
    done_BW = tokens_BWT[:, :, 0] == stop
    length_BW = torch.ones(rows, width, device=device)
    for time in range(1, max_tokens):
        if bool(done_BW.all()):
            break
        log_probs_NV, state = step(state, tokens_BWT[:, :, time - 1].flatten())
        log_probs_BWV = log_probs_NV.view(rows, width, vocabulary)
        # A finished hypothesis goes on as itself, at no cost, by saying `stop` once more.
        log_probs_BWV = log_probs_BWV.masked_fill(done_BW[:, :, None], float("-inf"))
        log_probs_BWV[:, :, stop] = torch.where(done_BW, 0.0, log_probs_BWV[:, :, stop])
        candidate_BWV = total_BW[:, :, None] + log_probs_BWV
        longer_BW = length_BW + (~done_BW).float()
        ranked_BWV = candidate_BWV / longer_BW[:, :, None] ** length_penalty
        choice = ranked_BWV.flatten(1).topk(width, -1).indices
        parent_BW, token_BW = choice // vocabulary, choice % vocabulary
        total_BW = candidate_BWV.flatten(1).gather(1, choice)
        length_BW = longer_BW.gather(1, parent_BW)
        tokens_BWT = tokens_BWT.gather(1, parent_BW[:, :, None].expand(-1, -1, max_tokens)).clone()
        tokens_BWT[:, :, time] = token_BW
        done_BW = done_BW.gather(1, parent_BW) | (token_BW == stop)
        state = state.select((every_row.to(device)[:, None] * width + parent_BW).flatten())
    score_BW = total_BW / length_BW**length_penalty
    score_BW, order_BW = score_BW.sort(-1, descending=True)
    return tokens_BWT.gather(1, order_BW[:, :, None].expand(-1, -1, max_tokens)).cpu(), score_BW.cpu()
