"""M before and after the encoder, words from their pieces, and the closed form, each against plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tiny_retrofit as tiny
import torch
from torch import Tensor, nn

from paraform.models.retrofit import RetrofitConfig, RetrofittedEncoder
from paraform.models.retrofit.network import Transform
from paraform.models.retrofit.whitening import within_word_whitening

PLACES = {
    "before": tiny.TINY,
    "after": replace(tiny.TINY, place="after", orthogonality="free"),
    "after all layers": replace(tiny.TINY, place="after", states="all", orthogonality="free"),
    "after all layers, exact": replace(tiny.TINY, place="after", states="all", orthogonality="exact"),
    "all layers": replace(tiny.TINY, states="all"),
    "trained mix": replace(tiny.TINY, states="all", train_mix=True, push="further"),
    "exact": replace(tiny.TINY, orthogonality="exact"),
}


def word_by_loop(model: RetrofittedEncoder, row: int) -> Tensor:
    """A word's vector from its sentence alone, unpadded, with M put there by a hook on the table."""
    table, network, m = tiny.table(), model.network, model.matrix
    sentence = int(table.sentence_R[row])
    own = table.pieces.values[table.pieces.offsets[sentence] : table.pieces.offsets[sentence + 1]]
    ids = torch.tensor([own.tolist()])
    module = tiny.bert()
    if model.config.place == "before":
        module.get_input_embeddings().register_forward_hook(lambda part, given, out: out @ m.T)  # type: ignore[operator]
    with torch.no_grad():
        out = module(input_ids=ids, output_hidden_states=True)
    states = out.last_hidden_state[0]
    if model.config.states == "all":
        weights = torch.full((3,), 1 / 3)
        if model.config.train_mix:
            weights = network.mix_L.detach().exp() / network.mix_L.detach().exp().sum() * network.mix_scale.detach()
        states = sum(weight * layer[0] for weight, layer in zip(weights, out.hidden_states, strict=True))
    start = int(table.start_R[row])
    pieces = [states[at] for at in range(start, start + int(table.count_R[row]))]
    mean = torch.stack(pieces).mean(0)
    return m @ mean if model.config.place == "after" else mean


@pytest.mark.parametrize("place", PLACES)
def test_vectors_and_distances_by_a_loop(place: str) -> None:
    model = tiny.retrofitted(PLACES[place])
    table = model.network.known(tiny.table())
    every = np.arange(len(table.source_W))
    kept_W, other_W = table.negatives(every, "substitute", np.random.default_rng(0))
    with torch.no_grad():
        near, far = model.network(table.batch(every, kept_W, other_W))
    for found, firsts, seconds in ((near, table.source_W, table.target_W), (far, kept_W, other_W)):
        for value, first, second in zip(found.tolist(), firsts.tolist(), seconds.tolist(), strict=True):
            apart = word_by_loop(model, first) - word_by_loop(model, second)
            assert value == pytest.approx(float(apart.square().sum().sqrt()), abs=1e-5)


def test_an_orthogonal_m_after_the_encoder_changes_no_distance_and_before_it_does() -> None:
    """Why M stands where the paper has it."""
    plain = tiny.table()
    every = np.arange(len(plain.source_W))
    negatives = plain.negatives(every, "substitute", np.random.default_rng(0))
    found = {}
    for place in ("before", "after"):
        config = replace(tiny.TINY, place=place, orthogonality="exact")
        for shaken in (0.0, 0.5):
            network = tiny.retrofitted(config, shaken=shaken).network
            with torch.no_grad():
                found[place, shaken] = torch.cat(network(network.known(plain).batch(every, *negatives)))
    torch.testing.assert_close(found["after", 0.5], found["after", 0.0], atol=1e-5, rtol=1e-5)
    assert (found["before", 0.5] - found["before", 0.0]).abs().max() > 0.05


def test_exactly_orthogonal_as_torch_parametrizes_it() -> None:
    """`torch.nn.utils.parametrizations.orthogonal` at the same skew-symmetric matrix."""
    made = Transform(5, exact=True)
    torch.manual_seed(0)
    with torch.no_grad():
        made.skew.copy_(torch.randn(5, 5))
    m = made().detach()
    torch.testing.assert_close(m.T @ m, torch.eye(5), atol=1e-5, rtol=0)
    peer = nn.Linear(5, 5, bias=False)
    torch.nn.utils.parametrizations.orthogonal(peer, orthogonal_map="matrix_exp", use_trivialization=False)
    skew = (made.skew - made.skew.T).detach()
    with torch.no_grad():
        peer.parametrizations.weight.original.copy_(skew.tril())  # type: ignore[union-attr, operator]
    torch.testing.assert_close(peer.weight.detach(), m, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("place", PLACES)
def test_at_the_start_m_is_the_identity(place: str) -> None:
    config = PLACES[place]
    own = tiny.frozen()
    made = RetrofittedEncoder(config, tiny.facts_of(own, config), own)
    assert torch.equal(made.matrix, torch.eye(tiny.WIDTH))
    assert {name.split(".")[0] for name in made.state_dict()} == {"network"}
    count = sum(weight.numel() for weight in made.parameters())
    extra = 4 if config.train_mix else 0
    assert count == tiny.WIDTH**2 + extra  # none of the encoder's


def test_the_whitening_makes_scatter_alike_and_keeps_its_size() -> None:
    torch.manual_seed(0)
    apart = torch.randn(4000, 5, dtype=torch.float64) @ torch.randn(5, 5, dtype=torch.float64)
    scatter = apart.T @ apart / len(apart)
    m = within_word_whitening(scatter, shrinkage=0.0).double()
    found = m @ scatter @ m.T
    size = float(scatter.trace()) / 5
    torch.testing.assert_close(found, size * torch.eye(5, dtype=torch.float64), atol=1e-4 * size, rtol=1e-4)
    torch.testing.assert_close(m, m.T)
    whole = within_word_whitening(scatter, shrinkage=1.0)
    torch.testing.assert_close(whole, torch.eye(5), atol=1e-5, rtol=0)  # nothing is known of directions
    some = within_word_whitening(scatter, shrinkage=0.3).double()
    assert float((apart @ some.T).square().sum(1).mean()) == pytest.approx(5 * size, rel=1e-5)


def test_a_scatter_that_cannot_be_whitened() -> None:
    with pytest.raises(ValueError, match="a scatter of 0"):
        within_word_whitening(torch.zeros(3, 3), shrinkage=0.5)
    with pytest.raises(ValueError, match="expected shrinkage above 0"):
        within_word_whitening(torch.diag(torch.tensor([1.0, 1.0, 0.0])), shrinkage=0.0)


def test_the_encoder_stays_in_evaluation_mode_and_gets_no_gradient() -> None:
    model = tiny.retrofitted()
    model.train()
    frozen = model.frozen
    assert frozen is not None and not any(part.training for part in frozen.module.modules())
    table = tiny.table()
    every = np.arange(len(table.source_W))
    near, far = model.network(table.batch(every, *table.negatives(every, "batch", np.random.default_rng(0))))
    (near.sum() - far.sum()).backward()
    assert all(weight.grad is None for weight in frozen.module.parameters())
    gradient = model.network.transform.weight.grad
    assert gradient is not None and float(gradient.abs().sum()) > 0


def test_the_gradient_of_m_by_differences() -> None:
    model, table = tiny.retrofitted(RetrofitConfig(**tiny.COMMON)), tiny.table()
    every = np.arange(len(table.source_W))
    batch = table.batch(every, *table.negatives(every, "substitute", np.random.default_rng(0)))
    weight = model.network.transform.weight
    sum(part.sum() * sign for part, sign in zip(model.network(batch), (1, -0.5), strict=True)).backward()
    for row, column in ((0, 0), (3, 5), (7, 2)):
        values = []
        for step in (1e-2, -1e-2):
            with torch.no_grad():
                weight[row, column] += step
                near, far = model.network(batch)
                values.append(float(near.double().sum() - 0.5 * far.double().sum()))
                weight[row, column] -= step
        assert weight.grad is not None
        assert float(weight.grad[row, column]) == pytest.approx((values[0] - values[1]) / 2e-2, rel=0.02, abs=5e-3)
