"""The network under teacher forcing against its own decoding, word by word; masks; the choices of the config."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest
import torch

from paraform.models.exemplar.batches import StyleInput
from paraform.models.exemplar.config import ExemplarConfig
from paraform.models.exemplar.network import ExemplarNetwork


def config(tiny: ModuleType, name: str) -> ExemplarConfig:
    found: ExemplarConfig = tiny.CONFIGS[name]
    return found


def network(tiny: ModuleType, config: ExemplarConfig) -> ExemplarNetwork:
    made: ExemplarNetwork = tiny.paraphraser(config).network.eval()
    return made


ALL = ["copying", "coverage", "both", "states", "paper", "reference"]


@pytest.mark.parametrize("name", ALL)
def test_a_sentence_does_not_depend_on_its_neighbours(name: str, tiny: ModuleType) -> None:
    model = network(tiny, config(tiny, name))
    batch = tiny.whole_batch(model.config)
    assert len(set(batch.source_lengths_B.tolist())) > 4  # there is padding
    with torch.inference_mode():
        out = model(batch)
        for row, found in enumerate(torch.split(out.log_probs_N, out.lengths_B.tolist())):
            alone = model(tiny.one_row(batch, row))
            torch.testing.assert_close(alone.log_probs_N, found, atol=1e-5, rtol=1e-4)
            for one, all_rows in zip(alone[2:], out[2:], strict=True):
                torch.testing.assert_close(one[0], all_rows[row], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("mask_padding", [True, False])
def test_padding_is_attended_only_in_the_reference(mask_padding: bool, tiny: ModuleType) -> None:
    """Two more columns of padding change the likelihoods only where the config says so."""
    model = network(tiny, replace(config(tiny, "copying"), mask_padding=mask_padding))
    batch = tiny.whole_batch()
    wider = batch._replace(source_BT=torch.nn.functional.pad(batch.source_BT, (0, 2)))
    with torch.inference_mode():
        assert torch.allclose(model(batch).log_probs_N, model(wider).log_probs_N, atol=1e-5) == mask_padding
        mask = model.encode_content(wider.source_BT, wider.source_lengths_B).mask
    assert bool(mask.all()) != mask_padding
    if mask_padding:
        assert mask.sum(1).tolist() == batch.source_lengths_B.tolist()


def test_the_papers_decoder_begins_with_content_and_style(tiny: ModuleType) -> None:
    """h_0 = [c; s], no attention, s the first state of the style encoder (eqs. 1–3)."""
    model = network(tiny, config(tiny, "paper"))
    batch = tiny.whole_batch()
    with torch.inference_mode():
        content = model.encode_content(batch.source_BT, batch.source_lengths_B)
        style = model.encode_style(batch.exemplar)
        memory = model.start(content, style, batch.source_BT)
    assert torch.equal(style.vector, batch.exemplar.values[:, 0])
    assert torch.equal(memory.hidden, torch.cat([content.vector, style.vector], -1)[None])
    assert model.attend_content is None and model.gate is None and model.decoder.hidden_size == 2 * 6 + tiny.FEATURES


def test_vectors_are_final_states(tiny: ModuleType) -> None:
    """The content vector is the forward GRU's state after the last word and the backward one's after the first."""
    model = network(tiny, config(tiny, "copying"))
    batch = tiny.one_row(tiny.whole_batch(), 3)
    with torch.inference_mode():
        content = model.encode_content(batch.source_BT, batch.source_lengths_B)
        style = model.encode_style(batch.exemplar)
    for states, _, vector in (content, style):
        half = states.shape[-1] // 2
        torch.testing.assert_close(vector[0], torch.cat([states[0, -1, :half], states[0, 0, half:]]))


@pytest.mark.parametrize("name", ["copying", "states"])
def test_contrasts_that_are_left_out_are_not_computed(name: str, tiny: ModuleType) -> None:
    batch = tiny.whole_batch(config(tiny, name))
    full = network(tiny, config(tiny, name))(batch)
    for content in (False, True):
        for style in (False, True):
            out = network(tiny, config(tiny, name).without(content=content, style=style))(batch)
            assert (out.target_content is None, out.target_style is None) == (content, style)
            torch.testing.assert_close(out.log_probs_N, full.log_probs_N)


@pytest.mark.parametrize("layer", [-1, 1])
def test_a_style_encoder_that_is_fine_tuned(layer: int, tiny: ModuleType) -> None:
    """[CLS] of a random BERT; its padding is masked, or attended as in the reference; gradients reach it."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    bert = BertModel(
        BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8)
    ).eval()
    for parameter in bert.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    ids_BT, lengths_B = torch.tensor([[2, 5, 6, 7, 3], [2, 9, 3, 0, 0]]), torch.tensor([5, 3])
    for mask_padding in (True, False):
        trained = replace(config(tiny, "paper"), style_trainable=True, style_layer=layer, mask_padding=mask_padding)
        model = ExemplarNetwork(trained, 20, 8, bert)
        style = model.encode_style(StyleInput(ids_BT, lengths_B))
        expected = bert(ids_BT[1:, : 3 if mask_padding else 5], output_hidden_states=True).hidden_states[layer][0, 0]
        torch.testing.assert_close(style.vector[1], expected)
        assert style.mask.sum(1).tolist() == ([5, 3] if mask_padding else [5, 5])
    style.vector.sum().backward()
    gradient = bert.encoder.layer[0].output.dense.weight.grad
    assert gradient is not None and gradient.abs().sum() > 0


@pytest.mark.parametrize("name", ["states", "both"])
def test_frozen_states_give_the_vectors(name: str, tiny: ModuleType) -> None:
    """As they come, c and s are linear maps of their means; beside embeddings, they change what the BiGRU reads."""
    model = network(tiny, config(tiny, name))
    batch = tiny.one_row(tiny.whole_batch(model.config), 3)
    assert batch.source_states is not None
    with torch.inference_mode():
        content = model.encode_content(batch.source_BT, batch.source_lengths_B, batch.source_states)
        style = model.encode_style(batch.exemplar)
        other = model.encode_content(batch.source_BT, batch.source_lengths_B, batch.source_states + 1)
    if name == "both":
        assert not torch.allclose(content.vector, other.vector)
        return
    assert torch.equal(content.states, batch.source_states) and torch.equal(style.states, batch.exemplar.values)
    for map_of, states, vector in (
        (model.content_map, batch.source_states, content.vector),
        (model.style_map, batch.exemplar.values, style.vector),
    ):
        assert map_of is not None
        torch.testing.assert_close(vector, states.mean(1) @ map_of.weight.T + map_of.bias)
    with pytest.raises(ValueError, match="no states_BSF with content_input='states'; expected what"):
        model.encode_content(batch.source_BT, batch.source_lengths_B)


@pytest.mark.parametrize("name", ["copying", "coverage", "both", "states"])
def test_gradients_are_finite_whatever_can_be_copied(name: str, tiny: ModuleType) -> None:
    model = network(tiny, config(tiny, name)).train()
    batch = tiny.whole_batch(model.config)
    (-model(batch).log_probs_N).mean().backward()
    named = dict(model.named_parameters())
    assert [name for name, parameter in named.items() if parameter.grad is None] == []
    assert all(torch.isfinite(parameter.grad).all() for parameter in named.values() if parameter.grad is not None)
