"""What latent vectors say, against every sentence that could be said; and SaVAE's refining against its recursion.

The vocabulary is so small that all hypotheses can be written down, each scored from its first word on.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from paraform.batching import BOS, EOS, PAD, UNK, SentenceBatch, Vocabulary
from paraform.models.latent import LatentConfig, LatentLanguageModel, svi
from paraform.models.latent.language_model import decode_vectors
from paraform.models.latent.network import LatentNetwork

LONGEST = 3
KINDS: dict[str, dict[str, Any]] = {
    "as fixed": {},
    "as the code": {"decoder_start": "hidden", "output_bias": True},
}
TINY: dict[str, Any] = {
    "word_width": 8, "hidden_width": 8, "latent_width": 3, "critic_width": 8, "initial_range": 1.0,
}  # fmt: skip


def made(objective: str = "vae", **fields: Any) -> LatentLanguageModel:
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective(objective)
    torch.manual_seed(0)
    vocabulary = Vocabulary.build([["a", "b", "c"]], min_count=1)
    return LatentLanguageModel(dataclasses.replace(config, **fields), vocabulary).eval()


def begun(kind: str) -> tuple[LatentNetwork, Tensor]:
    """A network whose next words depend on all that was said, and twelve vectors."""
    network = made(**KINDS[kind]).network
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() > 1 or weight is network.output.bias:
                weight.uniform_(-1, 1)
        if network.output.bias is not None:
            network.output.bias[EOS] = 1.0
    return network, 2 * torch.randn(12, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_at_a_time_has_the_states_of_all_words_at_once(kind: str) -> None:
    """Rows are picked in between, one of them twice."""
    network, z_NZ = begun(kind)
    words_NT = torch.randint(network.output.out_features, (12, 9))
    words_NT[:, 0] = BOS
    rows_N = torch.arange(12)
    memory = network.decoder.start(z_NZ)
    with torch.no_grad():
        for time in range(9):
            if time in (3, 6):
                picked_M = torch.tensor([4, 0, 2, 2, 7])[: 8 - time]
                rows_N, memory = rows_N[picked_M], memory.select(picked_M)
            state_NH, memory = network.decoder.step(memory, words_NT[rows_N, time])
            expected_NTH = network.decoder(words_NT[rows_N, : time + 1], z_NZ[rows_N])
            torch.testing.assert_close(state_NH, expected_NTH[:, -1], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("start", ["cell", "hidden"])
def test_what_z_begins_an_lstm_with(start: str) -> None:
    """The first state of a cell with the same weights: c₀ = W z and h₀ = tanh c₀, or h₀ = W z + b and c₀ = 0."""
    decoder, z_NZ = made(decoder_start=start).network.decoder, torch.randn(4, 3)
    cell = torch.nn.LSTMCell(11, 8)
    cell.load_state_dict({name.removesuffix("_l0"): weight for name, weight in decoder.lstm.state_dict().items()})
    begun_NH = z_NZ @ decoder.begin.weight.T
    if start == "cell":
        assert decoder.begin.bias is None
        before = begun_NH.tanh(), begun_NH
    else:
        before = begun_NH + decoder.begin.bias, torch.zeros(4, 8)
    words_N = torch.full((4,), BOS)
    expected_NH, _ = cell(torch.cat([decoder.embedding(words_N), z_NZ], -1), before)
    torch.testing.assert_close(decoder.step(decoder.start(z_NZ), words_N)[0], expected_NH)
    torch.testing.assert_close(decoder(words_N[:, None], z_NZ)[:, 0], expected_NH)


class Scorer:
    """ln p of each next word after some words, from the teacher-forced decoder: nothing is remembered between words."""

    def __init__(self, network: LatentNetwork, z_1Z: Tensor) -> None:
        self.words = [number for number in range(network.output.out_features) if number not in (PAD, BOS, UNK)]

        @cache
        def following(said: tuple[int, ...]) -> dict[int, float]:
            with torch.no_grad():
                state_H = network.decoder(torch.tensor([[BOS, *said]]), z_1Z)[0, -1]
                log_probs = network.output(state_H)[self.words].log_softmax(0)
            return dict(zip(self.words, log_probs.tolist(), strict=True))

        self.following = following

    def total(self, said: tuple[int, ...]) -> float:
        return sum(self.following(said[:at])[word] for at, word in enumerate(said))

    def per_word(self, said: tuple[int, ...]) -> float:
        """What hypotheses are ranked by; `</s>` is a word."""
        return self.total(said) / len(said)

    def every(self) -> list[tuple[int, ...]]:
        """All sentences of at most three words, `</s>` behind each, and those of four that have not ended."""
        words = [word for word in self.words if word != EOS]
        ended = [(*said, EOS) for length in range(LONGEST + 1) for said in product(words, repeat=length)]
        return ended + list(product(words, repeat=LONGEST + 1))

    def beam(self, width: int) -> tuple[int, ...]:
        """The best hypothesis of a beam search, in lists."""
        kept: list[tuple[int, ...]] = [()]
        for _ in range(LONGEST + 1):
            candidates = [said for said in kept if said[-1:] == (EOS,)]
            candidates += [(*said, word) for said in kept if said[-1:] != (EOS,) for word in self.words]
            kept = sorted(candidates, key=self.per_word, reverse=True)[:width]
        return kept[0]


def words_of(said: tuple[int, ...]) -> list[int]:
    """Without `</s>`; four words are one more than a sentence has."""
    return [word for word in said if word != EOS][:LONGEST]


def said_by(network: LatentNetwork, z_NZ: Tensor, **how: Any) -> list[list[int]]:
    return decode_vectors(network, z_NZ, longest=LONGEST, never=[0, 1, 2], **how)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_s_score_is_minus_its_reconstruction(kind: str) -> None:
    """But for the words that are never said, whose probability the others share."""
    network, z_NZ = begun(kind)
    never = [PAD, BOS, UNK]
    scorer = Scorer(network, z_NZ[:1])
    said = scorer.words[1:]
    with torch.no_grad():
        states_TH = network.decoder(torch.tensor([[BOS, *said]]), z_NZ[:1])[0]
        kept_T = 1 - network.output(states_TH).softmax(-1)[:, never].sum(-1)
        batch = SentenceBatch(torch.tensor([said]), torch.tensor([len(said)]))
        expected = -float(network.reconstruction(batch, z_NZ[:1])) - float(kept_T.log().sum())
    assert scorer.total((*said, EOS)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_says_the_likeliest_word_after_each_prefix(kind: str) -> None:
    network, z_NZ = begun(kind)
    expected = [words_of(Scorer(network, row[None]).beam(1)) for row in z_NZ]
    assert said_by(network, z_NZ) == expected
    assert len({len(said) for said in expected}) > 1  # rows end at different times


@pytest.mark.parametrize("kind", KINDS)
def test_a_beam_as_wide_as_there_are_sentences_finds_the_best_of_them(kind: str) -> None:
    network, z_NZ = begun(kind)
    scorers = [Scorer(network, row[None]) for row in z_NZ]
    expected = [words_of(max(scorer.every(), key=scorer.per_word)) for scorer in scorers]
    assert said_by(network, z_NZ, beam=len(scorers[0].every())) == expected
    assert said_by(network, z_NZ) != expected


@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_narrow_beam_is_that_of_plain_lists(kind: str, width: int) -> None:
    network, z_NZ = begun(kind)
    expected = [words_of(Scorer(network, row[None]).beam(width)) for row in z_NZ]
    assert said_by(network, z_NZ, beam=width) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_tiny_top_p_draws_the_likeliest_word(kind: str) -> None:
    network, z_NZ = begun(kind)
    greedy = said_by(network, z_NZ)
    assert said_by(network, z_NZ, temperature=1.0, top_p=1e-6) == greedy
    assert said_by(network, z_NZ, temperature=1.0, top_p=1.0) != greedy


def refined_by(monkeypatch: pytest.MonkeyPatch, rate: float, momentum: float = 0.5, clip: float = 1e9) -> None:
    for name, value in (("RATE", rate), ("MOMENTUM", momentum), ("CLIP", clip)):
        monkeypatch.setattr(svi, name, value)


def refining(beta: float, batch_size: int) -> LatentLanguageModel:
    """A SaVAE whose decoder says all words alike, whatever z is, so that KL alone has a gradient."""
    model = made("savae", beta=beta, batch_size=batch_size, svi_steps=4)
    with torch.no_grad():
        model.network.output.weight.zero_()
    return model


TEXTS = ["a b", "c", "b b c a"]


@pytest.mark.parametrize(("beta", "batch_size"), [(0.0, 2), (1.0, 2), (1.0, 8), (4.0, 2)])
def test_refining_follows_its_recursion_however_many_are_refined(
    beta: float, batch_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """v ← m v + α ∇L, λ ← λ − v with L = β / B Σ ½ (μ² + e^s − s − 1), one number at a time (Kim et al. 2018)."""
    refined_by(monkeypatch, 0.3)
    model = refining(beta, batch_size)
    with torch.no_grad():
        state = model.network.encoder(*batch_of(model, TEXTS))
        begun = model.network.posterior.gaussian(state)

    def refined(value: float, slope: Any) -> float:
        velocity = 0.0
        for _ in range(4):
            velocity = 0.5 * velocity + 0.3 * beta / batch_size * slope(value)
            value -= velocity
        return value

    means = [[refined(mean, lambda mean: mean) for mean in row] for row in begun.mean_BZ.tolist()]
    scales = [[refined(s, lambda s: 0.5 * (math.exp(s) - 1)) for s in row] for row in begun[1].tolist()]
    expected = torch.cat([torch.tensor(means), torch.tensor(scales)], 1)
    torch.testing.assert_close(model.encode(TEXTS), expected, atol=1e-5, rtol=1e-4)
    for row, text in enumerate(TEXTS):
        torch.testing.assert_close(model.encode([text]), expected[row : row + 1], atol=1e-5, rtol=1e-4)


def test_a_clipped_step_is_as_long_for_a_sentence_alone_as_among_its_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    model = refining(1.0, 2)
    refined_by(monkeypatch, 0.3, clip=0.01)
    alone = model.encode(["a b"])
    torch.testing.assert_close(model.encode(["a b"] * 9), alone.expand(9, -1), atol=1e-5, rtol=1e-4)
    refined_by(monkeypatch, 0.3)
    assert float((alone - model.encode(["a b"])).norm()) > 0.01


def test_a_heavy_kl_pulls_a_refined_posterior_to_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a decoder that listens too."""
    refined_by(monkeypatch, 1e-5, momentum=0.0)
    heavy, light = (made("savae", beta=beta, svi_steps=60, batch_size=3) for beta in (1e5, 0.1))
    assert (
        float(heavy.closed_kl(heavy.encode(TEXTS)).max())
        < 1e-3
        < 0.1
        < float(light.closed_kl(light.encode(TEXTS)).min())
    )


def test_refining_comes_nearer_to_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """β KL − E_q[ln p(x|z)] of the posterior after the steps is below that of the encoder's own, on average."""
    monkeypatch.setattr(svi, "RATE", 0.3)
    before, after = (made("savae", beta=0.1, batch_size=3, svi_steps=steps) for steps in (0, 40))

    def loss(model: LatentLanguageModel) -> Tensor:
        encoded = model.encode(TEXTS)
        z_SNZ = model.sample_posterior(encoded, 400, torch.Generator().manual_seed(0))
        return 0.1 * model.closed_kl(encoded) - model.log_likelihood(TEXTS, z_SNZ).mean(0)

    assert float(loss(after).mean()) < float(loss(before).mean()) - 0.1


def batch_of(model: LatentLanguageModel, texts: list[str]) -> SentenceBatch:
    rows = [model.vocabulary.encode(text.split()) for text in texts]
    longest = max(map(len, rows))
    words = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return SentenceBatch(words, torch.tensor([len(row) for row in rows]))
