"""What a checkpoint's card says of the run that made it, where nobody has written one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from paraform import manifest
from paraform.training.config import MAY_DIFFER, TrainingConfig


def run_card(
    system: str,
    model_config: Any,
    name: str,
    step: int,
    config: TrainingConfig,
    scores: Mapping[str, float],
    data: Mapping[str, str],
) -> str:
    """README.md: which step of which run, its scores, data and settings, and that nobody has said the data's terms.

    Args:
        model_config: the model's, a dataclass.
        name: "best" or "last".
        scores: of the validation at that step; {} if there was none.
        data: SHA-256 by name, of what it was trained on.
    """
    revision = manifest.revision()
    lines = [
        f"# {system}",
        "",
        f"The {name} checkpoint of a training run of paraform's, at step {step:,} of {config.steps:,}, by"
        f" seed {config.seed}.",
        "",
        *_section("Validation", {key: f"{value:.4g}" for key, value in scores.items()}),
        *_section("Data, by SHA-256", {key: f"`{digest}`" for key, digest in data.items()}),
        "Nobody has said on what terms the data may be used; the weights are under the same.",
        "",
        *_section("The model's fields that are not as by default", _changed(model_config)),
        *_section("The loop's", _changed(config, skip=("steps", "seed", *MAY_DIFFER))),
        *_section("Made by", {**manifest.versions(), **({"git": revision} if revision else {})}),
    ]
    return "\n".join(lines)


def _changed(config: Any, skip: tuple[str, ...] = ()) -> dict[str, str]:
    fields = [field for field in dataclasses.fields(config) if field.name not in skip]
    values = {field.name: (getattr(config, field.name), field.default) for field in fields}
    return {name: f"`{value!r}`" for name, (value, usual) in values.items() if value != usual}


def _section(title: str, values: Mapping[str, str]) -> list[str]:
    return [f"{title}:", "", *(f"- {name}: {value}" for name, value in values.items()), ""] if values else []
