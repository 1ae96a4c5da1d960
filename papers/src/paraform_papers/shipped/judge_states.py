"""A judge by cross-attention over the frozen states of an encoder that reads each text alone: a row, not shipped.

Whether the first says all of the second is told by the second's states once they have attended to the first's.

Shape key: B pairs, T tokens of the longest text, D features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from paraform import encoders
from paraform.batching import Ragged
from paraform.batching.epochs import epoch_batches
from paraform.batching.pairs import Sides, sides_of
from paraform.capabilities import Verdicts
from paraform.checkpoint import load
from paraform.encoders import load_module, product_autocast
from paraform.losses.both_ways import both_ways_nll
from paraform.models.judge import JudgeConfig
from paraform.models.judge.judge import calibrated, cosines_of
from paraform.models.update import State, Stepper, terms_of
from paraform.records import Pair, Sentence
from paraform.schedules import warmup_linear
from paraform.trainers.job import Job
from paraform.trainers.judge import METRICS, calibration, known_of
from paraform.training import Result, TrainingConfig

LAYERS, HEADS, WIDE = 2, 6, 1536
DROPOUT = 0.1


class StatesJudge(nn.Module):
    """Two layers of attention to oneself and to the other text, over frozen states; one head for both directions."""

    system: ClassVar[str] = "judge-states"
    config_class: ClassVar[type] = JudgeConfig

    def __init__(self, config: JudgeConfig) -> None:
        super().__init__()
        self.config = config
        width = encoders.dimension_of(config.base)
        layer = nn.TransformerDecoderLayer(width, HEADS, WIDE, DROPOUT, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerDecoder(layer, LAYERS, nn.LayerNorm(width))
        self.head = nn.Linear(width, 1)
        self.register_buffer("calibration", torch.tensor([1.0, 0.0, 0.0]))
        self._base: list[Any] = []  # in a list: its weights are not this model's own
        self.pieces = encoders.load(config.base, device="cpu").pieces

    def states(self, ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """The frozen states [B, T, D] of texts' pieces, and which places are padding [B, T]."""
        if not self._base:
            self._base.append(load_module(self.config.base).eval())
        words_BT, lengths_B = Ragged.of(ids).padded(np.arange(len(ids)))
        there_BT = torch.arange(words_BT.shape[1]) < lengths_B[:, None]
        with torch.no_grad(), product_autocast(words_BT.device):
            found: Tensor = self._base[0](input_ids=words_BT, attention_mask=there_BT.long()).last_hidden_state
        return found.float(), ~there_BT

    def forward(self, ids: Sequence[Sequence[int]], firsts: Tensor, seconds: Tensor) -> Tensor:
        """[B, 2] logits of pairs of texts.

        Args:
            ids: of the different texts; `firsts` and `seconds` are rows of these.
        """
        states_NTD, padding_NT = self.states(ids)
        one, other = (states_NTD[firsts], padding_NT[firsts]), (states_NTD[seconds], padding_NT[seconds])
        return torch.stack([self._found(other, one), self._found(one, other)], 1)

    def _found(self, text: tuple[Tensor, Tensor], within: tuple[Tensor, Tensor]) -> Tensor:
        """How much of a text is found in another: [B]."""
        with product_autocast(text[0].device):
            read_BTD = self.layers(
                text[0], within[0], tgt_key_padding_mask=text[1], memory_key_padding_mask=within[1]
            ).float()
        there_BT1 = (~text[1])[:, :, None]
        logits_B1: Tensor = self.head((read_BTD * there_BT1).sum(1) / there_BT1.sum(1))
        return logits_B1[:, 0]

    @torch.inference_mode()
    def logits(self, pairs: Sequence[tuple[str, str]], size: int = 64) -> Tensor:
        """[N, 2] before they are calibrated."""
        sides = sides_of([Pair(Sentence(a), Sentence(b)) for a, b in pairs])
        ids = self.pieces(sides.texts)
        order = np.argsort([len(ids[a]) + len(ids[b]) for a, b in zip(sides.source, sides.target, strict=True)])
        out_N2 = torch.empty(len(pairs), 2)
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            out_N2[rows] = self(*some_of(ids, sides, rows))
        return out_N2

    def judge(self, pairs: Sequence[tuple[str, str]]) -> Verdicts:
        """What is thought of pairs, calibrated, as of `MeaningJudge`."""
        numbers_3: Tensor = self.calibration  # type: ignore[assignment] # a buffer
        ways_N2 = calibrated(self.logits(pairs), cosines_of(pairs, numbers_3.device), numbers_3).sigmoid().numpy()
        return Verdicts(ways_N2.prod(1), ways_N2[:, 0], ways_N2[:, 1])

    def assets(self) -> dict[str, str]:
        """None."""
        return {}

    @classmethod
    def restore(cls, config: dict[str, Any], assets: dict[str, str]) -> Self:
        """A judge with fresh weights."""
        return cls(JudgeConfig(**config))


def some_of(
    ids: Sequence[Sequence[int]], sides: Sides, rows: NDArray[np.int64]
) -> tuple[list[Sequence[int]], Tensor, Tensor]:
    """The different texts of some pairs, and the rows of each pair's sides among them."""
    texts, at = np.unique(np.concatenate([sides.source[rows], sides.target[rows]]), return_inverse=True)
    return [ids[text] for text in texts], torch.from_numpy(at[: len(rows)]), torch.from_numpy(at[len(rows) :])


def train_states(
    pairs: Sequence[Pair], folder: Path, *, validation: Sequence[Pair], config: JudgeConfig, loop: TrainingConfig
) -> Result:
    """Train as `train_judge` does, on the same batches but for the order of a pair, which changes nothing here."""
    job = Job.of(
        StatesJudge, folder, config, loop, METRICS, config=config, loop=loop, validation=validation, resume=True
    )
    divided = job.divided(pairs, labelled=True)
    torch.manual_seed(loop.seed)
    model = StatesJudge(config)
    known, held = known_of(divided.training), torch.from_numpy(known_of(divided.validation))
    sides = sides_of(divided.training)
    ids = model.pieces(sides.texts)
    long = np.array([len(one) for one in ids])
    rows_of, steps, own = epoch_batches(
        len(known), what="pairs", lengths=(long[sides.source] + long[sides.target],), **job.batching
    )
    adamw = torch.optim.AdamW(model.parameters(), lr=config.learning_rate)
    stepper = Stepper(
        model,
        adamw,
        job.accelerator,
        rate=warmup_linear(total=steps * config.epochs, warmup=config.warmup),
        clip_norm=1.0,
    )

    def update(rows: NDArray[np.int64], step: int) -> dict[str, float]:
        model.train()
        loss = both_ways_nll(model(*some_of(ids, sides, rows)), torch.from_numpy(known[rows]))
        return terms_of(loss=loss.detach(), **stepper(loss, step))

    def evaluate() -> Mapping[str, float]:
        model.eval()
        told = [(pair.source.text, pair.target.text) for pair in divided.validation]
        calibration_3, nll = calibration(model.logits(told), cosines_of(told, torch.device("cpu")), held)
        model.calibration.copy_(calibration_3)  # type: ignore[operator]
        return {"nll": nll}

    batches: Callable[[int], Any] = lambda step: rows_of(step)[own]  # noqa: E731
    return job.run(model, (update, State({"adamw": adamw})), batches, evaluate, digests=divided.digests, epoch=steps)


def load_states(folder: Path) -> StatesJudge:
    """The judge of a run."""
    model: StatesJudge = load(str(folder), device="cpu", systems={StatesJudge.system: StatesJudge})
    return model
