"""sp-average: vectors by hand, hardest negatives by a loop, the margin loss by brute force, ten pairs come back."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_averaged as tiny
import torch
from numpy.typing import NDArray

import paraform
from paraform import checkpoint
from paraform.records import InputError
from paraform.training import TrainingConfig, make_accelerator
from paraform_papers.rivals.averaged import AveragedConfig, AveragedEncoder
from paraform_papers.rivals.averaged.batches import MegaBatch, megabatch_sizes, megabatches
from paraform_papers.rivals.averaged.negatives import hardest_negatives

TEXTS = [text for sides in tiny.SIDES for text in sides]


def vectors_by_hand(model: AveragedEncoder, texts: list[str]) -> NDArray[np.float64]:
    weight = model.network.weight.detach().double().numpy()
    return np.stack([np.mean([weight[piece] for piece in model.tokenizer.encode(text).ids], axis=0) for text in texts])


def test_a_vector_is_the_mean_of_its_subwords_whatever_else_is_in_the_batch() -> None:
    model = tiny.encoder()
    expected = vectors_by_hand(model, TEXTS)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = model.embed(TEXTS)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    for size in (1, 3):
        assert np.array_equal(model.embed(TEXTS, batch_size=size), found)
    assert np.array_equal(model.embed(TEXTS[::-1])[::-1], found)
    assert np.array_equal(model.embed(["", "  "]), np.zeros((2, 8), np.float32)) and model.embed([]).shape == (0, 8)


def test_case_accents_and_white_space_change_nothing_and_the_same_texts_give_the_same_subwords() -> None:
    model = tiny.encoder()
    one, *others = model.embed(["the dog runs home", " The  DOG\truns home ", "thé dog runs\nhome"])
    assert all(np.array_equal(one, other) for other in others)
    assert model.assets() == tiny.encoder().assets()


@pytest.mark.parametrize("alike", [1, 3])
def test_hardest_negatives_by_a_loop(alike: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters of `alike` pairs: none of them is a negative of another; parts of four rows, and without any other."""
    monkeypatch.setattr("paraform_papers.rivals.averaged.negatives.AT_ONCE", 4)
    draw = np.random.default_rng(0)
    anchors, others = draw.standard_normal((2, 11, 5))
    clusters = np.arange(11) // alike
    expected = []
    for row in range(11):
        best, found = -2.0, -1
        for at in range(11):
            if clusters[at] != clusters[row] and (value := tiny.cosine(anchors[row], others[at])) > best:
                best, found = value, at
        expected.append(found)
    found_M = hardest_negatives(torch.from_numpy(anchors), torch.from_numpy(others), torch.from_numpy(clusters))
    assert found_M.tolist() == expected
    alone = hardest_negatives(torch.from_numpy(anchors), torch.from_numpy(others), torch.zeros(11, dtype=torch.long))
    assert alone.tolist() == [-1] * 11


def brute_loss(vectors: NDArray[np.float64], clusters: list[int], margin: float) -> float:
    """[γ − cos(s, t) + max cos(s, t')]₊ + [γ − cos(s, t) + max cos(t, s')]₊, a mean over pairs; sources first."""
    source, target = np.split(vectors, 2)
    total = 0.0
    for row, own in enumerate(clusters):
        others = [at for at, other in enumerate(clusters) if other != own]
        together = tiny.cosine(source[row], target[row])
        for anchor, side in ((source[row], target), (target[row], source)):
            if others:
                total += max(0.0, margin - together + max(tiny.cosine(anchor, side[at]) for at in others))
    return total / len(clusters)


@pytest.mark.parametrize("clusters", [[0, 1, 2, 3], [0, 0, 1, 1], [5, 5, 5, 5]])
def test_the_loss_by_brute_force(clusters: list[int]) -> None:
    """Of a mega-batch of one batch: negatives are by the vectors that the loss is of. Then weights have moved."""
    pairs = [replace(pair, cluster=own) for pair, own in zip(tiny.PAIRS, clusters, strict=False)]
    config = replace(tiny.TINY, megabatch=1)
    model, update, _ = tiny.begin(config, make_accelerator(TrainingConfig(device="cpu")))
    batches, _ = megabatches(tiny.table(model, pairs), batch_size=4, epochs=1, most=1, growth=1, seed=0)
    batch = batches(0)
    ends = batch.sentences.offsets_R.tolist()
    weight = model.network.weight.detach().double().numpy()
    pieces = batch.sentences.pieces_N.tolist()
    vectors = np.stack([weight[pieces[start:end]].mean(0) for start, end in itertools.pairwise(ends)])
    before = model.network.weight.detach().clone()
    terms = update(batch, 0)
    assert terms["loss"] == pytest.approx(brute_loss(vectors, batch.clusters_M.tolist(), 0.4), rel=1e-5)
    assert torch.equal(before, model.network.weight) == (clusters == [5] * 4)


def test_a_megabatch_seeks_once_and_then_steps_through_its_batches() -> None:
    """Negatives of the second batch are by the vectors at the beginning; one Adam step a batch."""
    config = replace(tiny.TINY, learning_rate=0.1)
    model, update, batches = tiny.begin(config, make_accelerator(TrainingConfig(device="cpu")))
    batch = next(batches(step) for step in range(4) if len(batches(step).clusters_M) == 8)
    source, target = model.network(batch.sentences).detach().chunk(2)
    rows = hardest_negatives(source, target, batch.clusters_M), hardest_negatives(target, source, batch.clusters_M)
    other = tiny.encoder(config)
    adam = torch.optim.Adam(other.parameters(), lr=0.1)
    losses = []
    for part in (slice(0, 4), slice(4, 8)):
        source, target = other.network(batch.sentences).chunk(2)
        cosine = torch.nn.functional.cosine_similarity
        together = cosine(source[part], target[part])
        apart = cosine(source[part], target[rows[0][part]]), cosine(target[part], source[rows[1][part]])
        loss = sum(((0.4 - together + far).relu() for far in apart), torch.zeros(())).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert update(batch, 0)["loss"] == pytest.approx(sum(losses) / 2, rel=1e-5)
    torch.testing.assert_close(model.network.weight, other.network.weight)


def test_the_megabatch_grows_and_every_pair_of_an_epoch_comes_once() -> None:
    assert megabatch_sizes(10, most=3, growth=2) == [1, 1, 2, 2, 3, 1]
    assert megabatch_sizes(5, most=2, growth=1) == [1, 2, 2] and sum(megabatch_sizes(999, most=7, growth=3)) == 999
    model = tiny.encoder()
    given: dict[str, Any] = {"batch_size": 2, "epochs": 3, "most": 4, "growth": 1}
    batches, count = megabatches(tiny.table(model), seed=0, **given)
    found = [batches(step) for step in range(count)]
    assert [len(one.clusters_M) // 2 for one in found] == [1, 2, 3, 4, 4, 1]
    clusters = torch.cat([one.clusters_M for one in found]).tolist()
    assert all(sorted(clusters[at : at + 10]) == list(range(10)) for at in (0, 10, 20))
    assert clusters[:10] != clusters[10:20]
    again, _ = megabatches(tiny.table(model), seed=0, **given)
    other, _ = megabatches(tiny.table(model), seed=1, **given)
    assert torch.equal(again(4).clusters_M, found[4].clusters_M)
    assert not torch.equal(other(4).clusters_M, found[4].clusters_M)


def test_sentences_are_picked_by_a_loop() -> None:
    bags = tiny.begin(tiny.TINY, make_accelerator(TrainingConfig(device="cpu")))[2](1).sentences
    ends = bags.offsets_R.tolist()
    rows = [5, 0, 5, 7]
    picked = bags.picked(torch.tensor(rows))
    expected = [bags.pieces_N[ends[row] : ends[row + 1]].tolist() for row in rows]
    assert [picked.pieces_N[a:b].tolist() for a, b in itertools.pairwise(picked.offsets_R.tolist())] == expected


def test_ten_pairs_come_back() -> None:
    config = replace(tiny.TINY, width=32, batch_size=5, epochs=60, learning_rate=0.02)
    model, update, batches = tiny.begin(config, make_accelerator(TrainingConfig(device="cpu")))
    first = last = 0.0
    for step in range(61):
        last = update(batches(step), step)["loss"]
        first = first or last
    assert last == 0.0 < first
    source, target = (model.embed([sides[side] for sides in tiny.SIDES]) for side in (0, 1))
    assert (source @ target.T).argmax(1).tolist() == list(range(10))


def test_it_is_saved_loaded_and_drawn_anew(tmp_path: Path) -> None:
    model = tiny.encoder()
    checkpoint.save(model, tmp_path / "model")
    found = paraform.load(tmp_path / "model", device="cpu")
    assert isinstance(found, AveragedEncoder) and np.array_equal(found.embed(TEXTS), model.embed(TEXTS))
    random = paraform.load(f"{tmp_path / 'model'}@weights=random,seed=1", device="cpu")
    assert not np.allclose(random.embed(TEXTS), model.embed(TEXTS))
    own, assets = asdict(tiny.TINY), model.assets()
    for config, beside, said in (
        (own | {"more": 1}, assets, "unknown fields"),
        (own, {}, "unknown fields"),
        (own, {"tokenizer.json": "{}"}, "expected a tokenizer's JSON"),
    ):
        with pytest.raises(InputError, match=said):
            AveragedEncoder.restore(config, beside)


def test_where_the_default_is_smaller_than_the_authors_code() -> None:
    both = [asdict(one) for one in (AveragedConfig.reference(), AveragedConfig())]
    found = {name: (both[0][name], both[1][name]) for name in both[0] if both[0][name] != both[1][name]}
    assert found == {
        "width": (1024, 300),
        "megabatch": (100, 60),
        "epochs": (25, 10),
    }


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(AveragedConfig)])
@pytest.mark.parametrize("value", ["nothing of the kind", [], -(10**30), 10**30, float("nan"), -1])
def test_what_a_field_cannot_be(field: str, value: Any) -> None:
    with pytest.raises(InputError, match=field):
        AveragedConfig(**{field: value})


def test_a_batch_goes_where_it_is_sent() -> None:
    batch = MegaBatch(
        tiny.begin(tiny.TINY, make_accelerator(TrainingConfig(device="cpu")))[2](0).sentences, torch.zeros(4), 4
    )
    assert all(part.device.type == "meta" for part in (batch.to(torch.device("meta")).sentences.pieces_N,))
