"""Content matching and style retrieval of a space equal what `evaluate style` measures of the same vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from paraform import corpora
from paraform.evaluation.embedding.matching import ContentMatching, style_retrieval
from paraform.evaluation.embedding.space import embedded, shared_words
from paraform.evaluation.style import StyleSettings, evaluate_style
from paraform.records import InputError, Pair
from paraform.syntax.tagging import load_tagger


def bag(texts: Sequence[str]) -> NDArray[np.float32]:
    """Letters counted: alike texts are near, and few are equal."""
    return np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz?"] for text in texts], np.float32)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    return corpora.clusters(pair for pair in corpora.read_pairs(question_pairs) if isinstance(pair, Pair))[:80]


def test_metrics_are_those_of_evaluate_style(pairs: list[Pair]) -> None:
    sides = [[pair.source.text for pair in pairs], [pair.target.text for pair in pairs]]
    given = {"content": bag, "style": bag, "tag": load_tagger("syntax"), "settings": StyleSettings(queries=20)}
    report = evaluate_style(*sides, [pair.cluster for pair in pairs], **given)
    expected = {(one.name, one.system, one.subset): one.value for one in report.scores}
    space = embedded(bag, [*sides[0], *sides[1]], name="bag", signature="a:b")
    matching = {(one.score.name, one.score.subset): one.score for one in ContentMatching("Q", pairs).measure(space)}
    for subset, of_report in (("Q", "all"), ("Q, least overlap", "least overlap")):
        for name, system in (("CMA (cosine)", "model"), ("chance", "random")):
            found = matching[name, subset].value
            assert found == pytest.approx(100 * expected["CMA (cosine)", system, of_report])
    assert 0 < matching["CMA (cosine)", "Q"].value < 100
    task = style_retrieval("Q", pairs, tagger="syntax", queries=20)
    style = {one.score.name: one.score.value for one in task.measure(space)}
    for name, system in (("style retrieval ED", "model"), ("random", "random"), ("nearest tags", "nearest tags")):
        assert style[name] == pytest.approx(expected["style retrieval ED", system, "all"])


def test_a_space_without_vectors_matches_and_does_not_retrieve(pairs: list[Pair]) -> None:
    task = ContentMatching("Q", pairs)
    words = shared_words(task.texts())
    found = task.measure(words)[0].score
    texts = task.texts()
    shared = words.block(texts[::2], texts[1::2]).argmax(axis=1)
    right = [pairs[at].cluster == pair.cluster for at, pair in zip(shared, pairs, strict=True)]
    assert found.value == pytest.approx(100 * np.mean(right)) and found.signature.endswith(f"|{words.signature}")
    with pytest.raises(InputError, match="shared words has no vectors"):
        style_retrieval("Q", pairs, tagger="syntax", queries=5).measure(words)
