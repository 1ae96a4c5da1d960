"""Vectors as points of a plane, to look at: principal components, or UMAP where its package is there.

Shape key: N texts, D features.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraform.evaluation.pictures import APART, MARKERS
from paraform.extensions import needed
from paraform.records import InputError

if TYPE_CHECKING:  # its import takes longer than a short answer
    from matplotlib.figure import Figure

MOST_LABELS = 12
"""That have a look of their own; the rarest of more are one, `OTHER`."""

OTHER = "other"


class Plane(NamedTuple):
    """Points, and what stands at the two axes."""

    points_N2: NDArray[np.float64]
    axes: tuple[str, str]


def principal_plane(vectors_ND: NDArray[np.float32]) -> Plane:
    """The two directions in which the vectors vary most, and the share of the variance that each has.

    PCA: the left singular vectors of what is left of the vectors without their mean, times the singular values. Of
    each direction's two signs that is taken by which its largest weight is positive, so that a picture comes again.
    Raises: InputError for fewer than 2 vectors, or if all are the same.
    """
    centred_ND = vectors_ND.astype(np.float64)
    centred_ND -= centred_ND.mean(0)
    total = float(np.square(centred_ND).sum())
    _require_different(vectors_ND)
    _, singular_K, axes_KD = np.linalg.svd(centred_ND, full_matrices=False)
    points_N2 = np.zeros((len(centred_ND), 2))  # vectors of one number have one axis
    shares = [0.0, 0.0]
    for axis, (singular, weights_D) in enumerate(zip(singular_K[:2], axes_KD[:2], strict=True)):
        sign = np.sign(weights_D[np.abs(weights_D).argmax()])
        points_N2[:, axis] = sign * (centred_ND @ weights_D)
        shares[axis] = float(singular**2) / total
    first, second = (f"component {axis + 1}, {100 * share:.1f} % of the variance" for axis, share in enumerate(shares))
    return Plane(points_N2, (first, second))


def umap_plane(vectors_ND: NDArray[np.float32], *, seed: int = 0) -> Plane:
    """UMAP by its package and its usual settings, with cosines; distances in the picture have no unit.

    Raises: InputError for fewer than 4 vectors, if all are the same, or without the package.
    """
    require_umap()
    from umap import UMAP

    if len(vectors_ND) < 4:
        raise InputError(f"{len(vectors_ND)} texts; expected 4 or more for UMAP")
    _require_different(vectors_ND)
    neighbours = min(15, len(vectors_ND) - 1)
    made = UMAP(n_neighbors=neighbours, metric="cosine", init="random", random_state=seed, n_jobs=1)
    return Plane(np.asarray(made.fit_transform(vectors_ND), np.float64), ("UMAP 1", "UMAP 2"))


def require_umap() -> None:
    """What `umap_plane` needs is here; asked before long work. Raises: InputError if it is not."""
    if importlib.util.find_spec("umap") is None:  # an extra of ours for one picture would be too much
        raise InputError("UMAP needs the package umap-learn; install it with: pip install umap-learn")


def _require_different(vectors_ND: NDArray[np.float32]) -> None:
    if len(vectors_ND) < 2 or bool((vectors_ND == vectors_ND[0]).all()):
        raise InputError(f"{len(vectors_ND)} texts with one vector; expected two that differ, or more")


def shown_labels(labels: Sequence[str]) -> list[str]:
    """The labels with those beyond the `MOST_LABELS` commonest as `OTHER`; of equally many the first to come stays."""
    kept = {label for label, _ in Counter(labels).most_common(MOST_LABELS)}
    return [label if label in kept else OTHER for label in labels]


def plane_plot(plane: Plane, labels: Sequence[str], title: str) -> Figure:
    """A point for each text, and a legend of the labels; no legend if there is but one.

    Labels differ in their mark as well as in their colour; what is `OTHER` is grey and behind.

    Args:
        labels: one a point, of `shown_labels`.
    """
    needed("matplotlib", "a picture", "eval")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel=plane.axes[0], ylabel=plane.axes[1])
    which_N = np.asarray(labels)
    counts = Counter(labels)
    drawn = sorted(counts, key=lambda label: (label == OTHER, -counts[label]))  # the legend's order
    for number, label in enumerate(drawn):
        colour, mark = (APART[number % len(APART)], MARKERS[number % len(MARKERS)]) if label != OTHER else ("0.7", ".")
        x_M, y_M = plane.points_N2[which_N == label].T
        axes.scatter(
            x_M, y_M, s=18, color=colour, marker=mark, alpha=0.75, linewidths=0, label=f"{label} ({counts[label]:,})",
            zorder=1 if label == OTHER else 2,
        )  # fmt: skip
    axes.set_aspect("equal", "datalim")  # a distance is as long in either direction
    if len(drawn) > 1:
        figure.legend(loc="outside right upper", fontsize="small")
    return figure
