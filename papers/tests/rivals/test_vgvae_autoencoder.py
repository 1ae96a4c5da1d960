"""VGVAE on text: vectors, paraphrases, densities; a checkpoint that says the same again; and what cannot be asked."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tiny_vgvae as tiny
import torch

from paraform import checkpoint
from paraform.capabilities import Embedder, LatentSpace, Paraphraser
from paraform.evaluation.latent import (
    LatentModel,
    OwnPrior,
    ProposesOwn,
    bounds,
    estimate,
    evaluate_latent,
    refitted_dual,
)
from paraform.records import InputError
from paraform_papers.rivals.vgvae import Vgvae
from paraform_papers.rivals.vgvae.von_mises_fisher import log_uniform

SOURCES, TARGETS = tiny.TEXTS[::2], tiny.TEXTS[1::2]


@pytest.mark.parametrize("name", list(tiny.CONFIGS))
def test_a_checkpoint_says_the_same_again(name: str, tmp_path: Path) -> None:
    model = tiny.model_of(tiny.CONFIGS[name])
    checkpoint.save(model, tmp_path / "it")
    again = checkpoint.load(tmp_path / "it", device="cpu")
    assert isinstance(again, Vgvae) and again.config == model.config
    for kind in model.vector_names:
        assert np.array_equal(again.embed(SOURCES, kind), model.embed(SOURCES, kind))
    if model.config.form == "lstm":
        assert again.decode(SOURCES, TARGETS) == model.decode(SOURCES, TARGETS)
    one_kind = checkpoint.load(f"{tmp_path / 'it'}@vectors=style", device="cpu")
    assert np.array_equal(one_kind.embed(SOURCES), model.style(SOURCES))
    other = checkpoint.load(f"{tmp_path / 'it'}@weights=random,seed=3", device="cpu")
    assert not np.array_equal(other.content(SOURCES), model.content(SOURCES))


def test_vectors() -> None:
    """A direction of length 1, whatever words stand beside it; a mean; 0 of nothing; word order is form alone."""
    model = tiny.model_of()
    assert isinstance(model, Embedder) and isinstance(model, Paraphraser) and isinstance(model, LatentSpace)
    content, style = (
        model.embed(["the dog runs", "", "runs the dog"]),
        model.style(["the dog runs", "", "runs the dog"]),
    )
    assert content.dtype == np.float32 and content.shape == (3, 5) and style.shape == (3, 3)
    assert np.linalg.norm(content, axis=1) == pytest.approx([1, 0, 1], abs=1e-6)
    assert content[0] == pytest.approx(content[2], abs=1e-6) and not np.allclose(style[0], style[2])
    assert model.embed(["the dog runs", "stop"], batch_size=1)[0] == pytest.approx(content[0], abs=1e-6)
    encoded = model.encode(["the dog runs"])
    assert model.proposal(encoded).semantic.direction_BM.numpy() == pytest.approx(content[:1], abs=1e-6)
    model.train()
    assert model.embed(["the dog runs"]) == pytest.approx(content[:1], abs=1e-6) and model.training


def test_writing() -> None:
    """Batches, orders and a beam of one change nothing; a constrained word is as often in the source."""
    model = tiny.model_of()
    said = model.decode(SOURCES, TARGETS)
    assert model.decode(SOURCES, TARGETS, batch_size=3) == said == model.decode(SOURCES, TARGETS, beam=1)
    assert model.decode(SOURCES[::-1], TARGETS[::-1]) == said[::-1]
    drawn = [model.decode(SOURCES, TARGETS, temperature=1.0, seed=seed) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert model.decode(SOURCES, SOURCES) == [model.decode([one], [one])[0] for one in SOURCES]
    for text, source in zip(model.decode(SOURCES, TARGETS, constrain_repetition=True), SOURCES, strict=True):
        words = text.lower().split()
        assert all(one != other for one, other in pairwise(words)), (text, source)
    settings = model.decoding_settings(beam=4)
    assert settings == {"decode": "beam 4", "decoder": "float32", "constrain_repetition": False}
    assert model.exemplars(["a b"], ["c d"]) == [["c d"]]


def test_a_latent_space() -> None:
    model = tiny.model_of()
    assert len(model.sample(3, seed=1)) == 3 and model.sample(3, seed=1) == model.sample(3, seed=1)
    way = model.interpolate(SOURCES[0], SOURCES[1], steps=3)
    assert [way[0], way[-1]] == model.reconstruct(SOURCES[:2])
    assert model.reconstruct(SOURCES) == [
        text[:1].upper() + text[1:] for text in (one.lower() for one in model.decode(SOURCES, SOURCES))
    ]
    prior = model.sample_prior(50_000, torch.Generator().manual_seed(0))
    torch.testing.assert_close(prior.var(0), model.prior_variance(), rtol=0.05, atol=0)
    torch.testing.assert_close(prior[:, :5].norm(dim=1), torch.ones(50_000))
    z = prior[:2, 5:]
    expected = torch.distributions.Normal(0, 1).log_prob(z).sum(-1) + log_uniform(5)
    torch.testing.assert_close(model.log_prior(prior[:2]), expected)


@pytest.mark.parametrize("name", ["paper", "averages"])
def test_evaluation_takes_it_by_what_it_can_do(name: str) -> None:
    """KL is the closed form of both parts; the importance bound is at most the likelihood, and tightens; the mean of
    many samples' log-ratio is the KL that is printed."""
    model = tiny.model_of(tiny.CONFIGS[name])
    assert isinstance(model, LatentModel) and isinstance(model, OwnPrior) and isinstance(model, ProposesOwn)
    found, drawn = estimate(model, SOURCES, samples=256, seed=0)
    encoded = model.encode(SOURCES)
    posterior = model.proposal(encoded)
    closed = (posterior.semantic.kl() + posterior.syntax.kl()).mean().item()
    ratio = model.log_posterior(encoded, drawn.z_SNZ) - model.log_prior(drawn.z_SNZ)
    assert found.kl == pytest.approx(closed, rel=1e-5)
    assert ratio.mean().item() == pytest.approx(closed, abs=5 * ratio.std().item() / math.sqrt(ratio.numel()))
    elbo = found.reconstruction + found.kl
    assert found.tempered_bound < found.quarter_bound + 0.05 and found.posterior_bound < elbo
    assert 0 <= found.mi <= math.log(len(SOURCES)) and not found.adapted
    report = evaluate_latent(model, SOURCES, samples=8, refit=False)
    by_name = {(score.protocol, score.name): score.value for score in report.scores}
    assert by_name["honest", "KL"] == pytest.approx(closed, rel=1e-5)
    assert ("kl:closed" in report.scores[1].signature) and by_name["paper", "KL"] == by_name["honest", "KL"]


def test_the_bound_is_a_bound_of_a_likelihood_that_is_known() -> None:
    """Where the decoder reads neither y nor z every sample is as good: p(x) is what it says of x."""
    model = tiny.model_of()
    network = model.network
    with torch.no_grad():
        network.output.weight[:, model.config.decoder_width :] = 0
        assert network.decoder is not None
        network.decoder.weight_ih_l0[:, model.config.word_width :] = 0
    found, _ = estimate(model, SOURCES, samples=64, seed=0)
    anything = torch.zeros(1, len(SOURCES), model.latent_width)
    truth = -model.log_likelihood(SOURCES, anything).mean().item()
    assert found.tempered_bound == pytest.approx(truth, abs=0.05)
    assert found.reconstruction == pytest.approx(truth, abs=1e-4) and found.posterior_bound > truth - 0.05
    prior = model.proposal(model.encode(SOURCES)).tempered(0.0)  # whose weights are all the same
    weights = bounds.Joint(model, SOURCES).weights(prior, 3, torch.Generator().manual_seed(0))
    torch.testing.assert_close(weights, model.log_likelihood(SOURCES, anything).expand(3, -1).double())


@pytest.mark.parametrize("name", ["no codes", "averages"])
def test_the_bound_nears_the_likelihood_that_a_grid_gives(name: str) -> None:
    """p(x) by quadrature over the sphere in three dimensions and one Gaussian; the −ELBO is above."""
    model = tiny.model_of(replace(tiny.CONFIGS[name], semantic_width=3, syntax_width=1))
    texts = SOURCES[:3]
    height, share = np.polynomial.legendre.leggauss(24)
    angle, around = np.arange(48) * 2 * np.pi / 48, np.sqrt(1 - height**2)
    y = np.stack([np.outer(around, np.cos(angle)), np.outer(around, np.sin(angle)), height[:, None] + 0 * angle], -1)
    z, weight = np.polynomial.hermite_e.hermegauss(30)
    points = [(*direction, number) for number in z for direction in y.reshape(-1, 3)]
    log_weights = np.log(np.outer(weight / np.sqrt(2 * np.pi), np.repeat(share / 2 / 48, 48))).ravel()
    latent = torch.tensor(points)[:, None].expand(-1, len(texts), -1)
    log_joint = model.log_likelihood(texts, latent).double() + torch.from_numpy(log_weights)[:, None]
    truth = -log_joint.logsumexp(0).mean().item()
    found, _ = estimate(model, texts, samples=1024, seed=0)
    for bound in (found.tempered_bound, found.quarter_bound, found.posterior_bound):
        assert bound == pytest.approx(truth, abs=0.06)
    assert found.reconstruction + found.kl > truth + 0.1


def test_a_critic_of_the_right_prior() -> None:
    """At the prior itself, the sphere's and the Gaussian's, a critic fitted anew finds nearly nothing."""
    model = tiny.model_of()
    with torch.no_grad():
        for layers in (model.network.mean, model.network.log_variance):
            for weight in layers.parameters():
                weight.zero_()
        for weight in model.network.concentration.parameters():
            weight.zero_()
        model.network.concentration[-1].bias.fill_(-60)  # softplus is 0, and κ is 1: nearly uniform
    encoded = model.encode(SOURCES)
    z = model.sample_posterior(encoded, 64, torch.Generator().manual_seed(0))
    how = {"seed": 0, "steps": 200, "prior_draws": 1 << 12, "width": 32}
    found = refitted_dual(encoded, z, prior=model.sample_prior, **how)
    assert model.closed_kl(encoded).mean().item() < 0.2 and found.of_sentence < 0.3
    assert refitted_dual(encoded, z, **how).of_latent > 1  # N(0, I) in the sphere's place


def test_what_cannot_be_asked(caplog: pytest.LogCaptureFixture) -> None:
    model, bag = tiny.model_of(), tiny.model_of(tiny.CONFIGS["averages"])
    for wrong, message in (
        (lambda: model.decode(["a b"], []), "1 sources, 0 exemplars; expected an exemplar a source"),
        (lambda: model.decode(["a b", " "], ["c d", "e f"]), "source 2 is empty"),
        (lambda: model.decode(["a b"], [" "]), "exemplar 1 is empty"),
        (lambda: model.decode("a b", ["c d"]), "a string where a list of texts is expected"),
        (lambda: model.decode(["a b"], ["c d"], beam=0), "beam 0; expected 1 to"),
        (lambda: model.decode(["a b"], ["c d"], batch_size=0), "batch_size 0"),
        (lambda: model.exemplars(["a b"]), "a VGVAE model needs a form"),
        (lambda: model.embed(["a b"], "meaning"), "vectors 'meaning'; expected content or style"),
        (lambda: model.encode(["a b", ""]), "text 2 is empty"),
        (lambda: model.encode(["word " * 9]), "text 1 has 9 words; expected at most 8"),
        (lambda: model.sample(-1), "count -1"),
        (lambda: model.interpolate("a b", "c d", steps=1), "steps 1; expected 2"),
        (lambda: bag.decode(["a b"], ["c d"]), "a VGVAE model of averages, whose decoder is a bag of words"),
        (lambda: bag.sample(2), "expected form='lstm', which writes sentences"),
    ):
        with pytest.raises(InputError, match=message):
            wrong()
    for reads in (lambda: model.content(["word " * 9]), lambda: model.decode(["a b"], ["word " * 9])):
        caplog.clear()
        reads()
        assert "1 of 1 texts are longer than the 8 words that a VGVAE model reads" in caplog.text
    assert model.decode([], []) == [] and model.embed([]).shape == (0, 5) and len(model.encode([])) == 0


def test_what_is_no_checkpoint() -> None:
    model = tiny.model_of()
    config, assets = asdict(model.config), model.assets()
    for wrong, given in (({**config, "more": 1}, assets), (config, {})):
        with pytest.raises(InputError, match="VgvaeConfig of a checkpoint with unknown fields"):
            Vgvae.restore(wrong, given)
    with pytest.raises(InputError, match=r"vocabulary\.json"):
        Vgvae.restore(config, {"vocabulary.json": "{"})
