"""SCPN's network against its equations, word by word; its decoding against teacher forcing and against brute force."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import tiny_scpn as tiny
import torch
from torch import Tensor

from paraform import decoding
from paraform.batching import SentenceBatch
from paraform_papers.rivals.scpn.batches import PairBatch, parts_of
from paraform_papers.rivals.scpn.network import Guided
from paraform_papers.rivals.scpn.step_decoder import StepDecoder


def whole_batch(model: Any) -> PairBatch:
    (batch,) = parts_of(tiny.table(model), 99)
    return batch


def alone(side: SentenceBatch, row: int) -> SentenceBatch:
    """A row without its padding."""
    return SentenceBatch(side.words_BT[row : row + 1, : int(side.lengths_B[row])], side.lengths_B[row : row + 1])


def asked(model: Any, name: str) -> tuple[Guided, list[SentenceBatch]]:
    """A network, and what it reads and writes: source, form, target and, the paraphraser, the source's own parse."""
    batch = whole_batch(model)
    if name == "generator":
        return model.network.generator, [batch.source_parse, batch.template, batch.target_parse]
    return model.network.paraphraser, [batch.source, batch.target_parse, batch.target, batch.source_parse]


def by_hand(network: Guided, source: Tensor, form: Tensor, own: Tensor | None, gold: list[int]) -> list[Tensor]:
    """ln p of each gold unit of one row, by the equations in the module's head and torch's own cells, step by step."""
    sizes = network.sizes

    def lstm(module: Any, inputs: Tensor) -> tuple[Tensor, Tensor]:
        states, (last, _) = module(inputs[None])
        return states[0], last.flatten()

    f_FD = network.form_map(lstm(network.form_encoder, network.symbol_embedding(form))[0])
    read_SD = network.embedding(source)
    if own is not None:
        vector = lstm(network.form_encoder, network.symbol_embedding(own))[1]
        read_SD = torch.stack([torch.cat([row, vector]) for row in read_SD])
    states, last = lstm(network.encoder, read_SD)
    u_SD = network.source_map(states)
    hidden = [network.source_map(last)] * sizes.layers
    cell = [torch.zeros(sizes.decoder_width)] * sizes.layers
    out = []
    for before, unit in zip([sizes.start, *gold[:-1]], gold, strict=True):
        weights = torch.softmax(torch.stack([row @ network.attend_form.project(hidden[-1]) for row in f_FD]), 0)
        x = torch.cat([network.embedding(torch.tensor(before)), weights @ f_FD])
        state = x
        for layer, step in enumerate(network.cells):
            hidden[layer], cell[layer] = step(state, (hidden[layer], cell[layer]))
            state = hidden[layer]
        copied = torch.softmax(torch.stack([row @ network.point.project(state) for row in u_SD]), 0)
        context = copied @ u_SD
        written = torch.softmax(network.output(network.combine(torch.cat([state, context]))), 0)
        gate = torch.sigmoid(network.gate(torch.cat([x, context, state])))[0]
        mass = copied[source == unit].sum()
        out.append(((1 - gate) * written[unit] + gate * mass).log())
    return out


@pytest.mark.parametrize("name", ["paraphraser", "generator"])
@pytest.mark.parametrize("config", list(tiny.CONFIGS))
@torch.inference_mode()
def test_the_network_is_its_equations(config: str, name: str) -> None:
    """In a padded batch as alone."""
    model = tiny.paraphraser(tiny.CONFIGS[config])
    network, (source, form, target, *own) = asked(model, name)
    found = network(source, form, target, *own)
    parts = torch.split(found.log_probs_N, found.lengths_B.tolist())
    for row, part in enumerate(parts):
        gold = [*alone(target, row).words_BT[0].tolist(), network.sizes.stop]
        read = [alone(side, row).words_BT[0] for side in (source, form, *own)]
        expected = by_hand(network, read[0], read[1], read[2] if own else None, gold)
        torch.testing.assert_close(part, torch.stack(expected), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["paraphraser", "generator"])
@torch.inference_mode()
def test_decoding_the_gold_units_is_teacher_forcing(name: str) -> None:
    """A step at a time, with memory that picks rows, repeats and another order; nothing is barred."""
    model = tiny.paraphraser()
    network, (source, form, target, *own) = asked(model, name)
    found = network(source, form, target, *own)
    parts = torch.split(found.log_probs_N, found.lengths_B.tolist())
    decoder = StepDecoder(network, source.words_BT.shape[1], [])
    memory = decoder.begin(source, form, *own)
    rows = torch.tensor([5, 0, 5])
    picked = memory.select(rows)
    tokens = torch.full((3,), network.sizes.start)
    for time in range(int(target.lengths_B[rows].max())):
        scores, picked = decoder.step(picked, tokens)
        for at, row in enumerate(rows.tolist()):
            if time < int(target.lengths_B[row]):
                number = int(target.words_BT[row, time])
                assert scores[at, number].item() == pytest.approx(parts[row][time].item(), abs=1e-4)
        tokens = target.words_BT[rows, time] if time < target.words_BT.shape[1] else tokens


@pytest.mark.parametrize("name", ["paraphraser", "generator"])
@torch.inference_mode()
def test_beam_search_against_every_sequence(name: str) -> None:
    """A beam that loses nothing finds the best of all sequences of at most three units, whose probabilities are the
    products of steps; one of 4 finds no better."""
    model = tiny.paraphraser()
    network, (source, form, _, *own) = asked(model, name)
    units, stop, longest = network.sizes.units, network.sizes.stop, 3
    every = [
        unit for unit in range(4, min(units, 10)) if unit != stop
    ]  # the others are barred, so that all can be tried
    never = [unit for unit in range(units) if unit not in {*every, stop}]
    row = 2
    read = [alone(side, row) for side in (source, form, *own)]
    decoder = StepDecoder(network, read[0].words_BT.shape[1], never)
    begun = decoder.begin(read[0], read[1], *read[2:])

    def log_prob(units_T: tuple[int, ...]) -> float:
        memory, before, total = begun, network.sizes.start, 0.0
        for unit in units_T:
            scores, memory = decoder.step(memory, torch.tensor([before]))
            total, before = total + float(scores[0, unit]), unit
        return total

    some = [
        (*body, stop) if len(body) < longest else body
        for size in range(longest + 1)
        for body in itertools.product(every, repeat=size)
    ]
    scored = {units_T: log_prob(units_T) / len(units_T) for units_T in some}
    best = max(scored, key=lambda units_T: scored[units_T])
    ends: dict[str, Any] = {"start": network.sizes.start, "stop": stop}
    wide, scores = decoding.beam(
        decoder.step,
        begun,
        1,
        width=len(every) ** 2 + len(every) + 1,
        max_tokens=longest,
        **ends,
    )
    assert tuple(wide[0, 0].tolist())[: len(best)] == best
    assert scores[0, 0].item() == pytest.approx(scored[best], abs=1e-4)
    narrow, less = decoding.beam(decoder.step, begun, 1, width=4, max_tokens=longest, **ends)
    assert less[0, 0].item() <= scores[0, 0].item() + 1e-5
    chosen = decoding.decode(decoder.step, begun, 1, {"beam": 4}, torch.Generator(), longest=longest, **ends)
    assert chosen[0].tolist() == narrow[0, 0].tolist()


def test_what_is_read_must_be_given() -> None:
    network, (source, form, _, own) = asked(tiny.paraphraser(), "paraphraser")
    with pytest.raises(ValueError, match="reads_source_form=True; expected what that reads"):
        network.start(source, form)
    network, (source, form, _) = asked(tiny.paraphraser(), "generator")
    with pytest.raises(ValueError, match="reads_source_form=False"):
        network.start(source, form, own)
