"""ParaBART's parts, each against the paper's formula or a plain computation of it."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import tiny_disentangled as tiny
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import RobertaConfig, RobertaModel

from paraform.models.disentangled.config import DisentangledConfig
from paraform.models.disentangled.decoder_start import start_decoder
from paraform.models.disentangled.network import Adversary
from paraform.models.disentangled.pairs import pair_batches
from paraform.models.disentangled.step_decoder import StepDecoder

ROWS = np.arange(len(tiny.TEXTS))


@pytest.mark.parametrize("special", [True, False])
def test_the_vector_is_the_mean_of_the_states(special: bool) -> None:
    """Of all of a sentence's tokens or of its words alone; each sentence by itself, without padding."""
    config = replace(tiny.TINY, pool_special=special)
    model = tiny.paraphraser(config)
    every = tiny.table(config).sentences(ROWS)
    together_BD = model.network.encode(every.pieces_BT, every.lengths_B)
    for row, text in enumerate(tiny.TEXTS):
        ids = torch.tensor([model.tokenizer.encode(text).ids])
        states_TD = model.network.semantic(input_ids=ids).last_hidden_state[0]
        expected = states_TD.mean(0) if special else states_TD[1:-1].mean(0)
        torch.testing.assert_close(together_BD[row], expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("rows", [(ROWS, ROWS[::-1][:3], ROWS[:1]), (ROWS[:1],)], ids=["three sides", "one sentence"])
def test_sides_read_together_have_the_vectors_of_each_alone(rows: tuple[np.ndarray, ...]) -> None:
    model, table = tiny.paraphraser(), tiny.table()
    sides = [table.sentences(some) for some in rows]
    for found, side in zip(model.network.encode_together(sides), sides, strict=True):
        torch.testing.assert_close(found, model.network.encode(side.pieces_BT, side.lengths_B), atol=1e-5, rtol=1e-5)


def test_a_side_read_without_padding_has_the_same_pieces_dropped() -> None:
    model = tiny.paraphraser(replace(tiny.TINY, word_dropout=0.5))
    sentences = tiny.table().sentences(ROWS)
    model.network.train()
    for module in model.network.semantic.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    torch.manual_seed(4)
    (found,) = model.network.encode_together([sentences])
    torch.manual_seed(4)
    expected = model.network.encode(sentences.pieces_BT, sentences.lengths_B)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    model.network.eval()
    assert not torch.allclose(model.network.encode_together([sentences])[0], expected, atol=1e-3)


@pytest.mark.parametrize("special", [True, False])
def test_word_dropout_hides_tokens_from_attention_and_from_the_mean(special: bool) -> None:
    """The vector is that of the sentence without the dropped tokens, which keep the others' positions."""
    config = replace(tiny.TINY, word_dropout=0.5, drop_special=special)
    model = tiny.paraphraser(config)
    sentences = tiny.table(config).sentences(ROWS)
    model.network.train()
    for module in model.network.semantic.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    torch.manual_seed(4)
    found_BD = model.network.encode(sentences.pieces_BT, sentences.lengths_B)
    torch.manual_seed(4)
    dropped_BT = torch.rand(sentences.pieces_BT.shape) < 0.5
    kinds = set()
    for row in range(len(ROWS)):
        length = int(sentences.lengths_B[row])
        kept = [
            place for place in range(length) if not dropped_BT[row, place] or (not special and place in (0, length - 1))
        ] or list(range(length))
        kinds.add((0 in kept, length - 1 in kept))
        states = model.network.semantic(
            input_ids=sentences.pieces_BT[row : row + 1, kept], position_ids=torch.tensor([kept])
        ).last_hidden_state[0]
        torch.testing.assert_close(found_BD[row], states.mean(0), atol=1e-5, rtol=1e-5)
    assert (len(kinds) > 1) == special
    model.network.eval()
    torch.testing.assert_close(
        model.network.encode(sentences.pieces_BT, sentences.lengths_B),
        tiny.paraphraser().network.encode(sentences.pieces_BT, sentences.lengths_B),
    )


@pytest.mark.parametrize("syntax", [True, False])
def test_the_loss_is_the_mean_over_pieces_of_both_directions(syntax: bool) -> None:
    """Each sentence alone: −ln softmax of every piece and the end, given all before, ū, and the tree if any."""
    config = replace(tiny.TINY, syntax=syntax)
    model, table = tiny.paraphraser(config), tiny.table(config)
    batch = pair_batches(table, batch_size=4, seed=0)[0](0)
    network = model.network
    written = network(batch).written
    terms = []
    for first, second, trees in (
        (batch.source, batch.target, batch.target_tree),
        (batch.target, batch.source, batch.source_tree),
    ):
        each: list[Tensor] = []
        for row in range(4):
            one = slice(row, row + 1)
            cut = first.pieces_BT[one, : first.lengths_B[row]]
            vector = network.encode(cut, first.lengths_B[one])
            symbols = trees.symbols_BS[one, : trees.lengths_B[row]]
            read = network.memory(vector, trees._replace(symbols_BS=symbols, lengths_B=trees.lengths_B[one]))
            assert read[0].shape[1] == 1 + (int(trees.lengths_B[row]) if syntax else 0)
            pieces = second.pieces_BT[one, : second.lengths_B[row]]
            for place in range(1, pieces.shape[1]):
                state = network.states(pieces[:, :place], *read)[:, -1]
                each.append(-F.log_softmax(network.output(state), -1)[0, pieces[0, place]])
        terms.append((torch.stack(each).sum().item(), len(each)))
    assert [one.nll.item() for one in written] == pytest.approx([nll for nll, _ in terms], rel=1e-4)
    assert [one.pieces.item() for one in written] == [count for _, count in terms]
    network.config = replace(config, directions="one")
    assert [one.nll.item() for one in network(batch).written] == pytest.approx([terms[0][0]], rel=1e-4)


def test_a_step_at_a_time_the_decoder_says_the_same() -> None:
    model, table = tiny.paraphraser(), tiny.table()
    network = model.network
    sentences, trees = table.sentences(ROWS), table.trees(ROWS)
    vectors = network.encode(sentences.pieces_BT, sentences.lengths_B)
    states_BTD = network.states(sentences.pieces_BT, *network.memory(vectors, trees))
    never = torch.tensor([0, 1])
    decoder = StepDecoder(network, never)
    memory = decoder.begin(vectors, trees)
    order = torch.arange(len(ROWS))
    for place in range(sentences.pieces_BT.shape[1]):
        scores, memory = decoder.step(memory, sentences.pieces_BT[order, place])
        expected = network.output(states_BTD[order, place])
        expected[:, never] = float("-inf")
        torch.testing.assert_close(scores, F.log_softmax(expected, -1), atol=1e-4, rtol=1e-4)
        order = order.flip(0)  # rows are picked, in another order
        memory = memory.select(torch.arange(len(ROWS)).flip(0))


def test_pieces_that_cannot_be_written_are_the_first() -> None:
    model = tiny.paraphraser()
    model.network.written_V = torch.tensor([0, 2, 3, 7])
    assert model.network.columns(torch.tensor([[2, 3, 7], [4, 9, 0]])).tolist() == [[1, 2, 3], [0, 0, 0]]


def test_the_adversary_reads_normalised_vectors_and_frozen_takes_no_gradient() -> None:
    torch.manual_seed(0)
    adversary, vectors = Adversary(5, 3, norm=True), torch.randn(4, 5, requires_grad=True)
    spread = vectors.var(1, unbiased=False, keepdim=True) + 1e-5
    normal = (vectors - vectors.mean(1, keepdim=True)) / spread.sqrt()
    torch.testing.assert_close(adversary(vectors), normal @ adversary.linear.weight.T + adversary.linear.bias)
    plain = Adversary(5, 3, norm=False)
    torch.testing.assert_close(plain(vectors), F.linear(vectors, plain.linear.weight, plain.linear.bias))
    torch.testing.assert_close(adversary.frozen(vectors), adversary(vectors))
    adversary.frozen(vectors).sum().backward()
    assert vectors.grad is not None and adversary.linear.weight.grad is None and adversary.linear.bias.grad is None


def test_the_decoder_starts_as_the_encoder_s_first_layer() -> None:
    """Without cross-attention, one token alone is what BERT's embeddings and first layer make of it."""
    model = tiny.paraphraser()
    network, bert = model.network, model.network.semantic
    start_decoder(network, None)
    with torch.no_grad():
        network.decoder.multihead_attn.out_proj.weight.zero_()
        network.decoder.multihead_attn.out_proj.bias.zero_()
        network.decoder.norm2.weight.fill_(1)
        network.decoder.norm2.bias.zero_()
        network.decoder.norm1.weight.fill_(1)  # or norm2 would undo what it does
        network.decoder.norm1.bias.zero_()
        bert.encoder.layer[0].attention.output.LayerNorm.weight.fill_(1)
        bert.encoder.layer[0].attention.output.LayerNorm.bias.zero_()
        piece = torch.tensor([[5]])
        found = network.states(piece, torch.zeros(1, 1, tiny.WIDTH), torch.zeros(1, 1, dtype=torch.bool))
        expected = bert(input_ids=piece, output_hidden_states=True).hidden_states[1]
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)  # norm2 of what norm1 made: an ε


def test_the_positions_of_a_roberta_start_behind_those_of_no_text() -> None:
    sizes = {"hidden_size": tiny.WIDTH, "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2}
    roberta = RobertaModel(RobertaConfig(vocab_size=20, max_position_embeddings=18, pad_token_id=1, **sizes))
    network = tiny.paraphraser(module=roberta, fresh=True).network
    start_decoder(network, None)
    kind = roberta.embeddings.token_type_embeddings.weight[0]
    expected = roberta.embeddings.position_embeddings.weight[2:10] + kind
    torch.testing.assert_close(network.target_positions.weight, expected)


def test_a_decoder_that_is_no_bart_s_is_left_as_it_was_drawn() -> None:
    """mBART's layers have the same names and sizes."""
    bart = tiny.bart()
    bart.config.model_type = "mbart"
    network = tiny.paraphraser(module=bart.get_encoder(), fresh=True).network
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    start_decoder(network, bart.get_decoder())
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())


def test_the_decoder_starts_as_a_seq2seq_model_s_own_first_layer() -> None:
    """Its states are those of transformers' BART decoder cut to one layer, over the same memory."""
    bart = tiny.bart().eval()
    model = tiny.paraphraser(replace(tiny.TINY, syntax=False), bart.get_encoder())
    start_decoder(model.network, bart.get_decoder())
    decoder = bart.get_decoder()
    del decoder.layers[1:]
    pieces, memory = torch.tensor([[2, 5, 7, 3]]), torch.randn(1, 3, tiny.WIDTH)
    with torch.no_grad():
        expected = decoder(input_ids=pieces, encoder_hidden_states=memory).last_hidden_state
        found = model.network.states(pieces, memory, torch.zeros(1, 3, dtype=torch.bool))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_without_generation_there_is_no_decoder() -> None:
    config = replace(tiny.TINY, generation_weight=0.0, contrast_weight=1.0)
    model = tiny.paraphraser(config)
    assert not [name for name, _ in model.network.named_parameters() if not name.startswith("semantic.")]
    assert model.network(pair_batches(tiny.table(config), batch_size=4, seed=0)[0](0)).written == ()


def test_paper_reference_and_default_differ_in_named_fields_only() -> None:
    """REFERENCE.md, ParaBART, items 1 to 4 and 6."""
    own, paper, code = DisentangledConfig(), DisentangledConfig.paper(), DisentangledConfig.reference()
    names = [field.name for field in fields(own)]
    differ = {name for name in names if len({getattr(config, name) for config in (own, paper, code)}) > 1}
    assert differ == {
        "adversary_loss", "bag_of_tags", "directions", "adversary_start", "adversary_norm", "tie_output",
        "pool_special", "drop_special",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("batch_size", 1, "batch_size 1; expected 2 or more"),
        ("epochs", 0, "epochs 0; expected 1 or more"),
        ("word_dropout", math.nan, "word_dropout is nan; expected a finite number"),
        ("word_dropout", 1.0, "word_dropout 1.0; expected 0 to 0.99"),
        ("temperature", math.nan, "temperature is nan; expected a finite number"),
        ("adversary_weight", -0.1, "adversary_weight -0.1; expected 0 or more"),
        ("learning_rate", math.inf, "learning_rate is inf; expected a finite number"),
        ("contrast_weight", -1.0, "contrast_weight -1.0; expected 0 or more"),
        ("adversary_loss", "sigmod", "adversary_loss 'sigmod'; expected one of softmax, sigmoid"),
        ("generation_weight", 0.0, "generation_weight 0 and contrast_weight 0"),
        ("role_negatives", 1, "role_negatives with contrast_weight 0"),
    ],
)
def test_a_number_or_choice_that_is_none(field: str, value: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        replace(DisentangledConfig(), **{field: value})


@pytest.mark.parametrize("norm", [True, False])
def test_the_decoder_reads_meaning_as_large_as_form(norm: bool) -> None:
    model, table = tiny.paraphraser(replace(tiny.TINY, memory_norm=norm)), tiny.table()
    every = table.sentences(ROWS)
    vectors = model.network.encode(every.pieces_BT, every.lengths_B).detach()
    read_BMD, _ = model.network.memory(vectors, table.trees(ROWS))
    expected = (vectors - vectors.mean(1, keepdim=True)) / vectors.std(1, correction=0, keepdim=True)
    torch.testing.assert_close(read_BMD[:, 0], expected if norm else vectors, atol=1e-3, rtol=1e-3)
