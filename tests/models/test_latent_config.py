"""The thirteen objectives, and which fields paper, code and we disagree on."""

from __future__ import annotations

import dataclasses

import pytest

from paraform.models.latent import OBJECTIVES, LatentConfig
from paraform.models.latent.update import beta_schedule

# The fields of REFERENCE.md items 1 to 10, and what follows from another corpus.
DISAGREE = {
    "posterior", "circle_reduction", "encoder_kl_term", "squared_term", "contrastive_extras", "negatives_view",
    "encoder_dropout", "plain_dropout", "encoder_dropout_on", "critic_draws", "clipping", "decoder_start",
    "output_bias", "beta_rise", "beta_start", "beta_ramp", "svi_steps", "inner_optimizer",
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
    own = {"yelp": {"objective", "kl", "contrast"}, "yahoo": {"encoder_dropout_on"}}[corpus]
    assert differences(ptb, other) == sizes | parts | own


# Of REFERENCE.md, and of the paper's sections 3 and 4: (paper, reference, default).
VALUES: dict[str, tuple[object, object, object]] = {
    "posterior": ("mlp", "affine", "affine"),
    "circle_reduction": ("sum", "each", "mean"),
    "encoder_kl_term": ("circle", "dual", "dual"),
    "squared_term": ("paper", "reference", "none"),
    "contrastive_extras": ("none", "reference", "none"),
    "negatives_view": ("first", "second", "first"),
    "encoder_dropout": (0.3, 0.5, 0.3),
    "plain_dropout": (0.0, 0.1, 0.0),
    "encoder_dropout_on": ("both", "embedding", "both"),
    "critic_draws": ("one", "one", "each"),
    "clipping": ("together", "apart", "together"),
    "decoder_start": ("cell", "hidden", "cell"),
    "output_bias": (False, True, False),
    "beta_rise": ("own", "common", "own"),
    "beta_start": (0.0, 0.1, 0.0),
    "beta_ramp": (0.5, 1.0, 0.5),
    "svi_steps": (20, 10, 20),
    "inner_optimizer": ("sgd", "adam", "adam"),
}
AGREED: dict[str, object] = {
    "word_width": 256, "hidden_width": 256, "latent_width": 32, "vocabulary_size": 10_000, "max_tokens": 200,
    "batch_size": 32, "epochs": 40, "learning_rate": 1e-3, "initial_range": 0.1,
    "decoder_dropout": 0.5, "temperature": 0.05, "contrast_weight": 1.0, "beta": 1.0, "critic_width": 512,
    "critic_steps": 5, "critic_learning_rate": 1e-5, "network": "lstm", "text": "words",
}  # fmt: skip
LARGER: dict[str, object] = {"word_width": 512, "hidden_width": 1024, "learning_rate": 8e-4, "initial_range": 0.01}


def test_the_presets_have_the_values_of_paper_and_code() -> None:
    assert VALUES.keys() == DISAGREE
    presets = LatentConfig.paper(), LatentConfig.reference(), LatentConfig()
    for name, values in VALUES.items():
        assert tuple(getattr(preset, name) for preset in presets) == values, name
    for name, value in AGREED.items():
        assert {getattr(preset, name) for preset in presets} == {value}, name
    for corpus, extras, dropped in (("yahoo", "normal", "both"), ("yelp", "none", "embedding")):
        other = LatentConfig.reference(corpus)  # type: ignore[arg-type]  # of the two above
        expected = LARGER | {"encoder_dropout": 0.1, "squared_term": "none", "contrastive_extras": extras}
        expected |= {"encoder_dropout_on": dropped}
        assert {name: getattr(other, name) for name in expected} == expected


def test_the_script_for_yelp_is_a_clvae_mi_with_contrast_on_h() -> None:
    script = LatentConfig.reference("yelp")
    assert (script.objective, script.kl, script.critic, script.contrast) == ("clvae_mi", "dual", "z", "h")
    named = script.with_objective("clvae+_mi")  # what the name says, with all else of the script
    assert (named.kl, named.contrast, named.circle_reduction) == ("circle", "z", "each")


def test_dropout_of_the_encoder_makes_views_or_is_plain() -> None:
    base = LatentConfig(encoder_dropout=0.4, plain_dropout=0.2)
    assert base.dropout_of_encoder == base.with_objective("vae+contrast").dropout_of_encoder == 0.4
    assert base.with_objective("vae").dropout_of_encoder == base.with_objective("ivae").dropout_of_encoder == 0.2
    assert dataclasses.replace(base, positives="swap").dropout_of_encoder == 0.2
    assert (
        LatentConfig().with_objective("vae").dropout_of_encoder
        == LatentConfig.paper().with_objective("ivae").dropout_of_encoder
        == 0
    )


def test_thirteen_objectives() -> None:
    assert len(OBJECTIVES) == 13
    seen = {dataclasses.replace(LatentConfig().with_objective(name), objective="vae") for name in OBJECTIVES}
    assert len(seen) == 13  # no two are one


def test_an_objective_replaces_another_whole() -> None:
    there = LatentConfig().with_objective("savae").with_objective("clvae+_mi")
    assert there == LatentConfig()
    assert LatentConfig.paper().with_objective("ivae").posterior == "mlp"
    assert LatentConfig.paper().with_objective("vae").with_objective("ivae").posterior == "affine"
    named = LatentConfig(objective="vae")  # by its name only: a clVAE+_MI still
    assert named.with_objective("vae") == LatentConfig().with_objective("vae")


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
        {"svi_steps": -1},
        {"tie_embeddings": True, "word_width": 8},
        {"network": "transformer"},
        {"encoder_dropout": 1.5},
        {"plain_dropout": -0.1},
        {"objective": "vaee"},
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"epochs": 1e3},
        {"min_count": True},
        {"temperature": 0.0},
        {"temperature": float("nan")},
        {"learning_rate": 0.0},
        {"vocabulary_size": -5},
        {"critic_width": 0},
        {"critic_steps": -1},
        {"contrast_weight": -1.0},
        {"initial_range": -1.0},
        {"beta": float("inf")},
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
        LatentConfig(kl="closd", critic="none")  # type: ignore[arg-type]  # no such on purpose


def test_beta_over_a_run() -> None:
    linear = beta_schedule(LatentConfig(beta_start=0.1), 400)  # 9 of 40 epochs
    assert [round(linear(step), 3) for step in (0, 45, 90, 399)] == [0.1, 0.55, 1.0, 1.0]
    code = LatentConfig.reference()  # 40 epochs of ten batches: a batch adds 1 / (10 · 10), whatever the end
    for name, epochs in (("vae", 9), ("beta-vae", 4)):
        rising, batches = beta_schedule(code.with_objective(name), 400), 10 * epochs
        assert [rising(step) for step in range(batches)] == pytest.approx([0.1 + step / 100 for step in range(batches)])
        assert {rising(step) for step in range(batches, 400)} == {0.1 + epochs / 10}
    assert beta_schedule(dataclasses.replace(code.with_objective("vae"), beta=0.05), 400)(0) == 0.05
    half = beta_schedule(LatentConfig().with_objective("beta-vae"), 100)
    assert half(99) == 0.5 and half(0) == 0
    cycles = beta_schedule(LatentConfig(beta_ramp=0.5).with_objective("cycvae"), 80)
    assert [round(cycles(step), 3) for step in (0, 5, 10, 19, 20, 25)] == [0, 0.5, 1, 1, 0, 0.5]
    uneven = beta_schedule(LatentConfig(beta_ramp=1.0).with_objective("cycvae"), 9)
    ninths = [0, 4, 8, 3, 7, 2, 6, 1, 5]  # a cycle is 2.25 steps
    assert [uneven(step) for step in range(9)] == pytest.approx([ninth / 9 for ninth in ninths])
    never = beta_schedule(dataclasses.replace(LatentConfig().with_objective("vae"), beta=0.0), 100)
    assert {never(step) for step in range(100)} == {0.0}
