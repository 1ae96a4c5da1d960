"""Writing with a language model: a prompt is read once for all its rows, and rows that ended leave the batch.

Shape key: N pieces of all texts end to end, V pieces of the vocabulary, K alternatives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from paraform.decoding import Decoding, beam, greedy, left_to_right, likeliest
from paraform.models.lm.draws import Nucleus, uniforms
from paraform.models.lm.network import CausalNetwork
from paraform.models.lm.prompts import Prompts
from paraform.models.lm.style import Soft
from paraform.models.writing import numbers_batch
from paraform.progress import track

ALTERNATIVES = 6  # to a piece of the source, at most
LEAST = math.log(0.02)  # of an alternative
Softened: TypeAlias = Callable[[Sequence[int]], Soft | None]
"""Some rows → the soft pieces of their prompts, if any has some."""

ROWS = 64  # that are written or read together, if the caller does not say


@torch.inference_mode()
def written(
    network: CausalNetwork,
    prompts: Prompts,
    read: Sequence[Sequence[int]],
    keys: Sequence[tuple[str, str]],
    how: Decoding,
    longest: int,
    numbers: Sequence[int] | None = None,
    soft: Softened = lambda rows: None,
) -> list[list[int]]:
    """The pieces that are written behind each prompt, without the end.

    Args:
        prompts: whose marks begin and end what is written.
        read: prompts; those that are the same are read once.
        keys: the text of each row, by which it draws, and its exemplar.
        how: looked at already (`decoding.require_decoding`).
        longest: pieces that are written at most, the end counted.
        numbers: which of its text's answers each row is; None: the first.
        soft: what makes the soft pieces of rows.
    """
    network.eval()
    device = next(network.parameters()).device
    out: list[list[int]] = [[] for _ in read]
    numbers = [0] * len(read) if numbers is None else numbers
    order = sorted(range(len(read)), key=lambda row: (-len(read[row]), keys[row]))
    size = how.get("batch_size", ROWS)
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    for rows in track(parts, "paraphrasing", show=how.get("progress", False)):
        first: dict[tuple[str, str], int] = {}
        for row in rows:
            first.setdefault(keys[row], row)
        place = {key: at for at, key in enumerate(first)}
        different = list(first.values())
        state = network.begin(numbers_batch([read[row] for row in different], device), soft(different))
        state = state.select(torch.tensor([place[keys[row]] for row in rows]))
        ends = {"start": prompts.begin, "stop": prompts.marks.end, "max_tokens": longest}
        if how.get("beam", 1) > 1:
            tokens_NT = beam(network.ranked, state, len(rows), width=how["beam"], **ends)[0][:, 0]
        elif how.get("temperature", 0.0) != 0:
            drawn = uniforms(
                [keys[row][0] for row in rows], [numbers[row] for row in rows], longest, how.get("seed", 0)
            )
            choose = Nucleus(drawn, temperature=how["temperature"], top_p=how.get("top_p", 1.0))
            tokens_NT = left_to_right(network.step, state, len(rows), choose, **ends)
        else:
            tokens_NT = greedy(network.step, state, len(rows), **ends)
        for row, tokens in zip(rows, tokens_NT.tolist(), strict=True):
            out[row] = tokens[: tokens.index(prompts.marks.end) if prompts.marks.end in tokens else longest]
    return out


class Branch(NamedTuple):
    """Where an answer leaves the text that it follows.

    Args:
        row: of that text.
        at: how many of its pieces come before.
        piece: what stands in the place of the next.
        log_prob: of that piece, nats.
    """

    row: int
    at: int
    piece: int
    log_prob: float


@torch.inference_mode()
def branched(
    network: CausalNetwork,
    prompts: Prompts,
    read: Sequence[Sequence[int]],
    followed: Sequence[Sequence[int]],
    first: Sequence[int],
    num: int,
    how: Decoding,
    longest: int,
) -> list[list[list[int]]]:
    """Answers that follow a text up to a piece, have a likely other one in its place, and go on greedily.

    Where the model would leave the text it says something of its own, and elsewhere what it is sure of.

    Args:
        read: a prompt of each row.
        followed: pieces of the text of each row, its end behind them.
        first: how many of them stay at least.
        num: answers of a row, the likeliest such pieces first; there may be fewer.
        longest: pieces of an answer at most, the end counted.
    """
    network.eval()
    device = next(network.parameters()).device
    out: list[list[list[int]]] = [[] for _ in read]
    size = max(1, how.get("batch_size", ROWS) // num)
    order = sorted(range(len(read)), key=lambda row: len(read[row]) + len(followed[row]))
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    for rows in track(parts, "paraphrasing", show=how.get("progress", False)):
        prompt = numbers_batch([read[row] for row in rows], device)
        own = [followed[row] for row in rows]
        behind = numbers_batch([[prompts.begin, *pieces[:-1]] for pieces in own], device)
        log_probs_NV, memory = network.follow(network.begin(prompt), behind)
        branches = _branches(log_probs_NV, own, [first[row] for row in rows], num, prompts.marks.end)
        if not branches:
            continue
        places = prompt.words_BT.shape[1] + 1 + torch.tensor([one.at for one in branches])
        memory = memory.select(torch.tensor([one.row for one in branches])).cut(places)
        tokens_NT = left_to_right(
            network.step, memory, len(branches), likeliest,
            start=torch.tensor([one.piece for one in branches]), stop=prompts.marks.end, max_tokens=longest,
        )  # fmt: skip
        for one, tokens in zip(branches, tokens_NT.tolist(), strict=True):
            rest = tokens[: tokens.index(prompts.marks.end)] if prompts.marks.end in tokens else tokens
            out[rows[one.row]].append([*own[one.row][: one.at], one.piece, *rest][: longest - 1])
    return out


def _branches(
    log_probs_NV: Tensor, followed: Sequence[Sequence[int]], first: Sequence[int], num: int, end: int
) -> list[Branch]:
    """The likeliest pieces of each row that are not its text's, and not its end."""
    best_NK, pieces_NK = log_probs_NV.topk(ALTERNATIVES, -1)
    best, pieces = best_NK.tolist(), pieces_NK.tolist()
    found: list[Branch] = []
    start = 0
    for row, (own, least) in enumerate(zip(followed, first, strict=True)):
        other = [
            Branch(row, at, piece, log_prob)
            for at in range(least, len(own))
            for log_prob, piece in zip(best[start + at], pieces[start + at], strict=True)
            if piece not in (own[at], end) and log_prob >= LEAST
        ]
        found += sorted(other, key=lambda one: -one.log_prob)[:num]
        start += len(own)
    return found


@torch.inference_mode()
def log_probs(
    network: CausalNetwork,
    prompts: Prompts,
    read: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_size: int,
) -> list[list[float]]:
    """Of each piece of each target, given its prompt, nats; a prompt that several have is read once."""
    network.eval()
    device = next(network.parameters()).device
    out: list[list[float]] = [[] for _ in read]
    order = sorted(range(len(read)), key=lambda row: (len(read[row]), tuple(read[row]), len(targets[row])))
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        different = list(dict.fromkeys(tuple(read[row]) for row in rows))
        place = {prompt: at for at, prompt in enumerate(different)}
        memory = network.begin(numbers_batch(different, device))
        memory = memory.select(torch.tensor([place[tuple(read[row])] for row in rows]))
        behind = numbers_batch([[prompts.begin, *targets[row][:-1]] for row in rows], device)
        pieces_N = torch.tensor([piece for row in rows for piece in targets[row]], device=device)
        found = iter(network.log_probs(memory, behind, pieces_N).tolist())
        for row in rows:
            out[row] = list(itertools.islice(found, len(targets[row])))
    return out
