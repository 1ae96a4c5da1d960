"""Any Hugging Face encoder as a `Forward`, without padding: batches of one length each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from paraform.encoders.encoder import Forward


def hugging_face(folder: Path, device: torch.device, dtype: torch.dtype) -> tuple[Forward, int, int, int]:
    """Any other encoder through transformers; batches of one length each, so that nothing is padded or masked."""
    from transformers import AutoConfig, AutoModel

    config: Any = AutoConfig.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=dtype).to(device).eval()

    @torch.inference_mode()
    def forward(sentences: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[Tensor]:
        parts: list[list[Tensor]] = [[] for _ in wanted]
        start = 0
        while start < len(sentences):
            end = start
            while end < len(sentences) and len(sentences[end]) == len(sentences[start]):
                end += 1
            ids_BT = torch.tensor([list(ids) for ids in sentences[start:end]], device=device)
            hidden = model(input_ids=ids_BT, output_hidden_states=True).hidden_states
            for part, layer in zip(parts, wanted, strict=True):
                part.append(hidden[layer].flatten(0, 1))
            start = end
        return [torch.cat(part) for part in parts]

    # RoBERTa's positions start after its padding id, so two fewer tokens fit than the table has rows.
    like_roberta = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"}
    limit = int(config.max_position_embeddings) - (2 if config.model_type in like_roberta else 0)
    return forward, int(config.hidden_size), int(config.num_hidden_layers), limit
