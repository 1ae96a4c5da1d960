from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
import torch

from paraform.records import InputError
from paraform.syntax.head import SHAPES, TagHead, TagHeadConfig, word_shape

TAGS = ("NN", "VB", ".")
TINY = TagHeadConfig(first_layer=1, last_layer=2, width=8, feed_forward=16, heads=2, depth=1)


def head(encoder_width: int = 6) -> TagHead:
    torch.manual_seed(0)
    return TagHead(TINY, TAGS, encoder_width).eval()


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


def test_layers_are_mixed_by_learned_weights() -> None:
    """Equal weights give the mean of the layers; a large one gives its layer alone."""
    model = head()
    states_LBTD, shapes_BT = torch.randn(2, 3, 4, 6), torch.randint(0, len(SHAPES), (3, 4))
    mean = states_LBTD.mean(0).expand(2, -1, -1, -1)
    torch.testing.assert_close(model(states_LBTD, shapes_BT), model(mean, shapes_BT))
    with torch.no_grad():
        model.mix[1] = 100.0
    second = states_LBTD[1].expand(2, -1, -1, -1)
    torch.testing.assert_close(model(states_LBTD, shapes_BT), model(second, shapes_BT))
    assert model(states_LBTD, shapes_BT).shape == (3, 4, 3)


def test_a_sentence_does_not_depend_on_its_neighbours() -> None:
    model = head()
    states_LBTD, shapes_BT = torch.randn(2, 5, 4, 6), torch.randint(0, len(SHAPES), (5, 4))
    whole = model(states_LBTD, shapes_BT)
    for row in range(5):
        torch.testing.assert_close(model(states_LBTD[:, row : row + 1], shapes_BT[row : row + 1])[0], whole[row])
    changed = shapes_BT.clone()
    changed[0, 0] = (changed[0, 0] + 1) % len(SHAPES)
    assert not torch.allclose(model(states_LBTD, changed)[0], whole[0])  # the shape is read


def test_overfits_ten_sentences() -> None:
    """Random states and tags come back."""
    torch.manual_seed(0)
    model = TagHead(replace(TINY, width=32, dropout=0.0), TAGS, 6)
    states_LBTD, shapes_BT, tags_BT = torch.randn(2, 10, 4, 6), torch.zeros(10, 4).long(), torch.randint(0, 3, (10, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(80):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(states_LBTD, shapes_BT).flatten(0, 1), tags_BT.flatten()).backward()
        optimizer.step()
    assert torch.equal(model.eval()(states_LBTD, shapes_BT).argmax(-1), tags_BT)


def test_restored() -> None:
    model = head(384)
    again = TagHead.restore(asdict(TINY), model.assets())
    assert (again.tags, again.config) == (TAGS, TINY)
    again.load_state_dict(model.state_dict())
    states_LBTD, shapes_BT = torch.randn(2, 1, 3, 384), torch.tensor([[0, 1, 5]])
    torch.testing.assert_close(again.eval()(states_LBTD, shapes_BT), model(states_LBTD, shapes_BT))


@pytest.mark.parametrize(
    ("config", "assets"),
    [
        ({}, {}),
        ({"colour": 1}, {"tags.txt": "NN"}),
        ({"width": "wide"}, {"tags.txt": "NN"}),
        ({"width": -8}, {"tags.txt": "NN"}),
        ({"heads": 7}, {"tags.txt": "NN"}),
        ({"dropout": 2.0}, {"tags.txt": "NN"}),
        ({"encoder": "no such/encoder/x"}, {"tags.txt": "NN"}),
    ],
)
def test_a_foreign_config(config: dict[str, Any], assets: dict[str, str]) -> None:
    with pytest.raises(InputError, match="tagging head"):
        TagHead.restore(config, assets)


def test_layers_of_a_config() -> None:
    assert TagHeadConfig(first_layer=2, last_layer=4).layers == (2, 3, 4)
