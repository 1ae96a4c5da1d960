"""The hinge of paraphrase-aware retrofitting: a word is nearer to itself in a paraphrase than elsewhere."""

from __future__ import annotations

from torch import Tensor


def distance_hinge(paraphrased: Tensor, other: Tensor, *, margin: float | Tensor) -> Tensor:
    """[d + γ − d̂]₊ of each shared word (PAR, Shi et al. 2019, section 3.2, L_H before its sum).

    Args:
        paraphrased: [W] d, distances of shared words between two contexts that say the same.
        other: [W] d̂, between two contexts that do not.
        margin: γ > 0, in the unit of the distances.
    Returns: [W], in that unit; 0 where the other context is further off by the margin.
    Raises: ValueError if they are not as many.

    >>> import torch
    >>> distance_hinge(torch.tensor([1.0, 1.0]), torch.tensor([1.5, 9.0]), margin=2.0)
    tensor([1.5000, 0.0000])
    """
    if paraphrased.shape != other.shape or paraphrased.ndim != 1:
        raise ValueError(f"distances {tuple(paraphrased.shape)} and {tuple(other.shape)}; expected twice [W]")
    return (paraphrased + margin - other).clamp_min(0)
