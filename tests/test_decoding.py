"""Decoding on a random table model: an exhaustive search, and what the methods become at their limits."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from paraform import decoding
from paraform.records import InputError

START, STOP, TOKENS, STEPS, ROWS = 4, 0, 4, 3, 6
LIMITS = {"start": START, "stop": STOP, "max_tokens": STEPS}


class History(NamedTuple):
    """All the words so far: the next word's distribution depends on each of them."""

    row_N: Tensor
    words_NT: Tensor

    def select(self, rows_N: Tensor) -> History:
        return History(self.row_N[rows_N], self.words_NT[rows_N])


def table(seed: int = 0) -> Tensor:
    """Log-probabilities [row, history, token]."""
    generator = torch.Generator().manual_seed(seed)
    return torch.log_softmax(1.5 * torch.randn(ROWS, (TOKENS + 2) ** (STEPS + 1), TOKENS, generator=generator), -1)


TABLE = table()


def step(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
    state = state._replace(words_NT=torch.cat([state.words_NT, tokens_N[:, None]], 1))
    number_N = torch.zeros(len(tokens_N), dtype=torch.long)
    for words_N in state.words_NT.T:
        number_N = number_N * (TOKENS + 2) + words_N + 1
    return TABLE[state.row_N, number_N], state


def begin(rows: int = ROWS) -> History:
    return History(torch.arange(rows), torch.zeros(rows, 0, dtype=torch.long))


def sentences() -> list[tuple[int, ...]]:
    """Every sentence that can be said: words, then `STOP` unless it is cut."""
    words = range(1, TOKENS)
    short = [(*said, STOP) for length in range(STEPS) for said in itertools.product(words, repeat=length)]
    return short + list(itertools.product(words, repeat=STEPS))


def log_prob(row: int, sentence: tuple[int, ...]) -> float:
    state, total, last = History(torch.tensor([row]), torch.zeros(1, 0, dtype=torch.long)), 0.0, START
    for token in sentence:
        log_probs, state = step(state, torch.tensor([last]))
        total, last = total + log_probs[0, token].item(), token
    return total


def padded(sentence: tuple[int, ...], width: int) -> list[int]:
    return [*sentence, *[STOP] * (width - len(sentence))]


def test_greedy_takes_the_likeliest_word_at_every_step() -> None:
    out = decoding.greedy(step, begin(), ROWS, **LIMITS)
    for row in range(ROWS):
        said: tuple[int, ...] = ()
        while len(said) < STEPS and (not said or said[-1] != STOP):
            said = max(((*said, token) for token in range(TOKENS)), key=lambda longer: log_prob(row, longer))
        assert out[row].tolist() == padded(said, out.shape[1])


def test_rows_that_have_ended_say_nothing_more_while_they_wait_for_the_rest() -> None:
    """Rows are only picked once a fifth of them has ended; until then the ended ones are decoded along."""

    def one_ends_first(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
        state = state._replace(words_NT=torch.cat([state.words_NT, tokens_N[:, None]], 1))
        said = state.words_NT.shape[1]
        log_probs = torch.full((len(tokens_N), TOKENS), -9.0)
        log_probs[:, 2] = 0.0
        log_probs[(state.row_N == 7) & (said == 2), STOP] = 1.0  # and would say 2 again in the third step
        return log_probs, state

    out = decoding.greedy(one_ends_first, begin(40), 40, **LIMITS)
    assert out[7].tolist() == [2, STOP, STOP]
    assert all(out[row].tolist() == [2, 2, 2] for row in range(40) if row != 7)


def test_a_beam_of_one_is_greedy() -> None:
    out, scores = decoding.beam(step, begin(), ROWS, width=1, **LIMITS)
    greedy = decoding.greedy(step, begin(), ROWS, **LIMITS)
    assert out[:, 0, : greedy.shape[1]].tolist() == greedy.tolist()
    assert not out[:, 0, greedy.shape[1] :].any() and scores.shape == (ROWS, 1)


def test_a_beam_as_wide_as_all_sentences_ranks_them_all() -> None:
    width = TOKENS**STEPS
    out, scores = decoding.beam(step, begin(), ROWS, width=width, **LIMITS)
    every = sentences()
    for row in range(ROWS):
        ranked = sorted(((log_prob(row, said) / len(said), said) for said in every), reverse=True)
        assert out[row, : len(every)].tolist() == [padded(said, STEPS) for _, said in ranked]
        assert scores[row, : len(every)].tolist() == pytest.approx([score for score, _ in ranked], abs=1e-5)
        assert torch.isinf(scores[row, len(every) :]).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_beam_of_scores_of_another_precision(dtype: torch.dtype) -> None:
    def rounded(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
        log_probs_NV, state = step(state, tokens_N)
        return log_probs_NV.bfloat16().to(dtype), state

    def widened(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
        log_probs_NV, state = rounded(state, tokens_N)
        return log_probs_NV.float(), state

    (out, scores), (expected, as_float) = (
        decoding.beam(way, begin(), ROWS, width=3, **LIMITS) for way in (rounded, widened)
    )
    assert out.tolist() == expected.tolist()
    torch.testing.assert_close(scores.float(), as_float)


def test_a_beam_does_not_depend_on_its_neighbours() -> None:
    out, scores = decoding.beam(step, begin(), ROWS, width=3, **LIMITS)
    for row in range(ROWS):
        alone, score = decoding.beam(step, begin().select(torch.tensor([row])), 1, width=3, **LIMITS)
        assert alone[0].tolist() == out[row].tolist()
        torch.testing.assert_close(score[0], scores[row])


def test_a_beam_whose_neighbours_ended_long_ago_goes_on_as_if_alone() -> None:
    """Sentences that ended are no longer decoded: here after 1, 2, … 12 words, and one never."""
    rows, most = 13, 12
    asked: list[int] = []

    def ends_in_turn(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
        state = state._replace(words_NT=torch.cat([state.words_NT, tokens_N[:, None]], 1))
        said = state.words_NT.shape[1]
        asked.append(len(tokens_N))
        likes_N = (7 * state.words_NT.sum(1) + 3 * said + 5 * state.row_N) % 11  # depends on all that was said
        log_probs_NV = torch.log_softmax(torch.sin(likes_N[:, None] * torch.arange(1.0, TOKENS + 1)), -1)
        log_probs_NV[:, STOP] = torch.where(state.row_N < said, 2.0, -20.0)
        return log_probs_NV, state

    limits: dict[str, Any] = {"start": START, "stop": STOP, "max_tokens": most, "width": 3}
    out, scores = decoding.beam(ends_in_turn, begin(rows), rows, **limits)
    assert asked[0] == rows and asked[1] > asked[5] > asked[-1]
    for row in range(rows):
        alone, score = decoding.beam(ends_in_turn, begin(rows).select(torch.tensor([row])), 1, **limits)
        assert alone[0].tolist() == out[row].tolist()
        torch.testing.assert_close(score[0], scores[row])


@pytest.mark.parametrize(
    "options", [{"temperature": 1e-4}, {"temperature": 1e-6}, {"top_p": 1e-6}, {"temperature": 0.5, "top_p": 1e-6}]
)
def test_sampling_at_its_limits_is_greedy(options: dict[str, float]) -> None:
    generator = torch.Generator().manual_seed(0)
    out = decoding.sample(step, begin(), ROWS, generator=generator, **LIMITS, **options)
    assert out.tolist() == decoding.greedy(step, begin(), ROWS, **LIMITS).tolist()


@pytest.mark.parametrize(("temperature", "top_p"), [(1.0, 1.0), (0.5, 1.0), (1.0, 0.7)])
def test_words_are_drawn_as_often_as_they_are_likely(temperature: float, top_p: float) -> None:
    """First words of 20,000 draws; five standard deviations of a frequency are below 0.018."""
    draws = 20_000
    state = begin().select(torch.zeros(draws, dtype=torch.long))
    options = {"temperature": temperature, "top_p": top_p, "generator": torch.Generator().manual_seed(0)}
    out = decoding.sample(step, state, draws, start=START, stop=STOP, max_tokens=1, **options)
    probs = torch.softmax(step(begin(), torch.full((ROWS,), START))[0][0] / temperature, 0).tolist()
    kept: list[int] = []
    for token in sorted(range(TOKENS), key=lambda token: -probs[token]):
        if sum(probs[other] for other in kept) < top_p:
            kept.append(token)
    assert top_p == 1.0 or len(kept) < TOKENS
    expected = [probs[token] / sum(probs[i] for i in kept) if token in kept else 0.0 for token in range(TOKENS)]
    frequencies = torch.bincount(out[:, 0], minlength=TOKENS) / draws
    assert frequencies.tolist() == pytest.approx(expected, abs=0.018)
    assert all(frequencies[token] == 0 for token in range(TOKENS) if token not in kept)


@pytest.mark.parametrize("top_p", [1.0, 0.95, 0.5, 0.01])
def test_words_of_a_large_vocabulary_are_drawn_from_those_that_stay(top_p: float) -> None:
    """Against a sort of the vocabulary; one that cannot be said is never drawn, and rows are none of each other's."""
    generator = torch.Generator().manual_seed(1)
    scores = 2 * torch.randn(2, 300, generator=generator)
    scores[:, ::7] = float("-inf")
    draws = 8_000

    def said(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
        return scores[state.row_N % 2] + 5.0, state  # up to a constant of each row

    state = History(torch.arange(2 * draws), torch.zeros(2 * draws, 0, dtype=torch.long))
    limits: dict[str, Any] = {"start": 1, "stop": 0, "max_tokens": 1, "top_p": top_p, "generator": generator}
    out = decoding.sample(said, state, 2 * draws, **limits)[:, 0]
    for row, row_scores in enumerate(scores):
        probs, order = torch.softmax(row_scores.double(), 0).sort(descending=True)
        probs = probs.masked_fill(probs.cumsum(0) - probs >= top_p, 0.0)
        expected = torch.zeros(300, dtype=torch.float64).scatter(0, order, probs / probs.sum())
        found = torch.bincount(out[row::2], minlength=300) / draws
        assert not found[expected == 0].any()
        # Six standard deviations of a frequency, and the least step that one can take.
        assert bool(((found - expected).abs() <= 6 * (expected / draws).sqrt() + 1 / draws).all())


def test_words_that_are_as_likely_stay_or_go_together() -> None:
    def said(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
        return torch.tensor([[0.0, -1.0, -1.0, -2.0]]).expand(len(tokens_N), -1), state

    state = History(torch.arange(5000), torch.zeros(5000, 0, dtype=torch.long))
    limits: dict[str, Any] = {"start": 1, "stop": 0, "max_tokens": 1, "generator": torch.Generator().manual_seed(0)}
    # Of e⁰, e⁻¹, e⁻¹ and e⁻² the first holds 0.53 of the probability.
    assert set(decoding.sample(said, state, 5000, top_p=0.6, **limits)[:, 0].tolist()) == {0, 1, 2}
    assert set(decoding.sample(said, state, 5000, top_p=0.5, **limits)[:, 0].tolist()) == {0}


def test_a_word_that_holds_just_the_share_is_alone() -> None:
    def said(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
        return torch.tensor([[2.0, 1.0, 1.0]]).log2().mul(torch.tensor(2.0).log()).expand(len(tokens_N), -1), state

    state = History(torch.arange(500), torch.zeros(500, 0, dtype=torch.long))
    limits: dict[str, Any] = {"start": 1, "stop": 0, "max_tokens": 1, "generator": torch.Generator().manual_seed(0)}
    assert not decoding.sample(said, state, 500, top_p=0.5, **limits).any()


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
def test_scores_that_are_not_finite_are_an_error(wrong: float) -> None:
    def said(state: History, tokens_N: Tensor) -> tuple[Tensor, History]:
        scores = torch.zeros(len(tokens_N), TOKENS)
        scores[1] = wrong
        return scores, state

    for top_p in (1.0, 0.5):
        with pytest.raises(ValueError, match="not finite; expected numbers"):
            decoding.sample(said, begin(), ROWS, generator=torch.Generator(), top_p=top_p, **LIMITS)


def test_the_same_seed_draws_the_same() -> None:
    once, again, other = (
        decoding.sample(step, begin(), ROWS, generator=torch.Generator().manual_seed(seed), **LIMITS).tolist()
        for seed in (1, 1, 2)
    )
    assert once == again != other


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="width 0; expected at least 1"):
        decoding.beam(step, begin(), ROWS, width=0, **LIMITS)
    for wrong in (
        {"temperature": 0.0},
        {"temperature": float("inf")},
        {"temperature": 1e39},
        {"temperature": float("nan")},
        {"top_p": 0.0},
        {"top_p": 1.1},
    ):
        expected = "expected 1e-6 to 1e6" if "temperature" in wrong else "expected above 0, and at most 1"
        with pytest.raises(ValueError, match=expected):
            decoding.sample(step, begin(), ROWS, generator=torch.Generator(), **LIMITS, **wrong)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"beam": 2, "temperature": 1.0}, "--beam 2, --temperature 1.0; they exclude each other"),
        ({"beam": 2, "top_p": 0.5}, "--beam 2, --top_p 0.5; they exclude each other"),
        ({"top_p": 0.5}, "--top_p 0.5 at --temperature 0; expected a --temperature above 0"),
        ({"beam": 5000}, "--beam 5000; expected 1 to 1,000"),
        ({"batch_size": 0}, "--batch_size 0; expected 1 or more"),
        ({"temperature": 1e300}, "--temperature 1e+300; expected 1e-6 to 1e6"),
    ],
)
def test_a_complaint_names_options_as_they_were_given(how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        decoding.require_decoding(how, "--{}".format)
    assert str(raised.value).startswith(message)
    with pytest.raises(InputError) as raised:
        decoding.require_decoding(how)
    assert str(raised.value).startswith(message.replace("--", ""))


def test_who_copies_nothing_has_no_repetition_to_constrain() -> None:
    decoding.require_decoding({"constrain_repetition": False}, copies=False)
    decoding.require_decoding({"constrain_repetition": True})
    with pytest.raises(InputError, match="constrain_repetition: this model copies nothing of a source; leave it out"):
        decoding.require_decoding({"constrain_repetition": True}, copies=False)
    decoding.require_decoding({"constrain_repetition": None}, copies=False)
    with pytest.raises(InputError, match="constrain_repetition no; expected True, False or None"):
        decoding.require_decoding({"constrain_repetition": "no"})


def test_a_search_is_named_with_all_that_chooses() -> None:
    assert decoding.search_name({}) == decoding.search_name({"beam": 1, "seed": 3}) == "greedy"
    assert decoding.search_name({"beam": 4}) == "beam 4"
    assert decoding.search_name({"temperature": 0.7, "top_p": 0.9}) == "drawn, temperature 0.7, top-p 0.9"
