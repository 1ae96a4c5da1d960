"""Linear erasure against another closed form, against brute force, and against readers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny_disentangled as tiny
import torch

from paraform import checkpoint, encoders
from paraform.encoders import Encoder
from paraform.models.disentangled.erasure import concepts, least_squares_erasure
from paraform.models.disentangled.symbols import TreeSymbols


def drawn(sentences: int = 200, features: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors around (1, …, 1) whose features are mixed, and two concepts that are in them, one of them twice."""
    draw = torch.Generator().manual_seed(1)
    mix_DD = torch.randn(features, features, generator=draw, dtype=torch.float64)
    x_ND = 1 + torch.randn(sentences, features, generator=draw, dtype=torch.float64) @ mix_DD
    z_N = x_ND[:, 0] - 2 * x_ND[:, 3] + torch.randn(sentences, generator=draw, dtype=torch.float64)
    other_N = (x_ND[:, 1] > 1).double()
    return x_ND, torch.stack([z_N, other_N, 3 * z_N], 1)


def erased(x_ND: torch.Tensor, z_NC: torch.Tensor) -> torch.Tensor:
    weight_DD, bias_D = least_squares_erasure(x_ND, z_NC)
    assert weight_DD.dtype == bias_D.dtype == torch.float32
    return x_ND @ weight_DD.double().T + bias_D.double()


def test_it_is_the_closed_form() -> None:
    """A = I − Σ_xz (Σ_zx Σ_xx⁻¹ Σ_xz)⁺ Σ_zx Σ_xx⁻¹, where Σ_xx has an inverse; the mean stays."""
    x_ND, z_NC = drawn()
    covariance_DD, mean_D = torch.cov(x_ND.T, correction=0), x_ND.mean(0)
    cross_DC = (x_ND - mean_D).T @ (z_NC - z_NC.mean(0)) / len(x_ND)
    inner_CC = torch.linalg.pinv(cross_DC.T @ torch.linalg.solve(covariance_DD, cross_DC), rtol=1e-9)
    expected_DD = torch.eye(6) - cross_DC @ inner_CC @ torch.linalg.solve(covariance_DD, cross_DC).T
    weight_DD, bias_D = least_squares_erasure(x_ND, z_NC)
    torch.testing.assert_close(weight_DD.double(), expected_DD, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close((weight_DD @ mean_D.float() + bias_D).double(), mean_D, atol=1e-4, rtol=1e-5)


def test_no_linear_reader_tells_what_is_erased() -> None:
    """Of a first concept's variance a least-squares reader explains most before, and nothing after."""
    x_ND, z_NC = drawn()
    explained = []
    for vectors_ND in (x_ND, erased(x_ND, z_NC)):
        inputs_NE = torch.cat([vectors_ND, torch.ones(len(x_ND), 1)], 1)
        read_NC = inputs_NE @ torch.linalg.lstsq(inputs_NE, z_NC, driver="gelsd", rcond=1e-6).solution
        explained.append(1 - (z_NC - read_NC).var(0) / z_NC.var(0))
    assert explained[0].min() > 0.5
    assert explained[1].abs().max() < 1e-5


def test_no_other_map_that_erases_changes_less() -> None:
    x_ND, z_NC = drawn()
    change = (erased(x_ND, z_NC) - x_ND).square().sum(1).mean()
    weight_DD, bias_D = (part.double() for part in least_squares_erasure(x_ND, z_NC))
    centred_ND = x_ND - x_ND.mean(0)
    told_DC = centred_ND.T @ (z_NC - z_NC.mean(0))
    off_DD = torch.eye(6) - told_DC @ torch.linalg.pinv(told_DC, rtol=1e-9)  # onto what tells nothing
    draw = torch.Generator().manual_seed(2)
    for scale in (0.001, 0.1):
        for _ in range(20):
            other_DD = weight_DD + scale * torch.randn(6, 6, generator=draw, dtype=torch.float64) @ off_DD
            moved_ND = centred_ND @ other_DD.T + (weight_DD @ x_ND.mean(0) + bias_D)
            assert (moved_ND.T @ (z_NC - z_NC.mean(0))).abs().max() < 0.01  # it erases as well
            assert (moved_ND - x_ND).square().sum(1).mean() > change


def test_features_that_never_change_and_concepts_that_all_have() -> None:
    x_ND, z_NC = drawn()
    x_ND = torch.cat([x_ND, torch.full((len(x_ND), 2), 5.0, dtype=torch.float64)], 1)
    z_NC = torch.cat([z_NC, torch.ones(len(z_NC), 1, dtype=torch.float64)], 1)
    torch.testing.assert_close(erased(x_ND, z_NC)[:, 6:], x_ND[:, 6:])
    nothing_ND = erased(x_ND, torch.ones(len(x_ND), 1, dtype=torch.float64))
    torch.testing.assert_close(nothing_ND, x_ND, atol=1e-5, rtol=1e-5)


def test_what_is_erased() -> None:
    """Shares of constituents; and a column for each top level that is usual, in the order of its labels."""
    trees = [tree for tree in tiny.parsed().values() for _ in range(2)]
    symbols = TreeSymbols.of(trees, brackets=False)
    shares_NC = concepts(trees, symbols, "constituents")
    assert shares_NC.shape == (16, len(symbols.constituents))
    torch.testing.assert_close(shares_NC.sum(1), torch.ones(16, dtype=torch.float64))
    form_NC = concepts(trees, symbols, "form")
    torch.testing.assert_close(form_NC[:, : shares_NC.shape[1]], shares_NC)
    tops_NC = form_NC[:, shares_NC.shape[1] :]
    assert tops_NC.sum(1).tolist() == [1.0] * 16 and tops_NC.sum(0).tolist() == [2.0, 2.0, 6.0, 2.0, 4.0]
    once = concepts([*trees, next(iter(tiny.parsed().values()))], symbols, "form")
    assert once.shape[1] == form_NC.shape[1]


@pytest.mark.parametrize("special", [True, False])
def test_a_model_gives_out_what_is_left(special: bool, tmp_path: Path) -> None:
    """Its decoder still reads all; a checkpoint has the map, and so has the folder that is exported."""
    config = replace(tiny.TINY, erased="constituents", pool_special=special)
    model = tiny.paraphraser(config)
    fresh = type(model).restore(vars(config), model.assets()).erasure
    assert fresh is not None and torch.equal(fresh.weight, torch.eye(tiny.WIDTH)) and not fresh.bias.any()
    before, decoded = model.embed(tiny.TEXTS), model._vectors(tiny.TEXTS)
    trees = [tiny.parsed()[text] for text in tiny.TEXTS]
    zero_one = concepts(trees, model.symbols, "constituents")[:, :1]
    model.erase(tiny.TEXTS, zero_one)
    after = model.embed(tiny.TEXTS)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1, atol=1e-5)
    assert np.abs(after - before).max() > 0.01
    torch.testing.assert_close(model._vectors(tiny.TEXTS), decoded)
    checkpoint.save(model, tmp_path / "model", card="a test")
    again = checkpoint.load(tmp_path / "model", device="cpu")
    np.testing.assert_allclose(again.embed(tiny.TEXTS), after, atol=1e-6)
    # by hand: the mean states, mapped, correlate with the concept no more
    assert isinstance(model.encoder, Encoder) and model.encoder.dense is not None
    mapped = model._pooled(replace(model.encoder, normalize=False), tiny.TEXTS)
    centred = zero_one.numpy() - zero_one.numpy().mean(0)
    assert np.abs(mapped.T @ centred).max() < 1e-4
    if special:
        library = pytest.importorskip("sentence_transformers")
        folder = model.export(tmp_path / "mine")
        theirs = library.SentenceTransformer(str(folder), device="cpu")
        # eight texts do not fill eight features: the map takes the last digits of states and makes them large
        np.testing.assert_allclose(theirs.encode(tiny.TEXTS), after, atol=1e-4)
        loaded = encoders.load(str(folder), device="cpu")
        np.testing.assert_allclose(loaded.embed(tiny.TEXTS), after, atol=1e-4)
    with pytest.raises(ValueError, match="erased 'nothing'"):
        tiny.paraphraser().erase(tiny.TEXTS, zero_one)
