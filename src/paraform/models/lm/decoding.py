"""Writing with a language model: a prompt is read once for all its rows, and rows that ended leave the batch."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from paraform.decoding import Decoding, beam, greedy, left_to_right
from paraform.models.lm.draws import Nucleus, uniforms
from paraform.models.lm.network import CausalNetwork
from paraform.models.lm.prompts import Prompts
from paraform.models.writing import numbers_batch
from paraform.progress import track

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
