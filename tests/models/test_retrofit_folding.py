"""M in the table of word embeddings: the states of the model with M before it, and what cannot be folded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny_retrofit as tiny
import torch
from torch import Tensor, nn
from transformers import (
    AlbertConfig,
    AlbertModel,
    BartConfig,
    BartModel,
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2Model,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5EncoderModel,
)

from paraform.encoders import bfloat16_products
from paraform.models.retrofit import fold
from paraform.records import InputError

SMALL: dict[str, Any] = {"vocab_size": 30, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2}
SMALL |= {"num_attention_heads": 2, "max_position_embeddings": 20}
IDS = torch.tensor([[2, 7, 11, 5, 3], [2, 9, 9, 4, 3]])


def matrix(width: int = 8) -> Tensor:
    torch.manual_seed(3)
    return torch.eye(width) + 0.2 * torch.randn(width, width)


def shaken(module: Any) -> Any:
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.3)
    return module.eval()


MADE = {
    "bert": lambda: BertModel(BertConfig(**SMALL)),
    "roberta": lambda: RobertaModel(RobertaConfig(**SMALL)),
    "mpnet": lambda: MPNetModel(MPNetConfig(**SMALL)),
    "albert": lambda: AlbertModel(AlbertConfig(**SMALL, embedding_size=8)),
    "distilbert": lambda: DistilBertModel(DistilBertConfig(vocab_size=30, dim=8, hidden_dim=12, n_layers=2, n_heads=2)),
    "gpt2": lambda: GPT2Model(GPT2Config(vocab_size=30, n_embd=8, n_layer=2, n_head=2, n_positions=20)),
    "t5": lambda: T5EncoderModel(T5Config(vocab_size=30, d_model=8, d_kv=4, d_ff=12, num_layers=2, num_heads=2)),
    "bart's encoder": lambda: bart(scaled=True).get_encoder(),
}


def bart(*, scaled: bool = False) -> Any:
    sizes = {"encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 12, "decoder_ffn_dim": 12}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    return BartModel(
        BartConfig(vocab_size=30, d_model=8, max_position_embeddings=20, scale_embedding=scaled, **sizes, **heads)
    )


@pytest.mark.parametrize("kind", MADE)
def test_folded_it_has_the_states_of_m_before_it(kind: str, tmp_path: Path) -> None:
    """By a hook on the table, which is another way to put M there; and again after it was saved."""
    module, m = shaken(MADE[kind]()), matrix()
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    made = fold(module, m)
    tables = [
        part for part in module.modules() if getattr(part, "weight", None) is module.get_input_embeddings().weight
    ]
    hooks = [part.register_forward_hook(lambda part, given, out: out @ m.T) for part in tables]
    with torch.no_grad():
        expected = module(input_ids=IDS).last_hidden_state
        for hook in hooks:
            hook.remove()
        plain, found = module(input_ids=IDS).last_hidden_state, made(input_ids=IDS).last_hidden_state
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    assert not torch.allclose(found, plain, atol=1e-4)
    assert all(torch.equal(weight, module.state_dict()[name]) for name, weight in before.items())  # it is a copy
    assert type(made) is type(module)
    if kind == "bert":
        made.save_pretrained(tmp_path)  # type: ignore[operator]
        with torch.no_grad():
            again = BertModel.from_pretrained(tmp_path).eval()(input_ids=IDS).last_hidden_state
        torch.testing.assert_close(again, expected, atol=1e-5, rtol=0)


def test_it_is_held_against_m_in_float32_whatever_is_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARAFORM_PRODUCTS", "bfloat16")
    with torch.autocast("cpu", torch.bfloat16):
        fold(shaken(MADE["bert"]()), matrix())
    wide = BertModel(BertConfig(**{**SMALL, "hidden_size": 128, "intermediate_size": 256}))  # enough to be rounded
    with bfloat16_products(torch.device("cpu")):
        fold(wide.eval(), torch.eye(128) + 0.01 * torch.randn(128, 128))


def test_an_output_layer_that_is_tied(tmp_path: Path) -> None:
    """It would predict by M e: refused, or untied, after which it predicts by e as it did; saved, too."""
    module, m = shaken(BertForMaskedLM(BertConfig(**SMALL))), matrix()
    assert module.get_output_embeddings().weight is module.get_input_embeddings().weight
    with pytest.raises(InputError, match=r"output layer has the word embeddings.*fold\(module, M, untie=True\)"):
        fold(module, m)
    made: Any = fold(module, m, untie=True)
    hook = module.get_input_embeddings().register_forward_hook(lambda part, given, out: out @ m.T)
    with torch.no_grad():
        expected = module(input_ids=IDS).logits
        hook.remove()
        torch.testing.assert_close(made(input_ids=IDS).logits, expected, atol=1e-5, rtol=1e-5)
        assert torch.equal(made.get_output_embeddings().weight, module.get_input_embeddings().weight)
        made.save_pretrained(tmp_path)
        again = BertForMaskedLM.from_pretrained(tmp_path).eval()
        torch.testing.assert_close(again(input_ids=IDS).logits, expected, atol=1e-5, rtol=1e-5)
    assert module.config.tie_word_embeddings and not made.config.tie_word_embeddings


def test_a_decoder_with_the_same_table() -> None:
    with pytest.raises(InputError, match=r"a bart whose '\w+\.embed_tokens' has the word embeddings.*get_encoder\(\)"):
        fold(shaken(bart()), matrix())


@pytest.mark.parametrize(
    ("m", "said"),
    [
        (torch.eye(6), "M is 6 × 6; expected 8 × 8: the embeddings' width"),
        (torch.zeros(8, 6), r"M is of shape \[8, 6\]; expected a square matrix"),
        (torch.full((8, 8), float("nan")), "M holds NaN or infinity"),
        (torch.diag(torch.tensor([1.0] * 7 + [0.0])), r"M is singular \(its singular values go from 1 to 0\)"),
    ],
)
def test_an_m_that_cannot_be_folded(m: Tensor, said: str) -> None:
    with pytest.raises(InputError, match=said):
        fold(tiny.bert(), m)


def test_what_has_no_table_or_reads_more_than_it() -> None:
    class Odd(nn.Module):
        """Its states are of the numbers, not of their embeddings alone."""

        def __init__(self) -> None:
            super().__init__()
            self.inner, self.config = tiny.bert(), tiny.bert().config

        def get_input_embeddings(self) -> nn.Module:
            return self.inner.get_input_embeddings()  # type: ignore[operator, no-any-return]

        def get_output_embeddings(self) -> None:
            return None

        def forward(self, input_ids: Any = None, inputs_embeds: Any = None) -> Any:
            if input_ids is None:
                return self.inner(inputs_embeds=inputs_embeds)
            out = self.inner(input_ids=input_ids)
            out.last_hidden_state = out.last_hidden_state + input_ids[..., None]
            return out

    with pytest.raises(InputError, match="a bert does not read its word embeddings row by row"):
        fold(Odd(), matrix())
    odd = Odd()
    odd.get_input_embeddings = lambda: nn.Linear(2, 2)  # type: ignore[method-assign]
    with pytest.raises(InputError, match="a bert without a table of word embeddings"):
        fold(odd, matrix())
