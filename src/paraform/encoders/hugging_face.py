"""Any Hugging Face encoder, and as a `Forward` without padding: batches of one length each.

A folder may be a stranger's: its code is never run (nor is anybody asked whether it may), and of weights only
safetensors are read, never a pickle.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from paraform.encoders.encoder import Forward
from paraform.records import InputError


def config_of(folder: Path) -> Any:
    """The encoder's config, as transformers reads it. Raises: InputError if it is none that transformers knows."""
    from transformers import AutoConfig

    return _own(AutoConfig, folder)


def module_of(folder: Path, **options: Any) -> Any:
    """The encoder as a transformers module; options as `AutoModel.from_pretrained` has them.

    Raises: InputError if its architecture is none of transformers' own, or its weights are no safetensors.
    """
    from transformers import AutoModel

    if (folder / "adapter_config.json").is_file():  # it names other weights, to be found elsewhere
        raise InputError(f"{folder / 'adapter_config.json'}: an adapter; merge it into its encoder first")
    weight_files(folder)
    return _own(AutoModel, folder, use_safetensors=True, **options)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors of an encoder: a large one has several. Raises: InputError if there are none."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        others = sorted(path.name for pattern in ("*.bin", "*.h5", "*.msgpack") for path in folder.glob(pattern))
        came = f"weights in {others[0]} only" if others else "no weights"
        raise InputError(f"{folder}: {came}; expected model.safetensors (safetensors hold no code, unlike a pickle)")
    index = folder / "model.safetensors.index.json"  # of several: which holds what
    named = read_json(index, {}).get("weight_map", {})
    if not isinstance(named, dict) or any(not str(name).endswith(".safetensors") for name in named.values()):
        raise InputError(f"{index}: names a file that is no safetensors; expected names that end in .safetensors")
    return files


def _own(auto: Any, folder: Path, **options: Any) -> Any:
    """What one of transformers' Auto classes makes of the folder, by transformers' own code."""
    kernel = [value for key, value in read_json(folder / "config.json").items() if key.endswith("attn_implementation")]
    if any("/" in str(value) for value in kernel):  # transformers would fetch it from the hub, and run it
        raise InputError(f"{folder / 'config.json'}: attention by {kernel[0]!r}; expected none, or transformers' own")
    try:
        return auto.from_pretrained(folder, trust_remote_code=False, **options)
    except Exception as error:  # damaged files end in whatever transformers, safetensors or torch trips over
        reason = " ".join(str(error).split())
        if "custom code" in reason:
            reason = "its architecture is code of its own, which is never run; expected one of transformers' own"
        raise InputError(f"{folder / 'config.json'}: {reason[:300]}") from error


def hugging_face(folder: Path, device: torch.device, dtype: torch.dtype) -> tuple[Forward, int, int, int]:
    """Any other encoder through transformers; batches of one length each, so that nothing is padded or masked."""
    config = config_of(folder)
    model = module_of(folder, dtype=dtype).to(device).eval()

    @torch.inference_mode()
    def forward(sentences: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[Tensor]:
        parts: list[list[Tensor]] = [[] for _ in wanted]
        for _, run in groupby(sentences, key=len):
            ids_BT = torch.tensor([list(ids) for ids in run], device=device)
            hidden = model(input_ids=ids_BT, output_hidden_states=True).hidden_states
            for part, layer in zip(parts, wanted, strict=True):
                part.append(hidden[layer].flatten(0, 1))
        return [torch.cat(part) for part in parts]

    # RoBERTa's positions start after its padding id, so two fewer tokens fit than the table has rows.
    like_roberta = {"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"}
    limit = int(config.max_position_embeddings) - (2 if config.model_type in like_roberta else 0)
    return forward, int(config.hidden_size), int(config.num_hidden_layers), limit


def read_json(path: Path, default: dict[str, Any] | None = None) -> dict[str, Any]:
    """The JSON object in a file of an encoder's; without the file the default. Raises: InputError if there is none."""
    if default is not None and not path.is_file():
        return default
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}; expected the encoder's JSON") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: a {type(value).__name__}; expected a JSON object")
    return value
