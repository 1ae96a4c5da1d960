"""The judges of `judge_rows` that are trained: on one base or another, from nothing or from an embedded one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraform import corpora
from paraform.capabilities import JudgesMeaning
from paraform.models.judge import JudgeConfig, MeaningJudge
from paraform.records import Pair
from paraform.trainers.judge import BY_NLL, train_judge
from paraform_papers.shipped.judge import judge_of
from paraform_papers.shipped.judge_sets import sides
from paraform_papers.shipped.judge_states import StatesJudge, load_states, train_states

CONFIGS = {
    "states": JudgeConfig(),
    "small": JudgeConfig(),
    "lm": JudgeConfig.lm(),
    "labels": JudgeConfig(warmup=50),
    "taught": JudgeConfig(warmup=50),
}
GOING_ON = ("labels", "taught")  # from `START`
START, TEACHER = "minilm-judge", "smollm2-judge"


def trained_judge(name: str, folder: Path, pairs: Path, seed: int) -> MeaningJudge | StatesJudge:
    """The row's judge, trained unless that was done. Raises: KeyboardInterrupt if interrupted, and saved."""
    config = CONFIGS[name]
    read = {
        part: [one for one in corpora.read_jsonl(pairs / f"{part}.jsonl") if isinstance(one, Pair)]
        for part in ("train", "dev")
    }
    loop = replace(BY_NLL, device="cpu", seed=seed, tensorboard=False)
    if name == "states":
        train_states(read["train"], folder, validation=read["dev"], config=config, loop=loop).require_over()
        return load_states(folder)
    given: dict[str, Any] = {"validation": read["dev"], "config": config, "loop": loop, "resume": True}
    if name in GOING_ON:
        given["start"] = judge_of(START)
    training = taught_by(judge_of(TEACHER), read["train"]) if name == "taught" else read["train"]
    train_judge(training, folder, **given).require_over()
    return judge_of(str(folder))


def taught_by(teacher: JudgesMeaning, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, with what the teacher thinks of each direction in the place of what is known."""
    found = teacher.judge([sides(one) for one in pairs], progress=True)
    ways = zip(pairs, found.forth.tolist(), found.back.tolist(), strict=True)
    return [replace(one, label=None, forth=forth, back=back) for one, forth, back in ways]
