"""Every config: what no field can be, and presets with fields of one's own."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from paraform.models.disentangled import DisentangledConfig
from paraform.models.exemplar import ExemplarConfig
from paraform.models.latent import LatentConfig
from paraform.models.retrofit import RetrofitConfig
from paraform.models.seq2seq import Seq2SeqConfig
from paraform.records import InputError
from paraform.syntax import MiningConfig
from paraform.training import TrainingConfig
from paraform_papers.par.reader import ReaderConfig
from paraform_papers.rivals.scpn import ScpnConfig
from paraform_papers.rivals.sgcp import SgcpConfig
from paraform_papers.rivals.vgvae import VgvaeConfig

CONFIGS = (
    DisentangledConfig,
    ExemplarConfig,
    LatentConfig,
    ReaderConfig,
    RetrofitConfig,
    ScpnConfig,
    Seq2SeqConfig,
    SgcpConfig,
    VgvaeConfig,
    MiningConfig,
    TrainingConfig,
)
FIELDS = [(config, field.name) for config in CONFIGS for field in dataclasses.fields(config)]
NEVER = ("nothing of the kind", [], {}, object(), 10**30, -(10**30), float("nan"), float("inf"), b"x")
PRESETS: list[tuple[Callable[..., Any], str, Any]] = [
    (DisentangledConfig.paper, "epochs", 7),
    (DisentangledConfig.reference, "epochs", 7),
    (DisentangledConfig.compact, "epochs", 7),
    (DisentangledConfig.compact_paper, "epochs", 7),
    (ExemplarConfig.paper, "epochs", 7),
    (ExemplarConfig.reference, "epochs", 7),
    (ExemplarConfig.compact, "epochs", 7),
    (LatentConfig.paper, "epochs", 7),
    (RetrofitConfig.paper, "epochs", 7),
    (RetrofitConfig.reference, "epochs", 7),
    (ScpnConfig.paper, "epochs", 7),
    (ScpnConfig.compact, "epochs", 7),
    (Seq2SeqConfig.paper, "epochs", 7),
    (Seq2SeqConfig.compact, "epochs", 7),
    (SgcpConfig.paper, "epochs", 7),
    (SgcpConfig.compact, "epochs", 7),
    (VgvaeConfig.paper, "epochs", 7),
    (VgvaeConfig.compact, "epochs", 7),
    (LatentConfig.compact, "epochs", 7),
    (LatentConfig.reference, "epochs", 7),
    (MiningConfig.paper, "keep", 7),
    (MiningConfig.reference, "keep", 7),
]


@pytest.mark.parametrize(("config", "field"), FIELDS)
def test_what_a_field_cannot_be(config: Any, field: str) -> None:
    """One line that names it; a free text may be any."""
    text = isinstance(getattr(config(), field), str)
    for value in NEVER:
        if (
            text
            and isinstance(value, str)
            and field in ("word_vectors", "style_encoder", "encoder", "metric", "parser", "base")
        ):
            continue
        with pytest.raises(InputError, match=field) as caught:
            config(**{field: value})
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize(("preset", "field", "value"), PRESETS)
def test_a_preset_takes_fields(preset: Callable[..., Any], field: str, value: Any) -> None:
    """It is the preset but for these."""
    assert preset(**{field: value}) == dataclasses.replace(preset(), **{field: value})
    with pytest.raises(InputError, match=rf"has no field '{field}x'; did you mean '{field}'\?"):
        preset(**{f"{field}x": value})
    with pytest.raises(InputError, match=field):
        preset(**{field: 10**30})


def test_a_preset_of_a_corpus_takes_fields() -> None:
    for corpus, size in itertools.product(("ptb", "yahoo", "yelp"), (3, 4)):
        assert LatentConfig.reference(corpus, epochs=size) == dataclasses.replace(
            LatentConfig.reference(corpus), epochs=size
        )
    assert MiningConfig.reference("paranmt", keep=3) == dataclasses.replace(MiningConfig.reference("paranmt"), keep=3)
    with pytest.raises(InputError, match="corpus 'other'; expected one of ptb, yahoo, yelp"):
        LatentConfig.reference("other")  # type: ignore[arg-type]  # no corpus on purpose
