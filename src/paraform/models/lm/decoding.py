"""Writing with a language model: a prompt is read once for all its rows, and rows that ended leave the batch.

Shape key: N pieces of all sources end to end, V pieces of the vocabulary, K alternatives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from paraform.decoding import Decoding, beam, greedy, left_to_right, likeliest
from paraform.models.lm.batches import LMBatch, LMTable
from paraform.models.lm.draws import Nucleus, uniforms
from paraform.models.lm.network import CausalNetwork
from paraform.models.lm.prompts import Prompts
from paraform.models.writing import numbers_batch
from paraform.progress import track

ALTERNATIVES = 6  # to a piece of the source, at most
LEAST = math.log(0.02)  # of an alternative
ROWS = 64  # that are written or read together, if the caller does not say


@torch.inference_mode()
def written(
    network: CausalNetwork,
    prompts: Prompts,
    read: Sequence[Sequence[int]],
    sources: Sequence[str],
    how: Decoding,
    longest: int,
    numbers: Sequence[int] | None = None,
) -> list[list[int]]:
    """The pieces that are written behind each prompt, without the end.

    Args:
        prompts: whose marks begin and end what is written.
        read: prompts; those that are the same are read once.
        sources: the text of each row, by which it draws.
        how: looked at already (`decoding.require_decoding`).
        longest: pieces that are written at most, the end counted.
        numbers: which of its text's answers each row is; None: the first.
    """
    network.eval()
    device = next(network.parameters()).device
    out: list[list[int]] = [[] for _ in read]
    numbers = [0] * len(read) if numbers is None else numbers
    order = sorted(range(len(read)), key=lambda row: (-len(read[row]), tuple(read[row])))
    size = how.get("batch_size", ROWS)
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    for rows in track(parts, "paraphrasing", show=how.get("progress", False)):
        different = list(dict.fromkeys(tuple(read[row]) for row in rows))
        place = {prompt: at for at, prompt in enumerate(different)}
        state = network.begin(numbers_batch(different, device))
        state = state.select(torch.tensor([place[tuple(read[row])] for row in rows]))
        ends = {"start": prompts.begin, "stop": prompts.marks.end, "max_tokens": longest}
        if how.get("beam", 1) > 1:
            tokens_NT = beam(network.ranked, state, len(rows), width=how["beam"], **ends)[0][:, 0]
        elif how.get("temperature", 0.0) != 0:
            drawn = uniforms(
                [sources[row] for row in rows], [numbers[row] for row in rows], longest, how.get("seed", 0)
            )
            choose = Nucleus(drawn, temperature=how["temperature"], top_p=how.get("top_p", 1.0))
            tokens_NT = left_to_right(network.step, state, len(rows), choose, **ends)
        else:
            tokens_NT = greedy(network.step, state, len(rows), **ends)
        for row, tokens in zip(rows, tokens_NT.tolist(), strict=True):
            out[row] = tokens[: tokens.index(prompts.marks.end) if prompts.marks.end in tokens else longest]
    return out


class Branch(NamedTuple):
    """Where an answer leaves its source.

    Args:
        row: the source's.
        at: how many pieces of it come before.
        piece: what stands in the place of the next.
        log_prob: of that piece, nats.
    """

    row: int
    at: int
    piece: int
    log_prob: float


@torch.inference_mode()
def branched(
    network: CausalNetwork, prompts: Prompts, table: LMTable, num: int, how: Decoding, longest: int
) -> list[list[list[int]]]:
    """Answers that go with their source up to a piece, have a likely other one in its place, and go on greedily.

    Where the model would leave the source it says something of its own, and elsewhere what it is sure of.

    Args:
        table: prompts, with the source behind each in the place of the target.
        num: answers of a source, the likeliest such pieces first; there may be fewer.
        longest: pieces of an answer at most, the end counted.
    """
    network.eval()
    device = next(network.parameters()).device
    out: list[list[list[int]]] = [[] for _ in range(len(table))]
    size = max(1, how.get("batch_size", ROWS) // num)
    order = np.argsort(table.rows.lengths(np.arange(len(table))), kind="stable")
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    for rows in track(parts, "paraphrasing", show=how.get("progress", False)):
        batch = table.batch(rows)
        log_probs_NV, memory = network.follow(batch.to(device))
        branches = _branches(log_probs_NV, batch, num, prompts.marks.end)
        if not branches:
            continue
        places = torch.tensor([one.row for one in branches])
        read = batch.prompts_B[places] + torch.tensor([one.at for one in branches])
        tokens_NT = left_to_right(
            network.step, memory.select(places).cut(read), len(branches), likeliest,
            start=torch.tensor([one.piece for one in branches]), stop=prompts.marks.end, max_tokens=longest,
        )  # fmt: skip
        for one, tokens in zip(branches, tokens_NT.tolist(), strict=True):
            before = batch.rows.words_BT[one.row, int(batch.prompts_B[one.row]) :][: one.at].tolist()
            rest = tokens[: tokens.index(prompts.marks.end)] if prompts.marks.end in tokens else tokens
            out[rows[one.row]].append([*before, one.piece, *rest][: longest - 1])
    return out


def _branches(log_probs_NV: Tensor, batch: LMBatch, num: int, end: int) -> list[Branch]:
    """The likeliest pieces of each row that are not its source's, and not its end."""
    best_NK, pieces_NK = log_probs_NV.topk(ALTERNATIVES, -1)
    gold = batch.rows.words_BT[batch.written()].tolist()
    lengths = (batch.rows.lengths_B - batch.prompts_B).tolist()
    found: list[Branch] = []
    start = 0
    for row, length in enumerate(lengths):
        own = [
            Branch(row, at - start, piece, log_prob)
            for at in range(start, start + length)
            for log_prob, piece in zip(best_NK[at].tolist(), pieces_NK[at].tolist(), strict=True)
            if piece not in (gold[at], end) and log_prob >= LEAST
        ]
        found += sorted(own, key=lambda one: -one.log_prob)[:num]
        start += length
    return found
