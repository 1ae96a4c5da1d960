"""Every number that `evaluate_latent` prints, on a model whose true metrics are integrals over one number.

Shape key: N sentences, S samples of each, Z latent (2).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from paraform.evaluation.latent import DualKL, LatentReport, alarms, estimate, evaluate_latent, report, validate
from paraform.records import InputError

SHIFT, SPREAD = 0.8, (0.7, 1.5)
TEXTS = ["heads"] * 32 + ["tails"] * 8  # two batches of 32, in neither of which z tells anything
HEADS = 0.8  # their share
WORDS = {"heads": 3, "tails": 5}


class Coin:
    """p(heads | z) = σ(2 z_1 + 1), z ~ N(0, I); q(z|x) = N((±shift, 0), diag spread²); f = ±0.8 z_1, g = −0.3 z_1.

    Args:
        posterior: with "mlp" the same samples, but no density and no mean.
    """

    latent_width = 2

    def __init__(self, posterior: str = "gaussian", *, critics: bool = True) -> None:
        self.posterior, self.critics = posterior, critics
        self.has_noise, self.has_density = posterior != "point", posterior in ("gaussian", "affine")

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [WORDS[text] for text in texts]

    def unknown(self, texts: Sequence[str]) -> int:
        return 0

    def encode(self, texts: Sequence[str]) -> Tensor:
        return torch.tensor([[1.0] if text == "heads" else [-1.0] for text in texts])

    def density(self, encoded: Tensor) -> torch.distributions.Normal:
        return torch.distributions.Normal(encoded * torch.tensor([SHIFT, 0.0]), torch.tensor(SPREAD))

    def posterior_mean(self, encoded: Tensor) -> Tensor | None:
        return None if self.posterior == "mlp" else self.density(encoded).mean

    def posterior_root(self, encoded: Tensor) -> Tensor:
        return torch.diag(torch.tensor(SPREAD).double()).expand(len(encoded), -1, -1)

    def sample_posterior(self, encoded: Tensor, samples: int, generator: torch.Generator) -> Tensor:
        noise_SNZ = torch.randn(samples, len(encoded), 2, generator=generator)
        return self.density(encoded).mean + noise_SNZ * torch.tensor(SPREAD)

    def log_posterior(self, encoded: Tensor, z_SNZ: Tensor) -> Tensor:
        if self.posterior == "mlp":
            raise TypeError("no density")
        return self.density(encoded).log_prob(z_SNZ).sum(-1)

    def closed_kl(self, encoded: Tensor) -> Tensor:
        if self.posterior == "mlp":
            raise TypeError("no density")
        prior = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
        return torch.distributions.kl_divergence(self.density(encoded), prior).sum(-1)

    def log_likelihood(self, texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        return F.logsigmoid(self.encode(texts)[:, 0] * (2 * z_SNZ[..., 0] + 1))

    def critic_values(self, encoded: Tensor, z_SNZ: Tensor) -> tuple[Tensor, Tensor] | None:
        return (0.8 * encoded[:, 0] * z_SNZ[..., 0], -0.3 * z_SNZ[..., 0]) if self.critics else None


Z = torch.linspace(-10, 10, 20_001, dtype=torch.float64)


def normal(mean: float, spread: float) -> Tensor:
    return torch.exp(-0.5 * ((Z - mean) / spread) ** 2) / (spread * math.sqrt(2 * math.pi))


def integral(values: Tensor) -> float:
    return float(torch.trapezoid(values, Z))


def over_texts(of_sign: Callable[[int], float]) -> float:
    return HEADS * of_sign(1) + (1 - HEADS) * of_sign(-1)


def reconstruction() -> float:
    """−E_x E_q[ln p(x|z)]."""
    return -over_texts(lambda sign: integral(normal(sign * SHIFT, SPREAD[0]) * F.logsigmoid(sign * (2 * Z + 1))))


def closed_kl() -> float:
    """½ (μ² + σ² − ln σ² − 1), of both dimensions."""
    return 0.5 * (SHIFT**2 + sum(spread**2 - math.log(spread**2) - 1 for spread in SPREAD))


def nll() -> float:
    """−E_x ln ∫ p(z) p(x|z) dz."""
    return -over_texts(lambda sign: math.log(integral(normal(0, 1) * torch.sigmoid(sign * (2 * Z + 1)))))


def information() -> float:
    """E_x KL(q(z|x) ‖ q(z)), where all sentences together are the aggregated posterior; z_2 tells nothing."""
    aggregated = HEADS * normal(SHIFT, SPREAD[0]) + (1 - HEADS) * normal(-SHIFT, SPREAD[0])

    def kl(sign: int) -> float:
        own = normal(sign * SHIFT, SPREAD[0])
        return integral(own * ((own + 1e-300).log() - (aggregated + 1e-300).log()))

    return over_texts(kl)


DUAL = 0.8 * SHIFT - math.exp(0.8**2 / 2) + 1  # E_q[f] − E_p[e^f] + 1, and E_p[e^{az}] = e^{a²/2}
DUAL_LATENT = -0.3 * SHIFT * (2 * HEADS - 1) - math.exp(0.3**2 / 2) + 1


def perplexity(nats: float) -> float:
    """Per word: 32 · 3 + 8 · 5 of them."""
    return math.exp(40 * nats / (32 * 3 + 8 * 5))


def metrics(found: LatentReport) -> dict[tuple[str, str], float]:
    return {(score.protocol, score.name): score.value for score in found.scores}


def whatever_the_posterior() -> dict[tuple[str, str], float]:
    """All metrics with critics but the honest KL, and the −ELBO that has it."""
    return {
        ("paper", "−ln p(x|z)"): reconstruction(),
        ("paper", "KL"): DUAL,
        ("paper", "−ELBO"): reconstruction() + DUAL,
        ("paper", "PPL"): perplexity(reconstruction() + DUAL),
        ("paper", "MI"): DUAL - DUAL_LATENT,
        ("paper", "AU"): 1,
        ("honest", "−ln p(x|z)"): reconstruction(),
        ("honest", "−ln p(x) by q"): nll(),
        ("honest", "PPL by q"): perplexity(nll()),
        ("honest", "−ln p(x), a quarter of the samples"): nll(),
        ("honest", "−ln p(x)"): nll(),
        ("honest", "PPL"): perplexity(nll()),
        ("honest", "MI"): information(),
        ("honest", "AU"): 1,
        ("honest", "KL by a critic fitted anew"): 0.75,
        ("honest", "KL(q(z)‖p) by a critic"): 0.25,
    }


@pytest.fixture
def refits(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """What a critic is fitted anew to; its numbers are made up, since a test of its own has the true ones."""
    seen: list[Tensor] = []

    def made_up(encoded: Tensor, z_SNZ: Tensor, *, seed: int, prior: None = None, progress: bool) -> DualKL:
        seen.append(z_SNZ)
        return DualKL(0.75, 0.25, 9.0)

    monkeypatch.setattr(report, "refitted_dual", made_up)
    return seen


@pytest.mark.parametrize("posterior", ["gaussian", "affine"])
def test_every_metric_of_a_gaussian_is_its_integral(posterior: str, refits: list[Tensor]) -> None:
    found = evaluate_latent(Coin(posterior), TEXTS, samples=2000)
    expected = {
        **whatever_the_posterior(),
        ("honest", "KL"): closed_kl(),
        ("honest", "−ELBO"): reconstruction() + closed_kl(),
        ("honest", "PPL of −ELBO"): perplexity(reconstruction() + closed_kl()),
    }
    assert metrics(found) == pytest.approx(expected, abs=0.02)
    assert [z_SNZ.shape for z_SNZ in refits] == [(2000, 40, 2)]
    below, short, above = ([float(number) for number in re.findall(r"-?\d+\.\d+", line)] for line in found.alarms)
    assert below == pytest.approx([DUAL_LATENT], abs=0.02) and "dual_kl_latent" in found.alarms[0]
    assert short == pytest.approx([DUAL, closed_kl(), closed_kl() - DUAL], abs=0.02) and "too little" in found.alarms[1]
    assert above == pytest.approx([DUAL - DUAL_LATENT, information(), math.log(40)], abs=0.02)
    assert "above the mutual information" in found.alarms[2]


def test_without_critics_the_paper_has_the_closed_kl_and_information_in_batches(refits: list[Tensor]) -> None:
    found = metrics(evaluate_latent(Coin(critics=False), TEXTS, samples=500))
    assert found["paper", "KL"] == pytest.approx(closed_kl())
    assert found["paper", "−ELBO"] == pytest.approx(reconstruction() + closed_kl(), abs=0.02)
    assert found["paper", "PPL"] == pytest.approx(perplexity(reconstruction() + closed_kl()), abs=0.02)
    assert found["paper", "MI"] == pytest.approx(0, abs=1e-6)  # all sentences of a batch are one
    assert found["honest", "MI"] == pytest.approx(information(), abs=0.03)


def test_every_metric_of_samples_alone_is_that_of_the_gaussian_fitted_to_them(refits: list[Tensor]) -> None:
    """The samples are a Gaussian's; what 128 of them miss of two numbers costs a few hundredths of a nat."""
    evaluated = evaluate_latent(Coin("mlp"), TEXTS, samples=2000)
    found = metrics(evaluated)
    expected = {**whatever_the_posterior(), ("honest", "KL, at least"): closed_kl()}
    expected["honest", "MI, at least"] = expected.pop(("honest", "MI"))
    assert found == pytest.approx(expected, abs=0.05)
    assert not any("above the mutual information" in line for line in evaluated.alarms)  # a lower bound tells nothing


class Wide:
    """32 numbers, of which every sentence has its own Gaussian N(shift e, spread² I), e a direction of its own.

    Args:
        posterior: with "mlp" the same samples, but no density and no mean.
    """

    latent_width = 32
    lengths = Coin.lengths

    def __init__(self, posterior: str, *, shift: float, spread: float) -> None:
        self.posterior, self.shift, self.spread = posterior, shift, spread
        self.has_noise, self.has_density = True, posterior == "gaussian"

    def encode(self, texts: Sequence[str]) -> Tensor:
        directions_NZ = torch.randn(len(texts), 32, generator=torch.Generator().manual_seed(9))
        return self.shift * F.normalize(directions_NZ, dim=1)

    def posterior_mean(self, encoded: Tensor) -> Tensor | None:
        return None if self.posterior == "mlp" else encoded

    def posterior_root(self, encoded: Tensor) -> Tensor:
        return (self.spread * torch.eye(32, dtype=torch.float64)).expand(len(encoded), -1, -1)

    def sample_posterior(self, encoded: Tensor, samples: int, generator: torch.Generator) -> Tensor:
        return encoded + self.spread * torch.randn(samples, *encoded.shape, generator=generator)

    def log_posterior(self, encoded: Tensor, z_SNZ: Tensor) -> Tensor:
        return torch.distributions.Normal(encoded, self.spread).log_prob(z_SNZ).sum(-1)

    def closed_kl(self, encoded: Tensor) -> Tensor:
        return 0.5 * (encoded.square() + self.spread**2 - 2 * math.log(self.spread) - 1).sum(1)

    def log_likelihood(self, texts: Sequence[str], z_SNZ: Tensor) -> Tensor:
        return z_SNZ.new_zeros(z_SNZ.shape[:2])


@pytest.mark.parametrize(("shift", "spread"), [(0.0, 1.0), (1.0, 1.0), (2.0, 0.8), (6.0, 0.1)])
def test_of_many_numbers_samples_alone_tell_nearly_as_much_as_a_density(shift: float, spread: float) -> None:
    """The truth is at most 0.4 nats above: a Gaussian fitted to 1,024 samples of 32 numbers errs by 0.27."""
    (exact, _), (found, _) = (
        estimate(Wide(kind, shift=shift, spread=spread), ["heads"] * 200, samples=40, seed=0)
        for kind in ("gaussian", "mlp")
    )
    assert 0 <= found.kl <= exact.kl + 0.05 and found.kl > exact.kl - 0.4
    assert 0 <= found.mi <= exact.mi + 0.05 and found.mi > exact.mi - 0.4
    assert found.posterior_bound == pytest.approx(exact.posterior_bound, abs=0.5)
    assert exact.mi_samples == 20  # 4,096 in all


@pytest.mark.parametrize("samples", [1, 8, 64])
def test_the_bound_of_samples_alone_stays_below_the_true_likelihood(samples: int) -> None:
    found = metrics(evaluate_latent(Coin("mlp"), TEXTS * 10, samples=samples, refit=False))
    for metric in ("−ln p(x)", "−ln p(x) by q"):
        assert found["honest", metric] > nll() - 0.02  # 400 sentences are off by less


def test_each_sentence_has_a_bound_of_its_own() -> None:
    found = evaluate_latent(Coin(), TEXTS, samples=2000, refit=False)
    assert found.bounds is not None
    for sign, nats in ((1, found.bounds.nats[:32]), (-1, found.bounds.nats[32:])):
        true = -math.log(integral(normal(0, 1) * torch.sigmoid(sign * (2 * Z + 1))))
        assert nats == pytest.approx([true] * len(nats), abs=0.1)
        assert sum(nats) / len(nats) == pytest.approx(true, abs=0.02)
    assert metrics(found)["honest", "−ln p(x)"] == pytest.approx(sum(found.bounds.nats) / 40)
    shared = "sentences:40|words:136|unknown:0|seed:0|precision:float32"
    assert found.bounds.settings == f"bound:importance, 2000 samples|{shared}"
    (of_scores,) = (score.signature for score in found.scores if score.name == "−ln p(x)")
    assert of_scores == f"bound:importance, 2000 samples, proposal {found.bounds.proposal}|{shared}"


@pytest.mark.parametrize(
    ("samples", "least", "loose"), [(1, 0.1, True), (3, 0.1, True), (8, 0.1, False), (8, 1e-4, True)]
)
def test_a_bound_is_loose_if_a_quarter_of_its_samples_is_worse_or_nobody_knows(
    samples: int, least: float, loose: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "LOOSE", least)
    found = evaluate_latent(Coin(), TEXTS, samples=samples, refit=False)
    assert found.bounds is not None and found.bounds.loose == loose
    assert any("more would tighten it" in line for line in found.alarms) == (loose and samples >= 4)


def test_a_checkpoint_is_chosen_by_the_bound() -> None:
    found = validate(Coin(), TEXTS, samples=500)
    assert found["loss"] == pytest.approx(nll(), abs=0.02)
    assert found["reconstruction"] == pytest.approx(reconstruction(), abs=0.02)
    assert abs(nll() - reconstruction()) > 0.2


def test_a_validation_says_what_its_alarms_look_at() -> None:
    found = validate(Coin(), TEXTS, samples=2000)
    largest = found.pop("largest_critic")
    assert found == pytest.approx(
        {
            "loss": nll(),
            "reconstruction": reconstruction(),
            "kl": closed_kl(),
            "mi": information(),
            "au": 1,
            "dual_kl": DUAL,
            "dual_kl_latent": DUAL_LATENT,
        },
        abs=0.03,
    )
    assert 0.8 * 3 < largest < 0.8 * 6  # of z_1 among 80,000 draws, and as many of the prior
    (line,) = alarms(found, len(TEXTS))
    assert line.startswith("dual_kl_latent is -")
    without = validate(Coin(critics=False), TEXTS, samples=10)
    assert without.keys() == found.keys() - {"dual_kl", "dual_kl_latent"}


def test_the_noise_of_a_mean_of_samples_is_no_active_unit() -> None:
    """z_2's mean of 128 samples has variance 1.5² / 128 = 0.018, above the 0.01 of an active unit."""
    found = validate(Coin("mlp"), TEXTS * 10, samples=1)
    assert found["au"] == 1


def test_a_metric_that_is_no_number_is_an_error_and_no_blank(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: Coin, encoded: Tensor, z_SNZ: Tensor) -> tuple[Tensor, Tensor]:
        values = z_SNZ.sum(-1)
        return values.fill_(math.nan), values

    monkeypatch.setattr(Coin, "critic_values", lost)
    with pytest.raises(InputError, match="dual is nan; expected a number"):
        evaluate_latent(Coin(), TEXTS, samples=4)


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        ("log_likelihood", torch.zeros(4), r"log_likelihood gave \[4\]; expected \[4, 40\], as `LatentModel` says"),
        ("sample_posterior", torch.zeros(4, 40), r"sample_posterior gave \[4, 40\]; expected \[4, 40, 2\]"),
        ("posterior_mean", None, "a Coin without a posterior_mean; expected one, but where only samples tell"),
    ],
)
def test_a_method_that_gives_something_else_is_named(
    method: str, given: Tensor | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Coin, method, lambda *_: given)
    with pytest.raises(InputError, match=said):
        evaluate_latent(Coin(), TEXTS, samples=4)


class Rootless(Coin):
    posterior_root = None  # type: ignore[assignment]


def test_a_density_without_a_root_or_a_proposal_is_named() -> None:
    with pytest.raises(InputError, match="a Rootless with a density; expected posterior_root or proposal beside it"):
        evaluate_latent(Rootless(), TEXTS, samples=4)


def test_a_bound_that_more_samples_would_tighten_is_an_alarm(
    monkeypatch: pytest.MonkeyPatch, refits: list[Tensor]
) -> None:
    assert not any("a quarter" in line for line in evaluate_latent(Coin(), TEXTS, samples=200).alarms)
    flat = Coin.log_likelihood  # five coins of one z tell more of it
    monkeypatch.setattr(Coin, "log_likelihood", lambda *given: 5 * flat(*given))
    few = evaluate_latent(Coin(), TEXTS, samples=200, bound_samples=4)
    found = metrics(few)
    fell = found["honest", "−ln p(x), a quarter of the samples"] - found["honest", "−ln p(x)"]
    assert fell > 0.1
    assert any(f"a quarter of its samples is {fell:.2f} nats higher" in line for line in few.alarms)
    settings = [score.signature for score in few.scores if score.name.startswith("−ln p(x)")]
    assert [re.findall(r"importance, (\d+) samples", one) for one in settings[-3:]] == [["200"], ["1"], ["4"]]


def test_a_critic_fitted_anew_that_contradicts_itself_is_an_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """KL(q(z|x)‖p) on average is KL(q(z)‖p) + MI."""
    for of_sentence, contradicts in ((0.0, True), (7.95, False)):
        made_up = DualKL(of_sentence, 8.0, 9.0)
        monkeypatch.setattr(report, "refitted_dual", lambda *given, made_up=made_up, **named: made_up)
        found = evaluate_latent(Coin(), TEXTS, samples=4)
        assert any("which is never above it" in line for line in found.alarms) == contradicts


def test_many_unknown_words_are_an_alarm(monkeypatch: pytest.MonkeyPatch, refits: list[Tensor]) -> None:
    """A model that knows few words finds a text likely."""
    words = sum(WORDS[text] for text in TEXTS) - len(TEXTS)  # `</s>` is known
    for unknown in (words // 10, words // 10 + 1):
        monkeypatch.setattr(Coin, "unknown", lambda self, texts, unknown=unknown: unknown)
        found = evaluate_latent(Coin(), TEXTS, samples=4)
        assert f"|unknown:{unknown}|" in found.scores[0].signature
        assert any("are unknown to the model" in line for line in found.alarms) == (unknown > words / 10)
