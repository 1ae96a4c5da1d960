"""Decoding a batch step by step: greedy, beam, and sampling with temperature and top-p.

The model is a function `step(state, tokens) -> log-probabilities, state`; a state can pick rows of itself.

Shape key: B sentences, N those of them that have not ended, W beam width, M = N · W hypotheses, K ≤ W tokens that one
may go on with, T steps, V tokens of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, TypedDict, TypeVar

import torch
from torch import Tensor

from paraform.records import InputError, require_count

WIDEST_BEAM = 1000  # more is a slip, and would take hours in silence
MOST_SEED = 2**62  # torch takes 64 bits, and a model may add to it
WORTH_PICKING = 0.8  # share of rows that go on, below which it costs less to pick them than to decode all


class DecoderState(Protocol):
    """What a decoder remembers of each row between two steps."""

    def select(self, rows_N: Tensor) -> Self:
        """The state of the given rows, in that order, repeats allowed."""
        ...


S = TypeVar("S", bound=DecoderState)
Step: TypeAlias = Callable[[S, Tensor], tuple[Tensor, S]]
"""(state of N rows, last tokens [N]) → (log-probabilities of the next token [N, V], the caller's until it asks for the
next step; new state). Greedy and sampling need them only up to a constant of each row: scores will do."""


Choose: TypeAlias = Callable[[Tensor, Tensor, int], Tensor]
"""(what a step gave of N rows [N, V], which of all rows these are [N], the step) → the next token of each [N]."""


class Decoding(TypedDict, total=False):
    """How tokens are chosen; every model that writes text takes these options.

    Args:
        beam: hypotheses kept; 1, the default, is greedy.
        temperature: 0, the default, takes the likeliest token; above, tokens are drawn.
        top_p: share of the probability that is drawn from; 1 if not given.
        seed: the seed of every draw; 0 if not given.
        batch_size: sentences decoded together; if not given, the model's own number. Numbers are rounded a little
            differently in another batch, and tokens that are drawn depend on which sentences go together.
        progress: say on stderr how far it is.
        constrain_repetition: of a model that copies: no word twice running, or more often than its source has it
            (`constrain_repetition`), the commonest apart; None, or not given: as the model is used to.
    """

    beam: int
    temperature: float
    top_p: float
    seed: int
    batch_size: int
    progress: bool
    constrain_repetition: bool | None


def require_decoding(how: Mapping[str, Any], named: Callable[[str], str] = str, *, copies: bool = True) -> None:
    """Raise InputError for an option that is none, a number that cannot be, or two ways of decoding that are mixed.

    Args:
        how: see `Decoding`.
        named: an option's name in the words of whoever gave it, such as `--top-p`.
        copies: whether the model copies its source, so that repetition can be constrained.
    """
    if unknown := sorted(set(how) - set(Decoding.__annotations__)):
        raise InputError(f"option {unknown[0]!r}; expected one of {', '.join(Decoding.__annotations__)}")
    constrained = how.get("constrain_repetition")
    if constrained is not None and not isinstance(constrained, bool):
        raise InputError(f"{named('constrain_repetition')} {str(constrained)[:40]}; expected True, False or None")
    if constrained and not copies:
        raise InputError(f"{named('constrain_repetition')}: this model copies nothing of a source; leave it out")
    beam, temperature, top_p = how.get("beam", 1), how.get("temperature", 0.0), how.get("top_p", 1.0)
    require_count(how.get("batch_size", 1), named("batch_size"), 1)
    require_count(how.get("seed", 0), named("seed"), -MOST_SEED, MOST_SEED)
    require_count(beam, named("beam"), 1, WIDEST_BEAM)
    for name, number in (("temperature", temperature), ("top_p", top_p)):
        if not isinstance(number, (int, float)) or isinstance(number, bool) or not number >= 0:
            raise InputError(f"{named(name)} {str(number)[:40]}; expected a number, 0 or more")
    if temperature != 0:
        _require_temperature(temperature, named("temperature"))
    drawing = f"{named('temperature')} {temperature}" if temperature != 0 else f"{named('top_p')} {top_p}"
    if beam > 1 and (temperature != 0 or top_p < 1):
        raise InputError(f"{named('beam')} {beam}, {drawing}; they exclude each other, leave one out")
    if top_p < 1 and temperature == 0:
        above = f"{named('temperature')} 0; expected a {named('temperature')} above 0"
        raise InputError(f"{drawing} at {above}, where words are drawn")


def _require_temperature(temperature: float, name: str) -> None:
    if not 1e-6 <= temperature <= 1e6:
        raise InputError(f"{name} {temperature}; expected 1e-6 to 1e6")


def search_name(how: Decoding) -> str:
    """How tokens are chosen, as signatures have it: "greedy", "beam 4"."""
    width, temperature = how.get("beam", 1), how.get("temperature", 0.0)
    if width > 1:
        return f"beam {width}"
    return "greedy" if temperature == 0 else f"drawn, temperature {temperature:g}, top-p {how.get('top_p', 1.0):g}"


def decode(
    step: Step[S],
    state: S,
    rows: int,
    how: Decoding,
    generator: torch.Generator,
    *,
    start: int,
    stop: int,
    longest: int,
) -> Tensor:
    """Tokens [rows, ≤ longest] chosen as `how` says: greedily, the best of a beam, or drawn from the generator.

    Raises: InputError as `sample` and `beam` do.
    """
    ends: dict[str, Any] = {"start": start, "stop": stop, "max_tokens": longest}
    if how.get("beam", 1) > 1:
        return beam(step, state, rows, width=how["beam"], **ends)[0][:, 0]
    if how.get("temperature", 0.0) != 0:
        drawn: dict[str, Any] = {"temperature": how["temperature"], "top_p": how.get("top_p", 1.0)}
        return sample(step, state, rows, generator=generator, **drawn, **ends)
    return greedy(step, state, rows, **ends)


def greedy(step: Step[S], state: S, rows: int, *, start: int, stop: int, max_tokens: int) -> Tensor:
    """The likeliest token at every step: [rows, ≤ max_tokens], `stop` from where a row ended."""
    return left_to_right(step, state, rows, likeliest, start=start, stop=stop, max_tokens=max_tokens)


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

    Tokens as likely as the set's last are in it too. What a row draws depends on the rows beside it.

    Args:
        temperature: 1e-6 to 1e6; divides the log-probabilities, below 1 sharpens.
        top_p: 0 < top_p ≤ 1.
        generator: the random state that is drawn from.
    Raises: InputError if temperature or top_p is out of range, or if log-probabilities are not finite.
    """
    _require_temperature(temperature, "temperature")
    if not 0 < top_p <= 1:
        raise InputError(f"top_p {top_p}; expected above 0, and at most 1")

    def draw(log_probs_BV: Tensor, rows_B: Tensor, time: int) -> Tensor:
        # Before it is divided, since a low temperature makes of log-probabilities what float32 does not hold.
        log_probs_BV = log_probs_BV - log_probs_BV.amax(-1, keepdim=True)
        return _drawn(log_probs_BV.div_(temperature).exp_(), top_p, generator)

    return left_to_right(step, state, rows, draw, start=start, stop=stop, max_tokens=max_tokens)


def _drawn(weights_BV: Tensor, top_p: float, generator: torch.Generator) -> Tensor:
    """A token of each row [B], drawn by weights of at least 0 from those that stay: what is likelier than one of them
    holds less than `top_p` of the row's weight.

    By rejection, since sorting a vocabulary takes many times as long as scoring it. A token that is drawn and does not
    stay goes, with all that are no likelier; what is left is drawn from again, so that a row is done in a few rounds.

    Args:
        weights_BV: at most 1, which one of a row is; a row may be NaN.
    Raises: InputError for a row that is.
    """
    total_B = weights_BV.sum(-1, dtype=torch.float64)
    if not bool((total_B > 0).all()):
        raise InputError("scores of the next word are not finite; expected numbers: the weights may be damaged")
    out_B = torch.empty(len(weights_BV), dtype=torch.long, device=weights_BV.device)
    rows_N, weights_NV, most_N = torch.arange(len(out_B), device=out_B.device), weights_BV, top_p * total_B
    while len(rows_N):
        sums_NV = weights_NV.cumsum(-1, dtype=torch.float64)
        uniform_N1 = torch.rand(len(rows_N), 1, generator=generator, device=out_B.device, dtype=torch.float64)
        drawn_N1 = torch.searchsorted(sums_NV, uniform_N1 * sums_NV[:, -1:], right=True)
        out_B[rows_N] = drawn_N1[:, 0]
        if top_p == 1:
            break
        likelier_NV = weights_NV.where(weights_NV > weights_NV.gather(1, drawn_N1), 0)
        again_N = likelier_NV.sum(-1, dtype=torch.float64) >= most_N
        rows_N, weights_NV, most_N = rows_N[again_N], likelier_NV[again_N], most_N[again_N]
    return out_B


class Constrained(NamedTuple):
    """A state, the tokens of each row's source [N, S], and those decoded so far [N, T], the start token first."""

    inner: Any
    source_NS: Tensor
    decoded_NT: Tensor

    @classmethod
    def of(cls, state: Any, source_NS: Tensor) -> Constrained:
        """Before the first token."""
        return cls(state, source_NS, source_NS[:, :0])

    def select(self, rows_N: Tensor) -> Constrained:
        """The state of the given rows."""
        return Constrained(self.inner.select(rows_N), self.source_NS[rows_N], self.decoded_NT[rows_N])


def constrain_repetition(step: Step[S], *, stop: int, free: int = 0) -> Step[Constrained]:
    """The same step, but no token stands twice running, or more often than the source has it (at least once).

    Attention forgets what it has read: without a memory of that, a copying decoder stutters (See et al. 2017, section
    2.3, train a coverage vector against it; this is the rule that needs no training).

    Args:
        stop: the token that is never barred.
        free: tokens below it may stand any number of times.
    """

    def limited(state: Constrained, tokens_N: Tensor) -> tuple[Tensor, Constrained]:
        log_probs_NV, inner = step(state.inner, tokens_N)
        decoded_NT = torch.cat([state.decoded_NT, tokens_N.to(log_probs_NV.device)[:, None]], 1)
        last_N1 = decoded_NT[:, -1:]
        times_NT = (decoded_NT[:, :, None] == decoded_NT[:, None, :]).sum(-1)
        most_NT = (decoded_NT[:, :, None] == state.source_NS[:, None, :]).sum(-1).clamp_min(1)
        barred_NT = (((decoded_NT >= free) & (times_NT >= most_NT)) | (decoded_NT == last_N1)) & (decoded_NT != stop)
        # Only what has been decoded can be barred: a few columns of thousands are touched.
        kept_NT = log_probs_NV.gather(1, decoded_NT).masked_fill(barred_NT, float("-inf"))
        return log_probs_NV.scatter_(1, decoded_NT, kept_NT), Constrained(inner, state.source_NS, decoded_NT)

    return limited


def likeliest(log_probs_BV: Tensor, rows_B: Tensor, time: int) -> Tensor:
    if log_probs_BV.device.type == "cpu" and log_probs_BV.dtype in (torch.float32, torch.float64):
        # torch's own is slower (benchmarks/vocabulary.py)
        return torch.from_numpy(log_probs_BV.detach().numpy().argmax(-1))
    return log_probs_BV.argmax(-1)


def left_to_right(
    step: Step[S], state: S, rows: int, choose: Choose, *, start: int | Tensor, stop: int, max_tokens: int
) -> Tensor:
    """A token of each row after the other: [rows, ≤ max_tokens], `stop` from where a row ended.

    Args:
        start: the token before the first, of each row or of all.
    """
    out_BT = torch.full((rows, max_tokens), stop)
    alive = torch.arange(rows)
    tokens = start if isinstance(start, Tensor) else torch.full((rows,), start)
    ended = torch.zeros(rows, dtype=torch.bool)
    for time in range(max_tokens):
        log_probs_BV, state = step(state, tokens)
        tokens = choose(log_probs_BV, alive, time)
        tokens = tokens.masked_fill(ended.to(tokens.device), stop)
        out_BT[alive, time] = tokens.cpu()
        ended = tokens == stop
        going = (~ended).nonzero().squeeze(-1)
        if len(going) == 0:
            return out_BT[:, : time + 1]
        if len(going) < WORTH_PICKING * len(tokens):
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
) -> tuple[Tensor, Tensor]:
    """Beam search; hypotheses are ranked by the mean log-probability of a token.

    Args:
        width: hypotheses kept a row, W ≥ 1.
    Returns: tokens [rows, W, ≤ max_tokens], best first, and their scores [rows, W] in nats (−inf: no such hypothesis).
    Raises: InputError if width < 1.
    """
    if width < 1:
        raise InputError(f"beam width {width}; expected at least 1")
    log_probs_BV, state = step(state, torch.full((rows,), start))
    device, kept = log_probs_BV.device, min(width, log_probs_BV.shape[-1])
    dtype = torch.promote_types(log_probs_BV.dtype, torch.float32)
    some = _Hypotheses(
        torch.full((rows, width), float("-inf"), device=device, dtype=dtype),
        torch.ones(rows, width, device=device),
        torch.full((rows, width, max_tokens), stop, device=device),
    )
    some.total_NW[:, :kept], some.tokens_NWT[:, :kept, 0] = log_probs_BV.topk(kept, -1)
    every_W = torch.arange(width, device=device)
    alive = torch.arange(rows, device=device)
    state = state.select(alive.repeat_interleave(width))
    out = some  # written to once `some` is another, after a step
    for time in range(1, max_tokens):
        going = (some.tokens_NWT[:, :, time - 1] != stop).any(1).nonzero().squeeze(-1)
        if len(going) == 0:
            break
        if len(going) < WORTH_PICKING * len(alive):
            alive, some = alive[going], _Hypotheses(*(part[going] for part in some))
            state = state.select((going[:, None] * width + every_W).flatten())
        log_probs_MV, state = step(state, some.tokens_NWT[:, :, time - 1].flatten())
        some, parent_NW = _longer(some, log_probs_MV, time, stop)
        state = state.select((torch.arange(len(alive), device=device)[:, None] * width + parent_NW).flatten())
        for whole, part in zip(out, some, strict=True):
            whole[alive] = part
    score_BW, order_BW = (out.total_NW / out.length_NW).sort(-1, descending=True)
    return out.tokens_NWT.gather(1, order_BW[:, :, None].expand(-1, -1, max_tokens)).cpu(), score_BW.cpu()


class _Hypotheses(NamedTuple):
    """Of N sentences W each: log-probability [N, W], length with `stop` [N, W], tokens [N, W, T]."""

    total_NW: Tensor
    length_NW: Tensor
    tokens_NWT: Tensor


def _longer(some: _Hypotheses, log_probs_MV: Tensor, time: int, stop: int) -> tuple[_Hypotheses, Tensor]:
    """The best hypotheses after one more token of each, and which ones [N, W] they go on from."""
    count, width = some.total_NW.shape
    # Of those that go on from one hypothesis, no more than W can be among the best W.
    best, token = log_probs_MV.topk(min(width, log_probs_MV.shape[-1]), -1)
    best_NWK, token_NWK = best.view(count, width, -1), token.view(count, width, -1)
    # A finished hypothesis goes on as itself, at no cost, by one more `stop`.
    done_NW = some.tokens_NWT[:, :, time - 1] == stop
    best_NWK = best_NWK.masked_fill(done_NW[:, :, None], float("-inf"))
    best_NWK[:, :, 0] = best_NWK[:, :, 0].masked_fill(done_NW, 0.0)
    token_NWK = token_NWK.masked_fill(done_NW[:, :, None], stop)
    total_NWK = some.total_NW[:, :, None] + best_NWK
    length_NW = some.length_NW + (~done_NW).float()
    choice_NW = (total_NWK / length_NW[:, :, None]).flatten(1).topk(width, -1).indices
    parent_NW = choice_NW // best_NWK.shape[2]
    tokens_NWT = some.tokens_NWT.gather(1, parent_NW[:, :, None].expand_as(some.tokens_NWT))
    tokens_NWT[:, :, time] = token_NWK.flatten(1).gather(1, choice_NW)
    return _Hypotheses(total_NWK.flatten(1).gather(1, choice_NW), length_NW.gather(1, parent_NW), tokens_NWT), parent_NW
