"""InferSent: states and their maximum by a loop, padding, the head by hand, the falling rate, published weights."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_infersent as tiny
import torch
from numpy.typing import NDArray
from torch import Tensor

import paraform
from paraform import checkpoint
from paraform.records import InputError
from paraform.training import TrainingConfig, make_accelerator
from paraform.weights import save_tensors
from paraform_papers.rivals.infersent import InferSent, InferSentConfig, make_update
from paraform_papers.rivals.infersent.words import WordSource

TEXTS = [text for one in tiny.PAIRS for text in one[:2]]


def lstm_by_hand(inputs_TD: NDArray[np.float64], weights: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """States [T, H] of one direction, gates in torch's order: input, forget, cell, output."""
    hidden = cell = np.zeros(weights["weight_hh"].shape[1])
    states = []
    for row in inputs_TD:
        gates = weights["weight_ih"] @ row + weights["bias_ih"] + weights["weight_hh"] @ hidden + weights["bias_hh"]
        into, forget, new, out = np.split(gates, 4)
        cell = cell / (1 + np.exp(-forget)) + np.tanh(new) / (1 + np.exp(-into))
        hidden = np.tanh(cell) / (1 + np.exp(-out))
        states.append(hidden)
    return np.array(states)


def by_hand(model: InferSent, text: str, *, zeros: bool = False) -> NDArray[np.float64]:
    """The maximum over a sentence's states both ways, and over a row of zeros if it was padded."""
    vectors = WordSource(tiny.FILE).vectors(text.split())
    inputs = np.array([vectors[word] for word in text.split() if word in vectors], np.float64)
    found = {name: tensor.double().numpy() for name, tensor in model.network.enc_lstm.state_dict().items()}
    sides = []
    for ending, rows in (("_l0", inputs), ("_l0_reverse", inputs[::-1])):
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        states = lstm_by_hand(rows, {name: found[name + ending] for name in kinds})
        best = np.full(states.shape[1], 0.0 if zeros else -np.inf)
        for state in states:
            best = np.maximum(best, state)
        sides.append(best)
    return np.concatenate(sides)


def test_a_vector_by_hand_whatever_else_is_in_the_batch() -> None:
    model = tiny.infersent()
    expected = np.stack([by_hand(model, text) for text in TEXTS])
    np.testing.assert_allclose(model.embed(TEXTS), expected, atol=1e-6)
    for size in (1, 3):
        np.testing.assert_allclose(model.embed(TEXTS, batch_size=size), expected, atol=1e-6)
    nothing = model.embed(["", "brown loudly", "xyzzy"])
    assert np.array_equal(nothing, np.zeros((3, 12), np.float32)) and model.embed([]).shape == (0, 12)
    one, other = model.embed(["the brown dog runs loudly", "the dog runs"])  # what has no vector is left out
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_version_1_pools_padding_so_that_vectors_depend_on_the_batch() -> None:
    model = tiny.infersent(replace(tiny.TINY, pool_padding=True))
    short, long = "it rains", "a girl reads a book"
    alone, beside = model.embed([short])[0], model.embed([short, long])[0]
    np.testing.assert_allclose(alone, by_hand(model, short), atol=1e-6)
    np.testing.assert_allclose(beside, by_hand(model, short, zeros=True), atol=1e-6)
    assert not np.allclose(alone, beside) and (beside >= 0).all()


def test_the_padding_s_width_reaches_no_state() -> None:
    """Training's tables pad, too: the first sentence of a batch is the one by hand."""
    model = tiny.infersent()
    batch = model.table(tiny.PAIRS).batch(np.arange(10))
    assert int(batch.source.lengths_B.min()) < batch.source.vectors_BTD.shape[1]
    for words, side in ((batch.source, 0), (batch.target, 1)):
        expected = np.stack([by_hand(model, one[side]) for one in tiny.PAIRS])
        np.testing.assert_allclose(model.network.encode(words).detach().numpy(), expected, atol=1e-6)


def test_the_head_by_hand() -> None:
    """Three linear layers of [u; v; |u − v|; u ∗ v], nothing between them."""
    model = tiny.infersent()
    batch = model.table(tiny.PAIRS).batch(np.arange(10))
    u, v = (torch.from_numpy(model.embed([one[side] for one in tiny.PAIRS])) for side in (0, 1))
    value = torch.cat([u, v, (u - v).abs(), u * v], 1)
    head = model.network.classifier
    assert head is not None
    assert [tuple(layer.weight.shape) for layer in head.children()] == [(7, 48), (7, 7), (3, 7)]
    for layer in head.children():
        value = layer(value)
    torch.testing.assert_close(model.network(batch), value, atol=1e-5, rtol=1e-4)
    assert batch.labels_B.tolist() == [one[2] for one in tiny.PAIRS]


def test_marks_stand_around_a_sentence_if_they_have_a_vector(tmp_path: Path) -> None:
    with_marks = tiny.write_vectors(tmp_path / "marks.txt", ["<s>", "</s>"])
    config = replace(tiny.TINY, marks="<s>")
    assert tiny.infersent(config).words(["it rains"])["it rains"] == ["<s>", "it", "rains", "</s>"]
    plain, marked = tiny.infersent(), tiny.infersent(replace(config, word_vectors=with_marks))
    np.testing.assert_allclose(tiny.infersent(config).embed(TEXTS), plain.embed(TEXTS), atol=1e-6)
    assert not np.allclose(marked.embed(TEXTS), plain.embed(TEXTS), atol=1e-3)
    assert marked.embed([""]).any()


def test_the_rate_falls_after_an_epoch_and_after_a_validation_without_a_new_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paraform_papers.rivals.infersent.update.LEAST_RATE", 0.01)
    config, model = tiny.TINY, tiny.infersent()
    batches, steps = model.table(tiny.PAIRS).batches(batch_size=4, seed=0)
    update, state = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=steps)
    assert steps == 2
    rates = [update(batches(step), step)["rate"] for step in range(4)]
    assert rates == pytest.approx([0.1, 0.1, 0.099, 0.099])
    for accuracy in (0.5, 0.5, 0.7, 0.6):
        state.on_validation({"accuracy": accuracy})
    assert float(model.best) == pytest.approx(0.7)
    before = model.network.enc_lstm.weight_ih_l0.detach().clone()
    assert update(batches(5), 5)["rate"] == pytest.approx(0.099 / 25)  # below the least: nothing is learned
    assert torch.equal(before, model.network.enc_lstm.weight_ih_l0)


def test_a_long_gradient_is_clipped_by_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """SGD with a gradient scaled to the largest norm is SGD with the rate scaled, as the authors' code does it."""
    monkeypatch.setattr("paraform_papers.rivals.infersent.update.CLIP_NORM", 0.01)
    model, update, batches = tiny.begin(tiny.TINY, make_accelerator(TrainingConfig(device="cpu")))
    start = {name: tensor.detach().clone() for name, tensor in model.network.named_parameters()}
    other = tiny.infersent()
    loss = torch.nn.functional.cross_entropy(other.network(batches(0)), batches(0).labels_B)
    loss.backward()
    found: dict[str, Tensor] = {
        name: tensor.grad for name, tensor in other.network.named_parameters() if tensor.grad is not None
    }
    norm = float(torch.stack([tensor.norm() for tensor in found.values()]).norm())
    terms = update(batches(0), 0)
    assert (terms["loss"], terms["gradient_norm"]) == pytest.approx((loss.item(), norm), rel=1e-5)
    rate = 0.1 * 0.01 / norm
    for name, tensor in model.network.named_parameters():
        torch.testing.assert_close(tensor, start[name] - rate * found[name], atol=1e-7, rtol=1e-3)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_ten_pairs_come_back(optimiser: Any) -> None:
    rate = {"sgd": 0.5, "adam": 0.02}[optimiser]
    config = replace(tiny.TINY, hidden_width=16, classifier_width=16, optimiser=optimiser, learning_rate=rate)
    model = tiny.infersent(config)
    table = model.table(tiny.PAIRS)
    update, _ = make_update(model, config, make_accelerator(TrainingConfig(device="cpu")), steps_per_epoch=10**6)
    for step in range(300):
        update(table.batch(np.arange(10)), step)
    assert model.network(table.batch(np.arange(10))).argmax(1).tolist() == [one[2] for one in tiny.PAIRS]


def test_it_is_saved_and_loaded_by_the_vectors_that_it_names(tmp_path: Path) -> None:
    vectors = tiny.write_vectors(tmp_path / "own.txt")
    model = tiny.infersent(replace(tiny.TINY, word_vectors=vectors))
    checkpoint.save(model, tmp_path / "model")
    found = paraform.load(tmp_path / "model", device="cpu")
    assert isinstance(found, InferSent) and np.array_equal(found.embed(TEXTS), model.embed(TEXTS))
    random = paraform.load(f"{tmp_path / 'model'}@weights=random,seed=1", device="cpu")
    assert not np.allclose(random.embed(TEXTS), model.embed(TEXTS))
    tiny.write_vectors(tmp_path / "own.txt", ["another"])
    with pytest.raises(InputError, match="is not the one that this InferSent was trained with: SHA-256 of the weights"):
        paraform.load(tmp_path / "model", device="cpu")
    (tmp_path / "own.txt").unlink()
    with pytest.raises(InputError, match="its words have the vectors of"):
        paraform.load(tmp_path / "model", device="cpu")
    with pytest.raises(InputError, match="unknown fields"):
        InferSent.restore(asdict(tiny.TINY), {})


def test_words_may_have_an_encoder_s_vectors(minilm: Any) -> None:
    source = WordSource("minilm", 5.0)
    found = source.vectors(["dog", "dog", "Zürich"])
    np.testing.assert_allclose(np.stack(list(found.values())), 5 * minilm.encode(["dog", "Zürich"]), atol=1e-5)
    assert source.facts.width == 384
    with pytest.raises(InputError, match=r"nowhere|no encoder"):
        WordSource("nowhere/at/all")


def test_published_weights(tmp_path: Path) -> None:
    """As the authors' state dict names them; they have no head."""
    lstm = torch.nn.LSTM(tiny.WIDTH, 4, 1, bidirectional=True)
    given = {f"enc_lstm.{name}": tensor.detach().clone() for name, tensor in lstm.state_dict().items()}
    path = tmp_path / "infersent1.safetensors"
    save_tensors(given, path)
    for version, bug, marks in ((1, True, "<s>"), (2, False, "<p>")):
        model = InferSent.published(path, tiny.FILE, version=version)
        assert (model.config.pool_padding, model.config.marks, model.config.hidden_width) == (bug, marks, 4)
        np.testing.assert_allclose(model.embed(["it rains"])[0], by_hand(model, "it rains"), atol=1e-6)
    checkpoint.save(model, tmp_path / "model")
    again = paraform.load(tmp_path / "model", device="cpu")
    assert np.array_equal(again.embed(TEXTS), model.embed(TEXTS))
    with pytest.raises(ValueError, match="expected a network with a head"):
        again.network(model)

    def refused(tensors: dict[str, Tensor], said: str) -> None:
        save_tensors(tensors, path)
        with pytest.raises(InputError, match=said):
            InferSent.published(path, tiny.FILE)

    refused({"weight": torch.ones(2)}, "no 'enc_lstm.weight_hh_l0'")
    refused(given | {"more": torch.ones(2)}, r"'more' is \[2\]; expected none of that name")
    refused({name: tensor for name, tensor in given.items() if name != "enc_lstm.bias_hh_l0"}, "is missing")
    refused(given | {"enc_lstm.weight_hh_l0": torch.ones(3, 4)}, r"expected InferSent's weights: \[4 h, h\]")
    refused(
        given | {"enc_lstm.weight_ih_l0": torch.ones(16, 9)}, r"\[16, 9\]; expected \[16, 5\], by words of 5 numbers"
    )
    refused(given | {"enc_lstm.bias_hh_l0": torch.full((16,), torch.nan)}, "NaN")
    for wrong, said in (("infersent1.pkl", "weights_only=True"), ("nowhere.safetensors", "nowhere")):
        with pytest.raises(InputError, match=said):
            InferSent.published(tmp_path / wrong, tiny.FILE)
    with pytest.raises(InputError, match="version 3; expected 1 or 2"):
        InferSent.published(path, tiny.FILE, version=3)


def test_where_the_versions_and_the_default_disagree() -> None:
    three = [asdict(one) for one in (InferSentConfig.first(), InferSentConfig.second(), InferSentConfig())]
    found = {name: tuple(one[name] for one in three) for name in three[0]}
    assert {name: values for name, values in found.items() if len(set(values)) > 1} == {
        "pool_padding": (True, False, False),
        "marks": ("<s>", "<p>", "none"),
        "word_vectors": ("glove.840B.300d.txt", "crawl-300d-2M.vec", "minilm"),
        "word_scale": (1.0, 1.0, 5.0),
        "hidden_width": (2048, 2048, 512),
        "optimiser": ("sgd", "sgd", "adam"),
        "learning_rate": (0.1, 0.1, 0.001),
    }


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(InferSentConfig)])
@pytest.mark.parametrize("value", ["nothing of the kind", [], -(10**30), 10**30, float("nan"), -1])
def test_what_a_field_cannot_be(field: str, value: Any) -> None:
    if field != "word_vectors" or not isinstance(value, str):
        with pytest.raises(InputError, match=field):
            InferSentConfig(**{field: value})
