from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
import torch

from paraform.records import InputError
from paraform.syntax.chart import span_ends
from paraform.syntax.head import NO_LABEL, SHAPES, SyntaxHead, SyntaxHeadConfig, word_shape

TAGS, LABELS = ("NN", "VB", "."), ("S", "NP", "S+VP")
TINY = SyntaxHeadConfig(first_layer=1, last_layer=2, width=8, feed_forward=16, heads=2, depth=1, span_width=6)


def head(encoder_width: int = 6) -> SyntaxHead:
    torch.manual_seed(0)
    return SyntaxHead(TINY, TAGS, LABELS, encoder_width).eval()


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("lower", "dog a über o'clock x-ray"),
        ("title", "Dog A I Über"),
        ("upper", "NASA U.S. ÜB"),
        ("mixed", "iPhone McDonald eBay 東京 X-ray-Y"),
        ("number", "5 3,000 4th B2B"),
        ("punctuation", ". -- '' ☂ $"),
    ],
)
def test_word_shapes(shape: str, words: str) -> None:
    assert {SHAPES[word_shape(word)] for word in words.split()} == {shape}
    assert SHAPES[word_shape("")] == "punctuation"


def test_spans_are_differences_of_fenceposts() -> None:
    """Written out span by span, with the layer on the difference itself (Kitaev et al. 2019, section 2)."""
    model = head()
    states_BTLD, shapes_BT = torch.randn(3, 4, 2, 6), torch.randint(0, len(SHAPES), (3, 4))
    scores = model(states_BTLD, shapes_BT)
    assert scores.tags_BTK.shape == (3, 4, 3) and scores.spans_BPC.shape == (3, 10, 4)
    hidden_BTW = model.encode(states_BTLD, shapes_BT)
    assert hidden_BTW.shape == (3, 6, 8)
    for row in range(3):
        posts = [torch.cat([hidden_BTW[row, at, :4], hidden_BTW[row, at + 1, 4:]]) for at in range(5)]
        for place, (start, end) in enumerate(zip(*span_ends(4), strict=True)):
            wanted = model.label(torch.relu(model.span_norm(model.span(posts[end] - posts[start]))))
            torch.testing.assert_close(scores.spans_BPC[row, place, 1:], wanted)
    assert (scores.spans_BPC[:, :, 0] == 0).all()
    assert model.labels == (NO_LABEL, *LABELS)


def test_a_sentence_does_not_depend_on_its_neighbours() -> None:
    model = head()
    states_BTLD, shapes_BT = torch.randn(5, 4, 2, 6), torch.randint(0, len(SHAPES), (5, 4))
    whole = model(states_BTLD, shapes_BT)
    for row in range(5):
        alone = model(states_BTLD[row : row + 1], shapes_BT[row : row + 1])
        torch.testing.assert_close(alone.tags_BTK[0], whole.tags_BTK[row])
        torch.testing.assert_close(alone.spans_BPC[0], whole.spans_BPC[row])
    changed = shapes_BT.clone()
    changed[0, 0] = (changed[0, 0] + 1) % len(SHAPES)
    assert not torch.allclose(model(states_BTLD, changed).tags_BTK[0], whole.tags_BTK[0])  # the shape is read


def test_layers_count_alike_whatever_their_scale() -> None:
    model = head()
    states_BTLD, shapes_BT = torch.randn(2, 3, 2, 6), torch.zeros(2, 3).long()
    scaled = states_BTLD * torch.tensor([7.0, 0.5])[:, None]
    torch.testing.assert_close(
        model(scaled, shapes_BT).tags_BTK, model(states_BTLD, shapes_BT).tags_BTK, atol=1e-4, rtol=1e-3
    )


def test_restored() -> None:
    model = head(384)
    again = SyntaxHead.restore(asdict(TINY), model.assets())
    assert (again.tags, again.labels, again.config) == (TAGS, (NO_LABEL, *LABELS), TINY)
    again.load_state_dict(model.state_dict())
    states_BTLD, shapes_BT = torch.randn(1, 3, 2, 384), torch.tensor([[0, 1, 5]])
    for one, other in zip(again.eval()(states_BTLD, shapes_BT), model(states_BTLD, shapes_BT), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("config", "assets"),
    [
        ({}, {}),
        ({}, {"tags.txt": "NN"}),
        ({}, {"tags.txt": "", "labels.txt": "S"}),
        ({"colour": 1}, {"tags.txt": "NN", "labels.txt": "S"}),
        ({"width": "wide"}, {"tags.txt": "NN", "labels.txt": "S"}),
        ({"width": -8}, {"tags.txt": "NN", "labels.txt": "S"}),
        ({"heads": 7}, {"tags.txt": "NN", "labels.txt": "S"}),
        ({"dropout": 2.0}, {"tags.txt": "NN", "labels.txt": "S"}),
        ({"encoder": "no such/encoder/x"}, {"tags.txt": "NN", "labels.txt": "S"}),
    ],
)
def test_a_foreign_config(config: dict[str, Any], assets: dict[str, str]) -> None:
    with pytest.raises(InputError, match="syntax head"):
        SyntaxHead.restore(config, assets)


def test_layers_of_a_config() -> None:
    assert replace(TINY, first_layer=2, last_layer=4).layers == (2, 3, 4)
