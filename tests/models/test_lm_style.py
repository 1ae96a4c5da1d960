"""A style vector as a language model's guide: its soft pieces where they belong, and both contrasts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from tiny_lm import new_lm, write_lm

from paraform import checkpoint
from paraform.losses.nt_xent import nt_xent
from paraform.models.lm import LMParaphraser, make_update
from paraform.models.lm.batches import StyleTable, lm_table
from paraform.models.lm.style import Soft, style_states
from paraform.records import InputError

SOURCES = ["how do i pay ?", "the cat sat on the mat", "pay for it"]
TARGETS = ["what is the way to pay ?", "on the mat sat the cat", "it is paid for"]
EXEMPLARS = ["Why do people snore?", "", "She was seen by him."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def model(folder: Path) -> LMParaphraser:
    return new_lm(folder, guide="style", style_width=8, style_pieces=3)


def vectors(model: LMParaphraser, texts: list[str]) -> torch.Tensor:
    """Style vectors by torch's GRU, one text at a time."""
    assert model.style is not None
    states = style_states(model.style_encoder, texts)
    rows = [torch.from_numpy(np.array(states.joined(np.array([at])), np.float32)) for at in range(len(texts))]
    return torch.cat([model.style.gru(row[None])[1].transpose(0, 1).flatten(1) for row in rows])


def embedded(model: LMParaphraser, source: str, exemplar: str) -> torch.Tensor:
    """What the network reads of a prompt, by hand: [1, T, D]."""
    assert model.style is not None
    table: Any = model.network.module.get_input_embeddings()
    tokenizer = model.prompts.tokenizer

    def read(numbers: list[int]) -> torch.Tensor:
        return table(torch.tensor(numbers))

    def pieces(said: str) -> list[int]:
        return tokenizer.encode(said, add_special_tokens=False).ids

    parts = [read([1, *pieces("user\nRewrite:\n"), *pieces(source)])]
    if exemplar:
        parts += [read([1]), model.style.soft(vectors(model, [exemplar]))[0]]
    parts.append(read([2, *pieces("\n"), 1, *pieces("assistant\n")]))
    return torch.cat(parts)[None]


@torch.no_grad()
def test_soft_pieces_stand_where_words_would(model: LMParaphraser) -> None:
    """Greedy answers are those that transformers gives of the same vectors, whatever stands beside them."""
    module: Any = model.network.module
    wanted = []
    for source, exemplar in zip(SOURCES, EXEMPLARS, strict=True):
        read = embedded(model, source, exemplar)
        mask = torch.ones(read.shape[:2], dtype=torch.long)
        out = module.generate(
            inputs_embeds=read, attention_mask=mask, max_new_tokens=20, do_sample=False, eos_token_id=2, pad_token_id=2
        )
        wanted.append(model.prompts.text(out[0].tolist()))
    assert model.decode(SOURCES, EXEMPLARS) == wanted
    assert model.decode(SOURCES[:1] * 2, ["", EXEMPLARS[0]])[1] == wanted[0]  # one text, two guides, one batch


def test_nothing_of_an_exemplar_is_kept_on_disk(
    model: LMParaphraser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARAFORM_CACHE", str(tmp_path))
    model.decode(SOURCES, EXEMPLARS)
    assert not [*tmp_path.rglob("*")]


def test_soft_pieces_carry_gradients() -> None:
    pieces = torch.ones(1, 2, 3, requires_grad=True)
    read = torch.zeros(2, 4, 3)
    put = Soft(pieces, torch.tensor([1]), torch.tensor([2])).put_into(read)
    assert put.sum().item() == 6 and put[1, 2:].eq(1).all()
    put.sum().backward()
    assert pieces.grad is not None and pieces.grad.eq(1).all()


def test_the_loss_is_the_likelihood_and_both_contrasts(folder: Path) -> None:
    """L = L_nll + 2 (λ1 L_ccl + λ2 L_scl); of two rows with an exemplar, and by vectors made one at a time."""
    model = new_lm(folder, guide="style", style_width=8, style_pieces=3, content_weight=0.3, style_weight=0.7)
    config = model.config
    encoder = model.style_encoder
    styles = StyleTable(style_states(encoder, EXEMPLARS), style_states(encoder, TARGETS))
    guides = model.guides(EXEMPLARS)
    assert guides == [3, 0, 3]
    table = lm_table(SOURCES, TARGETS, guides, model.prompts, config, contrast=True, styles=styles)

    module: Any = model.network.module
    nats, contents = [], []
    start = model.prompts.source_start
    with torch.no_grad():
        for source, target, exemplar in zip(SOURCES, TARGETS, EXEMPLARS, strict=True):
            read = embedded(model, source, exemplar)
            pieces = model.prompts.targets([target], config)[0].numbers
            rest = module.get_input_embeddings()(torch.tensor([pieces[:-1]]))
            out = module(inputs_embeds=torch.cat([read, rest], 1)).logits[0].log_softmax(-1)
            nats += [out[read.shape[1] - 1 + at, piece].item() for at, piece in enumerate(pieces)]
            pooled = []
            for text in (source, target):
                own = model.prompts.prompts([text], None, config)[0]
                states = module.base_model(input_ids=torch.tensor([own.numbers])).last_hidden_state[0]
                pooled.append(states[start : own.source_end].mean(0))
            contents.append(pooled)
        ccl = nt_xent(*(torch.stack(side) for side in zip(*contents, strict=True)), temperature=config.temperature)
        exemplar, target = (vectors(model, [texts[0], texts[2]]) for texts in (EXEMPLARS, TARGETS))
        scl = nt_xent(exemplar, target, temperature=config.temperature)

    update, _ = make_update(model, config, Accelerator(cpu=True), steps_per_epoch=1)
    terms = update(table.batch(np.arange(3)), 0)
    assert terms["nll"] == pytest.approx(-np.mean(nats), abs=1e-4)
    assert terms["content"] == pytest.approx(ccl.item(), abs=1e-4)
    assert terms["style"] == pytest.approx(scl.item(), abs=1e-4)
    assert terms["loss"] == pytest.approx(terms["nll"] + 2 * (0.3 * terms["content"] + 0.7 * terms["style"]), abs=1e-5)


def test_a_checkpoint_keeps_the_style_network(model: LMParaphraser, tmp_path: Path) -> None:
    checkpoint.save(model, tmp_path / "kept")
    again = checkpoint.load(str(tmp_path / "kept"), device="cpu")
    assert again.decode(SOURCES, EXEMPLARS) == model.decode(SOURCES, EXEMPLARS)
    assert {name.split(".")[0] for name in model.state_dict()} == {"adapters", "style"}
    other = checkpoint.load(str(tmp_path / "kept"), device="cpu")
    other.digests["style encoder"] = "0" * 64
    with pytest.raises(InputError, match="this model was trained with 000000000000"):
        other.decode(SOURCES, EXEMPLARS)
