"""Fields of a configuration: their types, their bounds, and presets with some of them changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest

from paraform.fields import Above, Between, kept_fields, require_restorable, require_types, with_fields
from paraform.models.seq2seq import Seq2SeqConfig
from paraform.records import InputError
from paraform_papers.rivals.averaged import AveragedConfig
from paraform_papers.rivals.infersent import InferSentConfig
from paraform_papers.rivals.scpn import ScpnConfig
from paraform_papers.rivals.sgcp import SgcpConfig
from paraform_papers.rivals.vgvae import VgvaeConfig


@dataclass(frozen=True)
class Settings:
    steps: Any = 1
    rate: Any = 0.5
    name: Any = "a"
    on: Any = True
    way: Literal["x", "y"] = "x"


Settings.__annotations__ |= {"steps": "int", "rate": "float", "name": "str", "on": "bool"}


def test_fields_have_the_types_that_they_are_declared_with() -> None:
    require_types(Settings())
    require_types(Settings(rate=1, way="y"))
    for field, value, message in (
        ("steps", 1.0, "steps is 1.0 of type float; expected an int"),
        ("steps", True, "steps is True of type bool; expected an int"),
        ("steps", np.int64(3), r"steps is (np.int64\(3\)|3) of type int64; expected an int"),
        ("rate", "0.3", "rate is '0.3' of type str; expected a float"),
        ("rate", np.float32(0.5), r"rate is .*0.5\)? of type float32; expected a float"),
        ("rate", False, "rate is False of type bool; expected a float"),
        ("name", 3, "name is 3 of type int; expected a str"),
        ("on", 1, "on is 1 of type int; expected a bool"),
        ("way", "z", "way 'z'; expected one of x, y"),
        ("steps", 10**30, "steps is a number beyond 64 bits; expected a smaller one"),
        ("rate", float("nan"), "rate is nan; expected a finite number"),
    ):
        with pytest.raises(InputError, match=f"^{message}$"):
            require_types(Settings(**{field: value}))


@dataclass(frozen=True)
class Bounded:
    share: Annotated[float, Between(0, 0.5)] = 0.5
    steps: Annotated[int, Between(2, math.inf)] = 2
    rate: Annotated[float, Above(0)] = 0.1
    removed: ClassVar[Mapping[str, object]] = {"way": "x"}


def test_bounds_stand_beside_the_type() -> None:
    """Both ends of `Between` are counted, that of `Above` is not; types come first."""
    for config in (Bounded(), Bounded(share=0), Bounded(steps=10**9, rate=5e-324)):
        require_types(config)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"share": 0.51}, "share 0.51; expected 0 to 0.5"),
        ({"share": -0.1}, "share -0.1; expected 0 to 0.5"),
        ({"steps": 1}, "steps 1; expected 2 or more"),
        ({"steps": 2.0}, "steps is 2.0 of type float; expected an int"),
        ({"rate": 0}, "rate 0; expected a number above 0"),
        ({"rate": math.inf}, "rate is inf; expected a finite number"),
    ]
    for given, message in wrong:
        with pytest.raises(InputError, match=f"^{message}$"):
            require_types(Bounded(**given))


def test_fields_that_are_read_no_more_are_left_out() -> None:
    stored = {"share": 0.1, "way": "x", "colour": 1}
    assert kept_fields(Bounded, stored, "a") == {"share": 0.1, "colour": 1}
    assert kept_fields(Settings, stored, "a") == stored
    with pytest.raises(
        InputError, match=r"^a: config.way is 'y{59}, which paraform reads no more; version 0\.1\.0 does$"
    ):
        kept_fields(Bounded, {"way": "y" * 99}, "a")


def test_a_preset_with_fields_has_them_and_no_other() -> None:
    config = ScpnConfig.compact()
    changed = with_fields(config, {"epochs": config.epochs + 1})
    assert changed.epochs == config.epochs + 1 and with_fields(changed, {"epochs": config.epochs}) == config
    with pytest.raises(InputError, match=r"^ScpnConfig has no field 'epoch'; did you mean 'epochs'\?$"):
        with_fields(config, {"epoch": 1})
    with pytest.raises(InputError, match="its docstring names them"):
        with_fields(config, {"zzz": 1})


def test_a_checkpoint_has_the_fields_and_files_that_are_asked_for() -> None:
    known = asdict(ScpnConfig())
    require_restorable(ScpnConfig, {}, ["a", "b"], ["b"])
    require_restorable(ScpnConfig, known, ["a"], [])
    for config, files in (({**known, "more": 1}, ["a"]), ({"removed": {}}, ["a"]), (known, [])):
        with pytest.raises(InputError, match=r"^ScpnConfig of a checkpoint with unknown fields .*, without "):
            require_restorable(ScpnConfig, config, files, ["a"])


@pytest.mark.parametrize(
    "config", [ScpnConfig, SgcpConfig, Seq2SeqConfig, VgvaeConfig, InferSentConfig, AveragedConfig]
)
def test_what_was_removed_is_no_field(config: Any) -> None:
    """A class variable is none either: it is not checked as one, nor written into a checkpoint."""
    names = {field.name for field in fields(config)}
    assert config.removed and not names & {*config.removed, "removed"}
    assert set(asdict(config())) == names
    with pytest.raises(TypeError):
        config(removed={})
