"""The latent models on text: what goes in, what comes out, and what evaluation is told."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from torch import Tensor

import paraform
from paraform import decoding
from paraform.batching import EOS, UNK, Vocabulary
from paraform.encoders import bfloat16_products
from paraform.evaluation.latent import evaluate_latent
from paraform.models.latent import LatentConfig, LatentLanguageModel, language_model
from paraform.models.latent.texts import read_words, write_words
from paraform.records import InputError

TEXTS = ["the cat sat", "a dog ran off", "it rains", "prices rose by N"]
TINY: dict[str, Any] = {
    "word_width": 8, "hidden_width": 8, "latent_width": 3, "critic_width": 8, "max_tokens": 12,
    "initial_range": 0.5, "svi_steps": 2,
}  # fmt: skip


def made(objective: str = "clvae+_mi", **fields: Any) -> LatentLanguageModel:
    config = dataclasses.replace(LatentConfig(), **TINY).with_objective(objective)
    torch.manual_seed(0)
    vocabulary = Vocabulary.build((text.split() for text in TEXTS), min_count=1)
    return LatentLanguageModel(dataclasses.replace(config, **fields), vocabulary).eval()


def test_words_and_sentences_are_read_and_written() -> None:
    assert read_words(" a <unk> _UNK N\t. ", "words") == ["a", "<unk>", "<unk>", "N", "."]
    assert read_words("a <unk> b _UNK", "sentences") == ["a", "<unk>", "b", "<unk>"]
    assert read_words("", "words") == read_words("  ", "sentences") == []
    assert write_words(["n", "of", "paris"], "words", {"n": "N", "paris": "Paris"}) == "N of Paris"
    assert write_words(["we", "like", "paris", "."], "sentences", {"paris": "Paris"}) == "We like Paris."


def test_marks_in_a_text_are_unknown_words() -> None:
    model = made()
    assert model.vocabulary.encode(["</s>", "<pad>", "<s>", "<unk>", "cat"])[:4] == [UNK] * 4
    assert model.lengths(["the </s> cat"]) == [4]
    assert model.unknown(["the </s> cat", "<unk> zxcv", "the"]) == 3


def test_a_batch_is_as_each_sentence_alone() -> None:
    """Padding changes nothing: not the posterior, not the likelihood."""
    model = made()
    together = model.encode(TEXTS)
    alone = torch.cat([model.encode([text]) for text in TEXTS])
    torch.testing.assert_close(together, alone)
    z = torch.randn(2, 4, 3)
    torch.testing.assert_close(
        model.log_likelihood(TEXTS, z),
        torch.cat([model.log_likelihood([text], z[:, row : row + 1]) for row, text in enumerate(TEXTS)], 1),
    )


def test_the_likelihood_is_that_of_the_decoder_step_by_step() -> None:
    model, z = made(), torch.randn(1, 1, 3)
    memory, total = model.network.decoder.start(z[0]), 0.0
    numbers = [2, *model.vocabulary.encode(["a", "dog", "ran", "off"]), 3]
    with torch.no_grad():
        for before, after in pairwise(numbers):
            state, memory = model.network.decoder.step(memory, torch.tensor([before]))
            total += float(torch.log_softmax(model.network.output(state), -1)[0, after])
    assert model.log_likelihood(["a dog ran off"], z).item() == pytest.approx(total, rel=1e-5)


def test_savae_takes_the_gradients_of_its_refining_without_cudnn(monkeypatch: pytest.MonkeyPatch) -> None:
    """cuDNN's LSTM has no backward pass in evaluation mode; what refines nothing keeps cuDNN."""
    seen: list[torch.device | bool] = []

    @contextmanager
    def noted(device: torch.device) -> Iterator[None]:
        seen.append(device)
        yield
        seen.append(True)

    monkeypatch.setattr(language_model, "torch_kernels", noted)
    model = made("savae")
    reconstruction = model.network.reconstruction

    def watched(*given: Any) -> Tensor:
        seen.append(model.training)
        return reconstruction(*given)

    with mock.patch.object(model.network, "reconstruction", watched):
        model.encode(TEXTS)
    assert seen == [torch.device("cpu"), False, False, True]  # two steps, in evaluation mode
    made("vae").encode(TEXTS)
    assert len(seen) == 4


@pytest.mark.parametrize("objective", ["ae", "vae", "savae", "ivae", "clvae+_mi"])
def test_sample_interpolate_reconstruct(objective: str) -> None:
    model = made(objective)
    assert model.sample(3, seed=1) == model.sample(3, seed=1) != model.sample(3, seed=2)
    for way in ({"beam": 3}, {"temperature": 0.8, "top_p": 0.9}):
        assert len(model.sample(3, **way)) == 3
    line = model.interpolate(TEXTS[0], TEXTS[1], steps=5)
    ends = model.reconstruct(TEXTS[:2])
    if objective != "savae":  # whose posteriors depend on what is refined together
        assert len(line) == 5 and [line[0], line[-1]] == ends
    assert model.sample(0) == [] and model.reconstruct([]) == []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("objective", ["ae", "vae", "savae", "clvae+_mi", "mlp"])
def test_the_same_ends_have_one_sentence_between_them(objective: str, seed: int) -> None:
    """Also where a vector is made with noise: it is the same for all texts."""
    model = made("ivae", posterior="mlp") if objective == "mlp" else made(objective)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, generator=torch.Generator().manual_seed(seed))
    assert len(set(model.interpolate(TEXTS[0], TEXTS[0], steps=4))) == 1
    vectors = model.vectors([TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[1]], samples=3)
    torch.testing.assert_close(vectors[:2], vectors[2:])
    vectors = model.vectors([TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[1]], samples=3, batch_size=2)
    torch.testing.assert_close(vectors[:2], vectors[2:])
    assert not torch.allclose(vectors[0], vectors[1])


def test_interpolation_is_a_straight_line_in_equal_steps() -> None:
    model = made()
    ends = model.vectors(TEXTS[:2])
    line = [ends[0] + share * (ends[1] - ends[0]) for share in (0, 0.25, 0.5, 0.75, 1)]
    seen: list[Tensor] = []
    said = model.decode(torch.stack(line))
    with mock.patch.object(model, "decode", lambda z_NZ, **how: seen.append(z_NZ) or said):
        assert model.interpolate(TEXTS[0], TEXTS[1], steps=5) == said
    torch.testing.assert_close(seen[0], torch.stack(line))


def test_an_implicit_posterior_averages_its_samples() -> None:
    model = made("ivae", posterior="mlp")
    assert model.posterior_mean(model.encode(TEXTS)) is None
    assert torch.equal(model.vectors(TEXTS, seed=1), model.vectors(TEXTS, seed=1))
    assert model.vectors(TEXTS).shape == (4, 3) and not model.vectors(TEXTS).requires_grad


def test_vectors_of_any_kind_of_number_are_said() -> None:
    model = made()
    z = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert model.decode(z) == model.decode(z.float()) and len(model.decode(z)) == 5


def test_what_cannot_be_said_is_an_error() -> None:
    model = made()
    for call, message in (
        (lambda: model.encode(["a", " "]), "text 2 is empty"),
        (lambda: model.encode([*["a"] * 299, "a " * 13]), "text 300 has 13 words; expected at most 12"),
        (lambda: model.interpolate("a", "a dog", steps=1), "steps 1; expected 2 to 10,000,000"),
        (lambda: model.sample(2, beam=2, temperature=1.0), "exclude each other"),
        (lambda: model.sample(2, beam=2, top_p=0.5), "beam 2, top_p 0.5; they exclude each other"),
        (lambda: model.sample(2, top_p=0.5), "temperature above 0"),
        (lambda: model.sample(2, beem=3), "option 'beem'; expected one of beam, temperature"),  # type: ignore[call-arg]
        (lambda: model.sample(2, beam=0), "beam 0; expected 1 to 1,000"),
        (lambda: model.sample(2, beam=10**5), "beam 100000; expected"),
        (lambda: model.sample(-1), "count -1; expected 0 to 10,000,000"),
        (lambda: model.decode(torch.zeros(3)), r"\[3\]; expected a tensor of vectors, \[N, 3\]"),
        (lambda: model.decode(torch.zeros(2, 4)), r"\[2, 4\]; expected a tensor of vectors, \[N, 3\]"),
        (lambda: model.decode([[0.0] * 3]), "a list; expected a tensor"),  # type: ignore[arg-type]
        (lambda: model.decode(torch.full((1, 3), torch.nan)), "not finite"),
        (lambda: model.vectors(["a"], samples=0), "samples 0; expected 1 to 10,000,000"),
        (lambda: model.reconstruct("a dog"), "a string where a list of texts is expected"),
        (lambda: evaluate_latent(model, "a dog"), "a string where a list of texts is expected"),
        (lambda: model.vectors(["a dog", None]), "text 2 is of type NoneType; expected a string"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_texts_may_come_from_anywhere() -> None:
    model, texts = made(), ["a dog", "a"]
    expected = model.vectors(texts)
    for given in (np.array(texts), iter(texts), tuple(texts)):
        assert torch.equal(model.vectors(given), expected)
    assert model.reconstruct(np.array(texts)) == model.reconstruct(texts)
    scores = evaluate_latent(model, texts, samples=2, refit=False).scores
    assert evaluate_latent(model, (text for text in texts), samples=2, refit=False).scores == scores


def test_no_sentence_is_longer_than_what_the_model_reads() -> None:
    model = made()
    with torch.no_grad():
        model.network.output.weight[EOS] = 0
        model.network.output.weight[[UNK]] = 100 * model.network.decoder.begin.weight.abs().sum()
    for way in ({}, {"beam": 2}, {"temperature": 1.0}):
        said = [text for text in model.sample(20, **way) if text]
        assert len(said) > 5 and max(model.lengths(said)) <= 13  # `</s>` counted


def test_words_are_drawn_by_other_numbers_than_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []
    draw = decoding.sample

    def noted(*given: Any, generator: torch.Generator, **named: Any) -> Any:
        seeds.append(generator.initial_seed())
        return draw(*given, generator=generator, **named)

    monkeypatch.setattr(decoding, "sample", noted)
    made().sample(2, seed=5, temperature=1.0)
    assert seeds == [5 + 2**32]  # the command line's own are below 2³²


def test_decoding_and_encoding_leave_the_mode_as_it_was() -> None:
    model = made().train()
    model.sample(1)
    model.encode(TEXTS)
    assert model.training and not made().eval().training


def test_how_many_go_together_changes_nothing() -> None:
    model = made()
    torch.testing.assert_close(model.encode(TEXTS, batch_size=1), model.encode(TEXTS))
    assert model.sample(5, batch_size=2) == model.sample(5)
    assert model.reconstruct(TEXTS, batch_size=3) == model.reconstruct(TEXTS)


@pytest.mark.parametrize("tied", [True, False])
def test_an_untrained_model_finds_all_words_alike(tied: bool) -> None:
    """−ln p of a word is about ln V."""
    config = dataclasses.replace(LatentConfig(), **TINY)
    wide = {"word_width": 64, "hidden_width": 64, "initial_range": 0.1, "tie_embeddings": tied}
    torch.manual_seed(0)
    vocabulary = Vocabulary.build([[f"w{number}" for number in range(1000)]], min_count=1)
    model = LatentLanguageModel(dataclasses.replace(config, **wide), vocabulary).eval()
    texts = [f"w{number} w{number + 1} w{2 * number}" for number in range(100)]
    found = -model.log_likelihood(texts, torch.randn(1, 100, 3)).mean() / 4
    assert float(found) == pytest.approx(math.log(1000), abs=0.7)


def test_a_person_s_sentence_has_no_unknown_word() -> None:
    words, sentences = made(text="words"), made(text="sentences")
    for model in (words, sentences):
        with torch.no_grad():
            model.network.output.weight.zero_()
            model.network.output.weight[UNK] = 5.0
            model.network.decoder.begin.weight.fill_(1.0)
    assert "<unk>" in " ".join(words.sample(8)) and "<unk>" not in " ".join(sentences.sample(8)).lower()


@pytest.mark.parametrize("objective", ["ae", "vae", "savae", "ivae", "clvae+_mi"])
def test_saved_and_loaded(objective: str, tmp_path: Path) -> None:
    model = made(objective)
    paraform.save(model, tmp_path / "model", card="# A model\n")
    again = paraform.load(tmp_path / "model", device="cpu")
    assert again.config == model.config and again.vocabulary == model.vocabulary
    assert again.sample(4) == model.sample(4)
    with torch.no_grad():
        model.network.output.weight[0, 0] = float("nan")
    with pytest.raises(InputError, match="not saved"):
        paraform.save(model, tmp_path / "other", card="")


@pytest.mark.parametrize("objective", ["ae", "vae", "savae", "ivae", "clvae+_mi", "mlp"])
def test_both_protocols_of_every_kind(objective: str) -> None:
    model = made("ivae", posterior="mlp") if objective == "mlp" else made(objective)
    report = evaluate_latent(model, TEXTS, samples=6, refit=False)
    names = {(score.protocol, score.name) for score in report.scores}
    assert ("paper", "−ln p(x|z)") in names
    if objective == "ae":
        assert names == {(p, n) for p in ("paper", "honest") for n in ("−ln p(x|z)", "AU")}
        return
    assert {("paper", "−ELBO"), ("paper", "PPL"), ("paper", "MI"), ("honest", "−ln p(x)"), ("honest", "PPL")} <= names
    assert (("honest", "−ELBO") in names) == (objective != "mlp")  # a fitted Gaussian's KL makes no bound
    values = {(score.protocol, score.name): score.value for score in report.scores}
    information = values["honest", "MI, at least" if objective == "mlp" else "MI"]
    assert -0.2 < information <= 1.3863 + 1e-6  # ln 4; 24 samples can be a little off on the other side
    if objective in ("vae", "savae"):
        assert values["paper", "KL"] == values["honest", "KL"]
        # Six samples bound better than one.
        assert values["honest", "−ln p(x) by q"] <= values["honest", "−ELBO"] + 1e-3
    with pytest.raises(ValueError, match="0 sentences"):
        evaluate_latent(model, [])


def test_a_model_in_training_is_measured_without_dropout() -> None:
    model = made(decoder_dropout=0.5)
    z = torch.randn(3, len(TEXTS), 3)
    expected = model.eval().log_likelihood(TEXTS, z)
    torch.testing.assert_close(model.train().log_likelihood(TEXTS, z), expected)
    assert model.training


def test_bfloat16_changes_little(bfloat16: None) -> None:
    """On any processor: the LSTM and the output layer compute in it, if need be without oneDNN."""
    model, z = made(), torch.randn(3, 4, 3)
    exact = model.log_likelihood(TEXTS, z)
    with bfloat16_products(torch.device("cpu")):
        rounded = model.log_likelihood(TEXTS, z)
    torch.testing.assert_close(rounded, exact, atol=0.1, rtol=0.02)
    assert not torch.equal(rounded, exact)


@pytest.mark.parametrize("narrowest", [-3, -10])
def test_a_narrow_posterior_is_measured_right_among_rounded_products(narrowest: int) -> None:
    """Rounding would put samples out of reach: of products to bfloat16, or, at widths of 1e-10, of z to float32."""
    model = made("ivae", latent_width=6)
    assert model.network.posterior.noise is not None
    torch.manual_seed(0)
    mixed = torch.linalg.qr(torch.randn(6, 6)).Q if narrowest > -7 else torch.eye(6)
    with torch.no_grad():
        model.network.posterior.noise.weight.copy_(mixed @ torch.diag(torch.logspace(narrowest, 0, 6)) @ mixed.T)
    texts = TEXTS * 20
    encoded = model.encode(texts)
    with torch.autocast("cpu", torch.bfloat16):  # `bfloat16_products`, whatever the processor
        mean = model.posterior_mean(encoded)
        z = model.sample_posterior(encoded, 200, torch.Generator().manual_seed(0))
        kl = model.closed_kl(encoded)
        sampled = model.log_posterior(encoded, z) - torch.distributions.Normal(0, 1).log_prob(z).sum(-1)
    exact = model.closed_kl(encoded)
    torch.testing.assert_close(kl, exact)
    assert mean is not None and torch.equal(mean, model.network.posterior.mean_of(encoded))
    error = float(sampled.std()) / sampled.numel() ** 0.5
    assert float(sampled.mean()) == pytest.approx(float(exact.mean()), abs=4 * error + 1e-3)


def test_a_sentence_s_vector_is_the_same_each_time() -> None:
    """In training mode too, and for SaVAE, whose refining draws noise."""
    for objective in ("vae", "savae"):
        model = made(objective, plain_dropout=0.5)
        expected = model.vectors(TEXTS)
        model.train()
        state = torch.get_rng_state()
        assert torch.equal(model.vectors(TEXTS), expected) and model.training
        assert torch.equal(torch.get_rng_state(), state)
        assert model.vectors([]).shape == (0, 3)
