"""A language model that paraphrases: its answers against transformers' `generate`, its training against a loop on peft.

    python benchmarks/language_model.py [--model RUN] [--texts 16] [--pairs 1024] [--steps 8] [--repeats 2] [--threads 1]

Answers, in turn: `say` with 8 answers a text, against `generate` of the same module with `num_return_sequences=8`, the
same prompts, padded on the left in the order that they come in, as many rows at once, and the same temperature, top-k
and top-p, so that both draw from the same pieces. They draw other answers all the same, so that the pieces written,
ends counted, stand there too. Without `--model` the adapters are fresh: the base answers, and rambles. Then both write
greedily, where they must say the same.

Training, step by step in turns, with fresh adapters: what `train lm` does in a step (rows of like length together, the
vocabulary for what is written alone) against a loop as peft's documentation has it: the same maps and rank, rows
shuffled and padded to the longest, labels of −100 on prompts and padding, all positions through the vocabulary, AdamW,
gradients clipped at 1. The rows of all timed steps are the same; the first step, not timed, has the same batch in both,
and must have the same loss. All in float32, one process, freed memory kept for both as training keeps it.

Bounds: 3 times the answers a second, every greedy text the same; 1.5 times the pieces a second, padding not counted,
first losses within 0.001 nats.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import peft
import torch
from _measure import Bound, arguments_of, in_turn, middle, report
from disentangled import spread
from transformers import AutoModelForCausalLM

from paraform import checkpoint, corpora
from paraform.encoders.locating import locate
from paraform.memory import keep_freed_memory
from paraform.models.lm import LMConfig, LMParaphraser, make_update, paraphraser
from paraform.models.lm.adapters import SCALE
from paraform.models.lm.batches import LMBatch, lm_batches
from paraform.models.lm.decoding import ROWS
from paraform.models.lm.draws import NUCLEUS
from paraform.models.lm.update import CLIP_NORM
from paraform.records import Pair
from paraform.trainers.lm import BY_NLL, table_of
from paraform.training import make_accelerator

ANSWERS = 8  # of each text
DRAWN: dict[str, float] = {"temperature": 0.8, "top_p": 0.95}
Row = tuple[list[int], int]
"""A prompt with its target behind it, and how many pieces are the prompt's."""


def generated(model: LMParaphraser, texts: Sequence[str], size: int, **how: Any) -> list[list[int]]:
    """What `generate` writes for the texts, so many at once, without the ends."""
    end, out = model.prompts.marks.end, []
    for at in range(0, len(texts), size):
        prompts = model.prompts.prompts(texts[at : at + size], None, model.config)
        read = [[*one.numbers, model.prompts.begin] for one in prompts]
        longest = max(map(len, read))
        found_NT = model.network.module.generate(  # type: ignore[operator]
            input_ids=torch.tensor([[end] * (longest - len(row)) + row for row in read]),
            attention_mask=torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in read]),
            eos_token_id=end,
            pad_token_id=end,
            max_new_tokens=model.config.max_written,
            **how,
        )[:, longest:]
        out += [row[: row.index(end)] if end in row else row for row in found_NT.tolist()]
    return out


def answer(model: LMParaphraser, texts: Sequence[str], repeats: int) -> dict[str, Any]:
    """Both in turn; the figures."""
    pieces: dict[str, list[int]] = {"paraform": [], "transformers": []}
    write = paraphraser.written

    def count(name: str, rows: list[list[int]]) -> list[list[int]]:
        assert len(rows) == ANSWERS * len(texts)
        pieces[name].append(sum(min(len(row) + 1, model.config.max_written) for row in rows))
        return rows

    def ours() -> None:
        with patch.object(paraphraser, "written", lambda *given: count("paraform", write(*given))):
            model.say(texts, num=ANSWERS, **DRAWN)  # type: ignore[arg-type]

    def theirs() -> None:
        how = {**DRAWN, "top_k": NUCLEUS, "num_return_sequences": ANSWERS}
        rows = count("transformers", generated(model, texts, ROWS // ANSWERS, do_sample=True, **how))
        _ = [model.prompts.text(row) for row in rows]

    torch.manual_seed(0)
    seconds = in_turn(repeats, {"paraform": ours, "transformers": theirs})
    figures: dict[str, Any] = {
        "numbers of the answers": str(next(model.network.parameters()).dtype).removeprefix("torch."),
        "answers": ANSWERS * len(texts),
    }
    for name, taken in seconds.items():
        rates = [count / time for count, time in zip(pieces[name][1:], taken, strict=True)]
        figures[f"{name}, answers a second"] = ANSWERS * len(texts) / middle(taken)
        figures[f"{name}, pieces of an answer"] = sum(pieces[name][1:]) / repeats / ANSWERS / len(texts)
        figures[f"{name}, pieces a second"] = middle(rates)
    for what in ("answers", "pieces"):
        one, other = (figures[f"{name}, {what} a second"] for name in seconds)
        figures[f"answering, ratio of {what}"] = one / other
    greedy = [model.prompts.text(row) for row in generated(model, texts, ROWS, do_sample=False)]
    same = sum(one == other for one, other in zip(model.decode(texts, [""] * len(texts)), greedy, strict=True))
    return {**figures, "greedy texts": len(texts), "greedy texts that are not the same": len(texts) - same}


def rows_of(batch: LMBatch) -> list[Row]:
    """Of a batch, without padding."""
    triples = zip(batch.rows.words_BT.tolist(), batch.rows.lengths_B.tolist(), batch.prompts_B.tolist(), strict=True)
    return [(words[:length], prompt) for words, length, prompt in triples]


def peer_of(model: LMParaphraser) -> Callable[[Sequence[Row]], float]:
    """A step of the same training by peft, which gives its loss."""
    config = model.config
    assert model.adapters is not None
    base = AutoModelForCausalLM.from_pretrained(str(locate(config.base)), dtype=torch.float32)
    lora = {"r": config.rank, "lora_alpha": int(SCALE * config.rank), "target_modules": list(model.adapters.shapes)}
    peer = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", **lora)).train()
    weights = [weight for weight in peer.parameters() if weight.requires_grad]
    assert sum(weight.numel() for weight in weights) == sum(weight.numel() for weight in model.adapters.parameters())
    adamw = torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=0.0)

    def step(rows: Sequence[Row]) -> float:
        def padded(sides: list[list[int]], value: int) -> torch.Tensor:
            tensors = [torch.tensor(side) for side in sides]
            return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=value)

        loss = peer(
            input_ids=padded([words for words, _ in rows], model.prompts.marks.end),
            attention_mask=padded([[1] * len(words) for words, _ in rows], 0),
            labels=padded([[-100] * prompt + words[prompt:] for words, prompt in rows], -100),
        ).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, CLIP_NORM)
        adamw.step()
        adamw.zero_grad()
        return float(loss.item())

    return step


def train(model: LMParaphraser, pairs: Sequence[Pair], steps: int) -> dict[str, Any]:
    """Both, step by step in turns; the figures."""
    size = model.config.batch_size
    batches, epoch = lm_batches(table_of(model, pairs, seed=0), batch_size=size, seed=0)
    steps = min(steps, epoch - 1)
    update, _ = make_update(model, model.config, make_accelerator(replace(BY_NLL, device="cpu")), steps_per_epoch=epoch)
    peer = peer_of(model)
    model.network.train()
    first = abs(update(batches(0), 0)["loss"] - peer(rows_of(batches(0))))
    rows = [row for step in range(1, steps + 1) for row in rows_of(batches(step))]
    order = np.random.default_rng(0).permutation(len(rows)).reshape(steps, size)
    ours = theirs = 0.0
    for step in range(1, steps + 1):
        start = time.perf_counter()
        update(batches(step), step)
        between = time.perf_counter()
        peer([rows[row] for row in order[step - 1]])
        ours, theirs = ours + between - start, theirs + time.perf_counter() - between
    pieces = sum(len(words) for words, _ in rows)
    padded = sum(size * max(len(rows[row][0]) for row in some) for some in order)
    return {
        "pairs": len(pairs),
        "steps": steps,
        "positions of a piece, by length": sum(batches(step).rows.words_BT.numel() for step in range(1, steps + 1))
        / pieces,
        "positions of a piece, shuffled": padded / pieces,
        "paraform, pieces a second of training": pieces / ours,
        "peft, pieces a second of training": pieces / theirs,
        "training, ratio": theirs / ours,
        "difference of the first loss": first,
    }


def main() -> int:
    parser = arguments_of(__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/quora/train.tsv"), help="pairs, one a line")
    parser.add_argument("--base", default="smollm2", help="the language model; `paraform fetch smollm2` keeps that one")
    parser.add_argument("--model", type=Path, help="a checkpoint that answers; not given: fresh adapters")
    parser.add_argument("--texts", type=int, default=16, help="that are answered")
    parser.add_argument("--repeats", type=int, default=2, help="times that each way of answering is run")
    parser.add_argument("--pairs", type=int, default=1024, help="that an epoch has")
    parser.add_argument("--batch-size", type=int, default=LMConfig().batch_size, help="pairs a step")
    parser.add_argument("--steps", type=int, default=8, help="timed, after one that is not")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    keep_freed_memory()
    fresh = LMParaphraser.of(LMConfig(base=options.base, batch_size=options.batch_size))
    pairs = spread([pair for pair in corpora.read_pairs(options.data) if isinstance(pair, Pair)], options.pairs)
    texts = list(dict.fromkeys(pair.source.text for pair in spread(pairs, options.texts)))
    model = checkpoint.load(options.model, device="cpu") if options.model else fresh
    figures = {"adapters": str(options.model or "fresh"), **answer(model, texts, options.repeats)}
    figures |= train(fresh, pairs, options.steps)
    bounds: dict[str, Bound] = {
        "answering, ratio of answers": ("at least", 3.0),
        "greedy texts that are not the same": ("at most", 0.0),
        "training, ratio": ("at least", 1.5),
        "difference of the first loss": ("at most", 1e-3),
    }
    return report(figures, bounds, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main())
