"""Train a judge of whether two texts say the same, on labelled pairs: adapters on minilm, on smollm2, or on a base of
your own.

Labels are 1, both say the same, and 0; JSON lines may say of each direction how sure it is, 0 to 1: "forth", that the
source says all of the target, and "back". OUT/best is the checkpoint with the best validation likelihood, OUT/last what
--resume goes on from. --from goes on from another run.

Example:
  paraform train judge --data labelled.tsv --format labelled-pairs --out runs/mine
  paraform train judge --data labelled.jsonl --format jsonl --out runs/ours --from runs/mine --config.learning_rate 2e-4
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraform.batching import Ragged
from paraform.checkpoint.vectors import model_digest
from paraform.losses.both_ways import both_ways_nll
from paraform.models.judge import JudgeConfig, MeaningJudge, make_update
from paraform.models.judge.batches import JudgeTable, judge_batches
from paraform.models.judge.judge import calibrated, cosines_of
from paraform.records import InputError, Pair
from paraform.trainers import RunOptions, Trainer
from paraform.trainers.job import Job
from paraform.training import Result, TrainingConfig, text_digest
from paraform.weights import PathLike
from paraform.words import tell_cut

METRICS = {"nll": False}  # whether higher is better
PRIOR = 0.1  # pairs' worth
BY_NLL = TrainingConfig(metric="nll", evaluate_every=400, checkpoint_every=200, log_every=20, mixed_precision="bf16")


def train_judge(
    pairs: Iterable[Pair],
    folder: PathLike,
    *,
    start: MeaningJudge | None = None,
    **options: Unpack[RunOptions[JudgeConfig, Pair]],
) -> Result:
    """Train and validate; `folder/best` is the checkpoint with the best validation score, calibrated by the validation.

    Args:
        pairs: labelled 1 or 0, or with `forth` and `back`; all get new clusters if one has none.
        folder: the run's; `paraform.load(folder)` reads the best weights.
        start: a judge whose weights the training goes on from; None: the base alone.
        options: as `RunOptions` has them; usually the config of `start`, or `JudgeConfig()`, and `BY_NLL`.
    Raises: InputError for too few pairs, what is no pair, one of which nothing is known, a base that is not to be had,
        a `start` of other sizes, or a folder that holds another run.
    """
    if start is not None and not isinstance(start, MeaningJudge):
        raise InputError(f"start is a {type(start).__name__}; expected a judge, such as load gives")
    job = Job.of(MeaningJudge, folder, start.config if start else JudgeConfig(), BY_NLL, METRICS, **options)
    config: JudgeConfig = job.config
    divided = job.divided(pairs, labelled=True)
    known = [known_of(some) for some in (divided.training, divided.validation)]
    torch.manual_seed(job.loop.seed)
    model = MeaningJudge.of(config)
    digests = {**{f"base's {name}": digest for name, digest in model.about["digests"].items()}, **divided.digests}
    digests["what is known"] = text_digest(str(row) for some in known for row in some.tolist())
    if start is not None:
        sizes = (start.about, start.config.rank, start.config.layers)
        if sizes != (model.about, config.rank, config.layers):
            raise InputError("start has another base, rank or layers than the config says; expected the same")
        model.load_state_dict(start.state_dict())
        digests["start"] = model_digest(start)
    model.to(job.accelerator.device)
    table = table_of(model, divided.training, known[0], seed=job.loop.seed, tell=True)
    batches, epoch = judge_batches(table, **job.batching)
    update = make_update(model, config, job.accelerator, steps_per_epoch=epoch)
    evaluate = validator(model, divided.validation, known[1])
    return job.run(model, update, batches, evaluate, digests=digests, epoch=epoch)


def known_of(pairs: Sequence[Pair]) -> NDArray[np.float32]:
    """[M, 3], as `losses.both_ways` has it. Raises: InputError for a pair of which nothing is known, or no share."""
    for number, pair in enumerate(pairs, start=1):
        told = [one for one in (pair.label, pair.forth, pair.back) if one is not None]
        if not told or not all(0 <= one <= 1 for one in told):
            message = f"label {pair.label}, forth {pair.forth}, back {pair.back}; expected one of them at least, 0 to 1"
            raise pair.origin.error(message) if pair.origin else InputError(f"pair {number}: {message}")
    rows = [[np.nan if one is None else one for one in (pair.forth, pair.back, pair.label)] for pair in pairs]
    return np.array(rows, np.float32).reshape(-1, 3)


def table_of(
    model: MeaningJudge, pairs: Sequence[Pair], known: NDArray[np.float32], *, seed: int, tell: bool = False
) -> JudgeTable:
    """The pairs' table, half of them in the other order.

    Args:
        tell: whether a warning counts pairs that are cut.
    """
    turned = np.random.default_rng(seed).random(len(pairs)) < 0.5
    sides = [(pair.source.text, pair.target.text) for pair in pairs]
    ordered = [one[::-1] if turn else one for one, turn in zip(sides, turned, strict=True)]
    rows, seconds, cut = model.pieces.rows(ordered)
    if tell:
        tell_cut(cut, len(rows), f"{model.config.max_pieces} pieces of both texts", model.kind)
    told = np.where(turned[:, None], known[:, [1, 0, 2]], known)
    return JudgeTable(Ragged.of(rows), np.array(seconds, np.int64), told)


def validator(model: MeaningJudge, pairs: Sequence[Pair], known: NDArray[np.float32]) -> Callable[[], dict[str, float]]:
    """The validation's figure: `nll`, nats a pair, once it is calibrated by these very pairs."""
    sides, known_N3 = [(pair.source.text, pair.target.text) for pair in pairs], torch.from_numpy(known)
    cosines_N = cosines_of(sides, model.device)

    @torch.inference_mode()
    def evaluate() -> dict[str, float]:
        model.eval()
        model.forget()  # the weights of before
        calibration_3, nll = calibration(model.logits(sides), cosines_N, known_N3)
        model.forget()
        model.calibration.copy_(calibration_3)
        return {"nll": nll}

    return evaluate


def calibration(logits_N2: Tensor, cosines_N: Tensor, known_N3: Tensor) -> tuple[Tensor, float]:
    """The three numbers of `models.judge.calibrated` with which what is known is likeliest; and its nats a pair.

    A prior, `PRIOR` / N times (ln scale)² + shift² + (weight / 10)², keeps them finite where all pairs are told
    apart, or are alike.
    """
    with torch.inference_mode(False), torch.enable_grad():
        logits_N2, cosines_N, known_N3 = (one.double().clone() for one in (logits_N2, cosines_N, known_N3))
        numbers_3 = torch.zeros(3, dtype=torch.float64, requires_grad=True)  # ln of the scale; the shift; weight / 10
        search = torch.optim.LBFGS([numbers_3], max_iter=200, line_search_fn="strong_wolfe")

        def found() -> Tensor:
            return torch.stack([numbers_3[0].exp(), numbers_3[1], numbers_3[2] * 10])

        def nats() -> Tensor:
            return both_ways_nll(calibrated(logits_N2, cosines_N, found()), known_N3)

        def searched() -> Tensor:
            search.zero_grad()
            loss = nats() + PRIOR / len(known_N3) * numbers_3.square().sum()
            loss.backward()  # type: ignore[no-untyped-call] # torch has no type for it
            return loss

        search.step(searched)  # type: ignore[no-untyped-call] # likewise
        return found().detach().float(), nats().item()


TRAINER = Trainer(
    train=train_judge,
    config=JudgeConfig,
    presets={"default": JudgeConfig, "lm": JudgeConfig.lm},
    loop=BY_NLL,
    reads="labelled pairs",
    best="validation likelihood, nats a pair {:.3f}",
    help=__doc__,
)
