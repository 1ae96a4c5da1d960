"""The syntax head's recipe: how much the labels are raised, and what is held out."""

from __future__ import annotations

import pytest
import torch

from paraform.score import Score
from paraform.syntax.head import SyntaxHead, SyntaxHeadConfig
from paraform.syntax.trees import Tree
from paraform_papers.shipped import syntax_head
from paraform_papers.shipped.syntax_head import balance, lowered

TINY = SyntaxHeadConfig(width=8, feed_forward=8, heads=2, depth=1, span_width=8)


@pytest.mark.parametrize(
    ("figures", "raised"),
    [
        ([50.0, 51.0, 52.0, 51.5], 0.4),
        ([50.0, 49.0], 0.0),
        ([0.0, 0.0], 0.0),
        ([50.0, 51.0, 52.0, 53.0, 54.0, 55.0], 1.0),
    ],
)
def test_labels_are_raised_as_far_as_it_helps(
    figures: list[float], raised: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = SyntaxHead(TINY, ["A"], ["S", "NP"])
    before, rest = head.label.bias.detach().clone(), iter(figures)
    monkeypatch.setattr(syntax_head, "scores_of", lambda *_: [Score("labelled F1", next(rest), "")])
    balance(head, [])
    torch.testing.assert_close(head.label.bias.detach(), before + raised)
    assert next(rest, None) is None  # and no more was looked at


def test_lowered() -> None:
    assert str(lowered(Tree.parse("(S (NP (DT The) (NNP IBM)))"))) == "(S (NP (DT the) (NNP ibm)))"
