"""Sentence vectors of all layers of an encoder at once.

Shape key: N texts, D features.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from paraform.encoders.encoder import Encoder, pooled

CHUNK = 256  # texts whose tokens' states are held at once, of all layers


def mean_of_layers(encoder: Encoder, texts: Sequence[str], *, batch_tokens: int = 2048) -> npt.NDArray[np.float32]:
    """The mean of the states of all tokens at all layers, the embeddings first: ELMo's mix, unweighted. float32 [N, D].

    Raises: InputError as `Encoder.states`.
    """
    layers, found = range(encoder.num_layers + 1), [np.zeros((0, encoder.dimension), np.float32)]
    for start in range(0, len(texts), CHUNK):
        states = encoder.states(texts[start : start + CHUNK], layers=layers, batch_tokens=batch_tokens)
        mean_TD = torch.stack([states_TD for states_TD, _ in states]).mean(0)
        lengths = torch.from_numpy(np.diff(states[0].offsets)).to(mean_TD.device)
        found.append(pooled(mean_TD, lengths, "mean").cpu().numpy())
    return np.concatenate(found)
