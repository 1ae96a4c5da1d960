"""Vectors as points of a plane.

Shape key: N texts, D features.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from sklearn.decomposition import PCA

from paraform.evaluation.embedding.plane import OTHER, plane_plot, principal_plane, shown_labels, umap_plane
from paraform.records import InputError


def test_components_are_scikit_learns() -> None:
    vectors_ND = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32) * [5, 3, 1, 1, 1, 1] + 7
    plane = principal_plane(vectors_ND.astype(np.float32))
    known = PCA(2, svd_solver="full").fit(vectors_ND)
    assert np.allclose(np.abs(plane.points_N2), np.abs(known.transform(vectors_ND)), atol=1e-4)
    shares = [
        f"component {axis + 1}, {100 * share:.1f} %" for axis, share in enumerate(known.explained_variance_ratio_)
    ]
    assert [axis.removesuffix(" of the variance") for axis in plane.axes] == shares


def test_a_turned_line_has_one_component_whose_sign_is_settled() -> None:
    """Points (t, −2t): the distances along it are √5 t, towards the larger weight's positive side."""
    along = np.array([-1.0, 0.0, 1.0])
    plane = principal_plane(np.stack([along, -2 * along], 1).astype(np.float32))
    assert np.allclose(plane.points_N2, np.stack([-np.sqrt(5) * along, 0 * along], 1), atol=1e-6)
    assert plane.axes == ("component 1, 100.0 % of the variance", "component 2, 0.0 % of the variance")
    single = principal_plane(along[:, None].astype(np.float32))
    assert np.allclose(single.points_N2, [[-1, 0], [0, 0], [1, 0]])


@pytest.mark.parametrize("rows", [1, 5])
def test_one_point_alone_is_no_picture(rows: int) -> None:
    with pytest.raises(InputError, match=f"{rows} texts with one vector; expected two that differ, or more"):
        principal_plane(np.full((rows, 3), 0.1, np.float32))


def test_twelve_labels_have_a_look_and_the_rest_is_other() -> None:
    labels = [f"label {number}" for number in range(14) for _ in range(20 - number)]
    shown = shown_labels(labels)
    assert shown.count(OTHER) == 8 + 7 and len(set(shown)) == 13
    plane = principal_plane(np.random.default_rng(0).normal(size=(len(labels), 3)).astype(np.float32))
    figure = plane_plot(plane, shown, "a title")
    (axes,) = figure.axes
    looks = [(tuple(drawn.get_facecolor()[0]), drawn.get_paths()[0].vertices.tobytes()) for drawn in axes.collections]
    assert len(set(looks)) == 13
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[0] == "label 0 (20)" and legend[-1] == "other (15)"
    drawn = np.concatenate([one.get_offsets() for one in axes.collections])
    assert np.allclose(np.sort(drawn, 0), np.sort(plane.points_N2, 0))
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == (*plane.axes, "a title")
    assert not plane_plot(plane, [""] * len(labels), "").legends


@pytest.mark.skipif(importlib.util.find_spec("umap") is not None, reason="umap-learn is there")
def test_umap_names_its_package() -> None:
    with pytest.raises(
        InputError, match=r"^UMAP needs the package umap-learn; install it with: pip install umap-learn$"
    ):
        umap_plane(np.eye(5, dtype=np.float32))
