"""States of a frozen encoder, computed once and kept on disk.

Shape key: N tokens of all texts end to end, D features.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paraform.batching.ragged import Ragged
from paraform.encoders import Encoder
from paraform.encoders.torch_settings import products_on
from paraform.progress import track
from paraform.weights import atomic_path, cached_file


def cached_states(
    encoder: Encoder, texts: Sequence[str], *, layer: int, folder: Path | None = None, progress: bool = False
) -> Ragged:
    """States of every token of every text at one layer, float16, computed once and kept on disk by content.

    Returns: a table [N, D] that is mapped, not read: only the rows that a batch asks for come into memory.
    """
    begun = () if encoder.start is None else (f"start {encoder.start}",)
    products = products_on(encoder.device)
    content = (encoder.digest, encoder.tokenizer_digest, *begun, str(layer), products, *texts)
    values_path = cached_file("states", content, "npy", folder)
    offsets_path = values_path.with_suffix(".offsets.npy")
    if not (values_path.is_file() and offsets_path.is_file()):
        offsets = np.concatenate([[0], np.cumsum(encoder.count_tokens(texts))]).astype(np.int64)
        values_path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(offsets_path) as unfinished, open(unfinished, "wb") as out:
            np.save(out, offsets)
        with atomic_path(values_path) as unfinished:
            shape = (int(offsets[-1]), encoder.dimension)
            values = np.lib.format.open_memmap(unfinished, "w+", np.float16, shape)
            chunk = 4096  # texts; bounds the memory of the float32 states
            for start in track(range(0, len(texts), chunk), "style states", show=progress):
                (states,) = encoder.states(texts[start : start + chunk], layers=[layer])
                end = min(start + chunk, len(texts))
                values[offsets[start] : offsets[end]] = states.states_ND.cpu().half().numpy()
            values.flush()
    return Ragged(np.load(values_path, mmap_mode="r"), np.load(offsets_path))
