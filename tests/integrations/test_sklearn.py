"""`ParaformVectors` against scikit-learn's own checks and its own text transformer, and as a step."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags

import paraform
from paraform import ParaformVectors
from paraform.encoders import Encoder
from paraform.records import InputError

TEXTS = ["My card was stolen.", "Where is my card?", "The card is lost.", "Block this card."]
TEXTS += ["It will rain.", "The sun shines today.", "Is it cold outside?", "Snow fell all night."]
TOPICS = ["card"] * 4 + ["weather"] * 4


@pytest.fixture
def step() -> ParaformVectors:
    return ParaformVectors(device="cpu")


def test_scikit_learn_checks_it_as_far_as_its_own_text_transformer(step: ParaformVectors) -> None:
    """Of texts that is not far, and a warning says so; the next test does more of them."""

    def passed(estimator: Any) -> list[tuple[str, str]]:
        with pytest.warns(SkipTestWarning, match="string=True"):
            made = estimator_checks.check_estimator(estimator, on_skip=None)
        return [(one["check_name"], one["status"]) for one in made]

    assert passed(step) == passed(HashingVectorizer()) != []


@pytest.mark.parametrize(
    "name",
    [
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_its_checks_that_need_no_table_pass(name: str, step: ParaformVectors) -> None:
    getattr(estimator_checks, name)("ParaformVectors", step)


def test_its_tags_are_those_of_a_transformer_of_texts_that_needs_no_fit(step: ParaformVectors) -> None:
    own, peer = get_tags(step), get_tags(HashingVectorizer())
    assert own.input_tags == peer.input_tags and own.requires_fit == peer.requires_fit


def test_rows_are_the_encoder_s(step: ParaformVectors, minilm: Encoder) -> None:
    expected = minilm.encode(TEXTS)
    np.testing.assert_array_equal(step.transform(TEXTS), expected)
    np.testing.assert_array_equal(step.fit_transform(np.array(TEXTS)), expected)
    third = ParaformVectors("minilm@layer=3", "cpu").transform(TEXTS)
    np.testing.assert_array_equal(third, minilm.encode(TEXTS, layer=3))


def test_its_columns_have_names(step: ParaformVectors) -> None:
    table = clone(step).set_output(transform="pandas").transform(TEXTS)
    assert list(table.columns) == list(step.get_feature_names_out()) == [f"paraformvectors{at}" for at in range(384)]
    np.testing.assert_array_equal(table.to_numpy(), step.transform(TEXTS))


def test_it_is_a_step_that_is_searched_through_and_kept(step: ParaformVectors) -> None:
    pipeline = make_pipeline(step, LogisticRegression(C=100.0))
    grid = {"paraformvectors__model": ["minilm", "minilm@layer=0"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(TEXTS, TOPICS)
    assert len(search.cv_results_["params"]) == 2
    assert search.predict(["I can't find my credit card.", "A storm is coming."]).tolist() == ["card", "weather"]
    kept = io.BytesIO()
    joblib.dump(search.best_estimator_, kept)
    assert kept.tell() < 100_000  # not the model, which has 90 MB
    kept.seek(0)
    again = joblib.load(kept)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), search.best_estimator_.predict_proba(TEXTS))


def test_what_is_wrong_is_said_in_one_line(step: ParaformVectors) -> None:
    with pytest.raises(InputError, match="no such model"):
        ParaformVectors("none").fit(TEXTS)
    with pytest.raises(InputError, match="expected a model that embeds"):
        ParaformVectors("minilm-judge", "cpu").fit(TEXTS)
    with pytest.raises(InputError, match="text 1 is of type ndarray"):
        step.transform(np.array([TEXTS]))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="write dataframe"):
        step.transform(step.set_output(transform="pandas").transform(TEXTS))
    assert paraform.ParaformVectors is ParaformVectors


def test_without_scikit_learn_all_other_names_can_be_imported() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import paraform; print(*paraform.__all__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == set(paraform.__all__) - {"ParaformVectors"}
