"""SGCP's network against its equations, word by word; its decoding against teacher forcing and against brute force."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny_sgcp as tiny
import torch
import torch.nn.functional as F
from torch import Tensor

from paraform import decoding
from paraform.batching import BOS, EOS
from paraform_papers.rivals.sgcp import SgcpConfig
from paraform_papers.rivals.sgcp.batches import PairBatch
from paraform_papers.rivals.sgcp.network import SgcpNetwork
from paraform_papers.rivals.sgcp.step_decoder import StepDecoder


def rows_of(model: Any, rows: list[int], *, forced: bool = True) -> PairBatch:
    """Some pairs as a batch, their targets' trees at heights 2, 3, 4, 2 …"""
    table, some = tiny.table(model), np.array(rows)
    return table.batch(table.source[some], table.target[some], 2 + some % 3, forced=forced)


def gru(layers: Any, inputs: list[Tensor], first: Tensor | None) -> list[Tensor]:
    """Torch's own, a layer after another, one sentence."""
    for layer in layers:
        start = None if first is None else first[None]
        inputs = list(layer(torch.stack(inputs), start)[0])
    return inputs


def by_hand(network: SgcpNetwork, batch: PairBatch, before: list[int], gold: list[int]) -> tuple[list[Tensor], Tensor]:
    """ln p of each gold unit of one row by the equations in the module's head, step by step; and logits of popping.

    Args:
        before: the units that are read.
    """
    source = batch.source.words_BT[0]
    known = len(network.output.weight)
    vector = lambda unit: network.embedding.weight[unit if unit < known else 1]  # noqa: E731
    queue = network.tree(network.embedding(batch.forms.labels_M), batch.forms)[0]
    x = gru(network.encoder, [vector(int(unit)) for unit in source], None)
    first = torch.stack(x).max(0).values
    leaves = [*batch.leaf_BT[0].tolist(), *[int(batch.forms.lengths_B) - 1] * len(gold)]
    inputs = [torch.cat([queue[leaf], vector(unit)]) for leaf, unit in zip(leaves, before, strict=False)]
    found, pops = [], []
    point = network.point
    for at, d in enumerate(gru(network.decoder, inputs, first)):
        scores = [point.score(torch.tanh(point.of_key(state) + point.of_query(d)))[0] for state in x]
        copied = torch.softmax(torch.stack(scores), 0)
        c = copied @ torch.stack(x)
        written = torch.softmax(network.output(network.combine(torch.cat([d, c]))), 0)
        g = network.gate(torch.cat([d, c, vector(before[at])]))[0]
        g = torch.sigmoid(g)
        p = g * (written[gold[at]] if gold[at] < known else 0) + (1 - g) * copied[source == gold[at]].sum()
        found.append(p.log())
        if at + 1 < len(before):
            pops.append(network.pop(torch.cat([d, c, vector(before[at + 1])]))[0])
    return found, torch.stack(pops)


@pytest.mark.parametrize("name", list(tiny.CONFIGS))
@torch.inference_mode()
def test_the_network_is_its_equations(name: str) -> None:
    """In a padded batch as alone."""
    model = tiny.paraphraser(tiny.CONFIGS[name])
    network, rows = model.network, [0, 3, 5, 9]
    whole = network(rows_of(model, rows))
    expected, popped = [], []
    for row in rows:
        batch = rows_of(model, [row])
        gold = [*batch.target.words_BT[0].tolist(), EOS]
        probs, logits = by_hand(network, batch, [BOS, *gold[:-1]], gold)
        expected += probs
        leaves = batch.leaf_BT[0].diff().float()
        popped.append(-F.binary_cross_entropy_with_logits(logits, leaves, reduction="none"))
    torch.testing.assert_close(whole.log_probs_N, torch.stack(expected), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(whole.pop_log_probs, torch.cat(popped), atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_without_forcing_it_reads_what_it_writes() -> None:
    """Greedily, the target's leaves given; a word that it copies and does not know is read as unknown."""
    model = tiny.paraphraser(replace(tiny.TINY, most_units=12))
    network, row = model.network, 5
    batch = rows_of(model, [row], forced=False)
    found = network(batch)
    gold, known = [*batch.target.words_BT[0].tolist(), EOS], len(network.output.weight)
    candidates = sorted({*range(3, known), *batch.source.words_BT[0].tolist()})
    before = [BOS]
    for at in range(len(gold) - 1):
        scores = [by_hand(network, batch, before, [0] * at + [unit])[0][-1] if at else one_step(network, batch, unit)
                  for unit in candidates]  # fmt: skip
        before.append(candidates[int(torch.stack(scores).argmax())])
    expected, _ = by_hand(network, batch, before, gold)
    torch.testing.assert_close(found.log_probs_N, torch.stack(expected), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(found.log_probs_N, network(batch._replace(forced=True)).log_probs_N)


def one_step(network: SgcpNetwork, batch: PairBatch, unit: int) -> Tensor:
    return by_hand(network, batch, [BOS, BOS], [unit, unit])[0][0]


@torch.inference_mode()
def test_decoding_the_gold_units_is_teacher_forcing() -> None:
    """A step at a time, with memory that picks rows, repeats and another order; leaves are popped where the logit says,
    not where the target's are."""
    model = tiny.paraphraser()
    network = model.network
    network.pop.bias.fill_(0.5)
    batch = rows_of(model, list(range(10)))
    decoder = StepDecoder(network, batch.source.words_BT.shape[1], [])
    memory = decoder.begin(batch.source, batch.forms)
    rows = torch.tensor([5, 0, 5, 3])
    picked = memory.select(rows)
    tokens = torch.full((4,), BOS)
    leaves: list[list[int]] = []
    scored: list[Tensor] = []
    longest = int(batch.target.lengths_B.max())
    gold_BT = torch.nn.functional.pad(batch.target.words_BT, (0, 1), value=EOS).masked_fill(
        torch.arange(longest + 1) >= batch.target.lengths_B[:, None], EOS
    )
    for time in range(longest + 1):
        scores, picked = decoder.step(picked, tokens)
        tokens = gold_BT[rows, time]
        scored.append(scores.gather(1, tokens[:, None])[:, 0].clone())
        leaves.append(picked.at_B.tolist())
    by_logit = torch.tensor(leaves).T
    assert by_logit[0].equal(by_logit[2])
    assert {0, 1} <= set(by_logit[:, 1].tolist()) | set(by_logit[:, 2].tolist()), by_logit  # some pop, some do not
    assert bool((by_logit.diff() >= 0).all()) and bool((by_logit <= picked.last_B[:, None]).all())
    for at, row in enumerate(rows.tolist()):
        some = rows_of(model, [row])
        count = int(some.target.lengths_B) + 1
        read = network(some._replace(leaf_BT=by_logit[at : at + 1, :count]))
        torch.testing.assert_close(read.log_probs_N, torch.stack(scored)[:count, at], atol=1e-4, rtol=1e-4)
        popped = by_logit[at, :count].diff() > 0
        free = by_logit[at, : count - 1] < int(some.forms.lengths_B) - 1  # behind the last leaf there is nothing to pop
        assert bool(((read.pop_log_probs > math.log(0.5)) | ~free).all()) and bool((~popped | free).all())


@pytest.mark.parametrize("name", ["paper", "compact"])
@torch.inference_mode()
def test_beam_search_against_every_sequence(name: str) -> None:
    """A beam that loses nothing finds the best of all sequences of at most three units, whose probabilities are the
    products of steps; one of 4 finds no better."""
    model = tiny.paraphraser(replace(tiny.CONFIGS[name], most_units=4))
    network, longest = model.network, 3
    batch = rows_of(model, [3])  # whose source has a unit that is only copied
    decoder = StepDecoder(network, batch.source.words_BT.shape[1])
    begun = decoder.begin(batch.source, batch.forms)
    first, _ = decoder.step(begun, torch.tensor([BOS]))
    every = [unit for unit in range(first.shape[1]) if unit != EOS and not first[0, unit].isneginf()]
    assert max(every) >= len(model.vocabulary)

    def log_prob(units_T: tuple[int, ...]) -> float:
        memory, before, total = begun, BOS, 0.0
        for unit in units_T:
            scores, memory = decoder.step(memory, torch.tensor([before]))
            total, before = total + float(scores[0, unit]), unit
        return total

    some = [
        (*body, EOS) if len(body) < longest else body
        for size in range(longest + 1)
        for body in itertools.product(every, repeat=size)
    ]
    scored = {units_T: log_prob(units_T) / len(units_T) for units_T in some}
    best = max(scored, key=lambda units_T: scored[units_T])
    how: dict[str, Any] = {"start": BOS, "stop": EOS}
    width = len(every) ** 2 + len(every) + 1
    wide, scores = decoding.beam(decoder.step, begun, 1, width=width, max_tokens=longest, **how)
    assert tuple(wide[0, 0].tolist())[: len(best)] == best
    assert scores[0, 0].item() == pytest.approx(scored[best], abs=1e-4)
    narrow, less = decoding.beam(decoder.step, begun, 1, width=4, max_tokens=longest, **how)
    assert less[0, 0].item() <= scores[0, 0].item() + 1e-5
    chosen = decoding.decode(decoder.step, begun, 1, {"beam": 4}, torch.Generator(), longest=longest, **how)
    assert chosen[0].tolist() == narrow[0, 0].tolist()


def test_every_weight_is_of_one_part() -> None:
    network = tiny.paraphraser().network
    parts = [weight for part in network.parts() for weight in part]
    assert sorted(map(id, parts)) == sorted(map(id, network.parameters()))


def test_sizes_of_the_paper() -> None:
    """About 51 million weights with a vocabulary of 50,000, as the authors' code was counted to have (RIVALS.md)."""
    with torch.device("meta"):
        network = SgcpNetwork(SgcpConfig.paper(), 50_000, 70)
    assert sum(weight.numel() for weight in network.parameters()) / 1e6 == pytest.approx(51, abs=1)
