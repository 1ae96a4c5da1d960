"""All layers by one pass equal `encode` layer by layer; the lines of the picture are the figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraform.encoders import Encoder
from paraform.evaluation.embedding.families import family_named
from paraform.evaluation.embedding.report import EmbeddingReport, Section
from paraform.score import Score
from paraform_papers.shipped import depth
from paraform_papers.shipped.depth import depth_plot, layer_embeds, mean_layer_embed


def test_layers_are_those_of_encode(minilm: Encoder, monkeypatch: Any) -> None:
    monkeypatch.setattr(depth, "CHUNK", 2)
    texts = ["A cat.", "Nobody knows what the weather will be.", "why ?", "", "A cat."]
    layers = [0, 3, 6]
    embeds = layer_embeds(minilm, layers)
    for layer, embed in zip(layers, embeds, strict=True):
        expected = minilm.encode(texts, layer=layer, pooling="mean")
        assert np.allclose(embed(texts), expected, atol=1e-5)
    assert np.allclose(embeds[0](texts[:1]), minilm.encode(texts[:1], layer=0, pooling="mean"), atol=1e-5)


def test_the_mean_of_layers_is_that_of_their_means(minilm: Encoder, monkeypatch: Any) -> None:
    monkeypatch.setattr(depth, "CHUNK", 2)
    texts = ["A cat.", "Nobody knows what the weather will be.", "why ?"]
    each = [minilm.encode(texts, layer=layer, pooling="mean", normalize=False) for layer in range(7)]
    expected = np.mean(each, axis=0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(mean_layer_embed(minilm)(texts), expected, atol=1e-5)


def test_lines_are_the_figures_in_the_order_of_the_layers() -> None:
    values = {"last": (80.0, 10.0, 0.2), "first": (60.0, 40.0, 0.5)}
    summary = [
        Score(kind, v[at], "", system) for system, v in values.items() for at, kind in enumerate(("meaning", "form"))
    ]
    found = [
        Score("label information", v[2], "", system, "default", "BShift (re-created)") for system, v in values.items()
    ]
    section = Section(family_named("probing"), "", tuple(found), ())
    report = EmbeddingReport({"last": "", "first": ""}, {}, (section,), {}, tuple(summary), (), (), "")
    meaning, form = depth_plot(report, {0: "first", 6: "last"}).axes
    assert [line.get_xydata().tolist() for line in meaning.lines] == [[[0, 60], [6, 80]]]
    assert {line.get_label(): line.get_xydata().tolist() for line in form.lines} == {
        "mean of the three of form": [[0, 40], [6, 10]],
        "BShift": [[0, 50], [6, 20]],
    }
