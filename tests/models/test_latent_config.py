"""The thirteen objectives, and which fields paper, code and we disagree on."""

from __future__ import annotations

import dataclasses

import pytest

from paraform.models.latent import OBJECTIVES, LatentConfig
from paraform.models.latent.update import beta_schedule

# The fields of REFERENCE.md items 1 to 10, and what follows from another corpus.
DISAGREE = {
    "posterior", "circle_reduction", "encoder_kl_term", "squared_term", "contrastive_extras", "negatives_view",
    "encoder_dropout", "beta_start", "beta_ramp", "svi_steps", "inner_optimizer",
}  # fmt: skip


def differences(one: LatentConfig, other: LatentConfig) -> set[str]:
    return {f.name for f in dataclasses.fields(one) if getattr(one, f.name) != getattr(other, f.name)}


def test_the_presets_differ_only_where_paper_and_code_disagree() -> None:
    fixed, paper, reference = LatentConfig(), LatentConfig.paper(), LatentConfig.reference()
    assert differences(fixed, paper) | differences(fixed, reference) | differences(paper, reference) == DISAGREE


@pytest.mark.parametrize("corpus", ["yahoo", "yelp"])
def test_the_scripts_of_the_larger_corpora(corpus: str) -> None:
    ptb, other = LatentConfig.reference(), LatentConfig.reference(corpus)
    sizes = {"word_width", "hidden_width", "learning_rate", "initial_range", "vocabulary_size", "encoder_dropout"}
    parts = {"squared_term", "contrastive_extras"}
    yelp = {"kl", "contrast", "circle_reduction"} if corpus == "yelp" else set()
    assert differences(ptb, other) == sizes | parts | yelp


def test_thirteen_objectives() -> None:
    assert len(OBJECTIVES) == 13
    seen = {dataclasses.replace(LatentConfig().with_objective(name), objective="") for name in OBJECTIVES}
    assert len(seen) == 13  # no two are one


def test_an_objective_replaces_another_whole() -> None:
    there = LatentConfig().with_objective("savae").with_objective("clvae+_mi")
    assert there == LatentConfig()
    assert LatentConfig.paper().with_objective("ivae").posterior == "mlp"
    assert LatentConfig.paper().with_objective("vae").with_objective("ivae").posterior == "affine"


def test_unknown_objectives_and_impossible_mixtures() -> None:
    with pytest.raises(ValueError, match="'vaee'; expected one of ae, vae"):
        LatentConfig().with_objective("vaee")
    for fields in (
        {"kl": "closed", "critic": "none", "posterior": "mlp"},
        {"kl": "dual", "critic": "none"},
        {"kl": "closed", "critic": "z"},
        {"kl": "none", "critic": "none", "posterior": "affine", "inner": "svi", "contrast": "none"},
        {"posterior": "gaussian", "kl": "dual", "inner": "svi", "contrast": "none"},
        {"posterior": "point"},
        {"aggressive_check": 0},
        {"svi_steps": -1},
        {"tie_embeddings": True, "word_width": 8},
        {"network": "transformer", "heads": 7},
        {"encoder_dropout": 1.5},
        {"batch_size": 0},
        {"temperature": 0.0},
        {"temperature": float("nan")},
        {"clip_norm": -1.0},
        {"clip_norm": 0.0},
        {"vocabulary_size": -5},
        {"critic_width": 0},
        {"critic_layers": -1},
        {"contrast_weight": -1.0},
        {"initial_range": -1.0},
        {"beta": float("inf")},
        {"network": "transformer", "heads": 0},
        {"network": "transformer", "layers": 0},
        {"positives": "swap", "contrast": "none"},
        {"contrast": "Z"},
        {"beta_schedule": "cyclic"},
        {"network": "LSTM"},
        {"inner_optimizer": "SGD"},
    ):
        with pytest.raises(ValueError, match=r"expected|only|need|infinite"):
            LatentConfig(**fields)


def test_an_error_names_the_field_and_its_value() -> None:
    with pytest.raises(ValueError, match=r"^beta_start -1.0; expected 0 or more$"):
        LatentConfig(beta_start=-1.0)
    with pytest.raises(ValueError, match=r"^kl 'closd'; expected one of none, closed, dual, circle$"):
        LatentConfig(kl="closd", critic="none")  # type: ignore[arg-type]


def test_beta_over_a_run() -> None:
    linear = beta_schedule(LatentConfig(beta_start=0.1, beta_warmup=0.5), 100)
    assert [round(linear(step), 3) for step in (0, 25, 50, 99)] == [0.1, 0.55, 1.0, 1.0]
    half = beta_schedule(LatentConfig().with_objective("beta-vae"), 100)
    assert half(99) == 0.5 and half(0) == 0
    cycles = beta_schedule(LatentConfig(beta_cycle=0.25, beta_ramp=0.5).with_objective("cycvae"), 80)
    assert [round(cycles(step), 3) for step in (0, 5, 10, 19, 20, 25)] == [0, 0.5, 1, 1, 0, 0.5]
    uneven = beta_schedule(LatentConfig(beta_cycle=0.25, beta_ramp=1.0).with_objective("cycvae"), 9)
    ninths = [0, 4, 8, 3, 7, 2, 6, 1, 5]  # a cycle is 2.25 steps
    assert [uneven(step) for step in range(9)] == pytest.approx([ninth / 9 for ninth in ninths])
    never = beta_schedule(dataclasses.replace(LatentConfig().with_objective("vae"), beta=0.0), 100)
    assert {never(step) for step in range(100)} == {0.0}
