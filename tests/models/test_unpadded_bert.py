"""BERT in training without padding against transformers' own pass over padded sentences."""

from __future__ import annotations

import tiny_disentangled as tiny
import torch
from torch import nn

from paraform.models.unpadded_bert import can_run, unpadded_states

LENGTHS = [2, 4, 4, 7]


def test_states_and_gradients_are_those_of_the_padded_pass() -> None:
    torch.manual_seed(0)
    module = tiny.bert().train()
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    there_BT = torch.arange(7) < torch.tensor(LENGTHS)[:, None]
    seen_BT = there_BT & (torch.rand(4, 7) < 0.7)
    seen_BT[:, 0] = True
    pieces_BT = torch.randint(5, module.config.vocab_size, (4, 7)).masked_fill(~there_BT, 0)
    padded = module(input_ids=pieces_BT, attention_mask=seen_BT.long()).last_hidden_state[there_BT]
    found = unpadded_states(module, pieces_BT[there_BT], seen_BT[there_BT], LENGTHS)
    torch.testing.assert_close(found, padded, atol=1e-5, rtol=1e-5)
    weights = [weight for name, weight in module.named_parameters() if not name.startswith("pooler")]
    assert len(weights) > 30
    torch.testing.assert_close(
        torch.autograd.grad(found.square().sum(), weights), torch.autograd.grad(padded.square().sum(), weights),
        atol=1e-4, rtol=1e-4,
    )  # fmt: skip


def test_other_models_are_none_of_its() -> None:
    module = tiny.bert()
    assert can_run(module)
    module.config.is_decoder = True
    assert not can_run(module)
    module.config.is_decoder = False
    module.encoder.gradient_checkpointing = module.gradient_checkpointing = True
    assert not can_run(module)
