"""Models are measured by what they can do: a paraphraser of no system of ours, and vectors of any encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from paraform import corpora
from paraform.evaluation.on_pairs import evaluate_embedder, evaluate_paraphraser, evaluation_set
from paraform.records import InputError, Pair, Triple


class Echo:
    """Says its source, or, the other way round, its exemplar."""

    kind: ClassVar[str] = "an echo"
    device = torch.device("cpu")

    def __init__(self, exemplar: bool) -> None:
        self.exemplar, self.heard = exemplar, dict[str, Any]()

    def exemplars(self, sources: Sequence[str], *_: Any, **__: Any) -> list[list[str]]:
        return [[source] for source in sources]

    def decode(self, sources: Sequence[str], exemplars: Sequence[str], **how: Any) -> list[str]:
        self.heard = how
        return list(exemplars if self.exemplar else sources)

    def decoding_settings(self, **how: Any) -> dict[str, Any]:
        return {"decode": "exemplar" if self.exemplar else "source", "beam": how.get("beam", 1)}


class Letters:
    """A vector is how often each letter stands in a text."""

    kind: ClassVar[str] = "counted letters"
    vector_names: ClassVar[tuple[str, ...]] = ("letters",)
    device = torch.device("cpu")

    def embed(self, texts: Sequence[str], name: str = "", **how: Any) -> Any:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return np.array([[text.lower().count(letter) for letter in letters] for text in texts], np.float32)


@pytest.fixture(scope="module")
def pairs(question_pairs: Path) -> list[Pair]:
    return list(corpora.read_pairs(question_pairs))[:40]


def test_a_rival_is_measured_without_touching_the_evaluation(pairs: list[Pair]) -> None:
    """What echoes its source has the metrics of that floor, and what echoes its exemplar those of the other."""
    source, exemplar = Echo(False), Echo(True)
    report = evaluate_paraphraser(
        source,
        evaluation_set(pairs),
        name="source",
        rivals={"exemplar": exemplar},
        resamples=0,
        beam=3,
        constrain_repetition=False,
    )
    for protocol in ("first", "oracle"):
        for name in ("BLEU", "ED-E", "ED-R", "content kept"):
            for system in ("source", "exemplar"):
                metric = report.score(name, system=system, protocol=protocol)
                floor = report.score(name, system=f"copy {system}", protocol=protocol)
                assert metric.value == floor.value
                assert f"|decode:{system}|beam:3|" in metric.signature
    assert report.score("ED-E", system="exemplar", protocol="first").value == 0
    assert source.heard == exemplar.heard == {"beam": 3, "constrain_repetition": False}
    assert not [score for score in report.scores if score.name.startswith("CMA")]  # it has no vectors


def test_vectors_of_one_kind_are_asked_both(pairs: list[Pair]) -> None:
    """Each text is nearest to itself: matching it with itself is always right."""
    same = [Pair(pair.target, pair.target) for pair in pairs]
    scores = evaluate_embedder(Letters(), same, queries=3).scores
    by_name = {(score.name, score.system): score.value for score in scores if score.subset == "all"}
    assert by_name["CMA (cosine)", "model"] == 1
    assert {"style retrieval ED"} <= {score.name for score in scores}


def test_pairs_and_triples_do_not_mix(pairs: list[Pair]) -> None:
    triple = Triple(pairs[0].source, pairs[1].target, pairs[0].target)
    with pytest.raises(InputError, match="1 triples among 2 records; expected pairs alone, or triples alone"):
        evaluation_set([pairs[0], triple])
